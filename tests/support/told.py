"""What is told of the columns of a subplan, compared with what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from midstream.plans.algebra.operators.columns import Dependency
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    dependencies,
    is_duplicate_free,
    keys,
    lasting_dependencies,
    lasting_keys,
)
from midstream.plans.algebra.specification import snapshots
from midstream.plans.values.streams import Element, Payload


def breaks(node: Node, told: Iterable[Dependency], rows: Iterable[Payload]) -> Iterator[Dependency]:
    """The dependencies that do not hold among some rows."""
    distinct = set(rows)
    for one in told:
        left = [node.schema.index(name) for name in sorted(one.columns)]
        right = [node.schema.index(name) for name in sorted(one.determines)]
        found: dict[Payload, Payload] = {}
        for row in distinct:
            values = tuple(row[i] for i in right)
            if found.setdefault(tuple(row[i] for i in left), values) != values:
                yield one


def breaks_key(node: Node, key: Iterable[str], rows: Iterable[Payload]) -> bool:
    """Whether two of some rows agree on a key."""
    columns = [node.schema.index(name) for name in sorted(key)]
    values = [tuple(row[i] for i in columns) for row in rows]
    return len(set(values)) < len(values)


def check(node: Node, streams: Mapping[str, Sequence[Element]]) -> int:
    """Raise AssertionError where something is told of a subplan that is not so; gives how much is told."""
    told, lasting, once = dependencies(node), lasting_dependencies(node), lasting_keys(node)
    number = len(told) + len(lasting) + len(once) + len(keys(node))
    if number == 0:
        return 0
    at = snapshots(Plan(node), streams)
    for snapshot in at.values():
        assert not list(breaks(node, told, snapshot))
        assert not any(breaks_key(node, key, snapshot.elements()) for key in keys(node))
        assert not is_duplicate_free(node) or max(snapshot.values(), default=1) == 1
    assert not list(breaks(node, lasting, (row for snapshot in at.values() for row in snapshot)))
    for key in once:
        assert not breaks_key(node, key, (row for part in at.values() for row in part.elements()))
    return number
