"""Leave out a window of one chronon.

    window(1, S)  =  S

Why      A window's snapshot at t is the sum of its input's snapshots in the last `size` chronons, that is, of
         the snapshot at t alone.
Gain     One operator less, and conventional rules apply across it.
Guard    A larger window shows rows for longer; one with a slide shows rows of some instants only.
Source   thesis, (10.7)

Windows with bounds stay, as their size can change while they run.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[TimeWindow]:
    """The window, if its size is fixed."""
    window = operator_of(node, TimeWindow)
    if window.bounds is None:
        yield window


def is_of_one_chronon(node: Node, window: TimeWindow) -> bool:
    """True if the window shows a row for no longer than its input does."""
    return window.size == 1


def advances_by_one(node: Node, window: TimeWindow) -> bool:
    """True if the window shows rows of every instant."""
    return window.slide == 1


def rewrite(node: Node, window: TimeWindow) -> Node:
    """The input of the window."""
    return node.inputs[0]


NOW_WINDOW = Rule(
    name="now-window",
    equation="window(1, S) = S",
    shape=Shape(TimeWindow),
    match=match,
    guards=(is_of_one_chronon, advances_by_one),
    rewrite=rewrite,
    measure=operators,
)
