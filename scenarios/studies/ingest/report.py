"""The result of ingesting, as plain data for JSON and as tables for people."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from midstream.io.ingested import Manifest
from midstream.io.time_units import UNITS, Clock
from midstream.plans.values.instants import EPOCH
from midstream.scenarios.studies.ingest.disorder import Disorder
from midstream.scenarios.studies.ingest.ingest import Ingested

SHOWN = 5
"""The number of files with bad rows that are listed by name."""


def ingest_summary(found: Ingested, folder: str) -> dict[str, Any]:
    """The contents of a folder, and what the last run added to it."""
    manifest, run = found.manifest, found.run
    inputs = [] if run is None else run.inputs
    return {
        "folder": folder,
        "run": None if run is None else run.folder,
        "inputs": len(inputs),
        "rows": sum(one.rows for one in inputs),
        "streams": {name: _stream(manifest, name) for name in manifest.streams},
        "bad": {one.path: one.quarantined for one in inputs if one.quarantined},
        "quarantine": [] if run is None else list(run.quarantine),
        "unit": _unit(manifest),
    }


def _stream(manifest: Manifest, name: str) -> dict[str, Any]:
    files = manifest.files(name)
    inputs = [one for one in manifest.inputs if one.stream == name]
    runs = [run.streams[name] for run in manifest.runs if name in run.streams]
    rows = sum(file.rows for file in files)
    first = min((file.first for file in files), default=None)
    last = max((file.last for file in files), default=None)
    counts: Counter[int] = Counter()
    for run in runs:
        counts.update(run.counts)
    greatest = max((run.greatest for run in runs), default=0)
    span = 0 if first is None or last is None else last - first + 1
    late = sum(count for upper, count in counts.items() if upper)
    return {
        "rows": rows,
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "first": first,
        "last": last,
        "inputs": len(inputs),
        "quarantined": sum(one.quarantined for one in inputs),
        "double": sum(run.double for run in runs),
        "late_runs": sum(run.late for run in runs),
        "cut": sum(run.cut for run in runs),
        "disorder": Disorder(rows, late, greatest, span, counts).as_dict(),
    }


def _unit(manifest: Manifest) -> str:
    return UNITS.get(manifest.chronon, f"{manifest.chronon} ns")


TITLES = ("stream", "rows", "files", "from", "to", "bad", "double", "late")


def stream_rows(summary: dict[str, Any], clock: Clock) -> list[tuple[str, ...]]:
    """A row for each stream, with the columns of TITLES, for a terminal and for a page."""
    return [
        (
            name,
            f"{one['rows']:,}",
            f"{one['files']:,}",
            *("–" if one[key] is None else clock.show(one[key]) for key in ("first", "last")),
            *(f"{number:,}" for number in (one["quarantined"], one["double"], one["disorder"]["late"])),
        )
        for name, one in summary["streams"].items()
    ]


def show_ingested(found: Ingested, summary: dict[str, Any], console: Console) -> None:
    """Print what was ingested."""
    if summary["run"] is None:
        console.print(f"{summary['folder']}: no new files")
    else:
        console.print(
            f"{summary['folder']}: {summary['rows']:,} rows of {summary['inputs']:,} files read",
            soft_wrap=True,
        )
    table = _table(*TITLES)
    clock = Clock(_unit(found.manifest), EPOCH + timedelta(microseconds=found.manifest.epoch // 1000))
    for row in stream_rows(summary, clock):
        table.add_row(*row)
    console.print(table)
    for name, one in summary["streams"].items():
        _show_disorder(name, one, summary["unit"], console)
        if one["late_runs"]:
            console.print(
                f"{name}: {one['late_runs']:,} rows start before the last of an earlier run", soft_wrap=True
            )
        if one["cut"]:
            console.print(
                f"{name}: {one['cut']:,} timestamps are finer than a chronon; the rest was cut off",
                soft_wrap=True,
            )
    for path, bad in list(summary["bad"].items())[:SHOWN]:
        console.print(f"{path}: {bad:,} rows in quarantine", soft_wrap=True)
    for path in summary["quarantine"]:
        console.print(f"see {summary['folder']}/{path}", soft_wrap=True)


def _show_disorder(name: str, one: dict[str, Any], unit: str, console: Console) -> None:
    disorder = one["disorder"]
    if not disorder["late"]:
        return
    console.print(
        f"\n{name}: {disorder['share']:.2%} of the rows start before an earlier row of their file. A slack …"
    )
    table = _table(f"slack, {unit}", "loses rows", "keeps so many waiting")
    for slack in disorder["slacks"]:
        table.add_row(f"{slack['slack']:,}", f"{slack['late']:,}", f"{slack['held']:,.1f}")
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=not number)
    return table
