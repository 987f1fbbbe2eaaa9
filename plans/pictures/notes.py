"""What stands beside an operator in a drawing: what is known of its output without running it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    has_arrival_order,
    has_ordered_ends,
    is_chronon_stream,
    keys,
    logical,
)
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class Notes:
    """The properties of an operator and of its output."""

    is_snapshot_reducible: bool
    is_chronon_stream: bool
    has_ordered_ends: bool
    has_arrival_order: bool
    keys: tuple[frozenset[str], ...]
    schema: Schema

    def lines(self) -> tuple[str, ...]:
        """The properties that hold, the keys and the columns, as one would say it."""
        held = [
            ("" if self.is_snapshot_reducible else "not ") + "snapshot-reducible",
            *(["chronons"] if self.is_chronon_stream else []),
            *(["ends ordered"] if self.has_ordered_ends else []),
            *(["in order of arrival"] if self.has_arrival_order else []),
        ]
        return (", ".join(held), *_key_lines(self.keys), str(self.schema))

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "snapshot_reducible": self.is_snapshot_reducible,
            "chronons": self.is_chronon_stream,
            "ends_ordered": self.has_ordered_ends,
            "arrival_order": self.has_arrival_order,
            "keys": [sorted(key) for key in self.keys],
            "columns": [
                {"name": column.name, "type": column.type.value, "nullable": column.nullable}
                for column in self.schema
            ],
        }


def notes(node: Node) -> Notes:
    """The properties of a node of a logical or a physical plan.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer?").window(60)
    >>> print("; ".join(notes(bids.node).lines()))
    not snapshot-reducible, ends ordered; (item integer, bidder integer null)
    >>> print("; ".join(notes(bids.group_by("item").aggregate(n=count()).node).lines()))
    snapshot-reducible; key (item); (item integer, n integer)
    """
    return Notes(
        logical(node).is_snapshot_reducible,
        is_chronon_stream(node),
        has_ordered_ends(node),
        has_arrival_order(node),
        keys(node),
        node.schema,
    )


def _key_lines(keys: Iterable[frozenset[str]]) -> list[str]:
    shown = [f"({', '.join(sorted(key))})" for key in keys]
    if not shown:
        return []
    if shown == ["()"]:
        return ["at most one row"]
    return [f"{'key' if len(shown) == 1 else 'keys'} {', '.join(shown)}"]
