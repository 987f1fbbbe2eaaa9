"""Choose the cheapest plan of a query, or of several together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.budget import STEPS, Budget, Steps
from midstream.optimizer.search.choice import Choice, Search
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.together import SearchTogether, require_processing
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan


def optimize(
    plan: Plan | Stream,
    statistics: Statistics,
    *,
    beside: Mapping[str, Plan | Stream] = MappingProxyType({}),
    rules: Sequence[Rule | Stage] = RULES,
    budget: Budget | int = Steps(STEPS),  # noqa: B008 - a value
    products: Products = "auto",
    objective: Objective = PROCESSING,
    units: UnitCosts | None = None,
) -> Choice:
    """Find the cheapest plan that the rules make of one; the given one unless another costs less. What costs
    less the `objective` tells: where it adds up what operators take, parts of plans are compared; else whole
    plans are, as many as the budget allows.

    The budget is a number of steps (see `Steps`), or it is `Milliseconds`: then what is found depends on the
    machine, and may differ from run to run. When it is over the cheapest plan so far is chosen. `products`
    tells which cross products are considered (see `enumerate_plans`).

    Of a plan with several outputs, those plans are chosen that take least processing together: what several
    have is paid once. What queries `beside` it have, that run already, is not paid at all. Joins of the same
    inputs may then be shared, in whichever order they are, and a filter may stand above one that another
    query has, if that costs less. `Choice.common` tells what is shared.

    Raises   StatisticsError where an input has no statistics; ArgumentError where the budget is none.
    """
    is_processing = objective == PROCESSING
    if beside or (is_processing and len(plan_of("optimize", plan).outputs) > 1):
        require_processing(objective)
        together = SearchTogether(
            plan, statistics, beside=beside, rules=rules, budget=budget, products=products, units=units
        )
        return together.finish()
    return Search(
        plan,
        statistics,
        rules=rules,
        budget=budget,
        products=products,
        objective=objective,
        units=units,
    ).finish()
