"""Leave out an istream of an unbounded window.

    istream(window(unbounded, S))  =  S

Why      At t the window contains all rows of S up to then, so it gains at t the rows of S at t.
Gain     Two operators less, of which one would keep all rows for ever.
Guard    A smaller window may lose a row in the instant in which it gains an equal one, so that the gain is
         not seen. A window with a slide gains the rows of several instants at once.
Source   ours; CQL's conversion from a relation back to its stream

With the rules that move filters, projections and unions below the window, it also applies through these.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Istream, TimeWindow
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[TimeWindow]:
    """The window, if its size is fixed."""
    window = operator_of(node.inputs[0], TimeWindow)
    if window.bounds is None:
        yield window


def is_unbounded(node: Node, window: TimeWindow) -> bool:
    """True if no row leaves the window."""
    return window.size is None


def advances_by_one(node: Node, window: TimeWindow) -> bool:
    """True if a row enters the window at the instant of its start."""
    return window.slide == 1


def rewrite(node: Node, window: TimeWindow) -> Node:
    """The input of the window."""
    return node.inputs[0].inputs[0]


ISTREAM_OF_UNBOUNDED = Rule(
    name="istream-of-unbounded",
    equation="istream(window(unbounded, S)) = S",
    shape=Shape(Istream, Shape(TimeWindow)),
    match=match,
    guards=(is_unbounded, advances_by_one),
    rewrite=rewrite,
    measure=operators,
)
