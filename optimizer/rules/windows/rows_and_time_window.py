"""Let a filter or a projection and a time window change places.

    filter(p, window(S))   =  window(filter(p, S))
    project(f, window(S))  =  window(project(f, S))

Why      A window sums snapshots; a filter and a projection do with each row the same, whenever it is there.
Gain     Below: the window gets fewer, or shorter, elements, and a queue in front of it too. Above: queries
         that want other rows share the window.
Source   thesis, (10.8) and (10.9)

They hold for windows with a slide, and whatever size is set while they run.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.windows.swapped import swapped
from midstream.plans.algebra.operators import Filter, Project, TimeWindow
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Node]:
    """The lower one."""
    return [node.inputs[0]]


def rewrite(node: Node, lower: Node) -> Node:
    """The lower one on top of the upper one."""
    return swapped(node, lower)


ROWS_BELOW_TIME_WINDOW = Rule(
    name="rows-below-time-window",
    equation="filter(p, window(S)) = window(filter(p, S)); the same of a projection",
    shape=Shape((Filter, Project), Shape(TimeWindow)),
    match=match,
    rewrite=rewrite,
)

ROWS_ABOVE_TIME_WINDOW = Rule(
    name="rows-above-time-window",
    equation="window(filter(p, S)) = filter(p, window(S)); the same of a projection",
    shape=Shape(TimeWindow, Shape((Filter, Project))),
    match=match,
    rewrite=rewrite,
)
