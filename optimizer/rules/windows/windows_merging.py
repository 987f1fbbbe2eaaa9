"""Merge two time windows below a duplicate elimination.

    distinct(window(a, window(b, S)))  =  distinct(window(a + b - 1, S))

Why      At t the upper window shows what the lower one has shown in the last a chronons, that is, the rows of
         S in the last a + b - 1 chronons: once for each chronon in which the lower one showed them. So the
         multiplicities differ, but not the distinct rows.
Gain     One operator less; and fewer copies of each row.
Guard    A window with a slide shows rows of some instants only.
Source   ours

Windows with bounds stay, as their size can change while they run. Without the duplicate elimination, a row
that the lower window shows for b chronons would be there up to b times at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, TimeWindow
from midstream.plans.algebra.plan import Node

Windows = tuple[TimeWindow, TimeWindow]


def match(node: Node) -> Iterable[Windows]:
    """Both windows, if their sizes are fixed."""
    (window,) = node.inputs
    upper, lower = operator_of(window, TimeWindow), operator_of(window.inputs[0], TimeWindow)
    if upper.bounds is None and lower.bounds is None:
        yield upper, lower


def advance_by_one(node: Node, windows: Windows) -> bool:
    """True if both windows show rows of every instant."""
    return all(window.slide == 1 for window in windows)


def rewrite(node: Node, windows: Windows) -> Node:
    """One window, as long as both together."""
    upper, lower = windows
    size = None if upper.size is None or lower.size is None else upper.size + lower.size - 1
    return Node(node.operator, (Node(TimeWindow(size), node.inputs[0].inputs[0].inputs),))


WINDOWS_MERGING = Rule(
    name="windows-merging",
    equation="distinct(window(a, window(b, S))) = distinct(window(a + b - 1, S))",
    shape=Shape(Distinct, Shape(TimeWindow, Shape(TimeWindow))),
    match=match,
    guards=(advance_by_one,),
    rewrite=rewrite,
    measure=operators,
)
