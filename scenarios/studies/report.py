"""What studies found, as plain data for JSON, and as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql import functions as F
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.pricing import show_cost
from midstream.scenarios.studies.stream_profile import Profile
from midstream.scenarios.studies.what_if import WhatIf

Summary = dict[str, Any]

SHOWN_ORDERS = 20

GAP = 3
"""Between two columns of a table."""


def profile_summary(study: Study, found: Profile, rows: int) -> Summary:
    """The profile in all, and of the first buckets."""
    pairs = [{**asdict(pair), "selectivity": pair.selectivity} for pair in found.pairs]
    streams = [{**asdict(stream), "d": _finite(stream.d)} for stream in found.streams]
    return {
        **_frame(study, found.starts),
        "streams": streams,
        "pairs": pairs,
        "by_bucket": _first_buckets(study, found, rows),
    }


def _first_buckets(study: Study, found: Profile, rows: int) -> list[Summary]:
    first = found.starts[:rows]
    buckets: dict[int, Summary] = {
        start: {"start": start, "time": study.clock.show(start), "counts": {}, "pairs": []} for start in first
    }
    shown = F.col("start") < first.stop
    for row in found.by_stream.where(shown).orderBy("start", "stream").collect():
        buckets[row["start"]]["counts"][row["stream"]] = row["count"]
    for row in found.by_pair.where(shown).orderBy("start", "pair").collect():
        buckets[row["start"]]["pairs"].append({"overlapping": row["overlapping"], "matched": row["matched"]})
    return list(buckets.values())


def what_if_summary(study: Study, found: WhatIf, rows: int) -> Summary:
    """The orders, cheapest first, and the best of the first buckets; costs are microseconds of processing."""
    orders = [
        {
            "order": total.order.label,
            "plans": list(total.order.plans),
            "spent": total.spent,
            "regret": total.regret,
            "relative_regret": total.relative_regret,
            "best_in": total.best_in,
            "is_given": total.is_given,
        }
        for total in found.totals
    ]
    first = found.best.orderBy("start").limit(rows).collect()
    return {
        **_frame(study, found.starts),
        "plans": len(found.plans),
        "least": found.least,
        "contested": found.contested,
        "switches": found.switches,
        "orders": orders,
        "by_bucket": [
            {
                "start": row["start"],
                "time": study.clock.show(row["start"]),
                "count": row["count"],
                "best": row["label"] if row["is_contested"] else None,
                "spent": row["spent"],
                "given_regret": row["given_regret"],
            }
            for row in first
        ],
    }


def _frame(study: Study, starts: range) -> Summary:
    return {
        "study": study.name,
        "title": study.title,
        "unit": study.clock.unit,
        "bucket": starts.step,
        "buckets": len(starts),
        "first": starts[0] if starts else None,
        "last": starts[-1] if starts else None,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def show_profile(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary of a profile."""
    _title(study, summary, console)
    unit = summary["unit"]
    streams = _table("stream", "elements", f"d, {unit}", f"l, {unit}", f"g, {unit}")
    for stream in summary["streams"]:
        streams.add_row(stream["stream"], *(_number(stream[key]) for key in ("count", "d", "l", "g")))
    console.print(streams)
    if summary["pairs"]:
        console.print("\nPairs of elements that are valid together, and those that agree:\n")
        pairs = _table("streams", "equal", "overlapping", "matched", "selectivity", texts=2)
        for pair in summary["pairs"]:
            counts = (_number(pair[key]) for key in ("overlapping", "matched"))
            share = _share(pair["matched"], pair["overlapping"])
            pairs.add_row(_pair(pair), pair["on"] or "(anything)", *counts, share)
        console.print(pairs)
    if summary["by_bucket"]:
        names = [stream["stream"] for stream in summary["streams"]]
        titles = [f"{_pair(pair)}\n{pair['on'].replace(' and ', chr(10))}" for pair in summary["pairs"]]
        console.print("\nElements, and selectivities of pairs, by bucket:\n")
        rows = []
        for bucket in summary["by_bucket"]:
            shares = [_share(pair["matched"], pair["overlapping"]) for pair in bucket["pairs"]]
            rows.append([bucket["time"], *(_number(bucket["counts"][name]) for name in names), *shares])
        _print_columns(console, ["from", *names, *titles], rows)
        _tell_rest(summary, console)


def show_what_if(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary of a what-if study."""
    _title(study, summary, console)
    bucket = study.clock.show_duration(summary["bucket"])
    console.print(
        Text(
            f"{summary['plans']:,} plans in {len(summary['orders']):,} orders were priced in each bucket. "
            f"They differ in {summary['contested']:,} buckets; the best order changes "
            f"{summary['switches']:,} times. Always the best plan would have cost "
            f"{show_cost(summary['least'])} µs of processing; holding on to one order costs:\n"
        )
    )
    orders = _table("order", "plans", "cost,\nµs", "regret,\nµs", "regret", "best in\nbuckets")
    for order in summary["orders"][:SHOWN_ORDERS]:
        orders.add_row(
            order["order"] + (" (as written)" if order["is_given"] else ""),
            f"{len(order['plans']):,}",
            show_cost(order["spent"]),
            show_cost(order["regret"]),
            f"{order['relative_regret']:.2%}",
            f"{order['best_in']:,}",
        )
    console.print(orders)
    if len(summary["orders"]) > SHOWN_ORDERS:
        console.print(f"… and {len(summary['orders']) - SHOWN_ORDERS:,} orders that cost more")
    if summary["by_bucket"]:
        console.print()
        buckets = _table(
            "from", "elements", "best order", f"its cost,\nµs per {bucket}", "as written,\nµs more"
        )
        for row in summary["by_bucket"]:
            buckets.add_row(
                row["time"],
                f"{row['count']:,}",
                row["best"] or "no difference",
                show_cost(row["spent"]),
                show_cost(row["given_regret"]),
            )
        console.print(buckets)
        _tell_rest(summary, console)


def _title(study: Study, summary: Summary, console: Console) -> None:
    console.print(Text(study.title, style="bold"))
    if not summary["buckets"]:
        console.print("The streams hold no elements.\n")
        return
    first, end = summary["first"], summary["last"] + summary["bucket"]
    console.print(
        Text(
            f"{summary['buckets']:,} buckets of {study.clock.show_duration(summary['bucket'])}, "
            f"from {study.clock.show(first)} to {study.clock.show(end)}\n"
        )
    )


def _tell_rest(summary: Summary, console: Console) -> None:
    if rest := summary["buckets"] - len(summary["by_bucket"]):
        console.print(f"… and {rest:,} more buckets: --output writes all, --rows shows more")


def _table(*titles: str, texts: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, title in enumerate(titles):
        is_text = i < texts or title == "best order"
        # A number of which digits are cut off is another number.
        table.add_column(title, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text)
    return table


def _print_columns(console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, or several below each other where it is too wide, each with the first column."""
    texts = [[title, *column] for title, column in zip(titles, zip(*rows, strict=True), strict=True)]
    widths = [max(cell_len(line) for text in some for line in text.splitlines()) for some in texts]
    parts: list[list[int]] = [[]]
    room = console.width - widths[0]
    for i in range(1, len(titles)):
        if parts[-1] and sum(widths[j] + GAP for j in (*parts[-1], i)) > room:
            parts.append([])
        parts[-1].append(i)
    for number, part in enumerate(parts):
        if number:
            console.print()
        shown = [0, *part]
        table = _table(*(titles[i] for i in shown))
        table.columns[0].no_wrap = True
        for row in rows:
            table.add_row(*(row[i] for i in shown))
        console.print(table)


def _pair(pair: Mapping[str, Any]) -> str:
    return f"{pair['left']} ⋈ {pair['right']}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"
