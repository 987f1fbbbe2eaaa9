"""The chart of a study, as plain data for JSON, for people, and as files.

The files hold the chart, which the autopilot loads, and the statistics from which it was made.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

from midstream.io.new_file import write_file
from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.statistics_file import dump_statistics
from midstream.scenarios.spark.writing import write_json
from midstream.scenarios.stages.base.summaries import Summary, frame
from midstream.scenarios.stages.charts.stage import ChartResult
from midstream.scenarios.streams.recorded.declaration import Study

VERSION = 1
"""The version of the summary."""

CHART, STATISTICS, SEEN, SUMMARY = "chart.json", "chart-statistics.json", "chart-seen.jsonl", "charts.json"

RANGES = ("along", "from", "to", "parts")


def charts_summary(study: Study, result: ChartResult) -> Summary:
    """The dimensions, how often each plan is best, and how the streams moved over the chart."""
    chart, trajectory = result.chart, result.trajectory
    places, rounds = Counter(chart.best), Counter(step.number for step in trajectory.steps)
    return {
        "version": VERSION,
        **frame(study, result.starts),
        "dimensions": [asdict(one) for one in chart.dimensions],
        "places": len(chart.best),
        "regions": len(set(chart.regions.values())),
        "plans": [
            {"plan": name, "places": places[i], "rounds": rounds[i]}
            for i, name in enumerate(plan_names(chart.plans))
        ],
        "rounds": len(trajectory.steps),
        "moves": trajectory.moves,
        "switches": trajectory.switches,
    }


def range_rows(summary: Summary) -> list[tuple[str, ...]]:
    """A row for each dimension, with the columns of RANGES, for a terminal and for a page."""
    return [
        (one["name"], f"{one['low']:.4g}", f"{one['high']:.4g}", f"{one['parts']:,}")
        for one in summary["dimensions"]
    ]


def plan_rows(summary: Summary) -> list[tuple[str, ...]]:
    """A row for each plan: the share of the places in which it is best, and the number of buckets."""
    return [
        (one["plan"], f"{one['places'] / summary['places']:.1%}", f"{one['rounds']:,}")
        for one in summary["plans"]
    ]


def write_charts(result: ChartResult, summary: Summary, folder: Path) -> None:
    """Write the chart, the statistics from which it was made, and the summary.

    The chart is as `midstream chart --output` writes it; `--stats` and `--seen` read the statistics there.
    """
    write_file(folder / CHART, result.chart.dumps() + "\n")
    write_file(folder / STATISTICS, dump_statistics(result.statistics) + "\n")
    rounds = (dump_statistics(one) for one in result.seen.by_round())
    write_file(folder / SEEN, "".join(f"{line}\n" for line in rounds))
    write_json(summary, folder / SUMMARY)
