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
from midstream.optimizer.statistics import Statistics, statistics_of
from midstream.plans.algebra.builder import AnyPlan, plan_of, require_plan_first


def search_for(
    plan: AnyPlan,
    statistics: Statistics,
    *,
    beside: Mapping[str, AnyPlan] = MappingProxyType({}),
    objective: Objective = PROCESSING,
    **settings: Unpack[SearchSettings],
) -> Search:
    """Begin the search that `optimize` finishes.

    It is a search for one plan; or, if several outputs or plans `beside` it can share operators, for all
    together.
    """
    if beside or (objective == PROCESSING and len(plan_of("optimize", plan).outputs) > 1):
        require_processing(objective)
        return SearchTogether(plan, statistics, beside=beside, **settings)
    return Search(plan, statistics, objective=objective, **settings)


def optimize(
    plan: AnyPlan,
    statistics: Statistics | None = None,
    *,
    beside: Mapping[str, AnyPlan] = MappingProxyType({}),
    rules: Sequence[Rule | Stage] = RULES,
    budget: Budget | int = Steps(STEPS),  # noqa: B008 - a value
    products: Products = "auto",
    objective: Objective = PROCESSING,
    units: UnitCosts | None = None,
    obstacle: Obstacle | None = None,
) -> Choice:
    """Find the cheapest plan that the rules make of one; the original one unless another costs less.

    The `objective` defines the cost. If it adds up over operators, parts of plans are compared; else whole
    plans are, as many as the budget allows. The budget is a number of steps (see `Steps`), or
    `Milliseconds`: then the result depends on the machine, and may vary from run to run. When it ends, the
    cheapest plan so far is chosen. `products` tells which cross products are considered (see
    `enumerate_plans`).

    For a plan with several outputs, the plans that take least processing together are chosen: an operator
    that several use is paid once. Operators of running queries `beside` it cost nothing. Joins of the same
    inputs may then be shared, in any order, and a filter may stand above one that another query has, if that
    costs less. `Choice.common` tells what is shared.

    An `obstacle`, such as `engine.obstacle`, returns the reason why a plan cannot replace the running one, or
    None. The best plan for which it returns None is chosen, and `Choice.out_of_reach` holds a better one.

    Raises   StatisticsError if an input has no statistics; ArgumentError if there are none at all, or if the
             budget is none.
    """
    require_plan_first("optimize(plan, statistics)", statistics)
    plan = plan_of("optimize", plan)
    plan.tell_notes()
    search = search_for(
        plan,
        statistics_of("optimize", plan, statistics),
        beside=beside,
        rules=rules,
        budget=budget,
        products=products,
        objective=objective,
        units=units,
        obstacle=obstacle,
    )
    return search.finish()
