"""A scenario's plans as joins of three streams, which policies can be priced on without an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from midstream.plans.algebra.operators import Filter, Join, Project, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.expressions.expressions import TRUE, Col, join_keys
from midstream.plans.values.streams import Payload
from midstream.scenarios.policies.case import Case, Key, Order

Arrived = Mapping[str, Sequence[tuple[int, Payload]]]
"""By stream, the starts and payloads of its elements, in order."""

BUCKET = 5
"""In windows."""


@dataclass(frozen=True)
class Joined:
    """The case of a scenario's streams, and which plan joins which two streams first."""

    case: Case
    names: Mapping[Order, str]

    def order(self, plan: str) -> Order:
        """The streams that a plan joins first."""
        return next(order for order, name in self.names.items() if name == plan)


def joined(name: str, plans: Mapping[str, Plan], arrived: Arrived, bucket: int | None) -> Joined:
    """Read plans as orders of one join of three streams.

    Each plan is (X ⋈ Y) ⋈ Z with equal columns, or without a condition, between X and Y. Each input is a
    time window over a stream, all of one size; above it there may be filters and projections. Projections may
    also stand above joins.

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
    leaves = next(iter(found.values())).leaves
    if any({*one.leaves} != {*leaves} for one in found.values()):
        raise ValueError("the plans read different streams")
    passing = {stream: leaf.passing(arrived[stream]) for stream, leaf in leaves.items()}
    for plan, one in found.items():
        for stream, leaf in one.leaves.items():
            if leaf.passing(arrived[stream]) != passing[stream]:
                raise ValueError(f"plan {plan} joins other rows of {stream} than the first plan")
    keys = {
        stream: tuple(dict.fromkeys(k for one in found.values() for k in one.keys_of(stream)))
        for stream in leaves
    }
    window = windows.pop()
    case = Case(
        name=name,
        window=window,
        bucket=bucket or BUCKET * window,
        columns={stream: tuple(map(_label, of_it)) for stream, of_it in keys.items()},
        on={one.order: (_label(one.on[0]), _label(one.on[1])) for one in found.values()},
        streams={
            stream: [
                (start, tuple(_key(leaves[stream], key, payload) for key in keys[stream]))
                for start, payload in rows
            ]
            for stream, rows in passing.items()
        },
    )
    if not case.arrivals:
        raise ValueError("nothing arrives")
    return Joined(case, names)


Columns = tuple[str, ...]
"""Of a stream, by which its elements are joined; none where all of them agree."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """An input of a join: a window over a stream, and the filters and projections above it, from below."""

    source: Source
    window: int
    above: tuple[Node, ...]

    def passing(self, rows: Sequence[tuple[int, Payload]]) -> list[tuple[int, Payload]]:
        """What is not filtered out."""
        made = [_of_row(node) for node in self.above]
        return [(start, payload) for start, payload in rows if _passes(made, payload)]

    def column(self, name: str) -> str:
        """The column of the stream that has a name above the filters and projections."""
        for node in reversed(self.above):
            if isinstance(node.operator, Project):
                expression = dict(node.operator.columns)[name]
                if not isinstance(expression, Col):
                    raise ValueError(f"found a join by {expression}, expected columns of streams")
                name = expression.name
        return name


@dataclass(frozen=True, slots=True)
class _FirstJoin:
    """What a plan joins first, by which columns of the streams; and all its inputs, by stream."""

    order: Order
    on: tuple[Columns, Columns]
    leaves: Mapping[str, _Leaf]

    def keys_of(self, stream: str) -> list[Columns]:
        """The columns by which a stream is joined first; none where it is joined last."""
        return [columns for one, columns in zip(self.order, self.on, strict=True) if one == stream]


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
    sides = leaves[0], leaves[1]
    named = sorted((sides[0].column(one), sides[1].column(other)) for one, other in pairs)
    return _FirstJoin(
        order=(sides[0].source.stream, sides[1].source.stream),
        on=(tuple(one for one, _ in named), tuple(other for _, other in named)),
        leaves=by_stream,
    )


def _below_projections(node: Node) -> Node:
    while isinstance(node.operator, Project):
        node = node.inputs[0]
    return node


def _leaf(expected: str, node: Node) -> _Leaf:
    above = []
    while isinstance(node.operator, Project | Filter):
        above.append(node)
        node = node.inputs[0]
    window = node.operator
    if not isinstance(window, TimeWindow) or window.size is None or window.slide != 1 or window.bounds:
        raise ValueError(f"{expected}, found {window} below a join")
    source = node.inputs[0].operator
    if not isinstance(source, Source) or source.intervals:
        raise ValueError(f"{expected}, found {source} below a window")
    return _Leaf(source, window.size, tuple(reversed(above)))


Made = Callable[[Payload], Sequence[Payload]]


def _of_row(node: Node) -> Made:
    return cast("Project | Filter", node.operator).of_row(node.inputs[0].schema)


def _passes(made: Sequence[Made], payload: Payload) -> bool:
    for one in made:
        rows = one(payload)
        if not rows:
            return False
        (payload,) = rows
    return True


def _label(columns: Columns) -> str:
    return ", ".join(columns)


def _key(leaf: _Leaf, columns: Columns, payload: Payload) -> Key:
    values = tuple(payload[leaf.source.columns.index(column)] for column in columns)
    return cast("Key", values[0] if len(values) == 1 else values)
