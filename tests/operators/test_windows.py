"""Count-based and partitioned windows: ties, delay, and what they cost."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.operators.base.operator import Operator
from midstream.operators.windows.windows import CountWindow, PartitionedWindow
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import TieError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import FOREVER, Batch, Element, chronons
from midstream.testing import elements

ROWS = stream("s", x="integer", y="integer")
SCHEMA = Schema.of(x="integer", y="integer")

WINDOWS: dict[str, Callable[[Stream], Stream]] = {
    "count": lambda s: s.last(2),
    "count, sliding": lambda s: s.last(3, slide=2),
    "count, unbounded": lambda s: s.last(None),
    "partitioned": lambda s: s.last(2, by=["x"]),
    "partitioned, sliding": lambda s: s.last(2, by=["x", "y"], slide=2),
    "partitioned, unbounded": lambda s: s.last(None, by=["y"]),
    "partitioned, delayed": lambda s: s.last(1, by=["x"], delay=2),
}

windows = pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)


@windows
@given(rows=elements(chronons=True), batch_size=st.integers(1, 4))
def test_ties_are_errors_exactly_where_they_are_specified_to_be(
    window: Callable[[Stream], Stream], rows: list[Element], batch_size: int
) -> None:
    """Of a partitioned window, within a group; and rows of several groups may come together."""
    plan = window(ROWS).plan()
    try:
        expected = specified(plan, {"s": rows})
    except TieError:
        with pytest.raises(TieError, match="found two rows"):
            run(plan, {"s": rows}, batch_size)
    else:
        assert normal_form(run(plan, {"s": rows}, batch_size)) == expected


def make_count() -> Operator:
    return CountWindow(2)


def make_partitioned() -> Operator:
    return PartitionedWindow(["x"], 2, schema=SCHEMA)


TIED: list[tuple[Batch, int]] = [
    ([(5, 6, (1, 0)), (5, 6, (1, 1))], 5),
    ([(4, 5, (1, 0))], 4),
    ([(5, 6, (1, 0)), (8, 9, (2, 0)), (8, 9, (1, 0)), (8, 9, (2, 5))], 8),
    ([(5, 6, (1, 0)), (6, 7, (1, 0)), (6, 7, (1, 0)), (7, 8, (3, 0))], 6),
]


@pytest.mark.parametrize(("batch", "at"), TIED)
@pytest.mark.parametrize("make", [make_count, make_partitioned])
def test_of_a_batch_with_ties_nothing_is_taken(make: Callable[[], Operator], batch: Batch, at: int) -> None:
    """The operator is as it was, and goes on with what comes then."""
    operator, other = make(), make()
    before = [(1, 2, (1, 0)), (3, 4, (1, 7)), (4, 5, (1, 9))]
    assert operator.push(0, before) == other.push(0, before)
    with pytest.raises(TieError, match=f"Window: found two rows .*at {at}, expected one; declare ties=") as e:
        operator.push(0, batch)
    assert e.value.at == at
    assert operator.progress() == other.progress()
    assert list(operator.state()) == list(other.state())
    after = [(5, 6, (1, 2)), (6, 7, (2, 2)), (8, 9, (1, 1))]
    assert operator.push(0, after) == other.push(0, after)
    assert operator.end(0) == other.end(0)


def test_groups_may_have_rows_at_one_instant_and_each_only_one() -> None:
    operator = make_partitioned()
    operator.push(0, [(4, 5, (1, 0)), (4, 5, (2, 0))])
    operator.push(0, [(4, 5, (3, 0))])
    for group in (1, 2, 3):
        with pytest.raises(TieError, match=rf"two rows of group \({group},\) at 4") as refused:
            operator.push(0, [(4, 5, (group, 1))])
        assert refused.value.group == (group,)
    operator.push(0, [(4, 5, (4, 0)), (5, 6, (4, 0)), (5, 6, (1, 0))])
    with pytest.raises(TieError, match=r"two rows of group \(1,\) at 5"):
        operator.push(0, [(5, 6, (1, 1))])
    operator.push(0, [(5, 6, (2, 0)), (6, 7, (2, 0))])
    operator.push(0, [(7, 8, (1, 0)), (8, 9, (1, 0))])
    with pytest.raises(TieError, match=r"two rows of group \(1,\) at 8"):
        operator.push(0, [(8, 9, (1, 0))])


@given(rows=elements(chronons=True), batch_size=st.integers(1, 4))
def test_arrival_breaks_ties_through_filters_and_projections(rows: list[Element], batch_size: int) -> None:
    below = ROWS.filter(col("y") < 3).select("y", x=col("x") % 2)
    for query in (
        below.last(2, ties="arrival"),
        below.last(2, by=["x"], slide=2, ties="arrival"),
        below.last(1, by=["x"], ties="arrival", delay=3).distinct(),
    ):
        found = run(query.plan(), {"s": rows}, batch_size)
        assert normal_form(found) == specified(query.plan(), {"s": rows})


def test_the_order_of_arrival_decides() -> None:
    rows = [(1, 2, "a"), (1, 2, "b"), (1, 2, "c"), (4, 5, "d")]
    for order, kept in (([0, 1, 2, 3], "bc"), ([2, 1, 0, 3], "ba")):
        window = CountWindow(2, ties="arrival")
        out = window.push(0, [rows[i] for i in order])
        assert out == [(1, 4, kept[0])]
        assert window.end(0) == [(1, FOREVER, kept[1]), (4, FOREVER, "d")]


@pytest.mark.parametrize("delay", [None, 2])
def test_a_row_that_leaves_at_the_instant_at_which_it_came_does_not_come_out(delay: int | None) -> None:
    """Neither at once, nor from behind a row that holds it back, be that cut or not."""
    window = PartitionedWindow(["x"], 1, 1, "arrival", delay, schema=SCHEMA)
    assert window.push(0, [(0, 1, (2, 0)), (0, 1, (2, 1)), (1, 2, (2, 2))]) == [(0, 1, (2, 1))]
    out = window.push(0, [(2, 3, (1, 0)), (2, 3, (1, 1)), (9, 10, (1, 2))]) + window.end(0)
    assert all(start < end for start, end, _ in out)
    assert normal_form(out) == normal_form(
        [(1, FOREVER, (2, 2)), (2, 9, (1, 1)), (9, FOREVER, (1, 2))],
    )


@given(rows=elements(chronons=True), delay=st.integers(1, 5), size=st.integers(1, 3))
def test_nothing_is_held_back_by_more_than_the_delay(rows: list[Element], delay: int, size: int) -> None:
    """Behind the last row; and cutting changes nothing else."""
    window = PartitionedWindow(["x"], size, 1, "arrival", delay, schema=SCHEMA)
    patient = PartitionedWindow(["x"], size, 1, "arrival", schema=SCHEMA)
    out: list[Element] = []
    uncut: list[Element] = []
    for element in rows:
        out += window.push(0, [element])
        uncut += patient.push(0, [element])
        assert window.progress() >= element[0] - delay
        assert window.progress() >= patient.progress()
    assert normal_form(out + window.end(0)) == normal_form(uncut + patient.end(0))


def test_a_row_is_cut_when_it_has_been_held_for_longer_than_the_delay() -> None:
    """One chronon earlier it is not; and a heartbeat cuts nothing."""
    window = PartitionedWindow(["x"], 1, delay=5, schema=SCHEMA)
    assert window.push(0, [(1, 2, (1, 0)), (6, 7, (2, 0))]) == []
    assert window.advance(0, 1000) == []
    assert window.progress() == 1
    assert window.push(0, [(1000, 1001, (2, 0))]) == [(1, 1000, (1, 0)), (6, 1000, (2, 0))]
    assert window.push(0, [(1004, 1005, (2, 1)), (1005, 1006, (2, 2))]) == []
    assert window.push(0, [(1006, 1007, (3, 2))]) == [
        (1000, 1006, (1, 0)),
        (1000, 1004, (2, 0)),
        (1004, 1005, (2, 1)),
    ]
    assert window.end(0) == [(1005, FOREVER, (2, 2)), (1006, FOREVER, (1, 0)), (1006, FOREVER, (3, 2))]


def test_the_rows_of_an_unbounded_window_leave_at_once() -> None:
    """Their end is known from the beginning."""
    assert CountWindow(None).push(0, [(1, 2, "a")]) == [(1, FOREVER, "a")]
    sliding = CountWindow(None, slide=2)
    assert sliding.push(0, [(1, 2, "a")]) == []
    assert sliding.push(0, [(3, 4, "b")]) == [(3, FOREVER, "a"), (3, FOREVER, "b")]
    partitioned = PartitionedWindow(["x"], None, schema=SCHEMA)
    assert partitioned.push(0, [(1, 2, (1, 1))]) == [(1, FOREVER, (1, 1))]


@pytest.mark.parametrize("rows", [None, 1, 2])
def test_rows_that_no_advance_will_take_in_are_not_kept(rows: int | None) -> None:
    """A window that moves further than it is long passes over rows."""
    batch = list(chronons((t, (0, t)) for t in range(9)))
    for window in (
        CountWindow(rows, slide=10),
        PartitionedWindow(["x"], rows, 10, schema=SCHEMA),
    ):
        window.push(0, batch)
        assert window.size() == (9 if rows is None else rows - 1)
        (last,) = chronons([(9, (0, 9))])
        window.push(0, [last])
        assert window.size() == (rows or 0)
        assert [payload[1] for _, _, payload in window.end(0)] == list(range(9, 9 - (rows or 0), -1))[::-1]


def lines(work: Callable[[], Any]) -> int:
    """Lines of Python that run."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    gc.disable()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


COSTS: dict[str, Callable[[int], Operator]] = {
    "count": CountWindow,
    "count, sliding": lambda size: CountWindow(size, slide=size // 2),
    "one row of many groups": lambda size: PartitionedWindow(["x"], 1, schema=SCHEMA),
    "many rows of few groups": lambda size: PartitionedWindow(["y"], size // 4, schema=SCHEMA),
    "many groups, delayed": lambda size: PartitionedWindow(["x"], 1, delay=10 * size, schema=SCHEMA),
}


@pytest.mark.parametrize("make", COSTS.values(), ids=COSTS)
def test_the_cost_of_a_row_does_not_grow_with_the_window(make: Callable[[int], Operator]) -> None:
    counted = []
    for size in (100, 2000):
        operator = make(size)
        rows = list(chronons((t, (t % size, t % 4)) for t in range(4 * size)))
        operator.push(0, rows[: 3 * size])

        def go_on(operator: Operator = operator, rows: list[Element] = rows) -> None:
            for row in rows[-100:]:
                operator.push(0, [row])

        counted.append(lines(go_on))
    assert counted[1] < 1.3 * counted[0]
