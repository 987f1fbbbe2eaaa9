"""The engine decides by itself: what it watches and does; and that batches do not matter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import cycle, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inside import full_marks, host_of

import midstream as ms
from midstream import testing
from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.records import Record
from midstream.autopilot.settings import BALANCED
from midstream.migration.migrate import prepare
from midstream.migration.strategies import find_strategy
from midstream.optimizer.cost.objective import INTERMEDIATE, PROCESSING, WEIGHTS, Objective, objective_of
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element

UNBOUNDED = ms.Settings(budget=None)
"""Looks at every instant: these streams are so short that no look would be paid for."""
EXAMPLES = settings(max_examples=settings.default.max_examples // 3)
WINDOW = 40

A = ms.stream("a", ax="integer").window(WINDOW)
B = ms.stream("b", bx="integer", by="integer").window(WINDOW)
C = ms.stream("c", cy="integer").window(WINDOW)
COLUMNS = ("ax", "bx", "by", "cy")
AB_FIRST = A.join(B, on=[("ax", "bx")]).join(C, on=[("by", "cy")]).select(*COLUMNS).plan()
BC_FIRST = B.join(C, on=[("by", "cy")]).join(A, on=[("bx", "ax")]).select(*COLUMNS).plan()
FILTERED = A.join(B, on=[("ax", "bx")]).filter(ms.col("ax") > 7)


def flipping(seed: int, until: int = 480) -> dict[str, list[Element]]:
    """Few values of x at first, then of y."""
    random = Random(seed)
    streams: dict[str, list[Element]] = {name: [] for name in "abc"}
    for time in range(until):
        x, y = (3, 20) if time < until // 2 else (20, 3)
        rows = {
            "a": (random.randrange(x),),
            "b": (random.randrange(x), random.randrange(y)),
            "c": (random.randrange(y),),
        }
        for name, row in rows.items():
            if random.random() < 0.5:
                streams[name].append((time, time + 1, row))
    return streams


def turns(streams: dict[str, list[Element]], size: int) -> Iterator[tuple[str, list[Element]]]:
    """What comes, stream by stream in turns of some chronons."""
    last = max(batch[-1][0] for batch in streams.values())
    for time in range(0, int(last) + 1, size):
        for name, elements in streams.items():
            yield name, [one for one in elements if time <= one[0] < time + size]


def flown(
    plan: ms.Plan,
    streams: dict[str, list[Element]],
    cut: Callable[[list[Element]], list[list[Element]]],
    turn: int = WINDOW // 2,
    **how: Any,
) -> tuple[list[Record], list[Element], ms.Engine]:
    """A run with an autopilot, each turn's elements cut in some way; a turn is so many chronons long."""
    results: list[Element] = []
    engine = ms.Engine(plan, results.extend)
    pilot = engine.autopilot(**{"every": WINDOW // 4, "settings": UNBOUNDED, **how})
    for name, batch in turns(streams, turn):
        for piece in cut(batch):
            engine.push(name, piece)
    engine.close()
    return pilot.decisions, results, engine


def whole(batch: list[Element]) -> list[list[Element]]:
    return [batch]


def told(records: list[Record]) -> list[dict[str, Any]]:
    return [record.as_dict() for record in records]


def decided(records: list[Record]) -> list[dict[str, Any]]:
    """Records without what was counted: while both plans run, their work depends on how streams alternate."""
    return [
        {name: value for name, value in record.items() if name not in ("spent", "meanwhile")}
        for record in told(records)
    ]


@EXAMPLES
@example(0, 30.0, [1], 1, INTERMEDIATE, 512)  # a migration ends at an instant at which nobody looks
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([1.0, 30.0, 300.0]),
    cuts=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    turn=st.sampled_from([1, WINDOW // 2, 3 * WINDOW]),
    objective=st.sampled_from([INTERMEDIATE, PROCESSING]),
    full=st.sampled_from([1, 5, 40, 512]),
)
def test_decisions_within_a_budget_do_not_depend_on_batches(
    seed: int, share: float, cuts: list[int], turn: int, objective: Objective, full: int
) -> None:
    """Looks are put off by counted work, which is the same however elements come and are sampled."""
    streams, budget = flipping(seed, 30 * WINDOW), ms.Settings(budget=share)

    def cut(batch: list[Element]) -> list[list[Element]]:
        sizes, found, at = cycle(cuts), list[list[Element]](), 0
        while at < len(batch):
            size = next(sizes)
            found.append(batch[at : at + size])
            at += size
        return found or [[]]

    how: dict[str, Any] = {"objective": objective, "settings": budget}
    records, results, _ = flown(AB_FIRST, streams, whole, **how)
    with full_marks(full):
        others, other_results, _ = flown(AB_FIRST, streams, cut, turn, **how)
    assert decided(others) == decided(records)
    assert equivalent(results, other_results)


def test_it_follows_the_streams() -> None:
    """When the selective join changes, so does the order, soon; and nothing is lost."""
    streams = flipping(1)
    records, results, _ = flown(BC_FIRST, streams, whole, objective=INTERMEDIATE)
    moves = [record for record in records if record.event == "move"]
    assert 1 <= len(moves) <= 3
    assert 240 < moves[-1].at < 240 + 4 * WINDOW
    assert equivalent(results, ms.run(BC_FIRST, streams))
    spent = records[-1].spent
    fixed = []
    for plan in (AB_FIRST, BC_FIRST):
        staying = flown(plan, streams, whole, advisor=Silent())[0]
        fixed.append(staying[-1].spent)
    assert spent < min(fixed)


@pytest.mark.parametrize(
    ("until", "rate", "every", "weighed"),
    [(8, 0.01, 46, "moving-states"), (20, 5.0, 40, "genmig")],
    ids=["little is built", "much expires soon"],
)
def test_auto_migrates_as_was_weighed(until: int, rate: float, every: int, weighed: str) -> None:
    """By the elements that are kept or processed, each of the two would be the dearer one."""
    flown, alone = ms.Engine(AB_FIRST), ms.Engine(AB_FIRST)
    pilot = flown.autopilot(Saving(BC_FIRST, rate), every=every, settings=UNBOUNDED)
    for engine in (flown, alone):
        for time in range(until):
            for name, row in (("a", (1,)), ("b", (2, 3)), ("c", (4,))):
                engine.push(name, [(time, time + 1, row)] * (20 if time == 7 else 1))
        for name in "abc":
            engine.advance(name, every)
    (move,) = pilot.decisions
    assert move.event == "move" and move.decision is not None and move.strategy is not None
    assert move.decision.strategy == weighed
    assert move.strategy.startswith(weighed)
    unweighed = prepare(host_of(alone), BC_FIRST, find_strategy("auto"))
    assert not unweighed.strategy.name.startswith(weighed)


class Saving:
    """Names a plan that saves one result a chronon, and gives so many."""

    def __init__(self, plan: ms.Plan, rate: float) -> None:
        self._forecast = Forecast(plan, rate, 1.0)

    def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
        return Advice(self._forecast.rate + 1.0, (self._forecast,))


class Silent:
    """Knows nothing."""

    def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
        return None


class Naming:
    """Names a plan as better, whatever runs."""

    def __init__(self, *plans: ms.Plan) -> None:
        self.plans = plans
        self.asked = 0

    def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
        self.asked += 1
        others = tuple(Forecast(plan, 1.0, 9.0) for plan in self.plans if plan != running)
        return Advice(10.0, others)


@EXAMPLES
@given(
    first=st.dictionaries(st.sampled_from("abc"), st.integers(0, 3 * WINDOW), min_size=1),
    every=st.integers(1, 2 * WINDOW),
)
def test_nobody_is_asked_within_a_window_of_the_first_element(first: dict[str, int], every: int) -> None:
    """But at the first look behind that."""
    engine, until = ms.Engine(AB_FIRST), 8 * WINDOW
    advisor = Naming(BC_FIRST)
    pilot = engine.autopilot(advisor, every=every, settings=UNBOUNDED)
    for time in range(until):
        asked = advisor.asked
        for name, row in {"a": (1,), "b": (1, 1), "c": (1,)}.items():
            if time >= first.get(name, until):
                engine.push(name, [(time, time + 1, row)])
            else:
                engine.advance(name, time)
        assert advisor.asked == asked or time >= min(first.values()) + WINDOW
    move = next(record for record in pilot.decisions if record.event == "move")
    assert 0 <= move.at - (min(first.values()) + WINDOW) < every


@EXAMPLES
@given(
    seed=st.integers(0, 99),
    pieces=st.randoms(use_true_random=False),
    turn=st.sampled_from([1, WINDOW // 2, 3 * WINDOW, 300]),
    objective=st.sampled_from([INTERMEDIATE, PROCESSING]),
    strategy=st.sampled_from(["auto", "genmig"]),
    full=st.sampled_from([1, 5, 512]),
)
def test_decisions_do_not_depend_on_batches(
    seed: int, pieces: Random, turn: int, objective: Objective, strategy: str, full: int
) -> None:
    """Nor on how far one stream is ahead of the others: here by up to so many chronons."""
    streams = flipping(seed, 240)
    how = {"objective": objective, "strategy": strategy}

    def cut(batch: list[Element]) -> list[list[Element]]:
        found = []
        while batch:
            size = pieces.choice((1, 2, 5, 20))
            found.append(batch[:size])
            batch = batch[size:]
        return found

    expected = flown(AB_FIRST, streams, whole, **how)
    assert expected[0]
    for other in (cut, lambda batch: [[one] for one in batch]):
        with full_marks(full):
            records, results, _ = flown(AB_FIRST, streams, other, turn, **how)
        assert decided(records) == decided(expected[0])
        assert equivalent(results, expected[1])


@EXAMPLES
@given(
    seed=st.integers(0, 99),
    at=st.integers(60, 200),
    objective=st.sampled_from([INTERMEDIATE, PROCESSING]),
)
def test_it_never_reads_the_future(seed: int, at: int, objective: Objective) -> None:
    """Streams that are the same up to an instant: so are the decisions up to it, and what was counted."""
    one, other = flipping(seed, 240), flipping(seed + 1, 240)
    mixed = {
        name: [e for e in one[name] if e[0] < at] + [e for e in other[name] if e[0] >= at] for name in one
    }
    found = []
    for streams in (one, mixed):
        engine = ms.Engine(AB_FIRST)
        pilot = engine.autopilot(objective=objective, every=WINDOW // 4, settings=UNBOUNDED)
        for time in range(240):
            for name in streams:
                engine.advance(name, time)
            for name, elements in streams.items():
                engine.push(name, [one for one in elements if one[0] == time])
        found.append([record for record in told(pilot.decisions) if record["at"] <= at])
    assert found[0] == found[1]


@given(
    workload=testing.workloads(testing.plans(depth=2, windows=True, relations=True)),
    objective=st.sampled_from([*WEIGHTS, "om(0.4, 0.6)"]).map(objective_of),
    every=st.integers(1, 6),
)
def test_queries_of_all_kinds_go_on(workload: testing.Workload, objective: Objective, every: int) -> None:
    """Also where a plan costs without end, or no result comes for a while; and no advisor fails."""
    results: list[Element] = []
    engine = ms.Engine(workload.plan, results.extend, relations=workload.relations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.autopilot(objective=objective, every=every)
        testing.drive(engine, workload.events)
        engine.close()
    assert testing.verdict(workload.specified(), results)


@pytest.mark.parametrize(
    ("plan", "objective"),
    [
        (A.join(B, on=[("ax", "bx")]).filter(ms.col("by") < 9), "rate"),
        (AB_FIRST, "om(0.4, 0.6)"),
        (
            ms.stream("a", ax="integer").window(None).join(B, on=[("ax", "bx")]).filter(ms.col("by") < 9),
            "processing",
        ),
    ],
    ids=["no results for a while", "nor here", "all is kept"],
)
def test_a_cost_without_end_is_no_failure(plan: ms.Plan, objective: str) -> None:
    engine = ms.Engine(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pilot = engine.autopilot(objective=objective_of(objective), every=WINDOW // 4, settings=UNBOUNDED)
        for time in range(4 * WINDOW):
            missed = 10 if WINDOW < time < 3 * WINDOW else 0
            for name, row in {"a": (time % 3,), "b": (time % 3 + missed, 0), "c": (0,)}.items():
                if name in engine.streams:
                    engine.push(name, [(time, time + 1, row)])
    assert {record.event for record in pilot.decisions} <= {"stay", "move", "done"}
    assert len(pilot.decisions) > 8


SIZES = st.sampled_from((0.0, 1.0, -1.0, 1e308, -1e308, 5e-324))
MAYBE = st.none() | SIZES
TOLD_BEFORE = (1.0, 1.0, 1.0, 0.0, -1.0, 1.0, 1.0)
TOO_LARGE = {1: (1e308, 0.0), 2: (-1e308, 1e308)}
"""By look, a rate and a saving that cannot be corrected by what was measured."""


@given(
    advice=st.lists(
        st.tuples(SIZES, SIZES, SIZES, SIZES.map(abs), MAYBE, MAYBE, MAYBE), min_size=7, max_size=7
    ),
    objective=st.sampled_from([None, INTERMEDIATE, PROCESSING]),
    doubt=st.sampled_from([0.5, 1e308]),
)
@example(
    advice=[
        (0.0, *TOO_LARGE.get(look, (0.0, 0.0)), 0.0, None, told, None)
        for look, told in enumerate(TOLD_BEFORE)
    ],
    objective=INTERMEDIATE,
    doubt=0.5,
)
def test_an_advisor_may_tell_numbers_of_any_size(
    advice: list[tuple[Any, ...]], objective: Objective | None, doubt: float
) -> None:
    class Wild:
        def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan]:
            cost, rate, saving, deviation, lately, before, state = advice[self.asked % 7]
            self.asked += 1
            other = BC_FIRST if running == AB_FIRST else AB_FIRST
            return Advice(cost, (Forecast(other, rate, saving, deviation, lately, state),), "", before)

        asked = 0

    advisor = Wild()
    if objective is not None:
        advisor.objective = objective  # type: ignore[attr-defined]
    streams = flipping(1, 240)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, results, _ = flown(
            AB_FIRST, streams, whole, advisor=advisor, settings=ms.Settings(doubt=doubt, budget=None)
        )
    assert equivalent(results, ms.run(AB_FIRST, streams))


def correlated(engine: ms.Engine, until: int) -> None:
    """Both columns of a are the same, and so are two of b: rows that agree in one agree in the other. They
    have few values at first."""
    random = Random(1)
    for time in range(until):
        few = 3 if time < 400 else 10
        for name in "abc":
            if random.random() < 0.5:
                x, z = random.randrange(few), random.randrange(30)
                row = {"a": (x, x), "b": (x, x, z), "c": (z,)}[name]
                engine.push(name, [(time, time + 1, row)])
            else:
                engine.advance(name, time)
    engine.close()


@pytest.mark.parametrize("objective", [INTERMEDIATE, PROCESSING])
def test_it_goes_back_where_a_saving_does_not_come_true(objective: Objective) -> None:
    """The optimizer takes columns for independent, so that it expects 0.2 pairs of a and b per chronon where
    there are 2."""
    a = ms.stream("a", ax="integer", ay="integer").window(WINDOW)
    b = ms.stream("b", bx="integer", by="integer", bz="integer").window(WINDOW)
    c = ms.stream("c", cz="integer").window(WINDOW)
    written = b.join(c, on=[("bz", "cz")]).join(a, on=[("bx", "ax"), ("by", "ay")])
    first = written.select("ax", "bz").plan()
    engine = ms.Engine(first)
    pilot = engine.autopilot(objective=objective, every=WINDOW // 4, settings=UNBOUNDED)
    correlated(engine, 1200)
    there, back = [record for record in pilot.decisions if record.event == "move"]
    assert 400 < there.at < back.at < there.at + 6 * WINDOW
    # The other plan would have cost 2 per chronon from there on.
    assert pilot.decisions[-1].spent < there.spent + 1.5 * (1200 - there.at)


class Told:
    """Tells that a plan costs little, in a unit of its own."""

    def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
        return Advice(0.01, (Forecast(BC_FIRST, 9.0, -8.99, lately=9.0),), lately=0.01)


class Priced(Told):
    """The same in intermediate results."""

    objective = INTERMEDIATE


def test_units_are_never_mixed() -> None:
    """What an advisor tells in a unit that is not known is compared with nothing that was counted."""
    rates = []
    for advisor in (Told(), Priced()):
        records = flown(AB_FIRST, flipping(1, 240), whole, advisor=advisor)[0]
        weighed = [one.decision for one in records if one.decision is not None and one.decision.candidate]
        rates.append({decision.rate for decision in weighed})
    assert rates[0] == {0.01}
    assert max(rates[1]) > 0.02


def test_what_is_refused_is_a_record_and_not_tried_again() -> None:
    """A plan that means something else; and one that cannot be reached."""
    wrong = A.join(B, on=[("ax", "by")]).join(C, on=[("by", "cy")]).select(*COLUMNS).plan()
    advisor = Naming(wrong)
    records, results, _ = flown(AB_FIRST, flipping(2, 200), whole, advisor=advisor)
    refused = [record for record in records if record.event == "refused"]
    assert [record.at for record in refused] == [refused[0].at]
    assert "do not mean the same" in refused[0].reason and "was refused" in str(refused[0])
    assert advisor.asked > 5
    assert equivalent(results, ms.run(AB_FIRST, flipping(2, 200)))
    elsewhere = ms.stream("d", dx="integer").window(9).plan()
    records, *_ = flown(AB_FIRST, flipping(2, 200), whole, advisor=Naming(elsewhere))
    assert {record.event for record in records} == {"stay"}


@pytest.mark.parametrize("unproved", ["refuse", "accept"])
def test_the_caller_may_vouch_for_what_an_advisor_names(unproved: str) -> None:
    x = ms.col("ax")
    one, other = A.filter(x > 3).plan(), A.filter(x > 3).filter((x > 1) | (x * x > 1000)).plan()
    engine = ms.Engine(one)
    pilot = engine.autopilot(Naming(other), every=WINDOW, unproved=unproved, settings=UNBOUNDED)
    engine.push("a", [(time, time + 1, (time % 7,)) for time in range(2 * WINDOW)])
    event = "move" if unproved == "accept" else "refused"
    assert [record.event for record in pilot.decisions if record.event != "stay"][:1] == [event]
    assert engine.plan == (other if unproved == "accept" else one)


def test_a_migration_is_handed_over_until_a_record_tells_its_end() -> None:
    engine, streams = ms.Engine(BC_FIRST), flipping(1)
    pilot = engine.autopilot(every=WINDOW // 4, objective=INTERMEDIATE, strategy="genmig", settings=UNBOUNDED)
    seen: list[tuple[str, ms.Plan | None]] = [("done", None)]

    def tell(record: Record) -> None:
        migration = pilot.migration(record.query)
        seen.append((record.event, None if migration is None else migration.request.plan))
        expected = {"move": engine.plan, "done": None}.get(record.event, seen[-2][1])
        assert seen[-1][1] == expected

    pilot.listen(tell)
    for name, batch in turns(streams, WINDOW // 2):
        engine.push(name, batch)
    assert {"move", "done", "stay"} <= {event for event, _ in seen[1:]} and pilot.migration("another") is None


def test_an_advisor_that_raises_is_told_of_and_asked_again_at_the_next_look() -> None:
    class Raising(Silent):
        asked = 0

        def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
            self.asked += 1
            if self.asked < 4:
                raise ZeroDivisionError("no idea")
            return None

    advisor = Raising()
    with pytest.warns(UserWarning, match="a look at query query raised ZeroDivisionError: no idea"):
        records, results, _ = flown(AB_FIRST, flipping(2, 200), whole, advisor=advisor)
    failed = [record for record in records if record.event == "failed"]
    assert len(failed) == 3 and advisor.asked > 4
    assert isinstance(failed[0].failure, ZeroDivisionError) and "the next one tries again" in str(failed[0])
    assert {record.event for record in records[records.index(failed[-1]) + 1 :]} == {"stay"}
    assert equivalent(results, ms.run(AB_FIRST, flipping(2, 200)))


@pytest.mark.parametrize("answer", ["stay", Advice(1.0, (Forecast("a plan", 1.0, 1.0),))])
def test_what_is_no_advice(answer: Any) -> None:
    advisor = Silent()
    advisor.advise = lambda running, known: answer  # type: ignore[method-assign]
    with pytest.warns(UserWarning, match="raised ArgumentError"):
        records, *_ = flown(AB_FIRST, flipping(2, 100), whole, advisor=advisor)
    assert records[-1].event == "failed"


def test_queries_come_and_go() -> None:
    """Those that come are watched, those that go are not; a replaced one is watched anew."""
    streams = flipping(3, 600)
    engine = ms.Engine()
    heard: list[Record] = []
    pilot = engine.autopilot(objective=INTERMEDIATE, settings=UNBOUNDED)
    pilot.listen(heard.append)
    assert pilot.queries == []
    engine.add(FILTERED.plan(), name="filtered")
    for name, batch in turns({name: streams[name][:100] for name in "ab"}, 20):
        engine.push(name, batch)
    assert pilot.queries == ["filtered"]
    assert {record.query for record in heard} == {"filtered"}
    replacement = engine.replace(A.distinct().plan(), "filtered")
    engine.add(AB_FIRST, name="three")
    now = int(max(engine.progress(name) for name in "ab"))
    for time in range(now, now + 3 * WINDOW):
        for name in "abc":
            engine.push(name, [(time, time + 1, (1, 1)[: 2 if name == "b" else 1])])
    assert replacement.is_done and sorted(pilot.queries) == ["filtered", "three"]
    assert [record.event for record in heard if record.query == "filtered"].count("left") == 1
    engine.remove("three")
    assert pilot.queries == ["filtered"]
    pilot.stop()
    pilot.stop()
    count = len(heard)
    for time in range(now + 3 * WINDOW, now + 5 * WINDOW):
        engine.push("a", [(time, time + 1, (1,))])
    assert len(heard) == count and pilot.queries == [] and pilot.is_stopped
    assert pilot.summary["filtered"]["left"] == 1 and "left" in str(pilot)


def test_one_at_a_time_where_queries_share() -> None:
    """Two queries share a join: the second waits until the first has moved."""
    shared = A.join(B, on=[("ax", "bx")]).filter(ms.col("ax") > 0)
    plans = [shared.distinct().plan(), shared.select("ax", "by").plan()]
    pushed = A.filter(ms.col("ax") > 0).join(B, on=[("ax", "bx")])
    better = [pushed.distinct().plan(), pushed.select("ax", "by").plan()]

    class Better:
        def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
            for plan, other in zip(plans, better, strict=True):
                if running == plan:
                    return Advice(10.0, (Forecast(other, 1.0, 9.0),))
            return None

    engine = ms.Engine()
    for number, plan in enumerate(plans):
        engine.add(plan, name=str(number))
    pilot = engine.autopilot(Better(), strategy="genmig", settings=UNBOUNDED)
    for name, batch in turns(flipping(4, 400), 5):
        if name in "ab":
            engine.push(name, batch)
    moves = {record.query: record for record in pilot.decisions if record.event == "move"}
    done = {record.query: record for record in pilot.decisions if record.event == "done"}
    waits = [record for record in pilot.decisions if "shares operators" in record.reason]
    assert set(moves) == set(done) == {"0", "1"} and waits
    first, second = sorted(moves.values(), key=lambda record: (record.at, record.query))
    assert done[first.query].at <= second.at


def test_migrations_by_hand_are_noticed() -> None:
    """It stays as long as one is under way, and flies the plan that runs then."""
    engine = ms.Engine(AB_FIRST)
    pilot = engine.autopilot(Naming(AB_FIRST, BC_FIRST), settings=UNBOUNDED)
    streams = flipping(5, 400)
    moved = None
    for name, batch in turns({name: streams[name] for name in "abc"}, 5):
        engine.push(name, batch)
        if moved is None and batch and batch[0][0] >= WINDOW:
            moved = engine.migrate(BC_FIRST)
    assert "a migration is under way" in [record.reason for record in pilot.decisions]
    assert {record.running for record in pilot.decisions} == {AB_FIRST, BC_FIRST}


def test_a_window_of_another_size_is_another_query() -> None:
    window = ms.stream("c", cy="integer").window(WINDOW, bounds=(WINDOW, 2 * WINDOW))
    engine = ms.Engine(A.join(B, on=[("ax", "bx")]).join(window, on=[("by", "cy")]).select(*COLUMNS).plan())
    pilot = engine.autopilot(Naming(BC_FIRST), settings=UNBOUNDED)
    host = host_of(engine)
    engine.resize(window, 2 * WINDOW, 7)
    for name, batch in turns(flipping(6, 400), 5):
        engine.push(name, batch)
    assert "move" not in {record.event for record in pilot.decisions}
    assert host.query().plan != AB_FIRST


def test_a_query_without_windows_needs_a_time_from_look_to_look() -> None:
    plan = ms.stream("a", ax="integer").window(None).distinct().plan()
    engine = ms.Engine(plan)
    with pytest.raises(ms.errors.ArgumentError, match=r"query query has no time window.*give every="):
        engine.autopilot()
    pilot = engine.autopilot(Silent(), every=10, settings=UNBOUNDED)
    engine.push("a", [(t, t + 1, (t,)) for t in range(35)])
    assert [record.at for record in pilot.decisions] == [10, 20, 30]


def test_two_autopilots_do_not_watch_the_same() -> None:
    engine = ms.Engine(AB_FIRST)
    engine.add(BC_FIRST, name="other")
    first = engine.autopilot(queries=["other"])
    with pytest.raises(ms.errors.ArgumentError, match="another autopilot watches other"):
        engine.autopilot()
    second = engine.autopilot(queries=["query"])
    assert (first.queries, second.queries) == (["other"], ["query"])
    first.stop()
    engine.autopilot(queries=["other"])


def test_settings_by_name_from_a_file_and_by_hand(tmp_path: Any) -> None:
    file = tmp_path / "mine.json"
    file.write_text(BALANCED.dumps(), encoding="utf-8")
    for chosen in ("careful", file, str(file), BALANCED):
        engine = ms.Engine(AB_FIRST)
        assert engine.autopilot(settings=chosen).queries == ["query"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"settings": "balance"}, "did you mean balanced"),
        ({"settings": 7}, "expected careful, balanced, eager"),
        ({"advisor": 7}, "one with a method `advise`"),
        ({"objective": "processing"}, "an objective"),
        ({"every": 0}, "from 1"),
        ({"every": 1.5}, "from 1"),
        ({"queries": "query"}, "a list of names"),
        ({"queries": ["quer"]}, "no query quer"),
        ({"strategy": "none"}, "no strategy none"),
        ({"unproved": "maybe"}, "expected refuse or accept"),
    ],
)
def test_what_it_is_given_is_checked(wrong: dict[str, Any], message: str) -> None:
    engine = ms.Engine(AB_FIRST)
    with pytest.raises(ms.MidstreamError, match=message):
        engine.autopilot(**wrong)
    engine.autopilot()


def test_nothing_is_watched_where_there_is_no_other_plan() -> None:
    """No element is noted, until the plan of the query changes."""
    engine = ms.Engine(A.join(B, on=[("ax", "bx")]))
    pilot = engine.autopilot()
    assert pilot.queries == ["query"] and not engine._feed._watches
    (record,) = pilot.decisions
    assert (record.event, record.at, "no rule leads" in record.reason) == ("stay", None, True)
    engine.replace(AB_FIRST)
    for time in range(3 * WINDOW):
        for name in "abc":
            engine.push(name, [(time, time + 1, (1, 1)[: 2 if name == "b" else 1])])
    assert pilot.queries == ["query"] and engine._feed._watches


def test_looks_are_paid_for_by_the_work_of_the_query() -> None:
    """By counted steps, deciding takes the share of the budget, and one look that is not paid for yet."""
    for share in (0.05, 0.5):
        engine, streams = ms.Engine(AB_FIRST), flipping(1, 40 * WINDOW)
        pilot = engine.autopilot(settings=ms.Settings(budget=share))
        largest = before = 0.0
        for name, batch in turns(streams, 5):
            engine.push(name, batch)
            (watched,) = pilot._watched.values()
            cost = watched._cost()
            largest, before = max(largest, cost - before), cost
        assert 0 < watched._cost() <= share * watched._work() + largest


def test_silence_costs_nothing_within_a_budget() -> None:
    """No instant is asked for between two elements far apart, though the next look is not paid for."""
    engine = ms.Engine(AB_FIRST)
    pilot = engine.autopilot()
    for time in [*range(3 * WINDOW), *range(10**9, 10**9 + 3 * WINDOW)]:
        for name, row in (("a", (time,)), ("b", (time, time)), ("c", (time,))):
            engine.push(name, [(time, time + 1, row)])
    (watched,) = pilot._watched.values()
    assert 0 < watched.efforts.checks < 10 and not watched.efforts.looks


def test_a_thin_beginning_does_not_put_looks_off_for_long() -> None:
    """Somebody asks again once as much time has passed as since the first window."""
    engine = ms.Engine(AB_FIRST)
    pilot = engine.autopilot()
    asked = list[int]()
    for time in range(0, 300 * WINDOW):
        if time % WINDOW and time < 20 * WINDOW:
            continue
        for name, row in (("a", (time,)), ("b", (time, time)), ("c", (time,))):
            engine.push(name, [(time, time + 1, row)])
        (watched,) = pilot._watched.values()
        if watched.efforts.checks > len(asked):
            asked.append(time // WINDOW)
    assert all(late <= 2 * soon + 2 for soon, late in pairwise(asked)) and len(asked) < 20
    assert any(20 <= at <= 42 for at in asked)
