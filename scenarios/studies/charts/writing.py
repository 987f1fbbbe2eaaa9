"""Write a chart of recorded streams: what the autopilot loads, and what it was made from."""

from __future__ import annotations

import json
from pathlib import Path

from midstream.io.new_file import write_file
from midstream.optimizer.statistics_file import statistics_to_json
from midstream.scenarios.studies.charts.stage import FoundChart
from midstream.scenarios.studies.report import Summary
from midstream.scenarios.studies.writing import write_json

CHART, KNOWN, SEEN, SUMMARY = "chart.json", "chart-statistics.json", "chart-seen.jsonl", "charts.json"

CHARTS = (CHART, KNOWN, SEEN, SUMMARY)
"""What `write_charts` replaces in a folder."""


def write_charts(found: FoundChart, summary: Summary, folder: Path) -> None:
    """The chart, as `midstream chart --output` writes it; what it was made from, as `--stats` and `--seen`
    read it there; and the summary."""
    write_file(folder / CHART, found.chart.dumps() + "\n")
    write_json(statistics_to_json(found.known), folder / KNOWN)
    rounds = (json.dumps(statistics_to_json(one), ensure_ascii=False) for one in found.seen.by_round())
    write_file(folder / SEEN, "".join(f"{line}\n" for line in rounds))
    write_json(summary, folder / SUMMARY)
