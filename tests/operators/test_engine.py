"""The engine runs any plan as it is specified."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of, box_of, input_max_ends, input_progress

from midstream.arrivals import interleave
from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.engine.graph import feed
from midstream.operators.engine.measuring.meters import RECENT
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes, logical_plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import (
    EndedError,
    IntervalError,
    SchemaError,
    StreamOrderError,
    UnknownStreamError,
)
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, chronons
from midstream.testing import (
    WHOLE,
    Workload,
    drive,
    elements,
    implemented,
    is_ordered,
    plans,
    verdict,
    workloads,
)

BIDS = stream("bids", item="integer", price="float").window(10).plan()


@st.composite
def whole(draw: st.DrawFn) -> Workload:
    """Any plan of the whole algebra; windows above others only where nothing is valid for ever."""
    forever = draw(st.booleans())
    return draw(workloads(plans(forever=forever, **WHOLE), forever=forever))


@st.composite
def mixed(draw: st.DrawFn) -> Workload:
    """The same, with any implementation of every operator."""
    forever = draw(st.booleans())
    plan = draw(implemented(draw(plans(forever=forever, **WHOLE))))
    return draw(workloads(st.just(plan), forever=forever))


def check_run(workload: Workload) -> None:
    """I1: any batch boundaries, any interleaving: the specified snapshots, in order, and no state left."""
    results: list = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations)
    drive(engine, workload.events)
    engine.close()
    outcome = verdict(workload.specified(), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    assert engine.size() == 0
    assert list(base_of(engine).state()) == []


@given(workload=mixed())
def test_pieces_of_a_large_batch_are_batches_like_others(workload: Workload) -> None:
    """See test_feed for what is seen of them from outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "PIECE", 2)
        check_run(workload)


@given(workloads())
def test_every_plan_runs_as_specified(workload: Workload) -> None:
    """I1 where all operators are snapshot-reducible."""
    check_run(workload)


@given(whole())
def test_every_plan_of_the_whole_algebra_runs_as_specified(workload: Workload) -> None:
    """I1 for plans with relations, arrangements and windows of every kind."""
    check_run(workload)


@given(mixed())
def test_any_mixture_of_implementations_runs_as_specified(workload: Workload) -> None:
    """I1 whatever the operators' neighbours are, and whatever form their streams have."""
    check_run(workload)


@given(whole())
def test_progress_is_a_promise(workload: Workload) -> None:
    """I2: no result starts before the progress that the box reported earlier."""
    promised = [BEGINNING]  # rows of relations may leave before anything arrives

    def sink(batch: list) -> None:
        assert all(start >= promised[-1] for start, _, _ in batch)

    engine = Engine(workload.plan, sink, relations=workload.relations)
    for event in workload.events:
        promised.append(box_of(engine).progress())
        drive(engine, [event])
        assert box_of(engine).progress() >= promised[-1]
        assert box_of(engine).size() == len(list(box_of(engine).state()))


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
    assert engine.counters().elements == 1


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


def test_a_window_over_intervals_gets_its_chronons() -> None:
    """A split is put in front of it (thesis, 12.3.2)."""
    twice = stream("bids", item="integer").window(3).distinct().window(2).plan()
    assert equivalent(run(twice, {"bids": chronons([(1, (7,)), (2, (7,))])}), [(1, 6, (7,)), (2, 5, (7,))])


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


@given(workloads())
def test_the_engine_tells_what_it_has_seen(workload: Workload) -> None:
    """Progress, counts, the last elements and the largest end of every input of the exchangeable part."""
    engine = Engine(workload.plan)
    drive(engine, workload.events)
    counters = engine.counters()
    assert counters.elements == sum(len(what) for kind, _, what in workload.events if kind == "push")
    assert engine.progress() == min(engine.progress(stream) for stream in engine.streams)
    nodes = input_nodes(logical_plan(engine.plan))
    below = [run(Plan(node), streams_of(node, workload)) for node in nodes]
    for node, made, progress, largest in zip(
        nodes, below, input_progress(engine), input_max_ends(engine), strict=True
    ):
        seen = engine.observe()[node]
        given_out = [element for element in made if element[0] <= progress]
        assert seen.count == len(seen.recent) <= len(made)
        assert list(seen.recent) == made[: seen.count]
        assert all(element in seen.recent for element in given_out if element[0] < progress)
        assert (seen.progress, seen.max_end) == (progress, largest)
        assert largest == max((end for _, end, _ in seen.recent), default=BEGINNING)


def streams_of(node, workload: Workload) -> dict[str, list[Element]]:
    """What has been pushed to the sources below a node."""
    found: dict[str, list[Element]] = {source.stream: [] for source in Plan(node).sources}
    for kind, name, what in workload.events:
        if kind == "push" and name in found:
            found[name] += what
    return found


def test_only_the_last_elements_are_kept_for_statistics() -> None:
    s = stream("s", x="integer").window(3)
    engine = Engine(s.distinct().plan())
    engine.push("s", chronons((t, (t,)) for t in range(RECENT + 10)))
    seen = engine.observe()[s.node]
    assert seen.count == RECENT + 10
    assert list(seen.recent) == [(t, t + 3, (t,)) for t in range(10, RECENT + 10)]


def test_each_output_goes_to_its_own_sinks() -> None:
    s = stream("s", x="integer", intervals=True)
    plan = Plan({"rows": s.node, "counts": s.aggregate(n=count()).node})
    first: list = []
    both: list = []
    counts: list = []
    engine = Engine(plan, first.extend)
    engine.subscribe(both.append, "rows")
    engine.subscribe(counts.extend, "counts")
    engine.push("s", [(0, 5, (7,)), (2, 9, (8,))])
    engine.push("s", [])
    engine.close()
    assert first == [(0, 5, (7,)), (2, 9, (8,))]
    assert both == [first]
    assert counts == [(0, 2, (1,)), (2, 5, (2,)), (5, 9, (1,))]
    assert engine.counters().results == 5


def test_what_was_known_before_does_not_reach_a_later_sink() -> None:
    engine = Engine(BIDS)
    engine.push("bids", chronons([(1, (1, 1.0))]))
    late: list = []
    engine.subscribe(late.extend)
    engine.push("bids", chronons([(2, (2, 1.0))]))
    assert late == [(2, 12, (2, 1.0))]


def test_progress_is_known_stream_by_stream() -> None:
    left, right = stream("l", x="integer"), stream("r", y="integer")
    engine = Engine(left.join(right).plan())
    assert engine.streams == ("l", "r")
    assert engine.progress() == BEGINNING
    engine.push("l", chronons([(4, (1,))]))
    engine.advance("r", 9)
    engine.advance("r", 3)
    assert (engine.progress("l"), engine.progress("r"), engine.progress()) == (4, 9, 4)
    engine.end("l")
    engine.advance("l", 10**9)
    assert (engine.progress("l"), engine.progress()) == (FOREVER, 9)
    with pytest.raises(StreamOrderError, match=r"stream r: .* starts at 8 after progress 9"):
        engine.push("r", chronons([(8, (1,))]))


@given(st.dictionaries(st.sampled_from("abc"), elements(), max_size=3), st.integers(1, 7))
def test_interleaving_keeps_every_stream_and_keeps_them_in_step(
    streams: dict[str, list[Element]], size: int
) -> None:
    """Each stream whole and in order; no batch starts before the chunk that came before it."""
    batches = list(interleave(streams, size))
    for name, complete in streams.items():
        assert [element for stream_, batch in batches for element in batch if stream_ == name] == complete
    assert all(batch for _, batch in batches)
    times = sorted(element[0] for complete in streams.values() for element in complete)
    taken = 0
    for _, batch in batches:
        chunk = times[taken // size * size : (taken // size + 1) * size]
        assert all(chunk[0] <= start <= chunk[-1] for start, _, _ in batch)
        taken += len(batch)
