"""The decider: it decides when to move to which plan, by the answers of an advisor; it knows no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Final, Generic, Literal

from midstream.autopilot.advice import Advice, Forecast, P, require_plan
from midstream.autopilot.break_even import KNOWN, BreakEven, predicted_cost, while_both_run
from midstream.autopilot.decision import Decision
from midstream.autopilot.errors import Errors
from midstream.autopilot.guard import Guard, Ledger
from midstream.autopilot.horizon import Horizon
from midstream.autopilot.settings import BALANCED, Settings
from midstream.plans.values.arguments import listed, require, require_number
from midstream.plans.values.errors import ArgumentError

Later = Literal["later"]
LATER: Final = "later"
"""The measured cost is not available at this look, but will be at a later one."""

PRICED = ("genmig", "moving-states")
"""The strategies to compare unless others are named."""


class Autopilot(Generic[P]):
    """Weighs at instants of application time the saving of each plan against the cost of a move.

    running    the plan that runs first
    window     the validity of an element, in chronons; the longest one if there are several
    settings   the readiness to move
    fixed      the cost of any migration, in the advisor's unit, before a result is made

    It must be told of every look, also while a migration is under way, when a migration begins, and when it
    ends:

    >>> pilot = Autopilot("old", window=10)
    >>> advice = Advice(5.0, (Forecast("new", rate=1.0, saving=4.0),))
    >>> decision = pilot.decide(100, advice, until_split=10)
    >>> decision.to, decision.strategy, decision.cost
    ('new', 'moving-states', 5.0)
    >>> pilot.begun(100, "new", "moving-states", until_split=10)
    >>> pilot.decide(105, advice).reason
    'a migration is under way'
    >>> pilot.ended(110, "new")
    >>> pilot.decide(110, Advice(1.0, (Forecast("old", rate=5.0, saving=-4.0),))).moves
    False

    The same calls give the same decisions, on every machine.
    """

    def __init__(
        self, running: P, window: float, settings: Settings = BALANCED, *, fixed: float = 0.0
    ) -> None:
        require("autopilot: settings", settings, Settings, "settings")
        self._window = require_number("autopilot: window", window, "a number of chronons", above=0)
        self.running = require_plan("autopilot: plan", running)
        self.settings = settings
        self._fixed = require_number("autopilot: fixed", fixed, "a cost", least=0)
        self._ledger = Ledger(running, window)
        self._guard: Guard[P] = Guard(settings.guard)
        self._horizon: Horizon[P] = Horizon(settings.horizon * window, settings.least_saving)
        self._lately: dict[P, float] = {}
        self._looked: float | None = None
        self._errors: Errors[P] = Errors(window)
        self._since: float | None = None
        """The instant from which the running plan runs alone."""
        self._measured: _Measured | None = None
        """The last measurement; None if the advisor's costs since are not known."""
        self._is_moving = False

    def afresh(self, running: P) -> Autopilot[P]:
        """A decider that begins anew with another plan, by the same settings."""
        return Autopilot(running, self._window, self.settings, fixed=self._fixed)

    def decide(
        self,
        now: float,
        advice: Advice[P] | None,
        until_split: float = 0.0,
        strategies: Sequence[str] = PRICED,
        spent: float | Later | None = None,
    ) -> Decision[P]:
        """Decide whether to move at an instant.

        advice        the advice on the running plan and others; None where too little is known
        until_split   the chronons until all elements valid now have expired; 0 if none is valid
        strategies    the strategies that can carry out a migration
        spent         the measured cost so far of all plans that ran, since any instant; None if nothing is
                      measured, and the cost is estimated; LATER if it is not measured now, but will be: the
                      forecasts until then are compared with that measurement

        Raises   ArgumentError for a strategy with an unknown cost, and for an instant before the last one.
        """
        require("autopilot: advice", advice, (Advice, NoneType), "advice, or None where too little is known")
        now = require_number("autopilot: now", now, "an instant")
        until_split = require_number("autopilot: until_split", until_split, "chronons", least=0)
        if spent is not None and spent != LATER:
            spent = require_number("autopilot: spent", spent)
        strategies = listed("autopilot: strategies", strategies, f"some of {', '.join(KNOWN)}")
        uncorrected, advice = advice, self._corrected(now, advice, spent)
        only = self._look(now, uncorrected, advice, spent)
        if self._is_moving:
            return Decision(now, self.running, "a migration is under way")
        if advice is None or not advice.others:
            return Decision(now, self.running, "nothing is known of other plans")
        weighed = [self._weigh(advice, other, until_split, strategies) for other in advice.others]
        allowed = [move for move in weighed if only in (None, move.forecast.plan) and move.fits] or weighed
        best = max(allowed, key=lambda move: (move.gain, move.forecast.saving))
        is_pressed = only == best.forecast.plan and self._guard.presses and best.forecast.saving > 0
        moves = (best.gain > 0 or is_pressed) and best.fits and only in (None, best.forecast.plan)
        return Decision(
            now,
            self.running,
            self._reason(best, only, moves),
            best.forecast.plan,
            moves,
            best.strategy,
            advice.running,
            best.forecast.saving,
            best.forecast.deviation,
            self._horizon.expected,
            best.cost,
            best.gain,
            only,
        )

    def may_pay(self, advice: Advice[P]) -> bool:
        """True if some move would pay if a migration cost nothing.

        Otherwise the caller need not find out which strategies could carry one out.
        """
        known = self._errors.corrected(advice, self.running)
        return self._guard.presses or any(
            self._rule.gain(running=known.running, saving=other.saving, deviation=other.deviation, cost=0.0)
            for other in known.others
        )

    def begun(self, now: float, to: P, strategy: str, until_split: float = 0.0) -> None:
        """Take note that a migration has begun, decided here or elsewhere."""
        until_split = require_number("autopilot: until_split", until_split, "chronons", least=0)
        require("autopilot: strategy", strategy, str, f"one of {', '.join(KNOWN)}")
        self._pass(now)
        cost = self._cost_lately(require_plan("autopilot: plan", to))
        self._ledger.pay(self._fixed + while_both_run(strategy, cost, until_split, self._window))
        # The work of both plans at once depends on how streams alternate within a cell.
        self._ledger.estimate()
        self._is_moving = True
        self._since = self._measured = None

    def ended(self, now: float, running: P) -> None:
        """Take note that a migration has ended, and this plan runs: the old one if it was aborted."""
        self._pass(now)
        self._is_moving, self.running = False, require_plan("autopilot: plan", running)

    def _corrected(
        self, now: float, advice: Advice[P] | None, spent: float | Later | None
    ) -> Advice[P] | None:
        """Learn the advisor's error from the running plan's cost, and correct the advice."""
        if advice is None:
            self._measured = None
            return None
        if self._since is None and not self._is_moving:
            self._since = now
        if spent is None or self._since is None or now < self._since + self._window:
            self._measured = None
        elif (last := self._measured) is not None and self._looked is not None:
            last.forecast += _either(advice.lately, advice.running) * (now - self._looked)
            if spent != LATER:
                self._errors.saw(self.running, now - last.at, last.forecast, spent - last.spent)
                self._measured = _Measured(now, spent)
        elif spent != LATER:
            self._measured = _Measured(now, spent)
        return self._errors.corrected(advice, self.running)

    def _look(
        self, now: float, uncorrected: Advice[P] | None, advice: Advice[P] | None, spent: float | Later | None
    ) -> P | None:
        """Learn from the advice and the corrected advice; returns the only plan to which moves may go."""
        if uncorrected is not None and advice is not None:
            rates = {self.running: advice.running, **{other.plan: other.rate for other in advice.others}}
            self._horizon.look(now, rates)
            self._lately = {self.running: _either(uncorrected.lately, uncorrected.running)}
            self._lately |= {other.plan: _either(other.lately, other.rate) for other in uncorrected.others}
        self._pass(now)
        ledger = self._ledger
        if advice is not None and advice.lately is None:
            ledger.estimate()
        elif advice is not None and spent is not None and spent != LATER:
            ledger.measure(spent)
        ledger.see(now)
        totals = ledger.totals(self._errors.factor)
        slack = self._guard.SLACK * (ledger.dearest + self._fixed)
        return self._guard.check(ledger.ours, totals, slack)

    def _pass(self, now: float) -> None:
        """Let time pass up to an instant, at the costs that are known now."""
        now = require_number("autopilot: now", now, "an instant")
        if self._looked is not None:
            if now < self._looked:
                raise ArgumentError(
                    f"autopilot: found instant {now:g}, expected none before {self._looked:g}"
                )
            self._ledger.add(now - self._looked, self._cost_lately(self.running), self._lately)
        self._looked = now

    def _cost_lately(self, plan: P) -> float:
        """The corrected recent cost of a plan per chronon."""
        return self._lately.get(plan, 0.0) * self._errors.factor(plan)

    @property
    def _rule(self) -> BreakEven:
        settings = self.settings
        return BreakEven(self._horizon.expected, settings.doubt, settings.least_saving, self._fixed)

    def _weigh(
        self, advice: Advice[P], other: Forecast[P], until_split: float, strategies: Sequence[str]
    ) -> _Weighed[P]:
        costs = {
            name: predicted_cost(name, other.saving, other.rate, until_split, self._window)
            for name in strategies
        }
        strategy = min(costs, key=costs.__getitem__)
        gain = self._rule.gain(
            running=advice.running, saving=other.saving, deviation=other.deviation, cost=costs[strategy]
        )
        both = (advice.state or 0.0) + (other.state or 0.0)
        is_at_once = strategy == "swap" or until_split <= 0
        fits = is_at_once or self.settings.memory is None or both <= self.settings.memory
        return _Weighed(other, strategy, costs[strategy], gain, fits)

    def _reason(self, best: _Weighed[P], only: P | None, moves: bool) -> str:
        if best.forecast.saving <= 0:
            return "as no other plan costs less"
        if only not in (None, best.forecast.plan):
            return "as the total is so far above that of the best plan that moves may only go to it"
        if not best.fits:
            return f"as both plans would keep more than {self.settings.memory:g} together"
        if moves:
            return "as it pays" if best.gain > 0 else "as the total is far above that of this plan"
        return "as no move pays"


@dataclass(slots=True)
class _Measured:
    """The cost of all plans by an instant, and the forecast cost of the running plan since."""

    at: float
    spent: float
    forecast: float = 0.0


@dataclass(frozen=True)
class _Weighed(Generic[P]):
    """A plan to move to, with its cheapest strategy, and True in `fits` if there is enough memory for it."""

    forecast: Forecast[P]
    strategy: str
    cost: float
    gain: float
    fits: bool


def _either(lately: float | None, rate: float) -> float:
    return rate if lately is None else lately
