"""Aggregates computed in two steps: of parts of a group, then of what came of the parts.

    count         the sum of the counts
    min, max      the smallest of the smallest, the largest of the largest
    sum           the sum of the sums, of integers: sums of floats are rounded, and rounded again
    avg           the sum of the sums by the sum of the counts, of integers

Of others, and of different values only, the parts do not tell the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from midstream.plans.algebra.operators import Aggregate, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Binary, Col, Expression
from midstream.plans.values.schema import Schema, Type, unused

Calls = tuple[tuple[str, AggregateCall], ...]


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """What is computed of parts, of what came of them, and of that."""

    first: Calls
    second: Calls
    results: tuple[tuple[str, Expression], ...]

    def grouped(self, keys: tuple[str, ...], parts: Node) -> Node:
        """The second step over what came of the parts, and the results if they are others."""
        node = Node(Aggregate(keys, self.second), (parts,))
        if all(isinstance(result, Col) for _, result in self.results):
            return node
        return Node(Project((*((key, Col(key)) for key in keys), *self.results)), (node,))


def two_steps(calls: Calls, taken: Iterable[str]) -> TwoSteps:
    """Some aggregates in two steps; what comes of the parts has names that are not taken.

    What cannot be computed so is written as if it could: `is_decomposable` tells.
    """
    names = {*taken}
    first: list[tuple[str, AggregateCall]] = []
    second: list[tuple[str, AggregateCall]] = []
    results: list[tuple[str, Expression]] = []

    def part(name: str, call: AggregateCall, whole: str) -> str:
        """A partial aggregate, and what is made of it; the name of that."""
        name = unused(name, names if whole else names | {*dict(calls)})
        names.add(name)
        first.append((name, call))
        second.append((whole or name, merging(call, name)))
        return second[-1][0]

    for name, call in calls:
        if call.function == "avg" and not call.distinct:
            total, number = (AggregateCall(f, call.argument) for f in ("sum", "count"))
            above, below = part(f"{name} sum", total, ""), part(f"{name} count", number, "")
            results.append((name, Binary("/", Col(above), Col(below))))
        else:
            part(name, call, name)
            results.append((name, Col(name)))
    return TwoSteps(tuple(first), tuple(second), tuple(results))


def merging(call: AggregateCall, name: str) -> AggregateCall:
    """What makes the aggregate of the whole from those of parts."""
    if call.function == "count" and not call.distinct:
        return AggregateCall("sum", Col(name))
    return AggregateCall(call.function, Col(name), call.distinct, call.k)


def is_decomposable(call: AggregateCall, schema: Schema) -> bool:
    """Whether the aggregates of parts tell exactly that of the whole."""
    if call.distinct:
        return False
    if call.function in ("sum", "avg"):
        assert call.argument is not None
        return call.argument.kind(schema).type is Type.INTEGER
    return call.function in ("count", "min", "max")
