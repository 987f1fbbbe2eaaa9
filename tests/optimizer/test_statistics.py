"""Statistics from what a running engine saw."""

from __future__ import annotations

import math
import random

import pytest

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.operators.engine.measuring.meters import RECENT
from midstream.optimizer import CostModel, Sample, Statistics, StreamStatistics
from midstream.optimizer.statistics import MANY_TIMESTAMPS, stream_statistics
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.observations import Observation
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Element, chronons

S = stream("s", x="integer").window(60)
T = stream("t", y="integer").window(30)
ROW = Schema.of(x="integer")


def engine() -> Engine:
    return Engine(S.join(T, on=[("x", "y")]).plan())


def observed(running: Engine, window: Stream) -> StreamStatistics:
    """Statistics of the source below a window."""
    return Statistics.from_observations(running.observe()).stream(window.node.inputs[0])


def seen(
    elements: list[Element], progress: int | float | None = None, count: int | None = None
) -> Observation:
    last = elements[-1][0]
    return Observation(
        len(elements) if count is None else count, last if progress is None else progress, 0, elements
    )


def test_a_steady_stream() -> None:
    """(22.10): behind a window d is that of the source, and l is the window's size."""
    running = engine()
    running.push("s", chronons((t, (t % 2,)) for t in range(0, 200, 5)))
    s = observed(running, S)
    assert (s.d, s.l, s.g, s.rate) == (5.0, 1.0, 5, 0.2)
    assert s.sample == Sample(S.schema, [(t % 2,) for t in range(0, 200, 5)])
    window = CostModel(running.statistics()).estimate(S.node)
    assert (window.d, window.l, window.g, window.rate) == (5.0, 60.0, 5, 0.2)


def test_a_poisson_stream() -> None:
    rng = random.Random(1)
    time, rows = 0.0, []
    for _ in range(2000):
        time += rng.expovariate(1 / 50)
        rows.append((int(time), (rng.randrange(4),)))
    running = engine()
    running.push("s", chronons(rows))
    s = observed(running, S)
    assert s.d == pytest.approx(50, rel=0.05)
    assert s.g == 1
    assert s.sample is not None
    assert s.sample.distribution("x") == pytest.approx(dict.fromkeys(range(4), 0.25), rel=0.15)


def test_only_the_recent_part_counts() -> None:
    """A stream that slowed down is taken as it is now."""
    running = engine()
    running.push("s", chronons((t, (1,)) for t in range(RECENT)))
    running.push("s", chronons((RECENT + 100 * i, (2,)) for i in range(RECENT)))
    s = observed(running, S)
    assert s.d == pytest.approx(100)
    assert s.sample is not None
    assert s.sample.distribution("x") == {2: 1.0}


def test_a_stream_that_never_spoke_is_empty() -> None:
    running = engine()
    running.push("s", chronons([(1, (1,)), (2, (2,))]))
    t = observed(running, T)
    assert (t.d, t.l, t.rate, t.sample) == (math.inf, 0.0, 0.0, None)
    assert Statistics.from_observations({}).streams == {}


def test_a_stream_that_has_fallen_silent_counts_as_slow() -> None:
    """Ten elements in 90 chronons, then only a heartbeat."""
    running = engine()
    running.push("s", chronons((10 * i, (1,)) for i in range(10)))
    assert observed(running, S).d == 10.0
    running.advance("s", 1000)
    assert observed(running, S).d == 100.0


def test_an_ended_stream_counts_as_it_was() -> None:
    running = engine()
    running.push("s", chronons((10 * i, (1,)) for i in range(10)))
    running.close()
    assert observed(running, S).d == 10.0


def test_ties() -> None:
    """Three elements at each of four instants, 30 chronons apart: eleven gaps in 90 chronons."""
    running = engine()
    running.push("s", chronons((30 * (i // 3), (1,)) for i in range(12)))
    assert observed(running, S).d == pytest.approx(90 / 11)


def test_all_at_one_instant() -> None:
    """Nobody knows over what time they spread: one chronon, or as much as other inputs have seen since."""
    running = engine()
    running.push("s", chronons([(100, (1,))] * 4))
    assert observed(running, S).d == 0.25
    running.push("t", chronons([(50, (1,)), (500, (1,))]))
    assert observed(running, S).d == 100.0
    assert observed(running, T).d == 450.0


def test_one_element() -> None:
    assert stream_statistics(ROW, seen([(7, 67, (1,))])).d == 1.0
    assert stream_statistics(ROW, seen([(7, 67, (1,))], progress=27)).d == 20.0
    assert stream_statistics(ROW, seen([(7, 67, (1,))], progress=FOREVER), latest=47).d == 40.0


def test_an_input_behind_the_others_is_not_taken_for_slow() -> None:
    """Streams may be out of step: what has not arrived yet is not missing."""
    running = engine()
    running.push("s", chronons((t, (1,)) for t in range(0, 10_000, 10)))
    running.push("t", chronons((t, (1,)) for t in range(0, 500, 10)))
    assert observed(running, T).d == 10.0


def test_lengths_are_averaged() -> None:
    elements = [(0, 10, (1,)), (5, 25, (1,)), (10, 40, (1,))]
    assert stream_statistics(ROW, seen(elements)).l == 20.0


def test_what_is_valid_for_ever_counts_as_long_as_the_stream_has_run() -> None:
    """So the state of an unbounded window is as many elements as have arrived."""
    elements: list[Element] = [(t, FOREVER, (1,)) for t in range(9000, 10_000, 10)]
    s = stream_statistics(ROW, seen(elements, count=1000))
    assert s.d == pytest.approx(10.0)
    assert s.l / s.d == pytest.approx(1000)


@pytest.mark.parametrize(
    ("starts", "granule"),
    [
        pytest.param(range(0, 3000, 60), 20, id="multiples of 60, valid for 20"),
        pytest.param(range(7, 3007, 60), 1, id="not from 0 on"),
        pytest.param([0] * 50, 1, id="two timestamps are too few to tell"),
        pytest.param(range(0, 60 * MANY_TIMESTAMPS // 2 - 60, 60), 1, id="as are a few more"),
    ],
)
def test_granule(starts: range, granule: int) -> None:
    elements: list[Element] = [(t, t + 20, (1,)) for t in starts]
    assert stream_statistics(ROW, seen(elements)).g == granule


def test_unknown_values_have_no_share() -> None:
    sample = Sample(Schema.of(x="integer?"), [(1,), (None,), (1,), (2,)])
    assert sample.distribution("x") == {1: 0.5, 2: 0.25}
    assert Sample(Schema.of(x="integer?"), [(None,)]).distribution("x") == {}
    assert Sample(ROW, []).distribution("x") == {}


def test_rows_that_satisfy_a_condition_are_found_once() -> None:
    sample = Sample(ROW, [(i,) for i in range(10)])
    some = sample.where((col("x") > 7).expression)
    assert some.rows == [(8,), (9,)]
    assert sample.where((col("x") > 7).expression) is some
    assert some.distribution("x") == {8: 0.5, 9: 0.5}


def test_numbers_of_different_rows() -> None:
    assert Sample(ROW, []).distinct(["x"]) == 1
    assert Sample(ROW, [(1,)]).distinct(["x"]) == 1
    assert Sample(ROW, [(1,), (1,), (2,), (2,)]).distinct(["x"]) == 2
    assert Sample(ROW, [(1,), (2,), (2,)]).distinct(["x"]) == 2
    assert Sample(ROW, [(1,), (2,), (3,), (3,)]).distinct(["x"]) == 3 + 2 * 1 / (2 * 2)
    assert Sample(ROW, [(1,)]).distinct([]) == 1


def test_numbers_of_different_rows_in_several_columns_of_one_sample() -> None:
    two = Sample(Schema.of(x="integer", y="integer"), [(1, 5), (1, 5), (2, 5), (2, 5), (2, 6), (2, 6)])
    for names, different in [("x", 2), ("y", 2), ("xy", 3), ("yx", 3), ("xx", 2), ("", 1)]:
        assert two.distinct(list(names)) == different


@pytest.mark.parametrize(
    ("d", "length", "g"),
    [(0.0, 1.0, 1), (-1.0, 1.0, 1), (math.nan, 1.0, 1), (1.0, -1.0, 1), (1.0, math.nan, 1), (1.0, 1.0, 0)],
)
def test_characteristics_that_no_stream_has(d: float, length: float, g: int) -> None:
    with pytest.raises(StatisticsError, match="expected positive d and g and no negative l"):
        StreamStatistics(d, length, g)


@pytest.mark.parametrize("selectivity", [-0.1, 1.5, math.nan])
def test_selectivities_that_no_condition_has(selectivity: float) -> None:
    with pytest.raises(StatisticsError, match="x > 1: found selectivity"):
        Statistics({}, {col("x") > 1: selectivity})


def test_an_input_without_statistics_is_named() -> None:
    with pytest.raises(StatisticsError, match="no statistics for the input <window 60 of <source s>>"):
        Statistics({}).stream(S.node)


def test_both_sides_of_a_self_join_are_inputs_of_their_own() -> None:
    bids = stream("bids", item="integer")
    slow, fast = bids.window(100).alias("l"), bids.window(5).alias("r")
    running = Engine(slow.join(fast, on=[("l.item", "r.item")]).plan())
    for name, batch in interleave({"bids": chronons((t, (t % 3,)) for t in range(0, 300, 10))}):
        running.push(name, batch)
    model = CostModel(running.statistics())
    windows = [model.estimate(window.node.inputs[0]) for window in (slow, fast)]
    assert [window.l for window in windows] == [100.0, 5.0]
    assert {window.d for window in windows} == {10.0}
