"""The engine runs any plan as it is specified."""

from __future__ import annotations

import pytest
from hypothesis import given

from midstream.operators.engine import Engine, run
from midstream.plans.builder import stream
from midstream.plans.errors import (
    EndedError,
    IntervalError,
    PlanError,
    SchemaError,
    StreamOrderError,
    UnknownStreamError,
)
from midstream.plans.streams import chronons
from midstream.testing import Workload, drive, is_ordered, verdict, workloads

BIDS = stream("bids", item="integer", price="float").window(10).plan()


@given(workloads())
def test_every_plan_runs_as_specified(workload: Workload) -> None:
    """I1: any plan, any batch boundaries, any interleaving: the specified snapshots, in order, and no state
    left."""
    results: list = []
    engine = Engine(workload.plan, results.extend)
    drive(engine, workload.events)
    engine.close()
    outcome = verdict(workload.specified(), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    assert engine.box.size() == 0
    assert list(engine.box.state()) == []


@given(workloads())
def test_progress_is_a_promise(workload: Workload) -> None:
    """I2: no result starts before the progress that the box reported earlier."""
    promised: list = []

    def sink(batch: list) -> None:
        assert all(start >= promised[-1] for start, _, _ in batch)

    engine = Engine(workload.plan, sink)
    for event in workload.events:
        promised.append(engine.box.progress())
        drive(engine, [event])
        assert engine.box.progress() >= promised[-1]
        assert engine.box.size() == len(list(engine.box.state()))


@pytest.mark.parametrize(
    ("elements", "error", "message"),
    [
        (
            [(5, 6, (1, 1.0)), (4, 5, (1, 1.0))],
            StreamOrderError,
            "stream bids: .* starts at 4 after progress 5",
        ),
        ([(1, 2, (1, 1.0))], StreamOrderError, "starts at 1 after progress 3"),
        ([(5, 7, (1, 1.0))], IntervalError, "expected a chronon"),
        ([(5.0, 6, (1, 1.0))], IntervalError, "no integers"),
        ([(5, 6)], IntervalError, r"expected elements \(start, end, payload\)"),
        ([[5, 6, (1, 1.0)]], IntervalError, "each a tuple"),
        ([7], IntervalError, "each a tuple"),
        ([(5, 6, (1, "dear"))], SchemaError, "stream bids: column price: found 'dear'"),
        ([(5, 6, (1,))], SchemaError, "with 1 values, expected 2"),
        ([(5, 6, [1, 1.0])], SchemaError, "expected a tuple"),
        ([(5, 6, (1, float("nan")))], SchemaError, "found NaN"),
    ],
)
def test_bad_elements_are_refused_whole(elements: list, error: type[Exception], message: str) -> None:
    results: list = []
    engine = Engine(BIDS, results.extend)
    engine.push("bids", [(3, 4, (1, 2.0))])
    with pytest.raises(error, match=message):
        engine.push("bids", elements)
    engine.close()
    assert results == [(3, 13, (1, 2.0))]
    assert engine.counters()["elements"] == 1


def test_what_comes_after_the_end_is_refused() -> None:
    engine = Engine(BIDS)
    engine.close()
    engine.end("bids")
    with pytest.raises(EndedError):
        engine.push("bids", chronons([(1, (1, 1.0))]))


def test_unknown_streams_are_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownStreamError, match="no stream bid; did you mean bids"):
        Engine(BIDS).push("bid", [])
    with pytest.raises(UnknownStreamError, match="no output"):
        Engine(BIDS).subscribe(print, "nowhere")


def test_windows_over_intervals_are_refused() -> None:
    twice = stream("bids", item="integer").window(10).distinct().window(5).plan()
    with pytest.raises(PlanError, match="window 5: its input, distinct, is not a chronon stream"):
        Engine(twice)


def test_a_silent_filter_does_not_hold_back_a_join() -> None:
    """A heartbeat passes an operator that has nothing to say."""
    left = stream("l", x="integer").window(10)
    right = stream("r", y="integer").window(10)
    results: list = []
    engine = Engine(left.union(right.filter(right["y"] > 5).rename({"y": "x"})).plan(), results.extend)
    engine.push("l", [(1, 2, (7,))])
    engine.push("r", [(4, 5, (0,))])
    assert results == [(1, 11, (7,))]


def test_run_takes_streams_of_any_length() -> None:
    plan = stream("s", x="integer").window(3).plan()
    assert run(plan, {"s": []}) == []
    assert len(run(plan, {"s": chronons((t, (t,)) for t in range(2500))})) == 2500


def test_heartbeats_are_integers() -> None:
    """A finer instant would show in results."""
    with pytest.raises(IntervalError, match="stream bids: found heartbeat"):
        Engine(BIDS).advance("bids", 3.5)


def test_values_that_cannot_be_told_apart_are_refused() -> None:
    engine = Engine(stream("s", x="any").window(5).distinct().plan())
    with pytest.raises(SchemaError, match="column x: unhashable type: 'list'"):
        engine.push("s", [(1, 2, ([],))])
