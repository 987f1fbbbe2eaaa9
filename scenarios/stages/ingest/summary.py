"""Result of ingesting, as plain data for JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from midstream.io.ingested import Manifest
from midstream.io.time_units import UNITS
from midstream.scenarios.stages.ingest.disorder import Disorder
from midstream.scenarios.stages.ingest.ingest import Ingested


def ingest_summary(ingested: Ingested) -> dict[str, Any]:
    """The contents of a folder, and what the last run added to it."""
    manifest, run = ingested.manifest, ingested.run
    inputs = [] if run is None else run.inputs
    return {
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
