"""The plans of a scenario as joins of three streams, so that policies can be priced without an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from midstream.plans.algebra.operators import Filter, Join, Project, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.expressions.expressions import TRUE, join_keys
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Payload
from midstream.scenarios.trials.policies.case import Case, Key, Order, Row

Arrived = Mapping[str, Sequence[tuple[int, Payload]]]
"""By stream, the starts and payloads of its elements, in order."""

BUCKET = 5
"""Length of a bucket, in windows."""

FILTERED = "filtered out"
"""The name of a stream of rows that filters above windows drop; no order joins it.

An engine keeps both plans until these rows have expired too.
"""


@dataclass(frozen=True)
class Joined:
    """The case of a scenario's streams, and the name of the plan that joins each two streams first."""

    case: Case
    names: Mapping[Order, str]

    def order(self, plan: str) -> Order:
        """The streams that a plan joins first."""
        return next(order for order, name in self.names.items() if name == plan)


def joined(name: str, plans: Mapping[str, Plan], arrived: Arrived, bucket: int | None) -> Joined:
    """Read plans as orders of one join of three streams.

    Each plan is (X ⋈ Y) ⋈ Z with equal columns, or without a condition, between X and Y. Each input is a
    time window over a stream, all of one size; above it there may be filters, equal in each plan, and
    projections. Projections may also stand above joins.

    Raises   ValueError, saying what was found and expected, where plans have another shape.
    """
    found = {plan: _first_join(plan, one) for plan, one in plans.items()}
    names: dict[Order, str] = {}
    for plan, one in found.items():
        for order, other in names.items():
            if {*order} == {*one.order}:
                raise ValueError(f"plans {other} and {plan} join {' and '.join(order)} first")
        names[one.order] = plan
    windows = {leaf.window for one in found.values() for leaf in one.leaves.values()}
    if len(windows) > 1:
        raise ValueError(f"found windows of {', '.join(map(str, sorted(windows)))}, expected one size")
    streams = next(iter(found.values())).leaves
    if any({*one.leaves} != {*streams} for one in found.values()):
        raise ValueError("the plans read different streams")
    keys = _Keys({stream: leaf.passing(arrived[stream]) for stream, leaf in streams.items()})
    on = {one.order: keys.of(plan, one, arrived) for plan, one in found.items()}
    window = windows.pop()
    case = Case(
        name=name,
        window=window,
        bucket=bucket or BUCKET * window,
        columns={stream: tuple(of_it) for stream, of_it in keys.values.items()},
        on=on,
        streams=keys.streams(),
    )
    if filtered := _filtered(streams, arrived):
        case = replace(
            case,
            columns={**case.columns, FILTERED: ()},
            streams={**case.streams, FILTERED: filtered},
        )
    return Joined(case, names)


def _filtered(leaves: Mapping[str, _Leaf], arrived: Arrived) -> list[tuple[int, Row]]:
    starts = Counter(start for stream in leaves for start, _ in arrived[stream])
    starts -= Counter(start for stream, leaf in leaves.items() for start, _ in leaf.passing(arrived[stream]))
    return [(start, ()) for start in sorted(starts)]


Passed = list[tuple[int, Payload]]
"""The starts of rows that pass the filters, and the rows as a plan joins them."""


class _Keys:
    """The first join's columns, identified by their values, as plans may name them differently.

    passing     by stream, the rows that the first plan joins
    """

    def __init__(self, passing: Mapping[str, Passed]) -> None:
        self._starts = {stream: [start for start, _ in rows] for stream, rows in passing.items()}
        self.values: dict[str, dict[str, list[Key]]] = {stream: {} for stream in passing}

    def of(self, plan: str, first: _FirstJoin, arrived: Arrived) -> tuple[str, str]:
        """The names of a plan's first join columns."""
        for stream, leaf in first.leaves.items():
            if [start for start, _ in leaf.passing(arrived[stream])] != self._starts[stream]:
                raise ValueError(f"plan {plan} joins other rows of {stream} than the first plan")
        names = []
        for stream, columns in zip(first.order, first.on, strict=True):
            leaf = first.leaves[stream]
            values = [_key(leaf, columns, row) for _, row in leaf.passing(arrived[stream])]
            names.append(self._name(stream, columns, values))
        return names[0], names[1]

    def streams(self) -> dict[str, list[tuple[int, Row]]]:
        """By stream, the rows' starts and values in all these columns."""
        return {
            stream: [(start, tuple(of_it[i] for of_it in known.values())) for i, start in enumerate(starts)]
            for (stream, starts), known in zip(self._starts.items(), self.values.values(), strict=True)
        }

    def _name(self, stream: str, columns: Columns, values: list[Key]) -> str:
        known = self.values[stream]
        name = next((name for name, others in known.items() if others == values), None)
        if name is None:
            name = ", ".join(columns)
            while name in known:
                name += "'"
            known[name] = values
        return name


Columns = tuple[str, ...]
"""The columns of an input by which its rows are joined; empty for a join without a condition."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """An input of a join: a window over a stream, and the filters and projections above it, from below."""

    source: Source
    window: int
    above: tuple[Node, ...]
    schema: Schema

    def passing(self, rows: Sequence[tuple[int, Payload]]) -> Passed:
        """The rows that pass the filters, as they are joined."""
        made = [_of_row(node) for node in self.above]
        return [(start, row) for start, payload in rows for row in _passed(made, payload)]


@dataclass(frozen=True, slots=True)
class _FirstJoin:
    """The two streams that a plan joins first, the columns of that join, and all inputs by stream."""

    order: Order
    on: tuple[Columns, Columns]
    leaves: Mapping[str, _Leaf]


def _first_join(name: str, plan: Plan) -> _FirstJoin:
    expected = f"plan {name}: expected (X ⋈ Y) ⋈ Z, of three windows over streams"
    if len(plan.outputs) != 1:
        raise ValueError(expected)
    outer = _below_projections(logical_plan(plan).root)
    if not isinstance(outer.operator, Join):
        raise ValueError(f"{expected}, found {outer.operator}")
    inner = [side for side in map(_below_projections, outer.inputs) if isinstance(side.operator, Join)]
    if len(inner) != 1:
        raise ValueError(f"{expected}, found {len(inner)} joins below the last one")
    last = [side for side in outer.inputs if _below_projections(side) is not inner[0]]
    leaves = [_leaf(expected, side) for side in (*inner[0].inputs, *last)]
    by_stream = {leaf.source.stream: leaf for leaf in leaves}
    if len(by_stream) != 3:
        raise ValueError(f"{expected}, found {', '.join(leaf.source.stream for leaf in leaves)}")
    left, right = (side.schema for side in inner[0].inputs)
    pairs, rest = join_keys(inner[0].operator.condition, left, right)  # type: ignore[union-attr]
    if rest != TRUE:
        raise ValueError(f"plan {name}: found a join by {rest}, expected equal columns")
    pairs.sort()
    return _FirstJoin(
        order=(leaves[0].source.stream, leaves[1].source.stream),
        on=(tuple(one for one, _ in pairs), tuple(other for _, other in pairs)),
        leaves=by_stream,
    )


def _below_projections(node: Node) -> Node:
    while isinstance(node.operator, Project):
        node = node.inputs[0]
    return node


def _leaf(expected: str, node: Node) -> _Leaf:
    schema, above = node.schema, []
    while isinstance(node.operator, Project | Filter):
        above.append(node)
        node = node.inputs[0]
    window = node.operator
    if not isinstance(window, TimeWindow) or window.size is None or window.slide != 1 or window.bounds:
        raise ValueError(f"{expected}, found {window} below a join")
    source = node.inputs[0].operator
    if not isinstance(source, Source) or source.intervals:
        raise ValueError(f"{expected}, found {source} below a window")
    return _Leaf(source, window.size, tuple(reversed(above)), schema)


Made = Callable[[Payload], Sequence[Payload]]


def _of_row(node: Node) -> Made:
    return cast("Project | Filter", node.operator).of_row(node.inputs[0].schema)


def _passed(made: Sequence[Made], payload: Payload) -> Sequence[Payload]:
    """The row that is joined, or none."""
    rows: Sequence[Payload] = (payload,)
    for one in made:
        rows = one(rows[0]) if rows else rows
    return rows


def _key(leaf: _Leaf, columns: Columns, row: Payload) -> Key:
    values = tuple(row[leaf.schema.index(column)] for column in columns)
    return cast("Key", values[0] if len(values) == 1 else values)
