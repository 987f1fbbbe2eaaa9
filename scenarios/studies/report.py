"""What studies found, as plain data for JSON, and as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any

from pyspark.sql import functions as F
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.optimizer.sampling.intervals import Interval
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.profile.query_profile import QueryProfile
from midstream.scenarios.studies.stream_profile import Profile

Summary = dict[str, Any]

GAP = 3
"""Between two columns of a table."""


def profile_summary(study: Study, found: Profile, rows: int) -> Summary:
    """The profile in all, and of the first buckets."""
    pairs = [
        {
            **asdict(pair),
            "selectivity": pair.selectivity,
            "sampled": None if pair.sampled is None else _interval(pair.sampled),
        }
        for pair in found.pairs
    ]
    streams = [
        {**asdict(stream), "d": stream.d if math.isfinite(stream.d) else None} for stream in found.streams
    ]
    return {
        **frame(study, found.starts),
        "streams": streams,
        "pairs": pairs,
        **({} if found.asked is None else _asked(found.asked)),
        "by_bucket": _first_buckets(study, found, rows),
    }


def _asked(asked: QueryProfile) -> Summary:
    """What is known of a query's columns and conditions."""
    columns = [
        {**asdict(one), "heavy": [{"value": value, "count": n} for value, n in one.heavy]}
        for one in asked.columns
    ]
    return {
        "columns": columns,
        "conditions": [
            {
                "condition": str(one.condition),
                "by": one.by,
                **({"share": None} if one.share is None else _interval(one.share)),
                "given": [str(before) for before in one.given],
            }
            for one in asked.predicates
        ],
    }


def _interval(interval: Interval) -> Summary:
    return {"share": interval.value, "low": interval.low, "high": interval.high}


def _first_buckets(study: Study, found: Profile, rows: int) -> list[Summary]:
    first = found.starts[:rows]
    buckets: dict[int, Summary] = {
        start: {"start": start, "time": study.clock.show(start), "counts": {}, "pairs": []} for start in first
    }
    if not buckets:
        return []
    shown = F.col("start") < first.stop
    # They are few: sorted here, they cost Spark no further pass.
    for row in sorted(found.by_stream.where(shown).collect(), key=itemgetter("start", "stream")):
        buckets[row["start"]]["counts"][row["stream"]] = row["count"]
    for row in sorted(found.by_pair.where(shown).collect(), key=itemgetter("start", "pair")):
        buckets[row["start"]]["pairs"].append({"overlapping": row["overlapping"], "matched": row["matched"]})
    return list(buckets.values())


def frame(study: Study, starts: range) -> Summary:
    """What is told of every study: what it is of, and its buckets."""
    return {
        "study": study.name,
        "title": study.title,
        "unit": study.clock.unit,
        "bucket": starts.step,
        "buckets": len(starts),
        "first": starts[0] if starts else None,
        "last": starts[-1] if starts else None,
    }


def stream_rows(summary: Summary) -> list[tuple[str, ...]]:
    """By stream: its elements, and (d, l, g)."""
    return [
        (one["stream"], *(_number(one[key]) for key in ("count", "d", "l", "g")))
        for one in summary["streams"]
    ]


def pair_rows(summary: Summary) -> list[tuple[str, ...]]:
    """By pair: on what it is to agree, how many elements are valid together, how many agree, their share."""
    return [
        (
            _pair(one),
            one["on"] or "(anything)",
            *(_number(one[key]) for key in ("overlapping", "matched")),
            _share(one["matched"], one["overlapping"]),
        )
        for one in summary["pairs"]
    ]


def show_profile(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary of a profile."""
    title(study, summary, console)
    unit = summary["unit"]
    streams = table("stream", "elements", f"d, {unit}", f"l, {unit}", f"g, {unit}")
    for row in stream_rows(summary):
        streams.add_row(*row)
    console.print(streams)
    if summary["pairs"]:
        console.print("\nPairs of elements that are valid together, and those that agree:\n")
        # With a query there are samples, to show how far one would have gone with them.
        sampled = ["by a sample"] if "columns" in summary else []
        pairs = table("streams", "equal", "overlapping", "matched", "selectivity", *sampled, texts=2)
        for row, pair in zip(pair_rows(summary), summary["pairs"], strict=True):
            pairs.add_row(*row, *([_bounds(pair["sampled"])] if sampled else []))
        console.print(pairs)
    if "columns" in summary:
        _show_asked(summary, console)
    if summary["by_bucket"]:
        names = [stream["stream"] for stream in summary["streams"]]
        titles = [f"{_pair(pair)}\n{pair['on'].replace(' and ', chr(10))}" for pair in summary["pairs"]]
        console.print("\nElements, and selectivities of pairs, by bucket:\n")
        rows = []
        for bucket in summary["by_bucket"]:
            shares = [_share(pair["matched"], pair["overlapping"]) for pair in bucket["pairs"]]
            rows.append([bucket["time"], *(_number(bucket["counts"][name]) for name in names), *shares])
        _print_columns(console, ["from", *names, *titles], rows)
        tell_rest(summary["buckets"] - len(summary["by_bucket"]), console)


def _show_asked(summary: Summary, console: Console) -> None:
    console.print("\nValues of the columns that the query compares or groups by:\n")
    columns = table(
        "stream", "column", "known", "different", "most frequent", texts=2, wrapped=["most frequent"]
    )
    for one in summary["columns"]:
        heavy = ", ".join(
            f"{value['value']} {_share(value['count'], one['known'])}" for value in one["heavy"][:3]
        )
        columns.add_row(one["stream"], one["column"], _number(one["known"]), _number(one["distinct"]), heavy)
    console.print(columns)
    if summary["conditions"]:
        console.print("\nShares of rows, or of pairs of rows, that satisfy the query's conditions:\n")
        conditions = table("condition", "", "share", "bounds", texts=2)
        for one in summary["conditions"]:
            text = one["condition"] + (f", given {' and '.join(one['given'])}" if one["given"] else "")
            share = "–" if one["share"] is None else f"{one['share']:.2%}"
            conditions.add_row(text, one["by"], share, _bounds(one) if one["by"] == "sampled" else "")
        console.print(conditions)


def _bounds(interval: Summary | None) -> str:
    """Between what a share is, by a sample."""
    return "–" if interval is None else f"{100 * interval['low']:.2f}–{interval['high']:.2%}"


def title(study: Study, summary: Summary, console: Console) -> None:
    """Print the study's title, and its buckets."""
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


def tell_rest(rest: int, console: Console) -> None:
    """Print how many buckets are not shown."""
    if rest:
        console.print(f"… and {rest:,} more buckets: --output writes all, --rows shows more")


def table(*titles: str, texts: int = 1, wrapped: Sequence[str] = ()) -> Table:
    """A table whose first columns are texts, as are those that may be wrapped; the others are numbers."""
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, name in enumerate(titles):
        is_text = i < texts or name in wrapped
        # A number of which digits are cut off is another number.
        found.add_column(name, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text)
    return found


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
        part_of_it = table(*(titles[i] for i in shown))
        part_of_it.columns[0].no_wrap = True
        for row in rows:
            part_of_it.add_row(*(row[i] for i in shown))
        console.print(part_of_it)


def _pair(pair: Mapping[str, Any]) -> str:
    return f"{pair['left']} ⋈ {pair['right']}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"
