"""An engine within a budget: what it holds, what it records, whom it admits, and beside an autopilot."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import full_marks

import midstream as ms
from midstream.autopilot.budget_records import BudgetRecord
from midstream.autopilot.managing import ResourceManager
from midstream.optimizer import StreamStatistics
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical
from midstream.plans.values.errors import ArgumentError, BudgetExceeded, PlanError, StatisticsError
from midstream.plans.values.streams import Element

A = ms.stream("a", ak="integer", av="float")
B = ms.stream("b", bk="integer", bv="float")

WINDOW = 8_000


def window(source: Stream, least: int = 500, most: int = WINDOW) -> Stream:
    return source.window(most, bounds=(least, most))


JOIN = window(A).join(window(B), on=[("ak", "bk")])


def arrivals(
    seed: int, until: int, distance: Callable[[int], float], names: Sequence[str] = "ab"
) -> Iterator[tuple[str, Element]]:
    """Elements of some streams in order of time, at distances that may change with time."""
    chance, nows = random.Random(seed), dict.fromkeys(names, 0.0)
    while True:
        name = min(nows, key=nows.__getitem__)
        nows[name] += chance.expovariate(1 / distance(int(nows[name])))
        t = int(nows[name])
        if t >= until:
            return
        yield name, (t, t + 1, (chance.randrange(20), chance.random()))


def feed(engine: ms.Engine, elements: Iterator[tuple[str, Element]], batch: int = 1) -> None:
    waiting: list[tuple[str, Element]] = []
    for name, element in elements:
        if waiting and (len(waiting) == batch or waiting[0][0] != name):
            engine.push(waiting[0][0], [one for _, one in waiting])
            waiting = []
        waiting.append((name, element))
    if waiting:
        engine.push(waiting[0][0], [one for _, one in waiting])


def held(engine: ms.Engine) -> int:
    return sum(engine.held(in_bytes=True).values())


def settings(plan: Plan) -> list[Any]:
    operators = (logical(node) for node in plan.nodes if is_lever(node))
    return [one.setting for one in operators if isinstance(one, Adjustable)]


def test_memory_keeps_within_the_budget_also_when_a_stream_is_faster_for_a_while() -> None:
    limit = 150_000
    engine = ms.Engine(JOIN, lambda batch: None)
    budget = engine.budget(memory=limit, reserve=0.2)
    seen: list[tuple[int, int]] = []
    for name, element in arrivals(1, 120_000, lambda t: 4.0 if 50_000 <= t < 80_000 else 20.0):
        engine.push(name, [element])
        if element[0] // 500 > (seen[-1][0] // 500 if seen else -1):
            seen.append((element[0], held(engine)))
    late = [size for t, size in seen if t > 50_000 + WINDOW + 1_000 or 2 * WINDOW < t < 50_000]
    assert max(late) <= limit
    assert max(size for t, size in seen if 2 * WINDOW < t < 50_000) >= limit * 0.6, "the budget is used"
    events = [record.event for record in budget.decisions]
    assert events.count("adjust") >= 2
    assert min(min(record_settings(record)) for record in budget.decisions if record.changes) >= 500


def record_settings(record: BudgetRecord) -> list[float]:
    return [change.after for change in record.changes]


def test_settings_grow_again_when_there_is_room() -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    budget = engine.budget(memory=100_000)
    feed(engine, arrivals(2, 60_000, lambda t: 5.0))
    small = settings(engine.plan)
    feed(engine, (("ab"[i % 2], (60_000 + 100 * i, 60_001 + 100 * i, (i % 20, 0.0))) for i in range(600)))
    assert max(small) < WINDOW
    assert settings(engine.plan) == [WINDOW, WINDOW]
    budget.stop()
    assert budget.is_stopped


def test_without_levers_the_record_says_that_it_does_not_fit() -> None:
    engine = ms.Engine(A.window(WINDOW).distinct(), lambda batch: None)
    budget = engine.budget(memory=1_000)
    feed(engine, arrivals(3, 20_000, lambda t: 20.0, "a"))
    assert {record.event for record in budget.decisions} == {"short"}
    assert "the least settings do not suffice" in str(budget.decisions[-1])


def test_granules_and_samples_and_rows_are_levers_too() -> None:
    query = (
        A.sample(1.0, bounds=(0.1, 1.0))
        .window(WINDOW)
        .granularity(1, bounds=(1, 1_000))
        .join(B.last(400, bounds=(40, 400), ties="arrival"), on=[("ak", "bk")])
    )
    engine = ms.Engine(query, lambda batch: None)
    budget = engine.budget(memory=60_000)
    feed(engine, arrivals(4, 40_000, lambda t: 10.0))
    share, granule, rows = settings(engine.plan)
    assert 0.1 <= share < 1.0 or granule > 1 or rows < 400
    assert held(engine) <= 66_000
    assert not any(record.event == "refused" for record in budget.decisions)


@pytest.mark.parametrize("ended", ["a", "b", "ab"])
def test_levers_of_streams_that_have_ended_stay_as_they_are(ended: str) -> None:
    """A look when a stream ends, or later, adjusts the windows of the others."""
    engine = ms.Engine(JOIN, lambda batch: None)
    engine.add(window(ms.stream("c", ck="integer", cv="float")).distinct(), name="other")
    budget = engine.budget(memory=100_000)
    feed(engine, arrivals(5, 9_000, lambda t: 20.0, "abc"))
    for name in ended:
        engine.end(name)
    before = settings(engine.plan)
    feed(engine, ((n, (9_000 + e[0], 9_001 + e[0], e[2])) for n, e in arrivals(6, 9_000, lambda t: 3.0, "c")))
    engine.close()
    changed = [change.lever for record in budget.decisions if record.at > 9_000 for change in record.changes]
    assert "window of source c" in changed
    assert not {f"window of source {name}" for name in ended} & set(changed)
    if ended == "ab":
        assert settings(engine.plan) == before
    assert not any(record.event == "refused" for record in budget.decisions)


def test_no_lever_of_ended_streams_can_be_adjusted() -> None:
    engine = ms.Engine(window(A).distinct(), lambda batch: None)
    engine.push("a", [(0, 1, (1, 0.5))])
    engine.end("a")
    with pytest.raises(PlanError, match="streams have ended, expected levers with elements to come"):
        engine.adjust({window(A): 600})


@given(st.lists(st.integers(30, 170), min_size=4, max_size=6, unique=True), st.integers(0, 99))
@hypothesis.settings(max_examples=5, deadline=None)
def test_a_granule_that_becomes_finer_makes_no_other_query_wait(finest: list[int], seed: int) -> None:
    """Each may change at multiples of its own only; those of all together are far in the future."""
    engine = ms.Engine()
    for i, least in enumerate(finest):
        rows = window(A, 500 + i % 2).granularity(least, bounds=(least, 3 * least))
        engine.add(rows.aggregate(n=ms.median("ak")), name=f"query {i}")
    budget = engine.budget(memory=100_000)
    feed(engine, arrivals(seed, 40_000, lambda t: 100.0 if t >= 16_000 else 25.0, "a"))
    changed = [record for record in budget.decisions if record.changes]
    assert any(change.after > change.before for record in changed for change in record.changes)
    for record in changed:
        assert record.complete_at is not None and record.complete_at <= record.at + WINDOW + 1_000
    assert not any(record.event == "refused" for record in budget.decisions)


@pytest.mark.parametrize("rule", ["precision", "fraction", "equal"])
def test_every_rule_keeps_several_queries_within_the_budget(rule: Any) -> None:
    engine = ms.Engine()
    engine.add(JOIN, name="join")
    engine.add(window(A, 1_000, 6_000).distinct(), name="distinct")
    engine.add(window(B, 1_000, 5_000).group_by("bk").aggregate(n=ms.count()), name="count")
    engine.budget(memory=120_000, rule=rule, weights={"distinct": 3.0})
    feed(engine, arrivals(5, 50_000, lambda t: 10.0))
    assert held(engine) <= 120_000


def test_processing_is_limited_by_measured_time() -> None:
    """A clock that runs ten times as fast as the model expects."""
    ticks = 0.0

    def run(slowness: float) -> list[Any]:
        nonlocal ticks
        ticks = 0.0
        engine = ms.Engine(JOIN, lambda batch: None)
        budget = engine.budget(processor=0.5, chronon=10.0, every=1_000)
        expected = 0.0

        def clock() -> float:
            nonlocal ticks
            ticks += slowness * budget._allocator.use().processor / budget._allocator._time * 1_000 / 1e6
            return ticks

        budget._speed._clock = clock
        del expected
        feed(engine, arrivals(6, 60_000, lambda t: 10.0))
        return settings(engine.plan)

    assert run(1.0) == [WINDOW, WINDOW]
    slow = run(40.0)
    assert 500 <= max(slow) < WINDOW


def test_one_budget_at_a_time_and_only_with_looks() -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    first = engine.budget(memory="1 MB")
    with pytest.raises(ArgumentError, match="has a budget; stop that one first"):
        engine.budget(memory="2 MB")
    first.stop()
    first.stop()
    engine.budget(memory="2 MB").stop()
    rows = ms.Engine(A.last(5, bounds=(1, 5), ties="arrival"), lambda batch: None)
    with pytest.raises(ArgumentError, match="no query has a time window"):
        rows.budget(memory=10)
    assert not rows.budget(memory=10, every=100).is_stopped


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "budget: found no limit, expected memory=, processor= or both"),
        ({"memory": "much"}, "budget: memory: found 'much'"),
        ({"processor": 3}, "budget: processor: found 3"),
        ({"memory": 1, "reserve": 1}, "budget: reserve: found 1"),
        ({"memory": 1, "reserve": -0.1}, "budget: reserve: found -0.1"),
        ({"memory": 1, "threshold": 2}, "budget: threshold: found 2"),
        ({"memory": 1, "rule": "most"}, "budget: rule: found 'most'"),
        ({"memory": 1, "weights": {"q": -1}}, "budget: weight of q: found -1"),
        ({"memory": 1, "every": 0}, "budget: every: found 0"),
        ({"memory": 1, "chronon": -1}, "budget: chronon: found -1"),
    ],
)
def test_a_wrong_budget_is_refused(arguments: dict[str, Any], message: str) -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    with pytest.raises(ArgumentError) as error:
        engine.budget(**arguments)
    assert message in str(error.value)
    engine.budget(memory="1 MB")  # nothing was left behind


# Admission


def busy(memory: float, until: int = 20_000) -> tuple[ms.Engine, ResourceManager, list[Element]]:
    results: list[Element] = []
    engine = ms.Engine(JOIN, results.extend)
    budget = engine.budget(memory=memory)
    feed(engine, arrivals(7, until, lambda t: 10.0))
    return engine, budget, results


def test_a_forecast_before_a_query_is_added_is_what_happens() -> None:
    engine, budget, _ = busy(150_000)
    query = window(A, 1_000, 7_000).distinct()
    forecast = budget.forecast(query)
    assert forecast.verdict == "fits with other settings"
    added = engine.add(query, name="more", within=budget)
    assert settings(added.plan) == [forecast.settings.get(query.node.inputs[0], 7_000)]
    assert budget.decisions[-1].event == "adjust"
    assert budget.decisions[-1].after.memory == pytest.approx(forecast.use.memory, rel=0.01)
    feed(
        engine,
        (
            (name, (t + 20_000, end + 20_000, row))
            for name, (t, end, row) in arrivals(8, 20_000, lambda t: 10)
        ),
    )
    assert held(engine) <= 150_000


def test_a_query_that_does_not_fit_changes_nothing() -> None:
    engine, budget, results = busy(60_000)
    plan, decisions, before = engine.plan, budget.decisions, held(engine)
    more: list[Element] = []
    with pytest.raises(BudgetExceeded) as error:
        engine.add(A.window(100_000).distinct(), more.extend, name="large", within=budget)
    assert "query large does not fit: with the least settings all queries together need a budget of" in str(
        error.value
    )
    assert list(engine.queries) == ["query"]
    assert engine.plan is plan and budget.decisions == decisions and held(engine) == before
    alone, other, expected = busy(60_000)
    rest = [(n, (t + 20_000, e + 20_000, r)) for n, (t, e, r) in arrivals(9, 20_000, lambda t: 10)]
    feed(engine, iter(rest))
    feed(alone, iter(rest))
    engine.close()
    alone.close()
    assert results == expected
    assert [one.as_dict() for one in budget.decisions] == [one.as_dict() for one in other.decisions]


def test_the_nearest_budget_that_is_named_would_do() -> None:
    _, budget, _ = busy(60_000)
    query = A.window(30_000).distinct()
    needed = budget.forecast(query).needed.memory / (1 - budget.terms.reserve)
    for factor, fits in ((1.001, True), (0.99, False)):
        engine, other, _ = busy(60_000)
        other.terms = replace(other.terms, limits=replace(other.terms.limits, memory=needed * factor))
        assert other.forecast(query).fits is fits
        del engine


@pytest.mark.parametrize("limit", [{"memory": 60_000}, {"processor": 1e-5, "chronon": 1e5}])
@pytest.mark.parametrize("size", [20_000, 33_333, 1_234_567])
def test_the_budget_that_a_refusal_names_admits(limit: dict[str, Any], size: int) -> None:
    """Word for word, also given as another budget, which knows what the one before has learned."""
    engine = ms.Engine(JOIN, lambda batch: None)
    budget = engine.budget(**limit)
    feed(engine, arrivals(7, 20_000, lambda t: 10.0))
    query = A.window(size).join(B.window(size), on=[("ak", "bk")])
    with pytest.raises(BudgetExceeded) as refusal:
        engine.add(query, name="more", within=budget)
    found = re.search(r"need a budget of ([\d.]+ [kMG]B|[\d.]+%)", str(refusal.value))
    assert found is not None
    budget.stop()
    (resource,) = limit.keys() - {"chronon"}
    budget = engine.budget(**{**limit, resource: found[1]})
    assert engine.add(query, name="more", within=budget).name == "more"


def test_nothing_is_known_of_a_stream_before_it_comes_unless_stated() -> None:
    engine = ms.Engine()
    budget = engine.budget(memory="1 MB")
    with pytest.raises(StatisticsError, match="budget: nothing is known yet of source b"):
        engine.add(window(B).distinct(), within=budget)
    budget.stop()
    stated = ms.Statistics({B.node: StreamStatistics(10.0, 1.0)})
    budget = engine.budget(memory="20 kB", statistics=stated)
    query = engine.add(window(B).distinct(), within=budget)
    assert settings(query.plan)[0] < WINDOW
    with pytest.raises(BudgetExceeded):
        engine.add(B.window(9_000).distinct(), name="more", within=budget)


def test_only_the_engines_own_budget_admits() -> None:
    engine, other = ms.Engine(JOIN), ms.Engine(JOIN)
    foreign = other.budget(memory=1)
    with pytest.raises(ArgumentError, match="another engine's budget, or a stopped one"):
        engine.add(JOIN, name="b", within=foreign)
    own = engine.budget(
        memory="1 MB",
        statistics=ms.Statistics({A.node: StreamStatistics(1.0, 1.0), B.node: StreamStatistics(1.0, 1.0)}),
    )
    with pytest.raises(PlanError, match="there is a query query already"):
        engine.add(window(A, 1, 5).distinct(), name="query", within=own)
    own.stop()
    with pytest.raises(ArgumentError, match="a stopped one"):
        engine.add(JOIN, name="b", within=own)


# Queries that come and go, batches, and an autopilot


@given(st.integers(0, 10**6), st.integers(2, 200), st.sampled_from([1, 30, 512]))
def test_nothing_depends_on_batch_boundaries(seed: int, batch: int, full: int) -> None:
    def run(size: int) -> tuple[list[Element], list[dict[str, Any]]]:
        results: list[Element] = []
        engine = ms.Engine(window(A).distinct(), results.extend)
        budget = engine.budget(memory=30_000)
        feed(engine, arrivals(seed, 15_000, lambda t: 5.0 if t > 9_000 else 40.0, "a"), size)
        engine.add(window(A).filter(ms.col("ak") > 3), name="more")
        later = arrivals(seed, 5_000, lambda t: 9.0, "a")
        feed(engine, ((name, (t + 15_000, end + 15_000, row)) for name, (t, end, row) in later), size)
        engine.close()
        return results, [record.as_dict() for record in budget.decisions]

    expected = run(1)
    with full_marks(full):
        assert run(batch) == expected


def test_queries_come_and_go_and_streams_too() -> None:
    engine = ms.Engine()
    budget = engine.budget(memory=200_000, every=1_000)
    engine.add(window(A).distinct(), name="a")
    feed(engine, arrivals(10, 20_000, lambda t: 10.0, "a"))
    engine.add(JOIN, name="join")
    feed(engine, ((n, (t + 20_000, e + 20_000, r)) for n, (t, e, r) in arrivals(11, 20_000, lambda t: 10)))
    assert held(engine) <= 200_000
    engine.remove("a")
    engine.remove("join")
    assert not budget._allocator.use().memory or budget.decisions
    engine.add(window(B).distinct(), name="b")
    feed(
        engine, ((n, (t + 40_000, e + 40_000, r)) for n, (t, e, r) in arrivals(12, 20_000, lambda t: 10, "b"))
    )
    assert budget.decisions[-1].before.memory > 0
    assert held(engine) <= 200_000


def test_an_autopilot_and_a_budget_both_move() -> None:
    """A better plan is found, although settings change, and settings change, although plans do."""
    a, b = (
        ms.stream(n, **{f"{n}k": "integer", f"{n}v": "float"}).window(4_000, bounds=(500, 4_000))
        for n in "ab"
    )
    rare = a.join(b, on=[("ak", "bk")]).filter(ms.col("av") < 0.05)
    results: list[Element] = []
    engine = ms.Engine(rare, results.extend)
    pilot = engine.autopilot(settings=ms.Settings(budget=None))
    budget = engine.budget(memory=60_000)
    speeds = lambda t: 5.0 if t // 20_000 % 2 else 15.0  # noqa: E731 - the law of a stream
    feed(engine, arrivals(13, 120_000, speeds))
    engine.close()
    moves = [record for record in pilot.decisions if record.event == "move"]
    changes = [record for record in budget.decisions if record.event == "adjust"]
    assert moves, "the filter should run below the join"
    assert any(record.event == "done" for record in pilot.decisions)
    assert len(changes) >= 3
    assert not any(record.event == "failed" for record in pilot.decisions)
    assert changes[0].at < moves[-1].at or len(moves) == 1


def test_an_autopilot_does_not_wait_anew_after_each_adjustment() -> None:
    """What was learned of streams stays: otherwise frequent changes would keep it from ever deciding."""
    a, b = (
        ms.stream(n, **{f"{n}k": "integer", f"{n}v": "float"}).window(4_000, bounds=(500, 4_000))
        for n in "ab"
    )
    engine = ms.Engine(a.join(b, on=[("ak", "bk")]).filter(ms.col("av") < 0.05), lambda batch: None)
    pilot = engine.autopilot(settings=ms.Settings(budget=None))
    sizes = iter(range(3_999, 1_000, -1))
    for i, (name, element) in enumerate(arrivals(14, 16_000, lambda t: 10.0)):
        engine.push(name, [element])
        if i % 50 == 49:  # long before a window is over
            levers = {node: next(sizes) for node in engine.plan.nodes if is_lever(node)}
            engine.adjust(levers)
    assert any(record.event == "move" for record in pilot.decisions)


# Records


def test_records_are_sentences_and_data() -> None:
    engine, budget, _ = busy(60_000)
    seen: list[BudgetRecord] = []
    budget.listen(seen.append)
    feed(engine, ((n, (t + 20_000, e + 20_000, r)) for n, (t, e, r) in arrivals(15, 9_000, lambda t: 2)))
    assert seen == budget.decisions[-len(seen) :]
    adjusted = next(record for record in budget.decisions if record.event == "adjust")
    text = adjusted.text(lambda t: f"<{t}>")
    assert text.startswith(f"at <{adjusted.at}>: ")
    assert "window of source a: 8000 to" in text and "complete at <" in text
    data = json.loads(json.dumps([record.as_dict() for record in budget.decisions]))
    assert {"stay", "adjust"} <= {record["event"] for record in data} <= {"stay", "adjust", "short"}
    assert data[0]["limits"] == {"memory": 60_000.0, "processor": None}
    assert all(math.isfinite(record["before"]["memory"]) for record in data)
    del engine
    with pytest.raises(ArgumentError, match="budget: listen"):
        budget.listen(3)  # type: ignore[arg-type]


def test_a_refused_change_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    budget = engine.budget(memory=60_000)

    def refuse(settings: dict[Node, Any], not_before: int) -> Any:
        raise PlanError("not now")

    monkeypatch.setattr(budget, "_adjust", refuse)
    feed(engine, arrivals(16, 20_000, lambda t: 10.0))
    assert settings(engine.plan) == [WINDOW, WINDOW]
    assert "the engine refused: not now" in str(next(r for r in budget.decisions if r.event == "refused"))


def test_an_autopilot_and_a_budget_share_the_time_for_deciding() -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    assert engine._deciders() == 1
    budget = engine.budget(memory="1 MB")
    assert engine._deciders() == 1
    pilot = engine.autopilot()
    assert engine._deciders() == 2
    pilot.stop()
    budget.stop()
    assert engine._deciders() == 1


def test_queries_that_share_a_window_keep_it_within_the_bounds_of_all() -> None:
    engine = ms.Engine()
    engine.add(window(A, 500).distinct(), name="one")
    engine.add(window(A, 2_000).filter(ms.col("av") > 0.5), name="other")
    budget = engine.budget(memory=30_000)
    assert len(engine.levers()) == 1
    feed(engine, arrivals(17, 40_000, lambda t: 3.0, "a"))
    seen = [size for record in budget.decisions for size in record_settings(record)]
    assert seen and min(seen) >= 2_000
    engine.remove("other")
    feed(
        engine,
        ((n, (t + 40_000, e + 40_000, r)) for n, (t, e, r) in arrivals(18, 20_000, lambda t: 3.0, "a")),
    )
    assert settings(engine.plan)[0] < 2_000
    assert not any(record.event == "refused" for record in budget.decisions)


def test_others_give_way_to_a_query_that_is_admitted() -> None:
    engine = ms.Engine(JOIN, lambda batch: None)
    budget = engine.budget(memory=150_000, rule="fraction")
    feed(engine, arrivals(19, 20_000, lambda t: 10.0))
    before = settings(engine.plan)
    query = window(A, 1_000, 7_000).distinct()
    forecast = budget.forecast(query)
    engine.add(query, name="more", within=budget)
    assert max(settings(engine.plan)) < min(before)
    assert {change.after for change in budget.decisions[-1].changes} < set(forecast.settings.values())


def test_the_record_of_settings_goes_back_for_a_time() -> None:
    engine = ms.Engine(window(A).distinct(), lambda batch: None)
    engine.budget(memory=30_000, every=500, deciding=None, reserve=0.0, threshold=0.0, remember=20_000)
    feed(engine, arrivals(20, 100_000, lambda t: 5.0 + t // 1_000 % 7, "a"))
    (history,) = engine.query().settings().values()
    assert len(history) > 5
    assert history[1][0] > 60_000
    with pytest.raises(PlanError):
        engine.query().settings(10_000, 20_000)
    assert len(engine.query().settings(90_000, 95_000)) == 1
