"""Notes for the author of a query: joins and groupings without a window, and aggregates over no rows."""

from __future__ import annotations

from collections.abc import Collection

from midstream.plans.algebra import properties
from midstream.plans.algebra.operators import Aggregate, AntiJoin, Distinct, Join, Logical, SemiJoin
from midstream.plans.algebra.plan import Node, Plan

WORDS: dict[type[Logical], str] = {
    Join: "join",
    SemiJoin: "join",
    AntiJoin: "join",
    Aggregate: "grouping",
    Distinct: "DISTINCT",
}
"""The words for operators that combine rows."""


def windowless(plan: Plan, with_now: Collection[Node]) -> tuple[str, ...]:
    """A sentence for each operator that combines rows of streams without any window.

    Nodes in `with_now` have NOW as their window.
    """
    found = properties.windowless(plan, with_now)
    return tuple(dict.fromkeys(_sentence(WORDS[type(operator)], streams) for operator, streams in found))


def of_all_rows(plan: Plan, groupings: Collection[Node]) -> tuple[str, ...]:
    """A sentence if one of the plan's groupings of all rows has no result over no rows (thesis, 8.9)."""
    if not any(node in groupings for node in plan.nodes):
        return ()
    return (
        "an aggregate without GROUP BY has no result at an instant without rows; other databases give one "
        "row there, with a COUNT of 0. If no result is right for you, add HAVING COUNT(*) > 0, which says so",
    )


def _sentence(word: str, streams: Collection[str]) -> str:
    first, names = min(streams), " and ".join(sorted(streams))
    return (
        f"the {word} sees rows of {names} at their own timestamp only, as there is no window; write "
        f"{first} WINDOW(RANGE …), or {first} WINDOW(NOW) if that is meant"
    )
