"""What a what-if study found, as plain data for JSON, and as tables for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.pricing import relative, show_cost
from midstream.scenarios.studies.report import Summary, frame, table, tell_rest, title
from midstream.scenarios.studies.what_if.prices import OrderTotal, Prices
from midstream.scenarios.studies.what_if.rows import SHOWN, order_rows, paid
from midstream.scenarios.studies.what_if.stage import WhatIf
from midstream.scenarios.studies.what_if.turns import STRATEGIES, Turn

VERSION = 2
"""Of the summary; the first one knew one objective."""


def what_if_summary(study: Study, found: WhatIf, rows: int) -> Summary:
    """Of each objective the orders, cheapest first, what it costs to take turns among them, and the first
    buckets."""
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


def show_what_if(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary of a what-if study."""
    title(study, summary, console)
    which = "all that the rules make"
    if not summary["has_all_plans"]:
        which = f"those that the search chose in {summary['searched_buckets']:,} buckets, of too many"
    console.print(
        Text(
            f"{summary['plans']:,} plans in {summary['orders']:,} orders, {which}, were priced in each "
            "bucket."
        )
    )
    for objective in summary["objectives"]:
        _show_objective(study, objective, console)
    if summary["objectives"][0]["by_bucket"]:
        console.print()
        _show_buckets(study, summary["objectives"][0], console)
        tell_rest(summary["buckets"] - len(summary["objectives"][0]["by_bucket"]), console)


def _show_objective(study: Study, found: Summary, console: Console) -> None:
    unit, is_mean = found["unit"], found["is_mean"]
    cost = f"{'mean' if is_mean else 'cost'},\n{unit}"
    unpriced = f" {found['unpriced']:,} buckets have no finite cost." if found["unpriced"] else ""
    console.print(
        Text(
            f"\nBy {found['objective']}, they differ in {found['contested']:,} buckets; the best order "
            f"changes {found['switches']:,} times.{unpriced} Always the best order would have cost "
            f"{show_cost(found['least'])} {unit}{' on average' if is_mean else ''}; holding on to one "
            "costs:\n"
        )
    )
    orders = table("order", "plans", cost, f"regret,\n{unit}", "regret", "best in\nbuckets")
    for row in order_rows(found):
        orders.add_row(*row)
    console.print(orders)
    if len(found["orders"]) > SHOWN:
        console.print(f"… and {len(found['orders']) - SHOWN:,} orders that cost more")
    if found["turns"]:
        _show_turns(found, console)


def _show_turns(found: Summary, console: Console) -> None:
    console.print(f"\nWith the cost of migrating, {found['unit']}; in brackets, how many moves:\n")
    shown = table("order", "if moves\nwere free", "regret", *STRATEGIES)
    for turn in found["turns"]:
        free = turn["free"]
        shown.add_row(
            turn["name"],
            "" if free is None else show_cost(free),
            "" if free is None else f"{relative(free - found['least'], found['least']):.2%}",
            *paid(turn),
        )
    console.print(shown)


def _show_buckets(study: Study, found: Summary, console: Console) -> None:
    buckets = table(
        "from", "elements", "best order", "its\ncost", "as\nwritten", "by the\npast", wrapped=["best order"]
    )
    for row in found["by_bucket"]:
        buckets.add_row(
            row["time"],
            f"{row['count']:,}",
            row["best"] or "no difference",
            *(show_cost(row[key]) for key in ("spent", "given_spent", "past_spent")),
        )
    console.print(buckets)
