"""Notes for the author of a query: what it may mean otherwise than other databases.

They are about joins and groupings without a window, aggregates over no rows, and limits of decimals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from midstream.plans.algebra import properties
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Distinct,
    Join,
    Logical,
    Relation,
    SemiJoin,
    Source,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Binary, Call, Col, Expression
from midstream.plans.values.schema import Schema, Type

Decimals = Mapping[str, Mapping[str, int]]
"""By stream or relation, the digits behind the point of its columns of decimals, or UNKNOWN_SCALE."""

LIMITS = ("==", "!=", "<", "<=", ">", ">=")
"""The comparisons of a value with a limit."""

WORDS: dict[type[Logical], str] = {
    Join: "join",
    SemiJoin: "join",
    AntiJoin: "join",
    Aggregate: "grouping",
    Distinct: "DISTINCT",
}
"""The words for operators that combine rows."""


def windowless(plan: Plan, with_now: Collection[Node]) -> tuple[str, ...]:
    """A sentence for each operator that combines rows of streams without any window.

    Nodes in `with_now` have NOW as their window.
    """
    found = properties.windowless(plan, with_now)
    return tuple(dict.fromkeys(_sentence(WORDS[type(operator)], streams) for operator, streams in found))


def of_all_rows(plan: Plan, groupings: Collection[Node]) -> tuple[str, ...]:
    """A sentence if one of the plan's groupings of all rows has no result over no rows (thesis, 8.9)."""
    if not any(node in groupings for node in plan.nodes):
        return ()
    return (
        "an aggregate without GROUP BY has no result at an instant without rows; other databases give one "
        "row there, with a COUNT of 0. If no result is right for you, add HAVING COUNT(*) > 0, which says so",
    )


def limits_of_decimals(plan: Plan, decimals: Decimals) -> tuple[str, ...]:
    """A sentence for each condition that compares a value computed of decimals, which are floats here."""
    if not any(decimals.values()):
        return ()
    held: dict[Node, dict[str, dict[str, int]]] = {}
    found: dict[str, None] = {}
    for node in plan.nodes:
        held[node] = _decimals_of(node, held, decimals)
        condition = getattr(node.operator, "condition", None)
        if not isinstance(condition, Expression):
            continue
        columns = {name: origins for child in node.inputs for name, origins in held[child].items()}
        both = Schema(tuple({one.name: one for child in node.inputs for one in child.schema}.values()))
        for comparison in _comparisons(condition):
            for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
                origins = {k: v for name in side.columns() for k, v in columns.get(name, {}).items()}
                if origins and not _is_exact(side, other) and side.kind(both).type is Type.FLOAT:
                    found[_limit(comparison, side, origins)] = None
    return tuple(found)


def _is_exact(side: Expression, other: Expression) -> bool:
    """True for a comparison of two columns, and for a rounded value: equal decimals are equal floats."""
    is_rounded = isinstance(side, Call) and side.function == "round"
    return is_rounded or (isinstance(side, Col) and isinstance(other, Col))


def _decimals_of(
    node: Node, held: Mapping[Node, Mapping[str, dict[str, int]]], decimals: Decimals
) -> dict[str, dict[str, int]]:
    """By column of a node, the columns of decimals of which it is computed, with their digits."""
    operator = node.operator
    if isinstance(operator, Source | Relation):
        name = operator.stream if isinstance(operator, Source) else operator.relation
        return {column: {column: digits} for column, digits in decimals.get(name, {}).items()}
    assert isinstance(operator, Logical)  # nobody has planned how the query runs
    schemas = tuple(child.schema for child in node.inputs)
    found: dict[str, dict[str, int]] = {}
    for name in node.schema.names:
        reads = [
            frozenset({name}) if name in schema.names else read
            for schema, read in zip(schemas, operator.columns_read(frozenset({name}), schemas), strict=True)
        ]
        origins: dict[str, int] = {}
        for child, columns in zip(node.inputs, reads, strict=True):
            for column in columns:
                origins |= held[child].get(column, {})
        if origins:
            found[name] = origins
    return found


def _comparisons(condition: Expression) -> Iterator[Binary]:
    if isinstance(condition, Binary) and condition.operator in LIMITS:
        yield condition
    for part in condition.parts():
        yield from _comparisons(part)


def _limit(comparison: Binary, side: Expression, origins: Mapping[str, int]) -> str:
    digits = max(origins.values())
    places = "n" if digits < 0 else f"{digits * (1 + str(side).count('*'))}"
    names = " and ".join(sorted(origins))
    verb = "holds" if len(origins) == 1 else "hold"
    return (
        f"{names} {verb} decimals, which are floats here, so that {comparison} may be wrong at its limit; "
        f"write ROUND({side}, {places}) there"
        f"{', where n is the number of digits behind the point' if digits < 0 else ''}"
    )


def _sentence(word: str, streams: Collection[str]) -> str:
    first, names = min(streams), " and ".join(sorted(streams))
    return (
        f"the {word} sees rows of {names} at their own timestamp only, as there is no window; write "
        f"{first} WINDOW(RANGE …), or {first} WINDOW(NOW) if that is meant"
    )
