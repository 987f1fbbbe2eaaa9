"""The profile of streams, as plain data for JSON and as tables for people."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from midstream.optimizer.sampling.intervals import Interval
from midstream.scenarios.reports.contents import Table
from midstream.scenarios.spark.writing import write_json, write_table
from midstream.scenarios.stages.base.summaries import Summary, frame, more_buckets
from midstream.scenarios.stages.profile.query_profile import QueryProfile
from midstream.scenarios.stages.profile.stream_profile import Profile
from midstream.scenarios.streams.recorded.declaration import Study


def profile_summary(study: Study, profile: Profile, rows: int) -> Summary:
    """The profile of the whole time, and of the first buckets."""
    pairs = [
        {
            **asdict(pair),
            "selectivity": pair.selectivity,
            "sampled": None if pair.sampled is None else _interval(pair.sampled),
        }
        for pair in profile.pairs
    ]
    streams = [
        {**asdict(stream), "d": stream.d if math.isfinite(stream.d) else None} for stream in profile.streams
    ]
    return {
        **frame(study, profile.starts),
        "streams": streams,
        "pairs": pairs,
        **({} if profile.asked is None else _asked(profile.asked)),
        "by_bucket": _first_buckets(study, profile, rows),
    }


def _asked(asked: QueryProfile) -> Summary:
    """The findings about a query's columns and conditions."""
    return {
        "columns": [one.as_dict() for one in asked.columns],
        "conditions": [
            {
                "condition": str(one.condition),
                "by": one.by,
                **({"share": None} if one.share is None else _interval(one.share)),
                "given": [str(before) for before in one.premises],
            }
            for one in asked.predicates
        ],
    }


def _interval(interval: Interval) -> Summary:
    return {"share": interval.value, "low": interval.low, "high": interval.high}


def _first_buckets(study: Study, profile: Profile, rows: int) -> list[Summary]:
    first = profile.starts[:rows]
    buckets: dict[int, Summary] = {
        start: {"start": start, "time": study.clock.show(start), "counts": {}, "pairs": []} for start in first
    }
    if not buckets:
        return []
    shown = F.col("start") < first.stop
    # They are few: sorted here, they cost Spark no further pass.
    for row in sorted(profile.by_stream.where(shown).collect(), key=itemgetter("start", "stream")):
        buckets[row["start"]]["counts"][row["stream"]] = row["count"]
    for row in sorted(profile.by_pair.where(shown).collect(), key=itemgetter("start", "pair")):
        buckets[row["start"]]["pairs"].append({"overlapping": row["overlapping"], "matched": row["matched"]})
    return list(buckets.values())


def profile_tables(summary: Summary) -> list[Table]:
    """Tables of streams, of pairs of streams, and of the query's columns and conditions."""
    unit = summary["unit"]
    streams = [
        (one["stream"], *(_number(one[key]) for key in ("count", "d", "l", "g")))
        for one in summary["streams"]
    ]
    titles = ("stream", "elements", f"d, {unit}", f"l, {unit}", f"g, {unit}")
    tables = [Table("Streams", titles, streams)]
    if summary["pairs"]:
        tables.append(_pairs(summary))
    if "columns" in summary:
        tables.append(_columns(summary))
    if summary.get("conditions"):
        tables.append(_conditions(summary))
    return tables


def _pairs(summary: Summary) -> Table:
    # With a query there are samples, to show how far one would have gone with them.
    is_sampled = "columns" in summary
    rows = [
        (
            _pair(one),
            one["on"] or "(anything)",
            *(_number(one[key]) for key in ("overlapping", "matched")),
            _share(one["matched"], one["overlapping"]),
            *([_bounds(one["sampled"])] if is_sampled else []),
        )
        for one in summary["pairs"]
    ]
    titles = ("streams", "equal", "overlapping", "matched", "selectivity")
    caption = "Pairs of elements that are valid together, and those that agree"
    return Table(caption, (*titles, "by a sample") if is_sampled else titles, rows, texts=2)


def _columns(summary: Summary) -> Table:
    rows = []
    for one in summary["columns"]:
        heavy = ", ".join(
            f"{value['value']} {_share(value['count'], one['known'])}" for value in one["heavy"][:3]
        )
        rows.append((one["stream"], one["column"], heavy, _number(one["known"]), _number(one["distinct"])))
    titles = ("stream", "column", "most frequent", "known", "different")
    return Table("Values of the columns that the query compares or groups by", titles, rows, texts=3)


def _conditions(summary: Summary) -> Table:
    rows = []
    for one in summary["conditions"]:
        text = one["condition"] + (f", given {' and '.join(one['given'])}" if one["given"] else "")
        share = "–" if one["share"] is None else f"{one['share']:.2%}"
        rows.append((text, one["by"], share, _bounds(one) if one["by"] == "sampled" else ""))
    titles = ("condition", "by", "share", "bounds")
    return Table("Shares of rows, or of pairs of rows, that satisfy the query's conditions", titles, rows, 2)


def bucket_table(summary: Summary) -> Table:
    """A table of the elements, and the selectivities of pairs, of the first buckets."""
    names = [stream["stream"] for stream in summary["streams"]]
    titles = [f"{_pair(pair)}\n{pair['on'].replace(' and ', chr(10))}" for pair in summary["pairs"]]
    rows = [
        (
            bucket["time"],
            *(_number(bucket["counts"][name]) for name in names),
            *(_share(pair["matched"], pair["overlapping"]) for pair in bucket["pairs"]),
        )
        for bucket in summary["by_bucket"]
    ]
    caption = "Elements, and selectivities of pairs, by bucket"
    return Table(caption, ("from", *names, *titles), rows, note=more_buckets(summary, len(rows)))


def _bounds(interval: Summary | None) -> str:
    """The bounds of a sampled share."""
    return "–" if interval is None else f"{100 * interval['low']:.2f}–{interval['high']:.2%}"


def _pair(pair: Mapping[str, Any]) -> str:
    return f"{pair['left']} ⋈ {pair['right']}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def write_profile(profile: Profile, summary: Summary, folder: Path) -> None:
    """Write `streams`, `pairs`, with a query `columns`, and `profile.json`; replace an earlier profile.

    `streams` has a folder a stream, `pairs` one a pair, and `columns` one a stream and column.
    """
    write_table(profile.by_stream, folder / "streams", ["stream"], ["start"])
    write_table(profile.by_pair, folder / "pairs", ["left", "right"], ["on", "start"])
    if profile.asked is None:
        shutil.rmtree(folder / "columns", ignore_errors=True)
    else:
        write_table(profile.asked.by_column, folder / "columns", ["stream", "column"], ["start"])
    write_json(summary, folder / "profile.json")
