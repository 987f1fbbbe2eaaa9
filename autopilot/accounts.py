"""The costs of plans that an engine runs or could run, in the unit of an objective."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from midstream.autopilot.advice import Advice
from midstream.autopilot.autopilot import LATER, Later
from midstream.autopilot.budget import Efforts
from midstream.autopilot.learning import with_rates
from midstream.autopilot.pricing import Beside, PricingAdvisor, nothing_beside
from midstream.operators.engine.measuring.counting import Counters
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.estimate import times
from midstream.optimizer.cost.model import PlanCost
from midstream.optimizer.cost.selectivity import Selectivity
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.search import added_part
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, intermediate, logical_node, logical_plan
from midstream.plans.values.errors import StatisticsError

PRICED_EVERY = 4
"""The number of times that recent costs are priced within the memory of the recent statistics."""


class LearnedStatistics(Protocol):
    """The source of statistics on the streams of a query."""

    memory: float
    """The chronons after which recent statistics count an element 1 / e: a window or so."""

    @property
    def arrived(self) -> Mapping[Node, int]:
        """By source, the number of elements before the last look."""
        ...

    def statistics(self, now: int) -> Statistics | None:
        """The statistics for decisions; None while too little is known."""
        ...

    def lately(self, now: int) -> Statistics:
        """The statistics of the last window or so."""
        ...


@dataclass(frozen=True, slots=True)
class _Look:
    """The counts at an instant: elements of each stream so far, and results of each operator."""

    at: int
    arrived: Mapping[Node, int]
    counted: Counters
    shared: frozenset[Node]
    """The nodes that other queries use at the instant."""


class Accounts:
    """Prices plans by recent statistics, and the running plans by counted results where these are known.

    So the cost of a query is in the unit of the objective, for example microseconds: for each operator, the
    time for the elements that it got and the results that it gave, by the stored cost profile. The clock is
    not read. Intermediate results need no prices, as they are counted.

    The counted results are priced once a window, and when the plans that run have changed: each period with
    the plans that ran in it. Operators that other queries use as well are left out, as they are in the
    forecasts of an advisor that knows what runs `beside`; a period ends when other operators are shared. The
    numbers of elements and results are counted; other inputs of a price, such as the size of elements, are as
    known at that time.

    Cost     If intermediate results are counted, the price of all plans in the advice, four times a window,
             if there are others than the running one; otherwise, once a window, the price of the running
             plans.
    """

    def __init__(
        self,
        objective: Objective,
        learned: LearnedStatistics,
        units: UnitCosts | None = None,
        beside: Beside = nothing_beside,
    ) -> None:
        self._objective, self._learned, self._units, self._beside = objective, learned, units, beside
        self._is_counted = counts(objective)
        self._prices: dict[Plan, float] = {}
        """The cost per chronon of plans at the instant `_priced`, beside the nodes `_priced_beside`."""
        self._priced: int | None = None
        self._priced_beside: frozenset[Node] = frozenset()
        self._spent = 0.0
        """The cost up to the look `_paid`."""
        self._paid: _Look | None = None
        self._looked: _Look | None = None
        self._ran: set[Plan] = set()
        """The plans that ran between the two looks."""
        self.efforts = Efforts()
        self._by: tuple[Statistics, Selectivity] | None = None
        """The statistics by which plans were priced last, and their selectivities of conditions."""

    def afresh(self) -> Accounts:
        """Accounts that begin anew; the efforts so far count on."""
        new = Accounts(self._objective, self._learned, self._units, self._beside)
        new.efforts = self.efforts
        return new

    def with_lately(self, now: int, running: Plan, advice: Advice[Plan]) -> Advice[Plan]:
        """Add the recent cost of each plan to an advice.

        Nothing is added if the advice has recent costs, or names one plan only, or if the objective is not
        counted: prices may be off for all plans alike, which beside counts would look like a loss. If the
        last look is longer ago than the statistics remember, the plans cost nothing before that.
        """
        if advice.lately is not None or not advice.others or not self._is_counted:
            return advice
        passed = 0 if self._looked is None else now - self._looked.at
        share = min(1.0, self._learned.memory / passed) if passed else 1.0
        plans = [running, *(other.plan for other in advice.others)]
        try:
            self._look_at_prices(now, plans)
        except StatisticsError:
            return advice
        others = (replace(other, lately=share * self._prices[other.plan]) for other in advice.others)
        return replace(advice, lately=share * self._prices[running], others=tuple(others))

    def _look_at_prices(self, now: int, plans: Sequence[Plan]) -> None:
        due = self._priced is None or now - self._priced >= self._learned.memory / PRICED_EVERY
        shared = self._beside()
        is_other = shared != self._priced_beside or any(plan not in self._prices for plan in plans)
        if due or is_other:
            model = CostModel(self._learned.lately(now), self._units)
            self.efforts.price(plans)
            each = self._objective.intermediate
            self._prices = {plan: times(each, results_inside(plan, model, shared)) for plan in plans}
            self._priced, self._priced_beside = now, shared

    def spent(self, now: int, running: Collection[Plan], counted: Counters) -> float | Later | None:
        """The cost of the query since the first call.

        LATER if it is not priced now. None if too little is known, or if a period has no price, for example
        because there is no rate of results where no results came.
        """
        before, here = self._looked, _Look(now, dict(self._learned.arrived), counted, self._beside())
        self._looked = here
        if before is None or self._paid is None:
            self._paid = here
            return self._spent
        is_other = not self._ran.issuperset(running) or here.shared != before.shared
        have_changed = bool(self._ran) and is_other
        is_due = len(running) > 1 or have_changed or now - self._paid.at >= self._learned.memory
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
        """Add the cost up to a look, of all plans that ran.

        Raises   StatisticsError where that is no finite number; the period is then left out.
        """
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
            made = counted.intermediate - before.intermediate - self._made_shared(before, until)
            return self._objective.intermediate * made
        # Below the windows, rates come from the streams: the windows of a stream that is ahead gave more.
        upper = {node for plan in map(logical_plan, self._ran) for node in above(plan, input_nodes(plan))}
        results = {node: n - before.emitted.get(node, 0) for node, n in counted.emitted.items()}
        rates = {node: n / passed for node, n in results.items() if node in upper}
        known = self._learned.statistics(now)
        if known is None:
            raise StatisticsError("accounts: too little is known to price the counted results")
        if self._by is None or self._by[0] is not known:
            self._by = known, Selectivity(known.selectivities)
        recent = with_rates(known, passed, paid.arrived, until.arrived)
        model = CostModel(recent, self._units, rates, self._by[1])
        self.efforts.price(self._ran)
        # An operator that two plans share runs once.
        operators = {node: of for plan in self._ran for node, of in model.price(plan).operators.items()}
        return passed * self._objective.of(added_part(PlanCost(operators), until.shared))

    def _made_shared(self, before: Counters, until: _Look) -> int:
        """The intermediate results, since earlier counts, of operators that other queries use as well."""
        if not until.shared:
            return 0
        inside = {node for plan in self._ran for node in intermediate(logical_plan(plan).nodes)}
        emitted = until.counted.emitted
        return sum(emitted.get(node, 0) - before.emitted.get(node, 0) for node in inside & until.shared)


def counts(objective: Objective) -> bool:
    """True if an objective counts intermediate results only; these need no price."""
    return objective == replace(Objective(), intermediate=objective.intermediate)


def results_inside(plan: Plan, model: CostModel, shared: Collection[Node] = frozenset()) -> float:
    """The results per chronon of the operators inside a plan, without shared ones.

    This is the price by `INTERMEDIATE`, without pricing the operators that the plan's own results come from,
    which all plans have in common.
    """
    priced = model.priced(plan)
    inside = intermediate(priced)
    added = [node for node in inside if logical_node(node) not in shared] if shared else inside
    return math.fsum(model.estimate(node).made for node in added)


def unit_of(advisor: object) -> Objective | None:
    """The objective of an advisor, from its attribute `objective`; None if it has none."""
    objective = getattr(advisor, "objective", None)
    return objective if isinstance(objective, Objective) else None


def prices_of(advisor: object) -> UnitCosts | None:
    """The unit costs of an advisor; None for those in use."""
    units = getattr(advisor, "units", None)
    return units if isinstance(units, UnitCosts) else None


def beside_of(advisor: object) -> Beside:
    """The function by which an advisor knows shared operators; without one, plans are priced as a whole."""
    return advisor.beside if isinstance(advisor, PricingAdvisor) else nothing_beside
