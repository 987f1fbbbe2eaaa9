"""The autopilot of queries that share operators: what other queries run anyway costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import midstream as ms
from midstream.autopilot.records import Record
from midstream.optimizer.cost.objective import INTERMEDIATE, LATENCY, MEMORY, PROCESSING, Objective
from midstream.plans.algebra.properties import makes_results
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element

EXAMPLES = settings(max_examples=settings.default.max_examples // 3)
WINDOW = 40
UNBOUNDED = ms.Settings(budget=None)
A = ms.stream("a", ax="integer").window(WINDOW)
B = ms.stream("b", bx="integer", by="integer").window(WINDOW)
C = ms.stream("c", cy="integer").window(WINDOW)
D = ms.stream("d", dy="integer").window(WINDOW)
PAIRS = A.join(B, on=[("ax", "bx")])
QUERY = PAIRS.join(C, on=[("by", "cy")]).plan()
ELSEWHERE = B.join(C, on=[("by", "cy")]).join(A, on=[("bx", "ax")]).select("ax", "bx", "by", "cy").plan()
BESIDE = PAIRS.plan()
"""The other query: one join of the query."""
ALIKE = PAIRS.join(D, on=[("by", "dy")]).plan()
"""A query that shares the first join, and would leave it for the same reason."""


def rows_of(draw: Random, x: int, y: int) -> dict[str, tuple[int, ...]]:
    """A row of each stream, with so many values of x and of y."""
    return {
        "a": (draw.randrange(x),),
        "b": (draw.randrange(x), draw.randrange(y)),
        "c": (draw.randrange(y),),
        "d": (draw.randrange(y),),
    }


def streams(*values: tuple[int, int], windows: int = 14) -> dict[str, list[Element]]:
    """An element of each stream in a chronon, for so many windows with each number of values of x and y."""
    draw = Random(1)
    rows = [rows_of(draw, x, y) for x, y in values for _ in range(windows * WINDOW)]
    return {name: [(time, time + 1, row[name]) for time, row in enumerate(rows)] for name in "abcd"}


def flown(
    plans: Mapping[str, ms.Plan],
    arriving: Mapping[str, Sequence[Element]],
    queries: Sequence[str] | None = (),
    objective: Objective = PROCESSING,
) -> tuple[ms.Engine, list[Record]]:
    """Run queries, some of them watched; None for all."""
    engine = ms.Engine()
    for name, plan in plans.items():
        engine.add(plan, name=name)
    pilot = None
    if queries is None or queries:
        pilot = engine.autopilot(queries=queries, objective=objective, settings=UNBOUNDED)
    for time in range(max(map(len, arriving.values()))):
        for name in engine.streams:
            engine.push(name, arriving[name][time : time + 1])
    engine.close()
    return engine, pilot.decisions if pilot else []


def made(engine: ms.Engine) -> int:
    """The results of all operators that make any, each counted once, whoever reads them."""
    return sum(number for node, number in engine.counters().emitted.items() if makes_results(node))


def moves(records: list[Record]) -> list[Record]:
    return [record for record in records if record.event == "move"]


@pytest.mark.parametrize("queries", [None, ["query"]], ids=["both watched", "one watched"])
@pytest.mark.parametrize("objective", [PROCESSING, INTERMEDIATE], ids=["time", "results"])
def test_a_shared_join_is_kept(objective: Objective, queries: list[str] | None) -> None:
    """By itself the query joins b and c first: that gives half the results of a and b."""
    arriving = streams((9, 16))
    _, records = flown({"query": QUERY}, arriving, ["query"], objective)
    assert moves(records)
    plans = {"query": QUERY, "beside": BESIDE}
    without, _ = flown(plans, arriving)
    watched, _ = flown(plans, arriving, queries, objective)
    assert made(watched) <= 1.05 * made(without)


@pytest.mark.parametrize("queries", [None, ["query"]], ids=["both watched", "one watched"])
def test_a_shared_join_is_left_where_its_results_cost_more(queries: list[str] | None) -> None:
    """It gives so many that taking them costs more than to join b and c."""
    arriving = streams((2, 60))
    plans = {"query": QUERY, "beside": BESIDE}
    watched, records = flown(plans, arriving, queries)
    (move,) = moves(records)
    assert move.query == "query"
    assert move.decision is not None
    assert watched.counters().results == flown(plans, arriving)[0].counters().results


def test_equal_operators_of_others_are_not_free() -> None:
    """A query that has left what it shared would run its own there, so it does not go back."""
    arriving = streams((2, 60), (12, 14))
    plans = {"query": QUERY, "beside": BESIDE}
    _, records = flown(plans, arriving, ["query"])
    (away,) = moves(records)
    assert away.at is not None and away.at < 14 * WINDOW


@pytest.mark.parametrize(("x", "y"), [(2, 60), (4, 20), (6, 12), (9, 12), (12, 12), (20, 4)])
@pytest.mark.parametrize("objective", [PROCESSING, INTERMEDIATE], ids=["time", "results"])
def test_queries_do_not_take_turns(x: int, y: int, objective: Objective) -> None:
    """Where one has left what they shared, the other one may follow; then both stay."""
    arriving = streams((x, y), windows=24)
    plans = {"query": QUERY, "alike": ALIKE}
    watched, records = flown(plans, arriving, None, objective)
    for name in plans:
        assert len([move for move in moves(records) if move.query == name]) <= 1
    assert all(move.at is not None and move.at < 12 * WINDOW for move in moves(records))
    assert made(watched) <= 1.05 * made(flown(plans, arriving)[0])


@EXAMPLES
@given(
    seed=st.integers(0, 99),
    values=st.lists(st.tuples(st.integers(2, 9), st.integers(10, 60)), min_size=1, max_size=3),
    objective=st.sampled_from([PROCESSING, INTERMEDIATE]),
    sizes=st.randoms(use_true_random=False),
)
def test_decisions_do_not_depend_on_batches(
    seed: int, values: list[tuple[int, int]], objective: Objective, sizes: Random
) -> None:
    """Also where one query decides by what another one still shares with it, which may be migrating."""
    draw, length = Random(seed), 6 * WINDOW
    rows = [rows_of(draw, *values[time // (2 * WINDOW) % len(values)]) for time in range(length)]
    decisions = []
    for is_cut in (False, True):
        engine = ms.Engine()
        for name, plan in (("query", QUERY), ("alike", ALIKE), ("beside", BESIDE)):
            engine.add(plan, name=name)
        pilot = engine.autopilot(objective=objective, every=WINDOW // 4, settings=UNBOUNDED)
        for turn in range(0, length, WINDOW // 2):
            for name in engine.streams:
                time = turn
                while time < turn + WINDOW // 2:
                    end = min(turn + WINDOW // 2, time + sizes.choice((1, 2, 5, 20)) if is_cut else length)
                    engine.push(name, [(at, at + 1, rows[at][name]) for at in range(time, end)])
                    time = end
        engine.close()
        decisions.append([record.as_dict() for record in pilot.decisions])
    assert decisions[0] == decisions[1]


def test_a_query_that_shares_everything_stays() -> None:
    """It adds nothing, so nothing can be saved, until the other query has gone."""
    engine, draw = ms.Engine(), Random(1)
    for name in ("query", "other"):
        engine.add(QUERY, name=name)
    pilot = engine.autopilot(settings=UNBOUNDED)
    for time in range(24 * WINDOW):
        if time == 12 * WINDOW:
            assert not moves(pilot.decisions)
            assert {record.event for record in pilot.decisions} == {"stay"}
            engine.remove("other")
        row = rows_of(draw, 3, 60)
        for name in engine.streams:
            engine.push(name, [(time, time + 1, row[name])])
    (move,) = moves(pilot.decisions)
    assert move.at is not None and move.at <= 13 * WINDOW


@EXAMPLES
@given(
    seed=st.integers(0, 99),
    values=st.lists(st.tuples(st.integers(2, 12), st.integers(2, 12)), min_size=1, max_size=4),
    objective=st.sampled_from([PROCESSING, INTERMEDIATE, MEMORY, LATENCY]),
    coming=st.integers(0, 7 * WINDOW),
    going=st.integers(0, 7 * WINDOW) | st.none(),
)
def test_results_stay_right(
    seed: int, values: list[tuple[int, int]], objective: Objective, coming: int, going: int | None
) -> None:
    """Whoever moves, and whatever comes to be shared and is shared no longer."""
    plans = {"query": QUERY, "alike": ALIKE, "beside": BESIDE}
    results: dict[str, list[Element]] = {name: [] for name in plans}
    engine, draw = ms.Engine(), Random(seed)
    for name, plan in plans.items():
        engine.add(plan, results[name].extend, name)
    engine.autopilot(objective=objective, every=WINDOW // 4, settings=UNBOUNDED)
    arrived: dict[str, list[Element]] = {name: [] for name in "abcd"}
    for time in range(8 * WINDOW):
        if time == coming:
            engine.add(QUERY, name="late")
        if time == going:
            engine.remove("beside")
        for name, row in rows_of(draw, *values[time // WINDOW % len(values)]).items():
            arrived[name].append((time, time + 1, row))
            engine.push(name, arrived[name][-1:])
    engine.close()
    for name in ("query", "alike") if going is not None else plans:
        read = {source.stream: arrived[source.stream] for source in plans[name].sources}
        assert equivalent(results[name], ms.run(plans[name], read))
