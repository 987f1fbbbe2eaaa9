"""Hypothesis strategies for streams, interleavings and plans, and the check that a plan runs as it is
specified.

For those who write operators, rules or boxes of their own and want to see them fail. Needs hypothesis.

    from hypothesis import given
    from midstream import testing

    @given(testing.workloads())
    def test_my_engine(workload):
        assert testing.equivalent(workload.specified(), my_engine(workload.plan, workload.events))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from midstream.operators.engine import Engine
from midstream.plans.aggregates import AggregateCall, avg, count, max_, min_, sum_
from midstream.plans.algebra import specified
from midstream.plans.builder import Stream, stream
from midstream.plans.expressions import Col, Const, Expression, conjunction, equality, greatest
from midstream.plans.plan import Plan
from midstream.plans.schema import Type
from midstream.plans.snapshots import Equivalence, NormalForm, compare, equivalent, normal_form
from midstream.plans.streams import FOREVER, Element

__all__ = [
    "Event",
    "Workload",
    "condition",
    "drive",
    "elements",
    "equivalent",
    "interleavings",
    "is_ordered",
    "plans",
    "rows",
    "streams_for",
    "workloads",
]

Event = tuple[Literal["push", "advance", "end"], str, Any]
"""What happens at an engine: elements on a stream, a heartbeat with its time, or a stream's end (with
None)."""

LATEST = 24
"""Generated elements start before this instant."""


@dataclass(frozen=True)
class Workload:
    """A plan, complete streams for it, and an order in which they arrive."""

    plan: Plan
    streams: Mapping[str, Sequence[Element]]
    events: Sequence[Event]

    def specified(self) -> NormalForm:
        """What the results mean by the logical algebra."""
        return specified(self.plan, self.streams)


def rows(columns: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Payloads of small integers, so that they are often equal."""
    return st.tuples(*[st.integers(0, 3)] * columns)


@st.composite
def elements(
    draw: st.DrawFn,
    payloads: st.SearchStrategy[Any] | None = None,
    *,
    chronons: bool = False,
    forever: bool = True,
    max_size: int = 12,
) -> list[Element]:
    """A physical stream with the cases that operators get wrong.

    Ties, one-chronon intervals, intervals that end where others start, gaps, duplicates, and, if asked for,
    ends that never come.
    """
    payloads = rows(2) if payloads is None else payloads
    lengths = st.integers(1, 12)
    if forever:
        lengths = st.one_of(lengths, lengths, lengths, st.just(FOREVER))
    result: list[Element] = []
    time = draw(st.integers(0, 4))
    for _ in range(draw(st.integers(0, max_size))):
        time += draw(st.sampled_from((0, 0, 1, 1, 2, 5)))
        if time >= LATEST:
            break
        result.append((time, time + 1 if chronons else time + draw(lengths), draw(payloads)))
    return result


@st.composite
def interleavings(draw: st.DrawFn, streams: Mapping[str, Sequence[Element]]) -> list[Event]:
    """An order of arrival: batches of any size, heartbeats, skew between streams, streams that idle, ends
    early or late."""
    queues: dict[str, list[Event]] = {}
    for name, complete in streams.items():
        queue: list[Event] = []
        rest = list(complete)
        while rest:
            size = draw(st.integers(1, len(rest)))
            batch, rest = rest[:size], rest[size:]
            queue.append(("push", name, batch))
            if draw(st.booleans()):
                last = int(batch[-1][0])
                latest = int(rest[0][0]) if rest else LATEST + 30
                queue.append(("advance", name, draw(st.integers(last, latest))))
        if draw(st.booleans()):
            queue.append(("end", name, None))
        queues[name] = queue
    events: list[Event] = []
    while waiting := [name for name, queue in queues.items() if queue]:
        events.append(queues[draw(st.sampled_from(waiting))].pop(0))
    return events


def streams_for(plan: Plan, *, forever: bool = True) -> st.SearchStrategy[dict[str, list[Element]]]:
    """Complete streams for all sources of a plan, whose columns must be integers."""
    return st.fixed_dictionaries(
        {
            source.stream: elements(rows(len(source.columns)), chronons=not source.intervals, forever=forever)
            for source in plan.sources
        }
    )


@st.composite
def condition(draw: st.DrawFn, names: Sequence[str]) -> Expression:
    """A condition over integer columns."""
    column = st.sampled_from(names).map(Col)
    operand = st.one_of(column, st.integers(0, 3).map(Const))
    one = Col(draw(st.sampled_from(names)))
    other = draw(operand)
    match draw(st.integers(0, 7)):
        case 0:
            return one < other
        case 1:
            return one.ne(other)
        case 2:
            return ~(one <= other)
        case 3:
            return one.eq(other) | (one > draw(operand))
        case 4:
            return (one % 2).eq(other)
        case 5:
            return (one % other).is_null()
        case 6:
            return greatest(one, draw(operand), one % 2).eq(other)
        case _:
            return one.eq(other) & (draw(column) >= draw(operand))


@dataclass
class _Leaves:
    """Numbers the uses of sources, so that every use has column names of its own."""

    forever: bool
    used: int = 0


@st.composite
def plans(
    draw: st.DrawFn,
    *,
    depth: int = 3,
    preserving: bool = False,
    joins_only: bool = False,
    forever: bool = True,
) -> Plan:
    """A random plan over the streams a, b and c with integer columns.

    `preserving` leaves out what does not preserve starts (duplicate elimination and aggregation);
    `joins_only` leaves joins and filters only; without `forever` there are no unbounded windows.
    """
    return draw(_subplans(depth, _Leaves(forever), preserving or joins_only, joins_only)).plan()


@st.composite
def _subplans(draw: st.DrawFn, depth: int, leaves: _Leaves, preserving: bool, joins_only: bool) -> Stream:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(_leaf(leaves))
    kinds = ["filter", "join", "join"]
    if not joins_only:
        kinds += ["project", "union"]
    if not preserving:
        kinds += ["distinct", "aggregate"]
    kind = draw(st.sampled_from(kinds))
    below = _subplans(depth - 1, leaves, preserving, joins_only)
    one = draw(below)
    names = one.schema.names
    match kind:
        case "filter":
            return one.filter(draw(condition(names)))
        case "project":
            leaves.used += 1
            kept = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
            computed = {f"p{leaves.used}": draw(_computed(names))} if draw(st.booleans()) else {}
            return one.select(*kept, **computed)
        case "union":
            other = draw(below)
            width = min(len(names), len(other.schema))
            leaves.used += 1
            return _narrowed(one, width, leaves.used).union(_narrowed(other, width, leaves.used))
        case "join":
            other = draw(below)
            return one.join(other, on=draw(_join_condition(names, other.schema.names)))
        case "distinct":
            return one.distinct()
        case _:
            leaves.used += 1
            keys = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
            makers = st.sampled_from([lambda c: count(), count, sum_, min_, max_, avg])
            calls: dict[str, AggregateCall] = {
                f"g{leaves.used}_{i}": make(draw(st.sampled_from(names)))
                for i, make in enumerate(draw(st.lists(makers, min_size=1, max_size=3)))
            }
            return one.group_by(*keys).aggregate(**calls)


@st.composite
def _leaf(draw: st.DrawFn, leaves: _Leaves) -> Stream:
    leaves.used += 1
    name = draw(st.sampled_from("abc"))
    # a brings intervals of its own; b and c bring timestamps and get windows, or none, which is a now-window
    source = stream(name, intervals=name == "a", x="integer", y="integer")
    if name != "a":
        size = draw(st.sampled_from((*([None] if leaves.forever else []), 1, 3, 6, 6)))
        source = source.window(size) if size != 1 else source
    return source.rename({"x": f"x{leaves.used}", "y": f"y{leaves.used}"})


def _computed(names: Sequence[str]) -> st.SearchStrategy[Expression]:
    column = st.sampled_from(names).map(Col)
    return st.one_of(
        st.tuples(column, column).map(lambda pair: pair[0] + pair[1]),
        st.tuples(column, column).map(lambda pair: pair[0] * 2 - pair[1]),
        column.map(lambda one: one % 2),
    )


def _narrowed(one: Stream, width: int, number: int) -> Stream:
    """The first columns under common names; what is no integer, such as an average, is replaced by a
    constant."""
    columns = list(one.schema)[:width]
    return one.select(
        **{
            f"u{number}_{i}": Col(column.name) if column.type is Type.INTEGER else Const(0)
            for i, column in enumerate(columns)
        }
    )


@st.composite
def _join_condition(draw: st.DrawFn, left: Sequence[str], right: Sequence[str]) -> Expression:
    parts: list[Expression] = []
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        parts.append(equality(draw(st.sampled_from(left)), draw(st.sampled_from(right))))
    if draw(st.integers(0, 3)) == 0:
        parts.append(Col(draw(st.sampled_from(left))) < Col(draw(st.sampled_from(right))))
    return conjunction(parts)


@st.composite
def workloads(
    draw: st.DrawFn, plan: st.SearchStrategy[Plan] | None = None, *, forever: bool = True
) -> Workload:
    """A random plan with random streams in a random order of arrival."""
    chosen = draw(plans(forever=forever) if plan is None else plan)
    complete = draw(streams_for(chosen, forever=forever))
    return Workload(chosen, complete, draw(interleavings(complete)))


def drive(engine: Engine, events: Iterable[Event]) -> None:
    """Let events happen at an engine."""
    for kind, name, what in events:
        if kind == "push":
            engine.push(name, what)
        elif kind == "advance":
            engine.advance(name, what)
        else:
            engine.end(name)


def is_ordered(results: Sequence[Element]) -> bool:
    """Whether a stream never goes back in time and holds no empty interval."""
    starts = [start for start, _, _ in results]
    return starts == sorted(starts) and all(start < end for start, end, _ in results)


def verdict(expected: NormalForm, results: Iterable[Element]) -> Equivalence:
    """Compare results with what they should mean."""
    return compare(expected, normal_form(results))
