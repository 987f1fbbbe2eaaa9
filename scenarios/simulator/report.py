"""The report of a simulation as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from midstream.io.new_file import write_file
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.simulator.page import facts_list, figure_html, html_page, section
from midstream.scenarios.simulator.pictures import plain_svg, require_matplotlib
from midstream.scenarios.simulator.policy_table import shown_policy
from midstream.scenarios.simulator.report_tables import (
    claims,
    comparison,
    migrations,
    policies,
    policy_runs,
)
from midstream.scenarios.simulator.results import Run, Simulation
from midstream.scenarios.simulator.words import first_runs, shown_name, shown_time

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
    body = "\n".join(
        (
            _head(simulation),
            *_policies(simulation),
            *([section("Comparison", comparison(simulation))] if simulation.runs else []),
            *([section("Claims", claims(simulation))] if simulation.claims else []),
            *([section("Migrations", migrations(simulation))] if _has_moved(simulation) else []),
            *(section(title, figure) for title, figure in _figures(simulation)),
            section("Plans", _plans(simulation)),
            section("Scenario", f"<pre>{escape(simulation.text)}</pre>"),
            section("Made with", facts_list(tuple(simulation.versions.items()))),
        )
    )
    return html_page(simulation.name, body)


def _has_moved(simulation: Simulation) -> bool:
    return not simulation.compares_plans or any(run.migrations for run in simulation.runs)


def _policies(simulation: Simulation) -> Iterator[str]:
    if not simulation.judged:
        return
    from midstream.scenarios.simulator import charts

    first = " Of several repetitions, the first is drawn." if simulation.repetitions > 1 else ""
    title = simulation.captions.get("regret", "What policies cost")
    caption = (
        "Intermediate results so far, with a mark for each migration; below, which plan runs. Where there "
        f"are two colours, both run.{first}"
    )
    told = [
        f"{shown_policy(one.policy)}: {one.total:,} intermediate results, {one.moves} migrations."
        for one in simulation.judged
        if one.repetition == 0
    ]
    figure = figure_html(partial(charts.regret, simulation), "regret", title, caption, told)
    yield section("Policies", policies(simulation))
    yield section(title, figure.replace("<figure>", '<figure class="narrow">', 1))
    if simulation.runs:
        yield section("Policies with the engine", policy_runs(simulation))


def _head(simulation: Simulation) -> str:
    paragraphs = "\n".join(
        f"<p>{escape(' '.join(part.split()))}</p>"
        for part in re.split(r"\n\s*\n", simulation.description.strip())
        if part.strip()
    )
    facts = (
        ("duration", shown_time(simulation, simulation.duration)),
        ("repetitions", f"{simulation.repetitions}"),
        ("seed", f"{simulation.seed}"),
        ("chronon", f"1 of {simulation.second:,} in a second ({simulation.unit})"),
        ("measured every", shown_time(simulation, simulation.every)),
    )
    return f"<header>\n<h1>{escape(simulation.name)}</h1>\n{paragraphs}\n{facts_list(facts)}\n</header>"


def _figures(simulation: Simulation) -> Iterator[tuple[str, str]]:
    if not simulation.runs:
        return
    from midstream.scenarios.simulator import charts

    runs = first_runs(simulation) if simulation.compares_plans else charts.drawn_runs(simulation)
    first = " Of several repetitions, the first is drawn." if simulation.repetitions > 1 else ""
    for name, (chart, draw) in _drawings(simulation).items():
        told = [chart.tell(simulation, run) for run in runs]
        title = simulation.captions.get(name, chart.title)
        note = PERIOD if not simulation.compares_plans else ADJUSTED if simulation.adjusted else ""
        yield title, figure_html(draw, name, title, f"{chart.caption} {note}{first}", told)
    told = [
        f"{shown_name(run.strategy)}: {run.totals.cpu:.3g} CPU s for {run.totals.results:,} results."
        for run in first_runs(simulation)
        if run.migrations or run.refused is None
    ]
    caption = (
        "Left: processing so far, while application time goes on. Right: results so far over processing so "
        "far; steeper is cheaper. CPU time is that of this machine and differs from run to run."
    )
    title = simulation.captions.get("costs", "Costs")
    yield title, figure_html(partial(charts.costs, simulation), "costs", title, caption + first, told)


def _drawings(simulation: Simulation) -> dict[str, tuple[_Chart, Callable[[], Figure]]]:
    """The charts over application time by name, each with the function that draws it."""
    from midstream.scenarios.simulator import charts, plan_charts

    if not simulation.runs or not (simulation.compares_plans or charts.drawn_runs(simulation)):
        return {}
    module, drawn = (plan_charts, _OF_PLANS) if simulation.compares_plans else (charts, _CHARTS)
    return {name: (one, partial(getattr(module, name), simulation)) for name, one in drawn.items()}


def chart_files(folder: Path) -> list[Path]:
    """The files that `write_charts` may write."""
    return [folder / f"{name}.svg" for name in (*_CHARTS, "costs", "regret")]


def write_charts(simulation: Simulation, folder: Path) -> None:
    """Write the charts of a simulation into a folder, an SVG file each.

    Raises   MissingExtra without matplotlib; InputFileError where there cannot be such a folder;
             ConnectorError where a file cannot be written.
    """
    require_matplotlib()
    from midstream.scenarios.simulator import charts

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
    from midstream.scenarios.simulator import charts

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


class _Chart(NamedTuple):
    """Title, caption and text for a picture."""

    title: str
    caption: str
    tell: Callable[[Simulation, Run], str]


_CHARTS = {
    "output": _Chart(
        "Output",
        "Results that come out, for each strategy, before those without migration.",
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

ADJUSTED = "Dotted lines are changes of windows or granules."

PERIOD = "The shaded time is that of the migration; the dotted line is the split time."


def _plans(simulation: Simulation) -> str:
    trees = "".join(
        f"<div><h3>{escape(name)}</h3><pre>{escape(tree)}</pre></div>"
        for name, tree in simulation.plans.items()
    )
    return f'<div class="plans">{trees}</div>'
