"""Bills are what a sum over all chronons says; no way is cheaper than the clairvoyant's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.break_even import while_both_run
from midstream.autopilot.costs.bill import Bill, Move, best_fixed, bill, clairvoyant
from midstream.autopilot.costs.series import CostSeries
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError, PlanFormatError

STRATEGIES = ("genmig", "moving-states", "parallel-track", "swap")


def plans(number: int) -> tuple[Plan, ...]:
    """Some plans that can be told apart."""
    return tuple(stream(f"s{i}", x="integer").window(9).plan() for i in range(number))


@st.composite
def courses(draw: st.DrawFn, most: int = 8) -> CostSeries:
    """Two or three plans; buckets shorter and longer than the window; silence."""
    buckets, number = draw(st.integers(1, most)), draw(st.integers(2, 3))
    bucket, window, start = draw(st.integers(1, 5)), draw(st.integers(1, 6)), draw(st.integers(-9, 9))
    rate = st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, 8.0])
    rates = draw(st.lists(st.tuples(*[rate] * buckets), min_size=number, max_size=number))
    lasting = draw(st.just(()) | st.tuples(*[st.integers(0, window)] * buckets))
    return CostSeries(
        range(start, start + buckets * bucket, bucket),
        window,
        "intermediate results",
        plans(number),
        tuple("abc"[:number]),
        tuple(rates),
        lasting,
    )


@given(courses(), st.data())
def test_a_bill_is_a_sum_over_all_chronons(known: CostSeries, data: st.DataObject) -> None:
    start, moves = data.draw(ways(known))
    found = bill(known, start, moves)
    assert math.isclose(found.total, by_chronon(known, start, moves), abs_tol=1e-9)
    assert [(moved.at, moved.new) for moved in found.moves] == [(move.at, move.to) for move in moves]


@given(courses(), st.sampled_from(STRATEGIES), st.data())
def test_at_steady_rates_a_move_costs_what_the_autopilot_predicts(
    known: CostSeries, strategy: str, data: st.DataObject
) -> None:
    # Long enough on both sides for a migration of two windows.
    steady = tuple((rates[0],) * 40 for rates in known.rates)
    at = known.starts.start
    starts = range(at, at + 40 * known.bucket, known.bucket)
    known = replace(
        known, starts=starts, rates=steady, lasting=(), window=min(known.window, 5 * known.bucket)
    )
    found = bill(known, 0, [Move(starts[20], 1, strategy)])
    (moved,) = found.moves
    assert math.isclose(
        moved.meanwhile, while_both_run(strategy, steady[1][0], known.window, known.window), abs_tol=1e-9
    )


@given(courses(most=5), st.sampled_from([STRATEGIES[:1], STRATEGIES[1:2], STRATEGIES]))
def test_the_clairvoyant_is_the_cheapest_of_all_ways(known: CostSeries, strategies: tuple[str, ...]) -> None:
    found = clairvoyant(known, strategies)
    least = min(bill(known, start, moves).total for start, moves in all_ways(known, strategies))
    assert math.isclose(found.total, least, abs_tol=1e-9)


@given(courses(), st.data())
def test_no_way_is_cheaper(known: CostSeries, data: st.DataObject) -> None:
    way = bill(known, *data.draw(ways(known)))
    cheapest = clairvoyant(known, STRATEGIES)
    assert cheapest.total <= way.total + 1e-9
    assert known.hindsight <= cheapest.total + 1e-9
    assert cheapest.total <= known.totals[best_fixed(known)] + 1e-9


@given(courses())
def test_what_never_moves_costs_its_rates(known: CostSeries) -> None:
    for plan in range(len(known.plans)):
        assert math.isclose(bill(known, plan).total, known.totals[plan], abs_tol=1e-9)
        assert known.totals[best_fixed(known)] <= known.totals[plan]
        assert math.isclose(known.spent(plan, -99, 99), known.totals[plan], abs_tol=1e-9)


@given(courses())
def test_who_always_runs_the_best_plan_has_all_fidelity(known: CostSeries) -> None:
    best = [
        min(range(len(known.plans)), key=lambda plan: known.rates[plan][i]) for i in range(len(known.starts))
    ]
    moves = [Move(known.starts[i], plan, "swap") for i, plan in enumerate(best) if i and plan != best[i - 1]]
    found = bill(known, best[0], moves)
    assert known.running(found) == best
    assert known.fidelity(found) in (None, 1.0)
    assert math.isclose(found.total, known.hindsight, abs_tol=1e-9)


def test_fidelity_counts_contested_buckets_and_the_plan_that_gives_results() -> None:
    known = CostSeries(range(0, 40, 10), 10, "results", plans(2), ("a", "b"), ((1, 9, 9, 2), (9, 1, 1, 2)))
    assert known.fidelity(Bill(0, 0.0)) == 1 / 3
    # Both run in the second bucket, in which the old plan still gives the results.
    assert known.running(bill(known, 0, [Move(10, 1, "genmig")])) == [0, 0, 1, 1]
    assert known.fidelity(bill(known, 0, [Move(10, 1, "genmig")])) == 2 / 3
    assert replace(known, rates=((1.0,) * 4,) * 2).fidelity(Bill(0, 0.0)) is None


@given(courses())
def test_courses_are_read_as_they_were_written(known: CostSeries) -> None:
    assert CostSeries.loads(known.dumps()) == known
    assert known.between(known.starts.start, known.end) == known


@given(courses(), st.data())
def test_a_part_has_what_lies_in_it(known: CostSeries, data: st.DataObject) -> None:
    since, until = data.draw(st.integers(-20, 50)), data.draw(st.integers(-20, 50))
    part = known.between(since, until)
    inside = [i for i, start in enumerate(known.starts) if since <= start < until]
    assert list(part.starts) == [known.starts[i] for i in inside]
    assert part.rates == tuple(tuple(rates[i] for i in inside) for rates in known.rates)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"plans": ()}, "found 0 plans"),
        ({"rates": ((1.0,), (2.0,))}, "found 1 rates of a, expected 2"),
        ({"rates": ((1.0, -1.0), (2.0, 1.0))}, "found rate -1.0 of a at 10"),
        ({"rates": ((1.0, math.nan), (2.0, 1.0))}, "found rate nan of a at 10"),
        ({"lasting": (1,)}, "found 1 durations"),
        ({"lasting": (1, 99)}, "longer than a window"),
        ({"window": 0}, "a window of 0 chronons"),
    ],
)
def test_courses_fit_together(wrong: dict[str, object], told: str) -> None:
    known = CostSeries(range(0, 20, 10), 10, "results", plans(2), ("a", "b"), ((1.0, 1.0), (2.0, 2.0)))
    with pytest.raises(ArgumentError, match=told):
        replace(known, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "midstream-courses", "version": 2}'])
def test_what_is_no_course_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="courses: "):
        CostSeries.loads(text)


def test_what_is_not_as_written_is_refused() -> None:
    text = CostSeries(range(0, 10, 10), 10, "results", plans(1), ("a",), ((1.0,),)).dumps()
    for old, new in (('"start": 0', '"start": "x"'), ('"rates": [1.0]', '"rates": 1'), ('"lasting"', '"x"')):
        with pytest.raises(ArgumentError, match="courses: "):
            CostSeries.loads(text.replace(old, new))
    with pytest.raises(PlanFormatError):
        CostSeries.loads(text.replace("midstream-plan", "something else"))


def test_moves_that_cannot_be_made_are_refused() -> None:
    known = CostSeries(range(0, 40, 10), 20, "results", plans(2), ("a", "b"), ((1.0,) * 4, (2.0,) * 4))
    for moves, told in (
        ([Move(10, 2, "genmig")], "found plan 2, expected one of 0 to 1"),
        ([Move(10, 1, "by-magic")], "found strategy 'by-magic'"),
        (
            [Move(10, 1, "genmig"), Move(20, 0, "genmig")],
            "expected one from 30, where the last one has ended",
        ),
    ):
        with pytest.raises(ArgumentError, match=told):
            bill(known, 0, moves)


@st.composite
def ways(draw: st.DrawFn, known: CostSeries) -> tuple[int, list[Move]]:
    """A plan to begin with, and moves that can be made."""
    plan = start = draw(st.integers(0, len(known.plans) - 1))
    moves, free = list[Move](), known.starts.start
    every = draw(st.sampled_from([1, known.bucket]))
    for at in range(known.starts.start, known.end, every):
        if at > known.starts.start and at >= free and draw(st.integers(0, every)) == 0:
            to = draw(st.sampled_from([one for one in range(len(known.plans)) if one != plan]))
            moves.append(
                Move(
                    at, to, draw(st.sampled_from(STRATEGIES)), draw(st.none() | st.integers(0, known.window))
                )
            )
            free, plan = at + _lasts(known, moves[-1]), to
    return start, moves


def all_ways(known: CostSeries, strategies: tuple[str, ...]) -> Iterator[tuple[int, list[Move]]]:
    """All that can be done."""
    numbers = range(len(known.plans))

    def onwards(plan: int, number: int, free: int) -> Iterator[list[Move]]:
        if number == len(known.starts):
            yield []
            return
        yield from onwards(plan, number + 1, free)
        at = known.starts[number]
        for to in numbers if at >= free else ():
            for strategy in strategies if to != plan else ():
                move = Move(at, to, strategy)
                for rest in onwards(to, number + 1, at + _lasts(known, move)):
                    yield [move, *rest]

    for start in numbers:
        for moves in onwards(start, 1, known.starts.start):
            yield start, moves


def by_chronon(known: CostSeries, start: int, moves: list[Move]) -> float:
    """What it costs, chronon by chronon, as the definition of each strategy says."""

    def rate(plan: int, at: int) -> float:
        inside = known.starts.start <= at < known.end
        return known.rates[plan][(at - known.starts.start) // known.bucket] if inside else 0.0

    window, running, total = known.window, start, 0.0
    doing: tuple[Move, int, int] | None = None
    for at in range(known.starts.start, known.end):
        if doing is not None and at >= doing[2]:
            running, doing = doing[0].to, None
        for move in moves:
            if move.at == at:
                lasts = _lasts(known, move)
                if move.strategy == "moving-states" and _until_split(known, move):
                    # Of what started before, that part is still valid which is not a window old.
                    total += sum(
                        rate(move.to, at - back) * (1 - (back - 0.5) / window)
                        for back in range(1, window + 1)
                    )
                if lasts:
                    doing = move, at, at + lasts
                else:
                    running = move.to
        total += rate(running, at)
        if doing is not None:
            total += rate(doing[0].to, at) * _share(at - doing[1], window)
    return total


def _share(passed: int, window: int) -> float:
    """The mean, over a chronon, of the part that a plan gives that began with nothing some chronons ago."""
    return (passed + 0.5) / window if passed < window else 1.0


def _lasts(known: CostSeries, move: Move) -> int:
    """For how long both plans run."""
    until_split = _until_split(known, move)
    if move.strategy in ("swap", "moving-states") or not until_split:
        return 0
    return until_split + (known.window if move.strategy == "parallel-track" else 0)


def _until_split(known: CostSeries, move: Move) -> int:
    if move.until_split is None:
        bucket = (move.at - known.starts.start) // known.bucket
        return known.lasting[bucket] if known.lasting else known.window
    return move.until_split
