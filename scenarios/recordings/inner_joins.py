"""The joins of a plan that stand below others, whose results are intermediate; each joins two inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from midstream.plans.algebra.operators import Join, Project
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan
from midstream.plans.expressions.expressions import TRUE, Col, column_equality, conjuncts

Named = tuple[int, str]
"""An input, by its number, and a column of it."""


@dataclass(frozen=True, order=True)
class InnerJoin:
    """A join of two inputs, by their numbers, the smaller one first; `on` are the columns that agree."""

    left: int
    right: int
    on: tuple[tuple[str, str], ...]


def inner_joins(plan: Plan, inputs: Mapping[Node, int]) -> tuple[InnerJoin, ...] | None:
    """The joins of a plan that stand below others, sorted; None if pairs of inputs do not describe them.

    A join that stands in several places counts once, as it runs once. A join of more than two inputs, with
    filters, or with other conditions than equal columns cannot be described; nor one over other inputs.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> plan = b.join(a, on=[("b", "a")]).join(c, on=[("b", "c")]).plan()
    >>> inner_joins(plan, {one.node: i for i, one in enumerate((a, b, c))})
    (InnerJoin(left=0, right=1, on=(('a', 'b'),)),)
    """
    nodes = logical_plan(plan).nodes
    below = {
        under
        for node in nodes
        if isinstance(node.operator, Join)
        for child in node.inputs
        for under in child.walk()
    }
    found = [inner_join(node, inputs) for node in nodes if isinstance(node.operator, Join) and node in below]
    known = [one for one in found if one is not None]
    return tuple(sorted(set(known))) if len(known) == len(found) else None


def different(of_plans: Iterable[tuple[InnerJoin, ...]]) -> tuple[InnerJoin, ...]:
    """The joins of some plans, each once, in order."""
    return tuple(sorted({join for joins in of_plans for join in joins}))


def inner_join(node: Node, inputs: Mapping[Node, int]) -> InnerJoin | None:
    """A join of two inputs; None for a join that pairs of inputs do not describe."""
    operator = logical(node)
    assert isinstance(operator, Join)
    sides = [_side(child, inputs) for child in node.inputs]
    if any(side is None for side in sides):
        return None
    names: dict[str, Named] = {name: column for side in sides if side for name, column in side.items()}
    numbers = sorted({number for number, _ in names.values()})
    on = set()
    for part in conjuncts(operator.condition) if operator.condition != TRUE else ():
        equal = column_equality(part)
        if not equal:
            return None
        (one, first), (other, second) = sorted(names[name] for name in equal)
        if one == other:
            return None  # a filter
        on.add((first, second))
    return InnerJoin(numbers[0], numbers[1], tuple(sorted(on))) if len(numbers) == 2 else None


def _side(node: Node, inputs: Mapping[Node, int]) -> dict[str, Named] | None:
    """The columns of an input, by their names in a join above it; None where it is no input."""
    if node in inputs:
        return {name: (inputs[node], name) for name in node.schema.names}
    operator = logical(node)
    if not isinstance(operator, Project):
        return None
    below = _side(node.inputs[0], inputs)
    renamed = dict(_renamed(operator))
    return (
        None
        if below is None or len(renamed) < len(operator.columns)
        else {name: below[old] for name, old in renamed.items()}
    )


def _renamed(operator: Project) -> Iterator[tuple[str, str]]:
    for name, expression in operator.columns:
        if isinstance(expression, Col):
            yield name, expression.name
