"""The condition and the payload of pairs, for joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from midstream.plans.expressions.expressions import TRUE, Expression, condition_source, join_keys, pair_scope
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Pairing:
    """Generated source: the condition under which `left` and `right` make a pair, and the pair's payload."""

    condition: str = "True"
    payload: str = "left + right"
    names: dict[str, Any] = field(default_factory=dict)


def pairing(condition: Expression, columns: Sequence[str], left: Schema, right: Schema) -> Pairing:
    """The pairing of a join whose payload is the listed columns of both sides."""
    scope = pair_scope(left, right)
    holds = "True" if condition == TRUE else condition_source(condition, scope)
    if tuple(columns) == left.names + right.names:
        return Pairing(holds, names=scope.names)
    return Pairing(holds, f"({''.join(f'{scope.resolve[name]}, ' for name in columns)})", scope.names)


def equal_columns(
    condition: Expression, left: Schema, right: Schema
) -> tuple[list[int], list[int], Expression]:
    """The columns of both sides that a condition requires to be equal, and the rest of the condition."""
    keys, rest = join_keys(condition, left, right)
    return [left.index(mine) for mine, _ in keys], [right.index(theirs) for _, theirs in keys], rest
