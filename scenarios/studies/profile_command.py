"""`midstream study profile`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import checked_folder, nothing_written
from midstream.io.requirements import require_spark
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import require_fitting
from midstream.scenarios.studies.options import (
    BUCKET,
    DATA,
    FOLDER,
    MASTER,
    QUERY,
    SHOWN_ROWS,
    SINCE,
    STUDY,
    UNTIL,
    length_of,
    make_folder,
    opened,
    print_found,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.script import load_declared
from midstream.scenarios.studies.stats_files import EACH

EPILOG = examples(
    "midstream study profile nycflights13 --data recordings --bucket 3h",
    "midstream study profile query.sql --data streams --save-stats seen.json",
    "midstream study profile study.toml --output found --json",
)


def profile(
    study: STUDY,
    data: DATA = None,
    query: QUERY = None,
    since: SINCE = None,
    until: UNTIL = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: FOLDER = None,
    save_stats: Annotated[
        Path | None,
        typer.Option(help="A file for the statistics of the whole time, for explain --stats and programs."),
    ] = None,
    bucket_stats: Annotated[
        Path | None,
        typer.Option(help=f"A folder for the statistics of each bucket, as {EACH.format(start='START')}."),
    ] = None,
    rows: SHOWN_ROWS = 24,
    as_json: AsJson = False,
) -> None:
    """Rates, values and selectivities of recorded streams, by time bucket and in all."""
    declared = load_declared(study, data, query).within(since, until)
    length = length_of(declared, bucket, "--bucket")
    if save_stats is not None or bucket_stats is not None or declared.query is not None:
        _require_query(declared)
    require_spark()
    from midstream.scenarios.studies.report import profile_summary, show_profile
    from midstream.scenarios.studies.stats_files import write_bucket_stats, write_stats
    from midstream.scenarios.studies.stream_profile import profile as profiled
    from midstream.scenarios.studies.writing import PROFILE, write_profile

    stats = [("--save-stats", save_stats), ("--bucket-stats", bucket_stats)]
    asked = [(name, place) for name, place in stats if place is not None]
    require_files_apart(study, declared, None, [*replaced_in(output, PROFILE), *asked])
    make_folder(output)
    make_folder(bucket_stats)
    for _, place in asked:
        checked_folder(place.with_name(f".{place.name}"))
    with ExitStack() as stack:
        with nothing_written():
            following = ("counting pairs and values", "summing up")
            recording, step = stack.enter_context(opened(master, declared, length, *following))
            found = stack.enter_context(profiled(recording, declared))
            step()
            summary = profile_summary(declared, found, rows)
        if output is not None:
            write_profile(found, summary, output)
        if found.asked is not None and save_stats is not None:
            write_stats(found.asked.statistics, save_stats)
        if found.asked is not None and bucket_stats is not None:
            write_bucket_stats(found.asked.by_bucket, bucket_stats)
    print_found(declared, summary, as_json, show_profile)


def _require_query(study: Study) -> None:
    """Raise InputFileError unless there is a query, and it fits the streams."""
    if study.query is None:
        raise InputFileError(
            f"study {study.name}: found no query, expected one: statistics are of the streams that it reads",
            path=study.name,
        )
    require_fitting(study.query, study)
