"""Checks and combinations of the schemas of an operator's inputs."""

from __future__ import annotations

from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Column, Schema, Type


def both_sides(name: str, inputs: tuple[Schema, ...]) -> Schema:
    """The columns of both sides."""
    left, right = inputs
    common = [column for column in left.names if column in right]
    if common:
        raise PlanError(
            f"{name}: both sides have a column {common[0]}; rename one, for example with .alias()",
            column=common[0],
        )
    return left.concat(right)


def common_schema(name: str, inputs: tuple[Schema, ...]) -> Schema:
    first = inputs[0]
    for other in inputs[1:]:
        if [(c.name, c.type) for c in first] != [(c.name, c.type) for c in other]:
            raise PlanError(
                f"{name}: found inputs {first} and {other}, expected the same names and types"
                f"{first.put_right(other, 'the other input')}"
            )
    return Schema(
        tuple(
            Column(
                column.name,
                column.type,
                any(schema.columns[i].nullable for schema in inputs),
                column.time if all(schema.columns[i].time == column.time for schema in inputs) else None,
            )
            for i, column in enumerate(first)
        )
    )


def check_condition(condition: Expression, schema: Schema) -> None:
    kind = condition.kind(schema)
    if kind.type not in (Type.BOOLEAN, Type.ANY):
        raise PlanError(f"{condition} is {kind.type.value}, expected a condition")
