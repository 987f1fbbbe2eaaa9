"""The findings of a what-if study row by row, as texts for a terminal and for a page."""

from __future__ import annotations

from typing import Any

from midstream.scenarios.recordings.pricing import show_cost
from midstream.scenarios.stages.what_if.switching_costs import STRATEGIES

SHOWN = 10
"""The number of orders that are listed for people."""


def order_rows(objective: dict[str, Any]) -> list[tuple[str, ...]]:
    """The cheapest orders of an objective: label, plans, cost, regret, relative regret, buckets.

    The last column says in how many buckets the order is best.
    """
    return [
        (
            one["order"] + (" (as written)" if one["is_given"] else ""),
            f"{len(one['plans']):,}",
            show_cost(one["spent"]),
            show_cost(one["regret"]),
            f"{one['relative_regret']:.2%}",
            f"{one['best_in']:,}",
        )
        for one in objective["orders"][:SHOWN]
    ]


def paid(turn: dict[str, Any]) -> tuple[str, ...]:
    """The costs of a switching policy, by strategy, with the number of moves in brackets."""
    return tuple(f"{show_cost(turn[one]['spent'])} ({turn[one]['moves']:,})" for one in STRATEGIES)
