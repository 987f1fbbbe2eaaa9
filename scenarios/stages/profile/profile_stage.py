"""The stage that profiles streams."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from midstream.scenarios.reports.contents import Picture, Report
from midstream.scenarios.stages.base.options import Options
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import bucket_facts
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import require_fitting

if TYPE_CHECKING:
    from midstream.scenarios.stages.profile.stream_profile import Profile

NAME = "profile"

STATISTICS = "statistics.json"
"""The statistics that `midstream explain --stats` and the autopilot load, if the study has a query."""

BUCKETS = "buckets"
"""The folder with these statistics for each bucket in which all streams have elements."""

CELLS = 250
"""The most stretches of time that a picture shows."""


class ProfileOptions(Options):
    """Options of a profile."""

    window: str | None = Field(
        default=None, description="How long an element is valid, for example 1h, where there is no query."
    )
    rows: int = Field(default=24, ge=0, description="Number of buckets to list; files have all.")


def _check(request: Request, options: ProfileOptions) -> None:
    if request.study.query is None:
        _window(request, options)
        return
    if options.window is not None:
        raise request.error("window", f"found {options.window}, expected none, as the query has windows")
    require_fitting(request.study.query, request.study, request.name)


def _window(request: Request, options: ProfileOptions) -> int:
    if options.window is None:
        raise request.error(
            "window", "found none, expected how long an element is valid, as there is no query"
        )
    return request.chronons("window", options.window)


def _run(work: Work, options: ProfileOptions) -> tuple[Profile, Outcome]:
    from midstream.scenarios.stages.profile.report import profile_summary
    from midstream.scenarios.stages.profile.stream_profile import profile

    if work.study.query is None:
        work.read_from(work.study.windowed(_window(work.request, options)))
    recording = work.recording
    work.tell("counting pairs and values")
    result = work.hold(profile(recording, work.study))
    work.tell("summing up")
    summary = profile_summary(work.study, result, options.rows)
    rows = len(result.starts) * len(result.streams)
    return result, Outcome(summary, _drawn(result), work.elements, rows)


def _write(result: Profile, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.stages.profile.report import write_profile
    from midstream.scenarios.stages.profile.stats_files import write_bucket_stats, write_stats

    write_profile(result, outcome.summary, folder)
    if result.asked is not None:
        write_stats(result.asked.statistics, folder / STATISTICS)
        write_bucket_stats(result.asked.by_bucket, folder / BUCKETS)


def _drawn(found: Profile) -> dict[str, Any]:
    """By stream, the elements that start in each of a few stretches of time."""
    from pyspark.sql import functions as F

    starts = found.starts
    if not starts:
        return {"edges": [], "counts": {}}
    length = -(-len(starts) // CELLS) * starts.step
    cell = F.col("start") - F.pmod(F.col("start") - F.lit(starts.start), F.lit(length))
    summed = found.by_stream.groupBy(cell.alias("cell"), "stream").agg(F.sum("count").alias("count"))
    counts = {(row["cell"], row["stream"]): row["count"] for row in summed.collect()}
    cells = range(starts.start, starts.stop, length)
    return {
        "edges": [*cells, starts.stop],
        "counts": {one.stream: [counts.get((at, one.stream), 0) for at in cells] for one in found.streams},
    }


def _tell(study: Study, outcome: Outcome) -> Report:
    from midstream.scenarios.stages.profile.report import bucket_table, profile_tables

    summary = outcome.summary
    tables = profile_tables(summary)
    if not summary["buckets"]:
        return Report(facts=bucket_facts(study, summary), tables=tables)
    if summary["by_bucket"]:
        tables.append(bucket_table(summary))
    return Report(facts=bucket_facts(study, summary), tables=tables, pictures=[_picture(study, outcome)])


def _picture(study: Study, outcome: Outcome) -> Picture:
    from midstream.scenarios.stages.profile import pictures

    edges, counts = outcome.drawn["edges"], outcome.drawn["counts"]
    clock = study.clock
    words = []
    for name, numbers in counts.items():
        most = max(numbers)
        when = clock.show(edges[numbers.index(most)])
        words.append(f"{name}: {sum(numbers):,} elements, at most {most:,} at once, from {when} on.")
    return Picture(
        "rates",
        "What arrives",
        f"Elements of each stream in {clock.show_duration(edges[1] - edges[0])}.",
        words,
        partial(pictures.rates, clock, edges, counts),
    )


STAGE = Stage(
    NAME,
    ProfileOptions,
    _run,
    _tell,
    _write,
    files=("streams", "pairs", "columns", "profile.json", STATISTICS, BUCKETS),
    pictures=("rates",),
    help="""Rates, values and selectivities of recorded streams, by time bucket and in all.

    A folder for --output gets all buckets as Parquet files, the summary as profile.json, and of a query the
    statistics that `midstream explain --stats` and the autopilot load: statistics.json, and a file a bucket.
    """,
    examples=(
        "midstream study profile nycflights13 --data recordings --bucket 3h",
        "midstream study profile query.sql --data streams --output profile",
        "midstream study profile streams.sql --window 1h --output found --json",
    ),
    check=_check,
    after=("ingest",),
)
