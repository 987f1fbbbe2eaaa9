"""What a chart says, as plain data for JSON, and for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.charts.printing import chart_text
from midstream.scenarios.studies.charts.rows import RANGES, plan_rows, range_rows
from midstream.scenarios.studies.charts.stage import FoundChart
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.report import Summary, frame, table, title

VERSION = 1
"""Of the summary."""

WIDEST = 40
"""A chart with more parts is no grid of characters that people read: what its plans are is told alone."""


def charts_summary(study: Study, found: FoundChart) -> Summary:
    """The dimensions, how often each plan is best, and the streams' way."""
    chart, way = found.chart, found.way
    places, rounds = Counter(chart.best), Counter(step.number for step in way.steps)
    return {
        "version": VERSION,
        **frame(study, found.starts),
        "dimensions": [asdict(one) for one in chart.dimensions],
        "places": len(chart.best),
        "regions": len(set(chart.regions.values())),
        "plans": [
            {"plan": name, "places": places[i], "rounds": rounds[i]}
            for i, name in enumerate(plan_names(chart.plans))
        ],
        "rounds": len(way.steps),
        "moves": way.moves,
        "switches": way.switches,
    }


def show_charts(study: Study, summary: Summary, found: FoundChart, console: Console) -> None:
    """Print a chart."""
    title(study, summary, console)
    if max(one["parts"] for one in summary["dimensions"]) <= WIDEST:
        console.print(Text(chart_text(found.chart, found.way)))
        return
    console.print(
        Text(
            f"{len(summary['plans']):,} plans, {summary['regions']:,} regions, {summary['places']:,} places\n"
        )
    )
    ranges = table(*RANGES)
    for row in range_rows(summary):
        ranges.add_row(*row)
    console.print(ranges)
    console.print()
    plans = table("best plan", "places", "buckets")
    for row in plan_rows(summary):
        plans.add_row(*row)
    console.print(plans)
    console.print(
        Text(
            f"\nThe streams went from place to place {summary['moves']:,} times, and to another plan "
            f"{summary['switches']:,} times, in {summary['rounds']:,} buckets."
        )
    )
