"""The findings of a what-if study, as plain data for JSON and as tables for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from midstream.scenarios.stages.base.advice import Advice, Alternative
from midstream.scenarios.stages.base.summaries import Summary, frame
from midstream.scenarios.stages.what_if.prices import OrderTotal, Prices
from midstream.scenarios.stages.what_if.stage import WhatIf
from midstream.scenarios.stages.what_if.switching_costs import BY_PAST, SwitchingCost
from midstream.scenarios.streams.recorded.declaration import Study

VERSION = 3
"""The version of the summary; the first had one objective, the second no advice."""


def what_if_summary(study: Study, result: WhatIf, rows: int) -> Summary:
    """By objective the orders, cheapest first, the costs of switching, and the first buckets."""
    return {
        "version": VERSION,
        **frame(study, result.starts),
        "plans": len(result.plans),
        "orders": len(result.orders),
        "has_all_plans": result.candidates.is_complete,
        "searched_buckets": result.candidates.searched,
        "window": result.window,
        "half_life": result.half_life,
        "is_counted": result.is_counted,
        "advice": _advice(result),
        "objectives": [
            _objective(study, prices, result.switching_costs.get(prices.aim.name, []), rows)
            for prices in result.prices
        ],
    }


def _advice(result: WhatIf) -> Summary | None:
    """The advice by the first objective, with intermediate results if they were priced.

    A way that changes orders is that of the buckets before each bucket, by the cheaper strategy. None where
    nothing was priced.
    """
    if not result.starts:
        return None
    first = result.prices[0]
    by_order = {
        total.order.number: total.spent
        for prices in result.prices
        if prices.aim.name == "intermediate" != first.aim.name
        for total in prices.totals
    }
    alternatives = [
        Alternative(total.order.label, total.spent, by_order.get(total.order.number), is_given=total.is_given)
        for total in first.totals
    ]
    turns = {turn.name: turn for turn in result.switching_costs.get(first.aim.name, [])}
    if (past := turns.get(BY_PAST)) is not None:
        strategy = min(past.paid, key=lambda name: past.paid[name])
        spent, moves = past.paid[strategy]
        alternatives.append(Alternative(f"{BY_PAST} ({strategy})", spent, moves=moves))
    return Advice(tuple(alternatives), first.aim.unit).as_dict()


def _objective(study: Study, prices: Prices, turns: list[SwitchingCost], rows: int) -> Summary:
    return {
        "objective": prices.aim.name,
        "unit": prices.aim.unit,
        "is_mean": not prices.aim.is_flow,
        "least": prices.least,
        "contested": sum(prices.contested),
        "switches": prices.switches,
        "unpriced": prices.unpriced,
        "orders": [_order(total) for total in prices.totals],
        "turns": [_turn(turn) for turn in turns],
        "by_bucket": [
            {"start": one.start, "time": study.clock.show(one.start), **one.as_dict()}
            for one in prices.bests(slice(rows))
        ],
    }


def _order(total: OrderTotal) -> Summary:
    found: dict[str, Any] = asdict(total)
    order = found.pop("order")
    return {"order": order["label"], "plans": list(order["plans"]), **found}


def _turn(turn: SwitchingCost) -> Summary:
    paid = {strategy: {"spent": spent, "moves": moves} for strategy, (spent, moves) in turn.paid.items()}
    return {"name": turn.name, "free": turn.free, **paid}
