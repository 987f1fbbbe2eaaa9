"""Policies cost by the replay what they cost in the engine; nothing is cheaper than the cheapest way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.costs.bill import (
    Bill,
    Move,
    Moved,
    best_fixed,
    bill,
    clairvoyant,
)
from midstream.autopilot.costs.policies import Now, Planned, Policy, replay
from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.operators import Join
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.snapshots import compare, equivalent, normal_form
from midstream.plans.values.streams import is_ordered
from midstream.scenarios.trials.policies.case import Case, one_key
from midstream.scenarios.trials.policies.generated import GENERATED, flips, stationary
from midstream.scenarios.trials.policies.items import repeat_last_best
from midstream.scenarios.trials.policies.on_engine import fly, run
from midstream.scenarios.trials.policies.policy import How
from midstream.scenarios.trials.policies.recorded import RECORDED

HOW: tuple[How, ...] = get_args(How)


class AtRandom:
    """Moves every now and then."""

    def __init__(self, case: Case, seed: int, restless: float = 0.3) -> None:
        self._random, self._restless, self._orders = Random(seed), restless, len(case.orders)
        self.start = self._random.randrange(self._orders)

    def decide(self, now: Now) -> Move | None:
        if self._random.random() > self._restless:
            return None
        others = [order for order in range(self._orders) if order != now.running]
        return Move(now.time, self._random.choice(others), self._random.choice(HOW))


@st.composite
def cases(draw: st.DrawFn, most: int = 30) -> Case:
    """Joins of three streams by one key, or of a chain by two; gaps, ties, and ends that meet starts."""
    window = draw(st.integers(1, 4))
    gaps = st.sampled_from([0, 0, 1, 1, 2, window, window + 1])
    arrived = draw(
        st.lists(st.tuples(gaps, st.sampled_from("abc"), st.integers(0, 1)), min_size=1, max_size=most)
    )
    streams: Mapping[str, list[tuple[int, int]]] = {name: [] for name in "abc"}
    time = 5
    for gap, name, key in arrived:
        time += gap
        streams[name].append((time, key))
    case = one_key("drawn", window, draw(st.integers(1, 3 * window)), streams)
    if draw(st.booleans()):
        return case
    on = {("a", "b"): ("key", "key"), ("b", "c"): ("other", "key")}
    seed = draw(st.integers(0, 9))
    b = [(time, (key, (key + i * seed) % 2)) for i, (time, key) in enumerate(streams["b"])]
    return replace(
        case, on=on, columns={**case.columns, "b": ("key", "other")}, streams={**case.streams, "b": b}
    )


@given(cases(), st.integers(0, 1000), st.floats(0, 1))
def test_the_replay_costs_what_the_engine_counts(case: Case, seed: int, restless: float) -> None:
    start = AtRandom(case, seed).start
    offline = replay(case.costs, AtRandom(case, seed, restless), start)
    online = run(case, AtRandom(case, seed, restless), start)
    assert offline.total == online.total
    assert [(one.at, one.new, one.strategy) for one in offline.moves] == [
        (one.at, one.to, one.strategy) for one in online.moves
    ]
    assert is_ordered(online.results)
    assert compare(normal_form(online.results), normal_form(run(case, Planned(())).results))


@given(cases(), st.integers(0, 1000))
def test_what_was_spent_grows_to_the_total(case: Case, seed: int) -> None:
    """At an instant at which one plan runs it is what a policy is told; behind all it is the bill."""
    policy = AtRandom(case, seed)
    told: dict[int, float] = {}

    class Noting:
        def decide(self, now: Now) -> Move | None:
            told[now.time] = now.spent
            return policy.decide(now)

    found = replay(case.costs, Noting(), policy.start)
    before = case.costs.spent_before(found)
    assert {time: before(time) for time in told} == told
    curve = [before(time) for time in range(case.first - 1, case.beyond + 2 * case.window)]
    assert curve == sorted(curve) and (curve[0], curve[-1]) == (0, found.total)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["selectivity-flip", "rate-burst", "flips-0.5", "stationary-16"])
def test_the_replay_costs_what_the_engine_counts_on_generated_streams(name: str, how: How) -> None:
    case = _shortened(GENERATED[name](1), 20)
    replayed = replay(case.costs, repeat_last_best(case, 0, how))
    assert replayed.total == run(case, repeat_last_best(case, 0, how)).total
    planned = clairvoyant(case.costs, [how])
    assert run(case, Planned(planned.moves), planned.start).total == planned.total


@pytest.mark.parametrize("how", HOW)
def test_the_engines_own_autopilot_is_counted(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it tells, which is what joins of two streams gave in all plans; and nothing is lost."""
    case = flips(12, 24, "two turns")
    engines: list[Engine] = []
    migrate = Engine._migrate

    def counted(engine: Engine, *request: Any) -> Transition:
        engines[:] = [engine]
        return migrate(engine, *request)

    monkeypatch.setattr(Engine, "_migrate", counted)
    flight = fly(case, ("b", "c"), how)
    emitted = engines[0].counters().emitted
    joins = {node: [one for one in node.walk() if isinstance(one.operator, Join)] for node in emitted}
    assert flight.moves >= 1 and flight.total == sum(
        n for node, n in emitted.items() if joins[node] == [node]
    )
    assert flight.seconds > 0
    fixed = run(case, Planned(()), case.orders.index(("b", "c")))
    assert equivalent(flight.results, fixed.results)
    assert flight.total < fixed.total


@given(cases())
def test_a_fixed_order_costs_its_pairs(case: Case) -> None:
    for number, order in enumerate(case.orders):
        left, right = ([(t, case.key(order, i, row)) for t, row in case.streams[order[i]]] for i in (0, 1))
        pairs = sum(
            abs(t - u) < case.window and key == other for (t, key), (u, other) in product(left, right)
        )
        assert bill(case.costs, number).total == case.costs.totals[number] == pairs


@given(cases(most=9), st.sampled_from([HOW, HOW[:1], HOW[1:]]))
def test_the_cheapest_way_is_that_of_all_ways(case: Case, how: tuple[How, ...]) -> None:
    found = clairvoyant(case.costs, how)
    assert replay(case.costs, Planned(found.moves), found.start) == found
    assert found.total == min(_all_ways(case, how))


@given(cases(), st.integers(0, 1000))
def test_no_policy_is_cheaper_than_the_cheapest_way(case: Case, seed: int) -> None:
    found, policy = clairvoyant(case.costs, HOW), AtRandom(case, seed)
    assert found.total <= replay(case.costs, policy, policy.start).total
    assert found.total <= min(case.costs.totals)
    assert case.hindsight <= case.costs.totals[best_fixed(case.costs)]


def _all_ways(case: Case, how: tuple[How, ...]) -> list[float]:
    """What everything costs that can be decided."""
    totals, orders = [], range(len(case.orders))
    wishes = [None, *((order, one) for order in orders for one in how)]
    for start in orders:
        stack: list[tuple[Wish, ...]] = [()]
        while stack:
            script = stack.pop()
            scripted = Scripted(script)
            found = replay(case.costs, scripted, start)
            if scripted.asked <= len(script):
                totals.append(found.total)
            else:
                running = next((wish[0] for wish in reversed(script) if wish is not None), start)
                stack += [(*script, wish) for wish in wishes if wish is None or wish[0] != running]
    return totals


Wish = tuple[int, str] | None
"""To which plan, and how."""


class Scripted:
    """Answers as it is told, and then never moves; it counts how often it was asked."""

    def __init__(self, script: tuple[Wish, ...]) -> None:
        self._script, self.asked = script, 0

    def decide(self, now: Now) -> Move | None:
        self.asked += 1
        wish = self._script[self.asked - 1] if self.asked <= len(self._script) else None
        return None if wish is None else Move(now.time, *wish)


@given(cases(), cases(), st.integers(0, 60))
def test_repeating_the_last_best_order_does_not_read_the_future(one: Case, other: Case, cut: int) -> None:
    """The same past with two futures gives the same decisions."""
    shifted = {
        name: [(time + 1000, row) for time, row in other.streams.get(name, ())] for name in one.streams
    }
    if other.columns != one.columns:
        shifted = {name: [] for name in one.streams}
    streams = {
        name: [item for item in one.streams[name] if item[0] < cut] + list(shifted[name])
        for name in one.streams
    }
    longer = replace(one, streams=streams)
    before = [
        _until(replay(case.costs, repeat_last_best(case, 0, "genmig")), cut)
        for case in (one, longer)
        if case.arrivals
    ]
    assert all(moves == before[0] for moves in before)


def _until(bill: Bill, cut: int) -> list[Moved]:
    return [moved for moved in bill.moves if moved.at < cut]


def test_a_policy_that_names_what_is_not_there_is_told() -> None:
    case = stationary(16)
    with pytest.raises(ArgumentError, match=r"found plan 2, expected one of 0 to 1"):
        replay(case.costs, Planned(()), 2)
    stubborn: Policy = Scripted(((0, "genmig"),))
    with pytest.raises(ArgumentError, match=r"found a move at \d+ to plan 0, which runs already"):
        replay(case.costs, stubborn)
    with pytest.raises(ArgumentError, match=r"found strategy 'swap', expected genmig or moving-states"):
        replay(case.costs, Scripted(((1, "swap"),)))


def test_repeating_moves_when_a_bucket_is_over() -> None:
    """a and b meet twice in the first bucket, b and c once; in the second one c and b twice."""
    streams = {"a": [(0, 1), (1, 1)], "b": [(2, 1), (13, 1)], "c": [(3, 1), (12, 1), (14, 1), (30, 1)]}
    case = replace(
        one_key("by hand", 4, 10, streams), on={("a", "b"): ("key", "key"), ("b", "c"): ("key", "key")}
    )
    found = replay(case.costs, repeat_last_best(case, 0, "genmig"))
    assert [(one.at, one.new) for one in found.moves] == [(12, 1)]
    # The third bucket is empty, so nothing is decided at 30. At 12 nothing is alive: the move is free.
    assert (found.total, found.moves[0].meanwhile) == (2 + 2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_generated_streams_are_the_same_for_a_seed(name: str) -> None:
    one, again, other = (GENERATED[name](seed) for seed in (3, 3, 4))
    assert one == again
    assert one.streams != other.streams
    for rows in one.streams.values():
        assert [time for time, _ in rows] == sorted(time for time, _ in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fixed", "by_bucket", "genmig", "any_strategy"),
    [
        ("roads", (7752, 8679, 2960), 751, 774, 774),
        ("flights", (9784, 12056, 7674), 7495, 7509, 7495),
        ("packets", (2947, 2267, 564), 427, 165, 165),
    ],
)
def test_recorded_streams(
    name: str, fixed: tuple[int, ...], by_bucket: int, genmig: int, any_strategy: int, shared_data: Path
) -> None:
    """The engine counts what the replay does, and hindsight by bucket is no lower bound."""
    case = RECORDED[name](shared_data)
    assert case.costs.totals == fixed
    assert case.hindsight == by_bucket
    cheapest, cheaper = clairvoyant(case.costs), clairvoyant(case.costs, HOW)
    assert (cheapest.total, cheaper.total) == (genmig, any_strategy)
    ran = run(case, Planned(cheapest.moves), cheapest.start)
    assert (ran.total, len(ran.moves)) == (genmig, len(cheapest.moves))


def _shortened(case: Case, windows: int) -> Case:
    end = case.first + windows * case.window
    return replace(
        case,
        streams={name: [item for item in rows if item[0] < end] for name, rows in case.streams.items()},
    )
