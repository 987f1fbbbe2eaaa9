"""Let a projection and a count window change places.

    project(f, window(rows N, S))  =  window(rows N, project(f, S))

Why      A projection changes neither when rows come nor how many, and that is all that the window asks for.
Gain     Below: smaller rows in the window. Above: it can be shared.
Source   thesis, (10.11)

A filter changes how many rows there are, so that with it the equation does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.windows.swapped import swapped
from midstream.plans.algebra.operators import CountWindow, Project
from midstream.plans.algebra.plan import Node


def match(node: Node) -> Iterable[Node]:
    """The lower one."""
    return [node.inputs[0]]


def rewrite(node: Node, lower: Node) -> Node:
    """The lower one on top of the upper one."""
    return swapped(node, lower)


PROJECTION_BELOW_COUNT_WINDOW = Rule(
    name="projection-below-count-window",
    equation="project(f, count window(S)) = count window(project(f, S))",
    shape=Shape(Project, Shape(CountWindow)),
    match=match,
    rewrite=rewrite,
)

PROJECTION_ABOVE_COUNT_WINDOW = Rule(
    name="projection-above-count-window",
    equation="count window(project(f, S)) = project(f, count window(S))",
    shape=Shape(CountWindow, Shape(Project)),
    match=match,
    rewrite=rewrite,
)
