"""Choose the cheapest plan of a query, or of several together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Unpack

from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.budget import STEPS, Budget, Steps
from midstream.optimizer.search.choice import Choice, Search, SearchSettings
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.reach import Obstacle
from midstream.optimizer.search.together import SearchTogether, require_processing
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan


def search_for(
    plan: Plan | Stream,
    statistics: Statistics,
    *,
    beside: Mapping[str, Plan | Stream] = MappingProxyType({}),
    objective: Objective = PROCESSING,
    **settings: Unpack[SearchSettings],
) -> Search:
    """Begin the search that `optimize` finishes: of a plan by itself; or where several outputs, or others
    beside it, can share, of all together."""
    if beside or (objective == PROCESSING and len(plan_of("optimize", plan).outputs) > 1):
        require_processing(objective)
        return SearchTogether(plan, statistics, beside=beside, **settings)
    return Search(plan, statistics, objective=objective, **settings)


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
    obstacle: Obstacle | None = None,
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

    An `obstacle`, such as `engine.obstacle`, tells why a plan cannot take the place of the one that runs.
    Then the best plan is chosen of which it says None, and `Choice.out_of_reach` tells of a better one.

    Raises   StatisticsError where an input has no statistics; ArgumentError where the budget is none.
    """
    search = search_for(
        plan,
        statistics,
        beside=beside,
        rules=rules,
        budget=budget,
        products=products,
        objective=objective,
        units=units,
        obstacle=obstacle,
    )
    return search.finish()
