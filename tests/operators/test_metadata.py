"""What is measured of running operators, and that nothing is where nobody asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from inside import base_of

from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.streams import chronons
from midstream.testing import Workload, drive, workloads

BIDS = stream("bids", item="integer", price="integer")
ASKS = stream("asks", sought="integer")
PAIRS = BIDS.window(20).filter(col("price") > 1).join(ASKS.window(10), on=[("item", "sought")])


def by_name(read: list[Metadata]) -> dict[str, Metadata]:
    """By what the operator shows."""
    return {str(measured.node.operator): measured for measured in read}


def test_operators_are_measured_while_they_are_watched() -> None:
    engine = Engine(PAIRS.plan())
    engine.push("bids", chronons([(0, (1, 5))]))
    with engine.watch() as read:
        engine.push("bids", chronons([(t, (t % 2, t // 2 % 4)) for t in range(4, 44, 4)]))
        engine.push("asks", chronons([(t, (0,)) for t in range(4, 44, 2)]))
        measured = by_name(read())
        window, filtered = measured["time-window 20"], measured["filter price > 1"]
        joined = measured["hash-join item = sought"]
        assert (window.received, window.emitted, window.selectivity) == (10, 10, 1.0)
        assert (window.d, window.l, window.g) == (4.0, 20.0, 4)
        assert window.input_rate == window.output_rate == 10 / 37
        assert (filtered.received, filtered.emitted, filtered.selectivity) == (10, 5, 0.5)
        assert (joined.received, joined.selectivity) == (25, joined.emitted / (5 * 20))
        assert joined.emitted > 0
        assert joined.state.elements == len(list(base_of(engine).running[joined.node].state()))
        assert joined.state.bytes > 50 * joined.state.elements
        assert all(m.seconds > 0 and m.microseconds == 1e6 * m.seconds / m.received for m in read())
        assert "10 in, 5 out, keeps 0" in str(filtered)


def test_what_is_not_watched_is_not_measured() -> None:
    """The way of an event is the same as if there were no watches at all."""
    engine = Engine(PAIRS.plan())
    with engine.watch() as read:
        engine.push("bids", chronons([(0, (1, 5))]))
        assert [m.received for m in read()] == [1, 1, 0, 1]
        assert steps(engine) == {"measured"}
    engine.push("bids", chronons([(1, (1, 5))]))
    assert read() == []
    assert steps(engine) == steps(Engine(PAIRS.plan()))
    assert "measured" not in steps(engine)


def steps(engine: Engine) -> set[str]:
    """What an event at the first stream runs: operators, or what measures them."""
    path = next(iter(base_of(engine).paths.values()))
    return {"measured" if stop.measured else type(stop.operator).__name__ for stop in path.stops}


def test_a_watch_is_on_one_query() -> None:
    engine = Engine(BIDS.window(20).distinct().plan())
    engine.add(ASKS.window(10).distinct().plan(), name="asks")
    with engine.watch("asks") as read, engine.watch("asks") as again:
        engine.push("bids", chronons([(0, (1, 5))]))
        engine.push("asks", chronons([(0, (1,))]))
        assert [str(m.node.operator) for m in read()] == ["time-window 10", "distinct"]
        assert read() == again()
        engine.remove("asks")
    with pytest.raises(UnknownStreamError, match="no query asks"), engine.watch("asks"):
        pass


def test_rows_that_are_valid_from_the_beginning_have_no_start() -> None:
    """Those of a relation count for neither rates nor distances; and they may come out in parts."""
    items = relation("items", item="integer")
    unsold = items.anti_join(ASKS.window(2), on=[("item", "sought")])
    engine = Engine(unsold.plan(), relations={"items": constant([(1,), (2,), (3,)])})
    with engine.watch() as read:
        for t in (4, 7, 10):
            engine.push("asks", chronons([(t, (t % 4,))]))
        engine.close()
        measured = by_name(read())["hash-anti-join item = sought"]
    assert (measured.received, measured.emitted, measured.l) == (3, 5, math.inf)
    assert (measured.input_rate, measured.d, measured.g) == (3 / 7, 3.0, 1)


def test_an_operator_that_has_seen_nothing_has_no_rates() -> None:
    with Engine(PAIRS.plan()).watch() as read:
        for measured in read():
            assert (measured.received, measured.emitted) == (0, 0)
            assert measured.selectivity is measured.d is measured.l is measured.g is None
            assert measured.input_rate is measured.output_rate is measured.microseconds is None


@given(workloads())
def test_watching_changes_no_result(workload: Workload) -> None:
    alone: list = []
    watched: list = []
    first, second = Engine(workload.plan, alone.extend), Engine(workload.plan, watched.extend)
    drive(first, workload.events)
    half = len(workload.events) // 2
    drive(second, workload.events[:half])
    with second.watch() as read:
        drive(second, workload.events[half:])
        read()
    assert watched == alone
    first.close()
    second.close()
    assert watched == alone
    assert first.counters() == second.counters()
