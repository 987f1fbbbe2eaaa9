"""Notes beside an operator in a drawing: the static properties of its output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    dependencies,
    has_arrival_order,
    has_ordered_ends,
    inclusions,
    is_chronon_stream,
    is_duplicate_free,
    is_start_preserving,
    keys,
    lasting_keys,
    logical,
    longest_validity,
)
from midstream.plans.values.streams import FOREVER


class Notes(NamedTuple):
    """The properties of a node of a logical or a physical plan.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer?").window(60)
    >>> print("; ".join(Notes(bids.node).lines()))
    not snapshot-reducible, ends ordered, valid for 60 chronons at most; (item integer, bidder integer null)
    >>> print("; ".join(Notes(bids.group_by("item").aggregate(n=count()).node).lines()))
    snapshot-reducible, valid for 60 chronons at most; key (item); (item integer, n integer)
    """

    node: Node

    def lines(self) -> tuple[str, ...]:
        """The properties that hold, the facts about columns, and the columns, as text."""
        node = self.node
        longest = longest_validity(node)
        held = [
            ("" if logical(node).is_snapshot_reducible else "not ") + "snapshot-reducible",
            *(["chronons"] if is_chronon_stream(node) else []),
            *(["ends ordered"] if has_ordered_ends(node) else []),
            *(["in order of arrival"] if has_arrival_order(node) else []),
            *(
                [f"valid for {longest} chronons at most"]
                if 1 < (longest := longest_validity(node)) < FOREVER
                else []
            ),
        ]
        once = [f"{line} for all time" for line in _key_lines(lasting_keys(node))]
        return (", ".join(held), *_key_lines(keys(node)), *once, *self._facts(), str(node.schema))

    def _facts(self) -> Iterator[str]:
        """The dependencies that follow from no key, and the declared inclusions."""
        known = keys(self.node)
        for one in dependencies(self.node):
            if not any(key <= one.columns for key in known):
                yield str(one)
        yield from (str(one) for one in inclusions(self.node) if one.is_declared)

    def as_dict(self) -> dict[str, Any]:
        """The properties for JSON."""
        return {
            "snapshot_reducible": logical(self.node).is_snapshot_reducible,
            "chronons": is_chronon_stream(self.node),
            "ends_ordered": has_ordered_ends(self.node),
            "arrival_order": has_arrival_order(self.node),
            "granule": self.node.granule,
            "start_preserving": is_start_preserving(self.node),
            "longest_validity": None if (longest := longest_validity(self.node)) == FOREVER else longest,
            "duplicate_free": is_duplicate_free(self.node),
            "keys": [sorted(key) for key in keys(self.node)],
            "lasting_keys": [sorted(key) for key in lasting_keys(self.node)],
            "dependencies": [
                {"columns": sorted(one.columns), "determines": sorted(one.determines)}
                for one in dependencies(self.node)
            ],
            "inclusions": [
                {
                    "columns": list(one.columns),
                    "of": one.of,
                    "of_columns": list(one.of_columns),
                    "over": list(map(str, one.over)),
                    "declared": one.is_declared,
                }
                for one in inclusions(self.node)
            ],
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
