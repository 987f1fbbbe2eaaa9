"""Queries over joins, with operators and filters between and above them, and statistics, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count, max_, sum_
from midstream.plans.expressions.operands import Operand, col

VALUES = 10
WINDOWS = (60, 60, 60, 600)


@st.composite
def queries_with_statistics(draw: st.DrawFn) -> tuple[Plan, Statistics]:
    """A query over two to four streams, whose filters often contradict or imply each other."""
    used = iter(range(1000))
    parts = [
        draw(_changed(draw(_filtered(draw(_leaf(number)))), next(used)))
        for number in range(draw(st.integers(2, 4)))
    ]
    while len(parts) > 1:
        one = parts.pop(draw(st.integers(0, len(parts) - 1)))
        other = parts.pop(draw(st.integers(0, len(parts) - 1)))
        made = draw(_changed(draw(_filtered(draw(_combined(one, other, next(used))))), next(used)))
        parts.append(draw(_filtered(made)) if draw(st.booleans()) else made)
    plan = parts[0].plan()
    return plan, draw(_statistics(plan))


@st.composite
def _condition(draw: st.DrawFn, names: Sequence[str]) -> Operand:
    one = col(draw(st.sampled_from(names)))
    value = draw(st.integers(0, VALUES - 1))
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            return one < value
        case 3 | 4 | 5:
            return one > value
        case 6:
            return one == value
        case 7:
            return one >= value
        case 8:
            return one < col(draw(st.sampled_from(names)))
        case _:
            return one == col(draw(st.sampled_from(names)))


@st.composite
def _filtered(draw: st.DrawFn, one: Stream) -> Stream:
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 3)))):
        first, *more = draw(st.lists(_condition(one.schema.names), min_size=1, max_size=2))
        one = one.filter(first & more[0] if more else first)
    return one


@st.composite
def _leaf(draw: st.DrawFn, number: int) -> Stream:
    columns = {f"k{number}": "integer", f"c{number}": "integer"}
    return stream(f"s{number}", columns).window(draw(st.sampled_from(WINDOWS)))


@st.composite
def _changed(draw: st.DrawFn, one: Stream, number: int) -> Stream:
    name = st.sampled_from(one.schema.names)
    match draw(st.integers(0, 11)):
        case 0:
            return one.distinct()
        case 1:
            return one.select(*draw(st.lists(name, min_size=1, unique=True)))
        case 2:
            kept = draw(st.lists(name, min_size=1, unique=True))
            return one.select(*kept, **{f"p{number}": col(draw(name)) + col(draw(name))})
        case 3:
            keys = draw(st.lists(name, min_size=1, max_size=2, unique=True))
            call = draw(st.sampled_from((lambda _: count(), sum_, max_)))(draw(name))
            return one.group_by(*keys).aggregate(**{f"g{number}": call})
        case _:
            return one


@st.composite
def _combined(draw: st.DrawFn, one: Stream, other: Stream, number: int) -> Stream:
    kind = draw(st.integers(0, 11))
    if kind == 0:
        width = min(len(one.schema), len(other.schema), 2)
        left, right = (
            each.select(**{f"u{number}_{i}": col(name) for i, name in enumerate(each.schema.names[:width])})
            for each in (one, other)
        )
        return left.union(right)
    ours, theirs = st.sampled_from(one.schema.names), st.sampled_from(other.schema.names)
    if draw(st.integers(0, 4)) == 0:
        return one.join(other)
    on = [(draw(ours), draw(theirs)) for _ in range(draw(st.sampled_from((1, 1, 1, 2))))]
    if kind == 1:
        return one.semi_join(other, on=on)
    return one.anti_join(other, on=on) if kind == 2 else one.join(other, on=on)


@st.composite
def _statistics(draw: st.DrawFn, plan: Plan) -> Statistics:
    streams = {}
    for node in plan.nodes:
        if node.inputs and not node.operator.is_snapshot_reducible:  # type: ignore[union-attr]
            row = st.tuples(*[st.integers(0, VALUES - 1)] * len(node.schema))
            rows = draw(st.lists(row, min_size=8, max_size=16)) if draw(st.booleans()) else None
            streams[node] = StreamStatistics(
                draw(st.sampled_from((0.2, 1.0, 5.0, 30.0))),
                float(node.operator.size),  # type: ignore[union-attr]
                sample=None if rows is None else Sample(node.schema, rows),
            )
    return Statistics(streams)
