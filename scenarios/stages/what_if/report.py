"""The findings of a what-if study, as plain data for JSON and as tables for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from midstream.scenarios.stages.base.summaries import Summary, frame
from midstream.scenarios.stages.what_if.prices import OrderTotal, Prices
from midstream.scenarios.stages.what_if.stage import WhatIf
from midstream.scenarios.stages.what_if.turns import Turn
from midstream.scenarios.streams.recorded.declaration import Study

VERSION = 2
"""The version of the summary; the first version had one objective."""


def what_if_summary(study: Study, found: WhatIf, rows: int) -> Summary:
    """By objective the orders, cheapest first, the costs of taking turns, and the first buckets."""
    return {
        "version": VERSION,
        **frame(study, found.starts),
        "plans": len(found.plans),
        "orders": len(found.orders),
        "has_all_plans": found.candidates.is_complete,
        "searched_buckets": found.candidates.searched,
        "window": found.window,
        "half_life": found.half_life,
        "objectives": [
            _objective(study, prices, found.turns.get(prices.aim.name, []), rows) for prices in found.prices
        ],
    }


def _objective(study: Study, prices: Prices, turns: list[Turn], rows: int) -> Summary:
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


def _turn(turn: Turn) -> Summary:
    paid = {strategy: {"spent": spent, "moves": moves} for strategy, (spent, moves) in turn.paid.items()}
    return {"name": turn.name, "free": turn.free, **paid}
