"""The stage that profiles streams."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.run.stage import Found, Picture, Stage, Table, Told, Work

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile
    from midstream.scenarios.studies.stream_profile import Profile

NAME = "profile"

STATISTICS = "statistics.json"
"""The file with what `midstream explain --stats` and the autopilot load, where the study has a query."""

CELLS = 250
"""How many stretches of time a picture shows at most."""


class Options(Strict):
    """There are none."""


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.report import profile_summary
    from midstream.scenarios.studies.stats_files import write_stats
    from midstream.scenarios.studies.stream_profile import profile
    from midstream.scenarios.studies.writing import write_profile

    recording = work.recording
    work.tell("counting pairs")
    with profile(recording, work.study) as found:
        summary = profile_summary(work.study, found, 0)
        write_profile(found, summary, work.place)
        if found.asked is not None:
            write_stats(found.asked.statistics, work.place / STATISTICS)
        return Found(summary, _drawn(found), work.elements, len(found.starts) * len(found.streams))


def _drawn(found: Profile) -> dict[str, Any]:
    """By stream, how many elements start in each of few stretches of time."""
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


def _told(file: StudyFile, found: Found) -> Told:
    from midstream.scenarios.studies.report import pair_rows, stream_rows

    clock, summary = file.study.clock, found.summary
    unit = summary["unit"]
    titles = ("stream", "elements", f"d, {unit}", f"l, {unit}", f"g, {unit}")
    tables = [Table("Streams", titles, stream_rows(summary))]
    if pairs := pair_rows(summary):
        titles = ("streams", "equal", "overlapping", "matched", "selectivity")
        tables.append(
            Table("Pairs of elements that are valid together, and those that agree", titles, pairs, 2)
        )
    if conditions := summary.get("conditions"):
        shares = [
            (one["condition"], "–" if one["share"] is None else f"{one['share']:.2%}") for one in conditions
        ]
        tables.append(Table("Conditions of the query", ("condition", "share of rows or pairs"), shares))
    if not summary["buckets"]:
        return Told(facts=["The streams hold no elements."], tables=tables)
    end = summary["last"] + summary["bucket"]
    facts = [
        f"{summary['buckets']:,} buckets of {clock.show_duration(summary['bucket'])}, from "
        f"{clock.show(summary['first'])} to {clock.show(end)}."
    ]
    return Told(facts=facts, tables=tables, pictures=[_picture(file, found)])


def _picture(file: StudyFile, found: Found) -> Picture:
    from midstream.scenarios.studies.run import pictures

    edges, counts = found.drawn["edges"], found.drawn["counts"]
    clock = file.study.clock
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


STAGE = Stage(NAME, Options, _run, _told, after=("ingest",))
