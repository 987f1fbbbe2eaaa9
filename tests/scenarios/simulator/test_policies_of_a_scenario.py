"""Policies of a scenario cost by the replay what the engine counts, whatever the plans look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from simulated import described, joined, stream

from midstream.autopilot.costs.bill import Move
from midstream.autopilot.costs.policies import Now
from midstream.autopilot.settings import BALANCED, CAREFUL, EAGER, Settings
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.items import repeat_last_best
from midstream.scenarios.trials.policies.policy import How
from midstream.scenarios.trials.simulator import judging, scenario_policies
from midstream.scenarios.trials.simulator.input import input_of
from midstream.scenarios.trials.simulator.judging import joined_of
from midstream.scenarios.trials.simulator.results import Simulation, alone
from midstream.scenarios.trials.simulator.run import _Run
from midstream.scenarios.trials.simulator.scenario import Scenario, parse_scenario
from midstream.scenarios.trials.simulator.simulating import simulate

NAMES = "abc"
PAIRS = (("a", "b"), ("b", "c"), ("a", "c"))


class AtRandom:
    """Moves every now and then; `seed` and `restless` are its settings."""

    def __init__(self, case: Case, start: int, how: How, seed: int = 1, restless: float = 0.2) -> None:
        self._orders, self._how = range(len(case.orders)), how
        self._random, self._restless = Random(seed), restless

    def decide(self, now: Now) -> Move | None:
        if self._random.random() > self._restless:
            return None
        others = [order for order in self._orders if order != now.running]
        return Move(now.time, self._random.choice(others), self._how)


class Settled(AtRandom):
    """One with the settings of an autopilot: the more doubt, the less it moves."""

    def __init__(self, case: Case, start: int, how: How, settings: Settings = BALANCED) -> None:
        super().__init__(case, start, how, restless=1 / (1 + settings.doubt))


@pytest.fixture(autouse=True)
def items(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policies that there are here."""
    names = "repeat last best", "at random", "settled"
    known = dict(zip(names, (repeat_last_best, AtRandom, Settled), strict=True))
    monkeypatch.setattr(scenario_policies, "ITEMS", known)


def read(**changes: Any) -> Scenario:
    """A scenario of three streams whose plans join two of them first, in turn."""
    plans = {"".join(pair): joined(*pair, *set("ABC") - set(pair)) for pair in ("AB", "BC", "CA")}
    of_all = {"plans": plans, "migrations": [], "strategies": [], "policies": ["repeat last best"]}
    return parse_scenario(
        "p.yaml", yaml.safe_dump(described(**{**of_all, **changes}), sort_keys=False), Path()
    )


def sql(first: tuple[str, str], *, is_one_key: bool, filtered: str, size: int, derived: bool) -> str:
    """The join of a, b and c, two of them first; some rows of one stream are left out, if it is named."""
    (last,) = set(NAMES) - {*first}
    order = [*first, last]

    def table(name: str) -> str:
        condition = " WHERE k > 0" if name == filtered else ""
        if not (derived or condition):
            return f"{name} WINDOW(RANGE {size} SECONDS)"
        return f"(SELECT k, l + 0 AS l FROM {name} WINDOW(RANGE {size} SECONDS){condition}) {name}"

    on = "a.k = b.k AND b.k = c.k AND a.k = c.k" if is_one_key else "a.k = b.k AND b.l = c.l"
    return f"SELECT a.k AS x, b.l AS y, c.l AS z FROM {', '.join(map(table, order))} WHERE {on}"


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Joins of three streams by one key or by two, with windows, filters and gaps, and policies at random."""
    is_one_key, size = draw(st.booleans()), draw(st.integers(1, 12))
    filtered, derived = draw(st.sampled_from(["", *NAMES])), draw(st.booleans())
    columns = {name: {"values": "uniform", "low": 0, "high": draw(st.integers(0, 2))} for name in "kl"}
    arrivals = st.builds(
        lambda process, tenths: {"process": process, "rate": tenths / 10},
        st.sampled_from(["poisson", "constant"]),
        st.integers(2, 15),
    )
    pairs = PAIRS if is_one_key else PAIRS[:2]
    settings = {"seed": draw(st.integers(0, 99)), "restless": draw(st.sampled_from([0.1, 0.5, 1.0]))}
    described = {
        "name": "drawn",
        "unit": "seconds",
        "seed": draw(st.integers(0, 999)),
        "duration": draw(st.integers(10, 30)),
        "streams": {name: {"columns": columns, "arrivals": draw(arrivals)} for name in NAMES},
        "plans": {
            " and ".join(pair): {
                "sql": sql(pair, is_one_key=is_one_key, filtered=filtered, size=size, derived=derived)
            }
            for pair in pairs
        },
        "policies": [
            {"name": "at random", "settings": settings, "start": " and ".join(draw(st.sampled_from(pairs)))},
            {"name": "at random", "as": "auto", "settings": settings, "strategy": "auto"},
            {"name": "clairvoyant", "strategy": "auto"},
            "repeat last best",
        ],
        "measures": {"every": draw(st.integers(2, 20)), "bucket": draw(st.integers(1, 20))},
    }
    return parse_scenario("drawn.yaml", yaml.safe_dump(described, sort_keys=False), Path())


@pytest.mark.slow
@given(scenarios())
def test_the_engine_counts_what_the_replay_does(scenario: Scenario) -> None:
    try:
        found = simulate(scenario)
    except InputFileError as error:
        assert "nothing arrives" in str(error)
        return
    assert found.unpriced is None
    assert {one.strategy: one.verdict for one in found.compared if one.verdict != "equal"} == {}
    assert [(one.policy, one.total, one.counted) for one in found.judged if not one.is_equal] == []
    assert found.is_equal
    (cheapest,) = found.costs_of("clairvoyant")
    for one in found.judged:
        runs = found.of(one.policy)
        assert len(runs) == (one.policy != "hindsight")
        if runs:
            assert cheapest.total <= one.total
            assert [move.asked for move in runs[0].migrations] == [move.at for move in one.migrations]
            assert one.spent[-1] == one.total and list(one.spent) == sorted(one.spent)


def test_a_count_that_differs_from_the_replay_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Run, "_spent_so_far", lambda self: 0)
    found = simulate(read())
    assert not found.is_equal


def filters_in_two_orders() -> dict[str, Any]:
    """Plans without a join: one filter or the other first, each of which lets little through at times."""
    high = {"steps": {"0 s": 9, "5 s": 99}}, {"steps": {"0 s": 99, "5 s": 9}}
    columns = {
        name: {"values": "uniform", "low": 0, "high": one} for name, one in zip("kl", high, strict=True)
    }
    first = "SELECT k, l FROM (SELECT k, l FROM A WINDOW(RANGE 1 SECOND) WHERE {0} < 5) F WHERE {1} < 5"
    return {
        "streams": {"A": {**stream(rate=100), "columns": columns}},
        "plans": {"k first": {"sql": first.format("k", "l")}, "l first": {"sql": first.format("l", "k")}},
        "measures": {"every": "500 ms", "bucket": "500 ms"},
    }


def test_other_plans_are_judged_by_the_engine() -> None:
    """Filters give less where the right one is first; who repeats the last best follows that."""
    found = simulate(read(**filters_in_two_orders(), claims=["total(repeat last best) < total(best fixed)"]))
    assert found.is_equal and found.holds
    assert found.unpriced is not None and "expected (X ⋈ Y) ⋈ Z" in found.unpriced
    k, last, by_bucket = (
        found.costs_of(name)[0] for name in (alone("k first"), "repeat last best", "hindsight")
    )
    passing = [5 / 100, 5 / 10]
    assert k.total == k.counted == pytest.approx(500 * sum(passing), rel=0.2)
    assert last.counted == last.total and last.regret is None and last.start == "k first"
    assert len(last.migrations) == last.moves == len(found.of("repeat last best")[0].migrations) >= 2
    assert by_bucket.total <= min(k.total, last.total)


def test_repeating_the_last_best_is_the_same_by_replay_and_by_the_engine_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = simulate(read()).judged

    def refuse(*given: object) -> None:
        raise ValueError("told so")

    monkeypatch.setattr(judging, "joined", refuse)
    again = simulate(read(measures={"every": "500 ms", "bucket": "10 s"}))
    assert again.unpriced == "told so"
    totals = {one.policy: (one.total, one.moves) for one in judged}
    assert all(totals[one.policy] == (one.total, one.moves) for one in again.judged)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"policies": ["repeat last bets"]},
            "policies[0]: found 'repeat last bets', expected one of clairvoyant, engine "
            "autopilot, repeat last best, at random, settled; did you mean repeat last best?",
        ),
        (
            {"policies": [{"name": "at random", "settings": {"sed": 1}}]},
            "policies[0].settings: found setting sed, expected one of seed, restless; did you mean seed?",
        ),
        (
            {"policies": [{"name": "settled", "settings": {"dubt": 1}}]},
            "policies[0].settings: found setting dubt, expected one of horizon, doubt,",
        ),
        (
            {"policies": [{"name": "settled", "settings": {"doubt": -1}}]},
            "policies[0].settings: settings: doubt: found -1, expected a number of 0 or more",
        ),
        (
            {"policies": [{"name": "settled", "settings": "carefull"}]},
            "policies[0].settings: found carefull, expected one of careful, balanced, eager; did you mean "
            "careful?",
        ),
        (
            {"policies": [{"name": "at random", "settings": "careful"}]},
            "policies[0].settings: found careful, expected settings by name",
        ),
        (
            {"policies": [{"name": "clairvoyant", "settings": {"sed": 1}}]},
            "policies[0].settings: found setting sed, expected none",
        ),
        (
            {"policies": [{"name": "clairvoyant", "start": "AC"}]},
            "policies[0].start: found 'AC', expected one of AB, BC, CA",
        ),
        ({"policies": ["clairvoyant"] * 2}, "policies[1]: found clairvoyant a second time"),
        (
            {"policies": [{"name": "repeat last best", "as": "clairvoyant"}]},
            "policies[0].as: found clairvoyant a second time",
        ),
        ({"batch": 2}, "batch: found 2, expected 1: policies are asked at each instant"),
        (
            {"streams": {name: stream(lag=5) for name in "ABC"}},
            "streams.A.lag: expected none where policies are judged: elements arrive as they start",
        ),
        ({"plans": {"AB": joined("A", "B", "C")}}, "plans: found one plan, expected two at least"),
        (
            {"plans": {"A": joined("A", "B", "C"), "B": {"sql": "SELECT k FROM A WINDOW(RANGE 2 SECONDS)"}}},
            "plans.B: B: the plans do not mean the same",
        ),
        (
            {**filters_in_two_orders(), "policies": ["at random"]},
            "policies[0]: found at random, which prices joins of three streams only: plan k first: expected "
            "(X ⋈ Y) ⋈ Z, of three windows over streams, found filter l < 5; other plans are judged with "
            "repeat last best and engine autopilot",
        ),
        (
            {"claims": ["total(genmig) < 5"]},
            "claims[0]: found 'total(genmig) < 5', expected one of the runs",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputFileError) as caught:
        read(**changes)
    assert told in str(caught.value)


def test_figures_of_policies_are_for_scenarios_with_policies() -> None:
    with pytest.raises(InputFileError, match="not total"):
        read(policies=[], claims=["total(AB alone) < 5"])


@pytest.mark.parametrize(
    ("plans", "told"),
    [
        ({"one": ("A", "B", "C"), "other": ("B", "A", "C")}, "plans one and other join A and B first"),
        ({"one": ("A", "B", "C"), "other": ("A", "A", "C")}, "found A, A, C"),
    ],
)
def test_what_is_no_order_of_a_join(plans: dict[str, tuple[str, ...]], told: str) -> None:
    shown = {
        name: {"sql": "SELECT {0}.k FROM {0} WINDOW(RANGE 2 SECONDS) {0}, {1} WINDOW(RANGE 2 SECONDS) X, "
               "{2} WINDOW(RANGE 2 SECONDS) Y WHERE {0}.k = X.k AND X.k = Y.k".format(*order)}
        for name, order in plans.items()
    }  # fmt: skip
    found = parse_scenario(
        "p.yaml",
        yaml.safe_dump(described(plans=shown, migrations=[], strategies=[]), sort_keys=False),
        Path(),
    )
    with pytest.raises(judging.Unpriced, match=told):
        joined_of(found, input_of(found, 1))


def test_policies_beside_migrations() -> None:
    """Both are run over the same arrivals."""
    found = simulate(read(migrations=[{"at": "5 s", "to": "BC"}], strategies=["genmig"]))
    assert found.strategies == ("AB alone", "BC alone", "CA alone", "repeat last best", "none", "genmig")
    assert found.is_equal and not found.compares_plans
    assert found.of("none")[0].totals.results == found.of("repeat last best")[0].totals.results


def test_several_seeds() -> None:
    found: Simulation = simulate(read(repetitions=3), is_quick=True)
    assert not found.runs
    totals = [one.total for one in found.costs_of("best fixed")]
    assert len(totals) == 3
    fixed = [[one.total for one in found.costs_of(alone(name))] for name in ("AB", "BC", "CA")]
    assert totals == [min(several) for several in zip(*fixed, strict=True)]
    spread = found.spread_of("best fixed", "total")
    assert (spread.least, spread.largest) == (min(totals), max(totals))


def test_settings_of_an_autopilot_reach_the_policy() -> None:
    named = [{"name": "settled", "as": name, "settings": name} for name in ("careful", "eager")]
    doubting = {"name": "settled", "as": "doubting", "settings": {"doubt": 1e9}}
    wished = read(policies=[*named, doubting])
    assert [dict(one.settings) for one in wished.policies] == [
        {"settings": one} for one in (CAREFUL, EAGER, replace(BALANCED, doubt=1e9))
    ]
    found = simulate(wished, is_quick=True)
    assert found.costs_of("eager")[0].moves > found.costs_of("doubting")[0].moves == 0


@pytest.mark.slow
def test_the_engine_flies_by_itself() -> None:
    """A and B agree five times as often at first, and then B and C; it is counted only, and follows."""
    high = {"steps": {"0 s": 3, "12 s": 19}}, {"steps": {"0 s": 19, "12 s": 3}}
    first, second = ({"values": "uniform", "low": 0, "high": one} for one in high)
    columns = {"A": {"x": first}, "B": {"x": first, "y": second}, "C": {"y": second}}
    text = "SELECT A.x FROM {} WINDOW(RANGE 1 SECOND), {} WINDOW(RANGE 1 SECOND), {} WINDOW(RANGE 1 SECOND) "
    text += "WHERE A.x = B.x AND B.y = C.y"
    arrivals = {"process": "poisson", "rate": 20}
    flown = read(
        duration="24 s",
        streams={name: {"columns": of_it, "arrivals": arrivals} for name, of_it in columns.items()},
        plans={"AB": {"sql": text.format(*"ABC")}, "BC": {"sql": text.format(*"BCA")}},
        policies=[{"name": "engine autopilot", "strategy": "auto", "settings": "eager", "start": "AB"}],
        claims=["total(engine autopilot) < 0.7 * total(best fixed)", "regret(engine autopilot) >= 1"],
    )
    found = simulate(flown)
    assert found.is_equal and found.holds
    (one,) = found.costs_of("engine autopilot")
    assert [move.new for move in one.migrations] == ["BC", "AB"]
    assert 12_000 < one.migrations[1].at < 18_000
    assert one.counted == one.total == one.spent[-1] and not one.is_priced
    assert simulate(flown).costs_of("engine autopilot") == [one]
    assert simulate(flown, is_quick=True).claims[0].finding == "not measured"


def test_the_engine_flies_plans_without_joins() -> None:
    found = simulate(read(**filters_in_two_orders(), policies=["engine autopilot"]))
    assert found.is_equal
    (one,) = found.costs_of("engine autopilot")
    assert one.migrations and one.counted == one.total
