"""The report of a simulation as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from midstream.io.new_file import write_file
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.reports.contents import Picture, Report, Section
from midstream.scenarios.reports.pictures import plain_svg, require_matplotlib
from midstream.scenarios.trials.simulator.report_tables import POLICIES, migrations, sections, shown_policy
from midstream.scenarios.trials.simulator.results import Run, Simulation
from midstream.scenarios.trials.simulator.words import first_runs, shown_name, shown_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_report(simulation: Simulation, file: Path) -> None:
    """Write a simulation's report.

    Raises   MissingExtra without matplotlib; ConnectorError where the file cannot be written.
    """
    write_file(file, report_html(simulation))


def report_html(simulation: Simulation) -> str:
    """The page of a simulation; equal simulations give equal pages.

    Raises   MissingExtra without matplotlib.
    """
    require_matplotlib()
    from midstream.scenarios.reports.page import page_html

    description = [" ".join(part.split()) for part in re.split(r"\n\s*\n", simulation.description.strip())]
    return page_html(simulation.name, list(filter(None, description)), list(_sections(simulation)))


def _sections(simulation: Simulation) -> Iterator[Section]:
    facts = (
        ("duration", shown_time(simulation, simulation.duration)),
        ("repetitions", f"{simulation.repetitions}"),
        ("seed", f"{simulation.seed}"),
        ("chronon", f"1 of {simulation.second:,} in a second ({simulation.unit})"),
        ("measured every", shown_time(simulation, simulation.every)),
    )
    yield Section("", values=facts)
    for section in sections(simulation):
        pictures = [_policies(simulation)] if section.title == POLICIES else []
        yield replace(section, report=replace(section.report, pictures=pictures))
    if not simulation.compares_plans or any(run.migrations for run in simulation.runs):
        yield Section("Migrations", migrations(simulation))
    if pictures := list(_pictures(simulation)):
        yield Section("Over time", Report(pictures=pictures))
    yield Section("Plans", texts=tuple(simulation.plans.items()))
    yield Section("Scenario", texts=(("", simulation.text),))
    yield Section("Made with", values=tuple(simulation.versions.items()))


def _policies(simulation: Simulation) -> Picture:
    from midstream.scenarios.trials.simulator import charts

    first = " Of several repetitions, the first is drawn." if simulation.repetitions > 1 else ""
    words = [
        f"{shown_policy(one.policy)}: {one.total:,} intermediate results, {one.moves} migrations."
        for one in simulation.judged
        if one.repetition == 0
    ]
    return Picture(
        "regret",
        simulation.captions.get("regret", "Costs of policies"),
        "Intermediate results so far, with a mark for each migration; below, the plan that runs. Where there "
        f"are two colours, both run.{first}",
        words,
        partial(charts.regret, simulation),
    )


def _pictures(simulation: Simulation) -> Iterator[Picture]:
    if not simulation.runs:
        return
    from midstream.scenarios.trials.simulator import charts

    runs = first_runs(simulation) if simulation.compares_plans else charts.drawn_runs(simulation)
    first = " Of several repetitions, the first is drawn." if simulation.repetitions > 1 else ""
    for name, (chart, draw) in _drawings(simulation).items():
        words = [chart.tell(simulation, run) for run in runs if name != BUDGET or run.series.limit]
        title = simulation.captions.get(name, chart.title)
        note = PERIOD if not simulation.compares_plans else ADJUSTED if simulation.adjusted else ""
        yield Picture(name, title, f"{chart.caption} {note}{first}", words, draw, is_wide=True)
    words = [
        f"{shown_name(run.strategy)}: {run.totals.cpu:.3g} CPU s for {run.totals.results:,} results."
        for run in first_runs(simulation)
        if run.migrations or run.refused is None
    ]
    caption = (
        "Left: processing so far, while application time goes on. Right: results so far over processing so "
        "far; steeper is cheaper. CPU time is that of this machine and differs from run to run."
    )
    title = simulation.captions.get("costs", "Costs")
    yield Picture("costs", title, caption + first, words, partial(charts.costs, simulation), is_wide=True)


def _drawings(simulation: Simulation) -> dict[str, tuple[_Chart, Callable[[], Figure]]]:
    """The charts over application time by name, each with the function that draws it."""
    from midstream.scenarios.trials.simulator import budget_charts, charts, plan_charts

    if not simulation.runs or not (simulation.compares_plans or charts.drawn_runs(simulation)):
        return {}
    module, drawn = (plan_charts, _OF_PLANS) if simulation.compares_plans else (charts, _CHARTS)
    drawings: dict[str, tuple[_Chart, Callable[[], Figure]]] = {
        name: (one, partial(getattr(module, name), simulation)) for name, one in drawn.items()
    }
    if any(run.series.limit for run in simulation.runs):
        drawings = {BUDGET: (_OF_BUDGETS, partial(budget_charts.budget, simulation)), **drawings}
    return drawings


def chart_files(folder: Path) -> list[Path]:
    """The files that `write_charts` may write."""
    return [folder / f"{name}.svg" for name in (*_CHARTS, BUDGET, "costs", "regret")]


def write_charts(simulation: Simulation, folder: Path) -> None:
    """Write the charts of a simulation into a folder, an SVG file each.

    Raises   MissingExtra without matplotlib; InputFileError where there cannot be such a folder;
             ConnectorError where a file cannot be written.
    """
    require_matplotlib()
    from midstream.scenarios.trials.simulator import charts

    drawings = {name: draw for name, (_, draw) in _drawings(simulation).items()}
    if simulation.runs:
        drawings["costs"] = partial(charts.costs, simulation)
    if simulation.judged:
        drawings["regret"] = partial(charts.regret, simulation)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputFileError(f"{folder}: {error.strerror or error}", path=folder) from error
    for name, draw in drawings.items():
        write_file(folder / f"{name}.svg", plain_svg(draw, name))


def write_policy_chart(simulation: Simulation, file: Path) -> None:
    """Write the chart of the costs of policies, as SVG.

    Raises   MissingExtra without matplotlib; ConnectorError where the file cannot be written.
    """
    require_matplotlib()
    from midstream.scenarios.trials.simulator import charts

    write_file(file, plain_svg(partial(charts.regret, simulation), "regret"))


def _tell_output(simulation: Simulation, run: Run) -> str:
    totals = run.totals
    pause = "" if totals.longest_pause_moving is None else (
        f", longest pause during migrations {shown_time(simulation, totals.longest_pause_moving)}"
    )  # fmt: skip
    largest = max(run.series.results, default=0)
    when = run.series.results.index(largest) * simulation.every if run.series.results else 0
    return (
        f"{run.strategy}: {totals.results:,} results{pause}, at most {largest:,} in "
        f"{shown_time(simulation, simulation.every)}, from {shown_time(simulation, when)} on."
    )


def _tell_state(simulation: Simulation, run: Run) -> str:
    peaks = "; ".join(
        f"old plan at most {m.peak_old:,}, new plan {m.peak_new:,}, held {m.peak_held:,}"
        for m in run.migrations
    )
    return f"{run.strategy}: {peaks}; in all at most {run.totals.peak_state:,} elements."


def _tell_latency(simulation: Simulation, run: Run) -> str:
    mean, largest = run.totals.latency_mean, run.totals.latency_max
    if mean is None or largest is None:
        return f"{run.strategy}: no results."
    usual, most = shown_time(simulation, mean), shown_time(simulation, largest)
    return f"{run.strategy}: {usual} on average, at most {most}."


def _tell_budget(simulation: Simulation, run: Run) -> str:
    series, errors = run.series, ", ".join(f"{one.error:+.1%} at level {one.level}" for one in run.errors)
    sizes = [size for size in series.bytes if size is not None]
    held = f"at most {max(sizes):,} of {series.limit[0]:,.0f} bytes; " if sizes else ""
    return (
        f"{run.strategy}: {held}{len(run.adjustments)} adjustments; the error of forecasts of joins is "
        f"{errors or 'not known'}."
    )


class _Chart(NamedTuple):
    """Title, caption and text for a picture."""

    title: str
    caption: str
    tell: Callable[[Simulation, Run], str]


_CHARTS = {
    "output": _Chart(
        "Output",
        "Number of results over time, in a panel for each strategy. Behind it, the panel shows the results "
        "without migration.",
        _tell_output,
    ),
    "state": _Chart(
        "State",
        "Elements kept by the old plan, by the new one, and between them, above each other; before and after "
        "a migration, by the plan that runs.",
        _tell_state,
    ),
    "latency": _Chart(
        "Latency",
        "From the start of a result to the arrival at which it came out.",
        _tell_latency,
    ),
    "intermediate": _Chart(
        "Intermediate results",
        "What joins and others give inside of plans, of both during a migration.",
        lambda simulation, run: f"{run.strategy}: {run.totals.intermediate:,} intermediate results.",
    ),
}
"""Charts by their drawing function's name, without that of costs, which has other runs."""

_OF_PLANS = {
    "output": _CHARTS["output"]._replace(
        caption="Results that come out; dashed, what the cost model expects."
    ),
    "state": _Chart(
        "State",
        "Elements that are kept, in windows too; dashed, what the cost model expects when windows are full.",
        lambda simulation, run: f"{run.strategy}: at most {run.totals.peak_state:,} elements.",
    ),
    "latency": _CHARTS["latency"],
    "intermediate": _CHARTS["intermediate"]._replace(caption="What joins and others give inside of plans."),
}
"""Charts of plans that run alone, by their drawing function's name."""

BUDGET = "budget"

_OF_BUDGETS = _Chart(
    "Memory within the budget",
    "Bytes that queries hold, and those that the resource manager expects once all has come with the "
    "settings of the time; the precision that it expects of results; the number of queries. A line is an "
    "adjustment, which is complete at the end of the band.",
    _tell_budget,
)

ADJUSTED = "Dotted lines are changes of windows, granules or samples."

PERIOD = "The shaded time is that of the migration; the dotted line is the split time."
