"""The sequence from a look to a migration, whoever fills in the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.autopilot import Autopilot, Later
from midstream.autopilot.decision import Decision
from midstream.autopilot.query_pilot import QueryPilot
from midstream.operators.engine.measuring.watching import next_look

SAVINGS = st.dictionaries(st.sampled_from("abcdef"), st.integers(-2, 3).map(float), max_size=6)


class Listening(Autopilot[str]):
    """Keeps what it is told last, and always wants to know the strategies."""

    def may_pay(self, advice: Advice[str]) -> bool:
        return True

    def decide(
        self,
        now: float,
        advice: Advice[str] | None,
        until_split: float = 0.0,
        strategies: Sequence[str] = (),
        spent: float | Later | None = None,
    ) -> Decision[str]:
        self.told = advice, tuple(strategies), spent
        return super().decide(now, advice, until_split, strategies, spent)


class Owner(QueryPilot[str, int]):
    """One whose plans can be reached by some strategies, or by none."""

    def __init__(self, savings: Mapping[str, float], possible: Mapping[str, Sequence[str]]) -> None:
        self.decider = self.listening = Listening("running", window=10)
        self._advice = Advice(9.0, tuple(Forecast(plan, 1.0, saving) for plan, saving in savings.items()))
        self._possible = possible
        self.begins: list[str] = []

    def advise(self, now: int) -> Advice[str]:
        return self._advice

    def spent(self, now: int) -> float:
        return float(now)

    def until_split(self, now: int) -> float:
        return 10.0

    def strategies(self, plan: str) -> Sequence[str]:
        return self._possible.get(plan, ())

    def carry_out(
        self, now: int, decision: Decision[str], advice: Advice[str] | None, until_split: float
    ) -> None:
        if decision.to is not None:
            assert decision.strategy is not None
            self.begun(now, decision.to, decision.strategy, until_split)
            self.begins.append(decision.to)


@given(
    savings=SAVINGS,
    possible=st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([("genmig",), ("swap", "genmig")])),
)
def test_the_plan_that_saves_most_can_be_reached(
    savings: dict[str, float], possible: dict[str, tuple[str, ...]]
) -> None:
    owner = Owner(savings, possible)
    owner.look(100)
    advice, strategies, spent = owner.listening.told
    assert advice is not None and spent == 100
    told = {other.plan: other.saving for other in advice.others}
    assert list(told.items()) == [item for item in savings.items() if item[0] in told]
    most = max(told.values(), default=0.0)
    best = next((plan for plan, saving in told.items() if saving == most), "")
    assert strategies == (possible[best] if most > 0 else ("genmig",))
    for plan in savings.keys() - told.keys():
        assert plan not in possible and savings[plan] >= most and savings[plan] > 0


def test_during_a_migration_nothing_is_measured_and_nothing_begins() -> None:
    owner = Owner({"a": 8.0}, {"a": ("genmig",)})
    owner.look(100)
    assert owner.begins == ["a"] and owner.is_migrating
    owner.look(105)
    assert owner.listening.told[1:] == (("genmig",), None) and owner.begins == ["a"]
    owner.ended(110, "a")
    owner.look(110)
    assert owner.listening.told[2] == 110


def test_what_cannot_be_advised_is_raised_unless_the_owner_goes_on() -> None:
    class Failing(Owner):
        def advise(self, now: int) -> Advice[str]:
            raise ZeroDivisionError("advice")

    class GoingOn(Failing):
        def fail(self, now: int, failure: Exception) -> None:
            self.failure = failure

    with pytest.raises(ZeroDivisionError):
        Failing({}, {}).look(1)
    owner = GoingOn({}, {})
    owner.look(1)
    assert isinstance(owner.failure, ZeroDivisionError)


@given(cells=st.sets(st.integers(0, 60)), idle=st.integers(1, 6))
def test_each_look_follows_the_last_one_or_waits_for_the_next_element(cells: set[int], idle: int) -> None:
    """Exactly the instants at most `idle` behind a cell in which something came."""
    looked: int | None = None
    looks, coming = list[int](), sorted(cells)
    latest = 0
    while (number := next_look(looked, latest, idle, coming[0] if coming else None)) is not None:
        looks.append(number)
        looked = number
        while coming and coming[0] < number:
            latest = coming.pop(0)
    assert looks == sorted({cell + behind for cell in cells for behind in range(1, idle + 1)})
