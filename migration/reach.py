"""Whether some strategy can move a running query to a plan, before anybody asks for it."""

from __future__ import annotations

from midstream.migration.auto import AutoStrategy, refused_by_all
from midstream.migration.migrate import require_possible
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.operators.engine.host import Host
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MigrationRefused

DEMAND_LEAST = ("genmig", "swap")
"""The strategies that ask for least: where they refuse, the others mostly do for the same reasons."""


def obstacle(host: Host, plan: Plan, query: str | None = None) -> str | None:
    """Why no strategy can move a query to a plan that means the same, as things are now; None where one can.

    Whether the plans mean the same is not asked.

    Cost     that of planning a migration; where GenMig refuses, of planning one by each strategy.
    """
    if host.query(query).plan == plan:
        return None
    refusals: dict[str, MigrationRefused] = {}
    for name in dict.fromkeys((*DEMAND_LEAST, *STRATEGIES)):
        strategy = find_strategy(name)
        if not isinstance(strategy, AutoStrategy):
            try:
                require_possible(host, plan, strategy, query)
            except MigrationRefused as refusal:
                refusals[name] = refusal
            else:
                return None
    return refused_by_all({name: refusals[name] for name in DEMAND_LEAST})
