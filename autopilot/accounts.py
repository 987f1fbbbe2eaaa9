"""What plans cost that an engine runs or could run, in the unit of an objective."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from midstream.autopilot.advice import Advice
from midstream.autopilot.autopilot import LATER, Later
from midstream.operators.engine.counting import Counters
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.estimate import times
from midstream.optimizer.cost.model import PlanCost
from midstream.optimizer.cost.selectivity import Selectivity
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, intermediate, logical_plan
from midstream.plans.values.errors import StatisticsError

PRICED_EVERY = 4
"""So many times in the time that statistics of the last window remember, plans are priced by them."""


class Known(Protocol):
    """What is known of the streams."""

    memory: float
    """After so many chronons what is told of lately counts 1 / e: a window or so."""

    @property
    def arrived(self) -> Mapping[Node, int]:
        """By source, how many elements have come before the last look."""
        ...

    def known(self, now: int) -> Statistics | None:
        """Those by which it is decided; None where that is too little."""
        ...

    def lately(self, now: int) -> Statistics:
        """Those of the last window or so."""
        ...


@dataclass(frozen=True, slots=True)
class _Look:
    """An instant, how many elements had come on each stream, and what operators had given by then."""

    at: int
    arrived: Mapping[Node, int]
    counted: Counters


class Accounts:
    """Prices plans by what came lately; where it was counted what operators gave, with that.

    So what a query has cost is told in the unit of the objective, whichever that is, such as microseconds:
    what each operator takes for the elements that it got and the results that it gave, by the stored
    profile. The clock is not read. Intermediate results need no prices: they have been counted.

    What operators gave is priced once in a window, and when the plans that run have changed: each stretch of
    time with the plans that ran in it. How many elements came and went is counted; what else a price depends
    on, such as how large they are, is as known by then.

    Cost     Where results are counted, the price of all plans that the advice names, four times a window, if
             there are others than the running one; else once a window that of what runs.
    """

    def __init__(self, objective: Objective, known: Known, units: UnitCosts | None = None) -> None:
        self._objective, self._known, self._units = objective, known, units
        self._is_counted = counts(objective)
        self._prices: dict[Plan, float] = {}
        """Per chronon, of plans at the instant `_priced`."""
        self._priced: int | None = None
        self._spent = 0.0
        """Up to the look `_paid`."""
        self._paid: _Look | None = None
        self._looked: _Look | None = None
        self._ran: set[Plan] = set()
        """The plans that ran between the two."""
        self._by: tuple[Statistics, Selectivity] | None = None
        """By which it was priced last, and what they tell of conditions."""

    def with_lately(self, now: int, running: Plan, advice: Advice[Plan]) -> Advice[Plan]:
        """An advice, with what each of its plans cost lately, unless it tells that itself, or knows of one
        plan only. Only of what is counted: prices may be off for all plans alike, which beside counts would
        look like a loss.

        Where nothing was looked at for longer than the statistics remember, nothing came before that.
        """
        if advice.lately is not None or not advice.others or not self._is_counted:
            return advice
        passed = 0 if self._looked is None else now - self._looked.at
        share = min(1.0, self._known.memory / passed) if passed else 1.0
        plans = [running, *(other.plan for other in advice.others)]
        try:
            self._look_at_prices(now, plans)
        except StatisticsError:
            return advice
        others = (replace(other, lately=share * self._prices[other.plan]) for other in advice.others)
        return replace(advice, lately=share * self._prices[running], others=tuple(others))

    def _look_at_prices(self, now: int, plans: Sequence[Plan]) -> None:
        due = self._priced is None or now - self._priced >= self._known.memory / PRICED_EVERY
        if due or any(plan not in self._prices for plan in plans):
            model = CostModel(self._known.lately(now), self._units)
            each = self._objective.intermediate
            self._prices = {plan: times(each, results_inside(plan, model)) for plan in plans}
            self._priced = now

    def spent(self, now: int, running: Collection[Plan], counted: Counters) -> float | Later | None:
        """What the query has cost since it was asked first; "later" where that is not priced now, None where
        too little is known, or where a stretch of time has no price: as by the rate of results, where there
        were none."""
        before, here = self._looked, _Look(now, dict(self._known.arrived), counted)
        self._looked = here
        if before is None or self._paid is None:
            self._paid = here
            return self._spent
        have_changed = bool(self._ran) and not self._ran.issuperset(running)
        is_due = len(running) > 1 or have_changed or now - self._paid.at >= self._known.memory
        try:
            if have_changed:
                self._pay(before, now)
            self._ran |= {*running}
            if not is_due and not self._is_counted:
                return LATER
            self._pay(here, now)
        except StatisticsError:
            self._ran |= {*running}
            return None
        return self._spent

    def _pay(self, until: _Look, now: int) -> None:
        """Add what has been spent up to a look, in all plans that ran. Raises StatisticsError where that is
        no number; then it is left out."""
        paid = self._paid
        assert paid is not None
        cost = self._since(paid, until, now) if until.at > paid.at else 0.0
        self._paid, self._ran = until, set()
        if not math.isfinite(cost):
            raise StatisticsError(f"accounts: from {paid.at} to {until.at}, found cost {cost}")
        self._spent += cost

    def _since(self, paid: _Look, until: _Look, now: int) -> float:
        passed, before, counted = until.at - paid.at, paid.counted, until.counted
        if self._is_counted:
            return self._objective.intermediate * (counted.intermediate - before.intermediate)
        # What comes is known by its streams: one that is ahead has told its windows more.
        upper = {node for plan in map(logical_plan, self._ran) for node in above(plan, input_nodes(plan))}
        given = {node: n - before.emitted.get(node, 0) for node, n in counted.emitted.items()}
        rates = {node: n / passed for node, n in given.items() if node in upper}
        known = self._known.known(now)
        if known is None:
            raise StatisticsError("accounts: too little is known to price what was counted")
        if self._by is None or self._by[0] is not known:
            self._by = known, Selectivity(known.selectivities)
        model = CostModel(_with_rates(known, paid, until), self._units, rates, self._by[1])
        # What two plans have in common runs once.
        operators = {node: of for plan in self._ran for node, of in model.price(plan).operators.items()}
        return passed * self._objective.of(PlanCost(operators))


def _with_rates(known: Statistics, since: _Look, until: _Look) -> Statistics:
    """Statistics with the rates that streams had in a stretch of time."""
    came = {node: n - since.arrived.get(node, 0) for node, n in until.arrived.items()}
    passed = until.at - since.at
    streams = {
        node: replace(one, d=passed / n if (n := came[node]) else math.inf) if node in came else one
        for node, one in known.streams.items()
    }
    return replace(known, streams=streams)


def counts(objective: Objective) -> bool:
    """Whether an objective asks for intermediate results only: these are counted, and need no price."""
    return objective == replace(Objective(), intermediate=objective.intermediate)


def results_inside(plan: Plan, model: CostModel) -> float:
    """Per chronon, the results of operators inside a plan: what `INTERMEDIATE` makes of its price, without
    pricing what all plans have in common, the operators that the plan's own results come from."""
    priced = model.priced(plan)
    return math.fsum(model.estimate(node).made for node in intermediate(priced))


def unit_of(advisor: object) -> Objective | None:
    """What an advisor prices plans by; None where it does not tell, by an attribute `objective`."""
    objective = getattr(advisor, "objective", None)
    return objective if isinstance(objective, Objective) else None


def prices_of(advisor: object) -> UnitCosts | None:
    """What single steps cost, as an advisor has it; None for those in use."""
    units = getattr(advisor, "units", None)
    return units if isinstance(units, UnitCosts) else None
