"""Let duplicate elimination change places with a projection that keeps different rows different.

    distinct(project(S))  =  project(distinct(S))        if the projection keeps a key of distinct(S)

Why      Rows that agree on a key are the same row, so that each row of the output comes from one only.
Gain     Below: fewer rows to compute. Above: smaller rows to keep.
Guard    A projection that drops a column makes one row of different ones: once above, often below.
         An expression that tells 0.0 from -0.0, which are equal, is asked of one of them only.
Source   ours, by (8.2) and (8.5)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.faithful import asks_equal_rows_alike
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_duplicate_free


def match_below(node: Node) -> Iterable[Node]:
    """The projection."""
    return node.inputs


def tells_rows_apart(node: Node, projection: Node) -> bool:
    """Whether different rows stay different: else the projection makes duplicates."""
    return is_duplicate_free(rewrite_below(node, projection))


def tells_no_equal_rows_apart(node: Node, projection: Node) -> bool:
    """Whether the operator asks equal rows alike, of which one is kept."""
    return asks_equal_rows_alike(projection)


def rewrite_below(node: Node, projection: Node) -> Node:
    """The projection over its input without duplicates."""
    return projection.with_inputs((distinct(projection.inputs[0]),))


def match_above(node: Node) -> Iterable[Node]:
    """The projection."""
    return [node]


def makes_no_duplicates(node: Node, projection: Node) -> bool:
    """Whether different rows stay different: else the projection gives duplicates."""
    return is_duplicate_free(projection)


def rewrite_above(node: Node, projection: Node) -> Node:
    """What the projection gives, without duplicates."""
    return distinct(projection.with_inputs(projection.inputs[0].inputs))


DISTINCT_BELOW_PROJECTION = Rule(
    name="distinct-below-projection",
    equation="distinct(project(S)) = project(distinct(S))",
    shape=Shape(Distinct, Shape(Project)),
    match=match_below,
    guards=(tells_rows_apart, tells_no_equal_rows_apart),
    rewrite=rewrite_below,
)

DISTINCT_ABOVE_PROJECTION = Rule(
    name="distinct-above-projection",
    equation="project(distinct(S)) = distinct(project(S))",
    shape=Shape(Project, Shape(Distinct)),
    match=match_above,
    guards=(makes_no_duplicates, tells_no_equal_rows_apart),
    rewrite=rewrite_above,
)
