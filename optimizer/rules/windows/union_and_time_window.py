"""Let a union and time windows change places.

    union(window(A), .., window(Z))  =  window(union(A, .., Z))        if all windows are equal

Why      Both sides sum the same snapshots.
Gain     Above the union: one window instead of many. Below: each can be shared with other queries.
Guard    Windows of other sizes or slides show rows of other instants.
Source   thesis, (10.10)

Windows with bounds stay separate, as each can be resized by itself while it runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.changing_places import above_each, below_each
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import TimeWindow, Union
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream


def match_above(node: Node) -> Iterable[Node]:
    """The first window, if its size is fixed."""
    first = node.inputs[0]
    if operator_of(first, TimeWindow).bounds is None:
        yield first


def are_equal(node: Node, first: Node) -> bool:
    """True if all windows are equal to the first one."""
    return all(child.operator == first.operator for child in node.inputs)


def match_below(node: Node) -> Iterable[Node]:
    """The union below a window of fixed size, if every input reads a stream: a relation has no window."""
    union = node.inputs[0]
    if operator_of(node, TimeWindow).bounds is None and all(map(reads_stream, union.inputs)):
        yield union


TIME_WINDOW_ABOVE_UNION = Rule(
    name="time-window-above-union",
    equation="union(window(L), window(R)) = window(union(L, R))",
    shape=Shape(Union, each=Shape(TimeWindow)),
    match=match_above,
    guards=(are_equal,),
    rewrite=above_each,
)

TIME_WINDOW_BELOW_UNION = Rule(
    name="time-window-below-union",
    equation="window(union(L, R)) = union(window(L), window(R))",
    shape=Shape(TimeWindow, Shape(Union)),
    match=match_below,
    rewrite=below_each,
)
