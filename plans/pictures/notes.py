"""What stands beside an operator in a drawing: what is known of its output without running it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    has_arrival_order,
    has_ordered_ends,
    is_chronon_stream,
    keys,
    logical,
)


class Notes(NamedTuple):
    """The properties of a node of a logical or a physical plan.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer?").window(60)
    >>> print("; ".join(Notes(bids.node).lines()))
    not snapshot-reducible, ends ordered; (item integer, bidder integer null)
    >>> print("; ".join(Notes(bids.group_by("item").aggregate(n=count()).node).lines()))
    snapshot-reducible; key (item); (item integer, n integer)
    """

    node: Node

    def lines(self) -> tuple[str, ...]:
        """The properties that hold, the keys and the columns, as one would say it."""
        node = self.node
        held = [
            ("" if logical(node).is_snapshot_reducible else "not ") + "snapshot-reducible",
            *(["chronons"] if is_chronon_stream(node) else []),
            *(["ends ordered"] if has_ordered_ends(node) else []),
            *(["in order of arrival"] if has_arrival_order(node) else []),
        ]
        return (", ".join(held), *_key_lines(keys(node)), str(node.schema))

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "snapshot_reducible": logical(self.node).is_snapshot_reducible,
            "chronons": is_chronon_stream(self.node),
            "ends_ordered": has_ordered_ends(self.node),
            "arrival_order": has_arrival_order(self.node),
            "keys": [sorted(key) for key in keys(self.node)],
            "columns": [
                {"name": column.name, "type": column.type.value, "nullable": column.nullable}
                for column in self.node.schema
            ],
        }


def _key_lines(sets: Iterable[frozenset[str]]) -> list[str]:
    shown = [f"({', '.join(sorted(key))})" for key in sets]
    if not shown:
        return []
    if shown == ["()"]:
        return ["at most one row"]
    return [f"{'key' if len(shown) == 1 else 'keys'} {', '.join(shown)}"]
