"""Aggregates computed in two steps: of parts of a group, then of the results of the parts.

count         the sum of the counts
min, max      the smallest of the smallest, the largest of the largest
sum           the sum of the sums, of integers: sums of floats are rounded, and rounded again
avg           the sum of the sums by the sum of the counts, of integers

Other functions, and functions of distinct values, do not follow from the results of parts.
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
    """The functions of the parts, the functions that merge their results, and the final expressions."""

    first: Calls
    second: Calls
    results: tuple[tuple[str, Expression], ...]

    def grouped(self, keys: tuple[str, ...], parts: Node) -> Node:
        """The second step over the results of the parts, with a projection if final expressions differ."""
        node = Node(Aggregate(keys, self.second), (parts,))
        if all(isinstance(result, Col) for _, result in self.results):
            return node
        return Node(Project((*((key, Col(key)) for key in keys), *self.results)), (node,))


def two_steps(calls: Calls, taken: Iterable[str]) -> TwoSteps:
    """Split aggregates into two steps; the names of partial results are not among `taken`.

    Aggregates that cannot be split are written in the same way: check `is_decomposable` first.
    """
    names = {*taken}
    first: list[tuple[str, AggregateCall]] = []
    second: list[tuple[str, AggregateCall]] = []
    results: list[tuple[str, Expression]] = []

    def part(name: str, call: AggregateCall, whole: str) -> str:
        """Add a partial aggregate and its merging function; return the name of the latter."""
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
    """The function that merges the partial results of an aggregate."""
    if call.function == "count" and not call.distinct:
        return AggregateCall("sum", Col(name))
    return AggregateCall(call.function, Col(name), call.distinct, call.k)


def is_decomposable(call: AggregateCall, schema: Schema) -> bool:
    """True if the aggregate of the whole follows exactly from those of parts."""
    if call.distinct:
        return False
    if call.function in ("sum", "avg"):
        assert call.argument is not None
        return call.argument.kind(schema).type is Type.INTEGER
    return call.function in ("count", "min", "max")
