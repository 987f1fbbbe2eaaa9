"""The report of a simulation: one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from midstream.plans.errors import InputFileError
from midstream.scenarios.simulator.pictures import inline_svg, page_colors, require_matplotlib
from midstream.scenarios.simulator.results import BASELINE, FIGURES, Compared, Moved, Run, Simulation, Spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERDICTS = {
    "equal": ("good", "✓ equal", "the same results as without migration, in order"),
    "different": ("bad", "✗ different", "not the results without migration"),
    "refused": ("off", "– refused", "the migration was refused"),
}
"""A class, a mark, and what it means."""


def write_report(simulation: Simulation, file: Path) -> None:
    """Write a simulation's report.

    Raises   MissingExtra without matplotlib; InputFileError where the file cannot be written.
    """
    text = report_html(simulation)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"{file}: {error.strerror or error}", path=file) from error


def report_html(simulation: Simulation) -> str:
    """The page: the same text for the same simulation. Raises MissingExtra without matplotlib."""
    require_matplotlib()
    style = (resources.files(__package__) / "report.css").read_text(encoding="utf-8")
    dark = page_colors(dark=True)
    body = "\n".join(
        (
            _head(simulation),
            _section("Comparison", _comparison(simulation)),
            _section("Migrations", _migrations(simulation)),
            *(_section(title, figure) for title, figure in _figures(simulation)),
            _section("Plans", _plans(simulation)),
            _section("Scenario", f"<pre>{escape(simulation.text)}</pre>"),
            _section("Made with", _versions(simulation)),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(simulation.name)} – Midstream</title>\n"
        f"<style>\n:root {{ {page_colors(dark=False)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{style}</style>\n"
        f"</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def _head(simulation: Simulation) -> str:
    paragraphs = "\n".join(
        f"<p>{escape(' '.join(part.split()))}</p>"
        for part in re.split(r"\n\s*\n", simulation.description.strip())
        if part.strip()
    )
    facts = (
        ("duration", _time(simulation, simulation.duration)),
        ("repetitions", f"{simulation.repetitions}"),
        ("seed", f"{simulation.seed}"),
        ("chronon", f"1 of {simulation.second:,} in a second ({simulation.unit})"),
        ("measured every", _time(simulation, simulation.every)),
    )
    return f"<header>\n<h1>{escape(simulation.name)}</h1>\n{paragraphs}\n{_facts(facts)}\n</header>"


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{rows}</dl>'


def _comparison(simulation: Simulation) -> str:
    several = simulation.repetitions > 1
    head = "".join(f'<th scope="col">{escape(_name(one.strategy))}</th>' for one in simulation.compared)
    verdicts = "".join(f"<td>{_verdict(one)}</td>" for one in simulation.compared)
    rows = [f'<tr><th scope="row">verdict</th>{verdicts}</tr>']
    for key, meaning in FIGURES.items():
        if all(one.figures[key].median is None for one in simulation.compared if key in one.figures):
            continue
        is_time = meaning.endswith(", in chronons")
        label = meaning.removesuffix(", in chronons")
        cells = "".join(
            f"<td>{_spread(simulation, one.figures.get(key), is_time, several)}</td>"
            for one in simulation.compared
        )
        rows.append(f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>')
    rows += _overhead(simulation, several)
    note = (
        f"<p>Medians of {simulation.repetitions} repetitions, each with streams of its own; below them the "
        "least and the largest.</p>"
        if several
        else ""
    )
    refusals = "".join(
        f"<li><b>{escape(one.strategy)}</b> was refused: {escape(one.refused)}</li>"
        for one in simulation.compared
        if one.refused
    )
    differences = "".join(
        f"<li><b>{escape(run.strategy)}</b>, repetition {run.repetition + 1}: {escape(text)}</li>"
        for run in simulation.runs
        for text in run.differences
    )
    return (
        f'{note}<div class="wide"><table>\n<thead><tr><th></th>{head}</tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody>\n</table></div>"
        + (f"\n<h3>Refused</h3>\n<ul>{refusals}</ul>" if refusals else "")
        + (f"\n<h3>Differences</h3>\n<ul>{differences}</ul>" if differences else "")
    )


def _overhead(simulation: Simulation, several: bool) -> list[str]:
    """The row that compares a migration's processing with that of both plans alone."""
    by_strategy = {
        one.strategy: [
            run.totals.cpu_moving / alone
            for run in simulation.of(one.strategy)
            if run.totals.cpu_moving is not None
            and (alone := (run.totals.cpu_window_old_alone or 0) + (run.totals.cpu_window_new_alone or 0))
        ]
        for one in simulation.compared
    }
    if not any(by_strategy.values()):
        return []
    spreads = [Spread(median(some), min(some), max(some)) if some else None for some in by_strategy.values()]
    cells = "".join(f"<td>{_spread(simulation, spread, False, several)}</td>" for spread in spreads)
    label = "processing during migrations, relative to that of both plans alone"
    return [f'<tr><th scope="row">{label}</th>{cells}</tr>']


def _verdict(one: Compared) -> str:
    kind, mark, meaning = VERDICTS[one.verdict]
    return f'<span class="{kind}" title="{escape(meaning)}">{escape(mark)}</span>'


def _spread(simulation: Simulation, spread: Spread | None, is_time: bool, several: bool) -> str:
    if spread is None or spread.median is None or spread.least is None or spread.largest is None:
        return "–"

    def show(value: float) -> str:
        return escape(_time(simulation, value) if is_time else _number(value))

    middle = show(spread.median)
    if not several or spread.least == spread.largest:
        return middle
    return f'{middle}<br><span class="range">{show(spread.least)} … {show(spread.largest)}</span>'


def _migrations(simulation: Simulation) -> str:
    titles = (
        "strategy", "to", "began", "split", "over", "phase",
        "results of the old plan", "of the new", "put together", "largest state, old", "new", "held",
    )  # fmt: skip
    rows = []
    reasons = []
    for run in _first_runs(simulation):
        for moved in run.migrations:
            cells = (
                *(_time(simulation, time) for time in (moved.asked, moved.split, moved.ended)),
                moved.phase if not moved.unmatched else f"{moved.phase}, {moved.unmatched:,} unmatched",
                *map(_number, (moved.results_old, moved.results_new, moved.results_fused)),
                *map(_number, (moved.peak_old, moved.peak_new, moved.peak_held)),
            )
            rows.append(
                f'<tr><th scope="row">{escape(run.strategy)}</th><td>{escape(moved.to)}</td>'
                + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                + "</tr>"
            )
            reasons += [f"<li><b>{escape(run.strategy)}</b>: {escape(why)}</li>" for why in _reasons(moved)]
    if not rows:
        return "<p>No strategy migrated.</p>"
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody>\n</table></div>"
        + (f"<ul>{''.join(reasons)}</ul>" if reasons else "")
    )


def _reasons(moved: Moved) -> Iterator[str]:
    if moved.condition is not None:
        yield f"began when {moved.condition}"
    if moved.reason:
        yield moved.reason


def _figures(simulation: Simulation) -> Iterator[tuple[str, str]]:
    from midstream.scenarios.simulator import charts

    runs = charts.drawn_runs(simulation)
    first = " Of several repetitions, the first is drawn." if simulation.repetitions > 1 else ""
    for chart in _CHARTS if runs else ():
        told = [chart.tell(simulation, run) for run in runs]
        figure = getattr(charts, chart.name)(simulation)
        yield chart.title, _figure(figure, chart.title, f"{chart.caption} {PERIOD}{first}", told)
    told = [
        f"{_name(run.strategy)}: {run.totals.cpu:.3g} CPU s for {run.totals.results:,} results."
        for run in _first_runs(simulation)
        if run.refused is None
    ]
    caption = (
        "Left: processing so far, while application time goes on. Right: results so far over processing so "
        "far; steeper is cheaper. CPU time is that of this machine and differs from run to run."
    )
    yield "Costs", _figure(charts.costs(simulation), "Costs", caption + first, told)


def _figure(figure: Figure, title: str, caption: str, told: Sequence[str]) -> str:
    """A picture, and what is said of it; `told` has what it shows in words."""
    svg = inline_svg(figure, title.lower().replace(" ", "-"), f"{title}. {' '.join(told)}")
    words = "".join(f"<li>{escape(line)}</li>" for line in told)
    return (
        f"<figure>\n{svg}\n<figcaption>{escape(caption)}"
        f"<details><summary>In words</summary><ul>{words}</ul></details></figcaption>\n</figure>"
    )


def _tell_output(simulation: Simulation, run: Run) -> str:
    totals = run.totals
    pause = "" if totals.longest_pause_moving is None else (
        f", longest pause during migrations {_time(simulation, totals.longest_pause_moving)}"
    )  # fmt: skip
    largest = max(run.series.results, default=0)
    when = run.series.results.index(largest) * simulation.every if run.series.results else 0
    return (
        f"{run.strategy}: {totals.results:,} results{pause}, at most {largest:,} in "
        f"{_time(simulation, simulation.every)}, from {_time(simulation, when)} on."
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
    return f"{run.strategy}: {_time(simulation, mean)} on average, at most {_time(simulation, largest)}."


def _tell_intermediate(simulation: Simulation, run: Run) -> str:
    return f"{run.strategy}: {run.totals.intermediate:,} intermediate results."


class _Chart(NamedTuple):
    """A function of `charts`, and what is said of its picture."""

    name: str
    title: str
    caption: str
    tell: Callable[[Simulation, Run], str]


_CHARTS = (
    _Chart(
        "output_rate",
        "Output",
        "Results that come out, for each strategy, before those without migration.",
        _tell_output,
    ),
    _Chart(
        "state",
        "State",
        "Elements kept by the old plan, by the new one, and between them, above each other; before and after "
        "a migration, by the plan that runs.",
        _tell_state,
    ),
    _Chart(
        "latency",
        "Latency",
        "From the start of a result to the arrival at which it came out.",
        _tell_latency,
    ),
    _Chart(
        "intermediate_results",
        "Intermediate results",
        "What operators give to other operators, in both plans during a migration.",
        _tell_intermediate,
    ),
)

PERIOD = "The shaded time is that of the migration; the dotted line is the split time."


def _plans(simulation: Simulation) -> str:
    trees = "".join(
        f"<div><h3>{escape(name)}</h3><pre>{escape(tree)}</pre></div>"
        for name, tree in simulation.plans.items()
    )
    return f'<div class="plans">{trees}</div>'


def _versions(simulation: Simulation) -> str:
    return _facts(tuple(simulation.versions.items()))


def _first_runs(simulation: Simulation) -> list[Run]:
    return [simulation.of(strategy)[0] for strategy in simulation.strategies]


def _name(strategy: str) -> str:
    return "without migration" if strategy == BASELINE else strategy


def _time(simulation: Simulation, chronons: float | None) -> str:
    """Chronons as seconds, or the largest unit that they make one of."""
    if chronons is None:
        return "–"
    seconds = chronons / simulation.second
    for unit, length, least in (("d", 86_400, 2), ("h", 3_600, 2), ("min", 60, 10)):
        if abs(seconds) >= least * length:
            return f"{seconds / length:,.4g} {unit}"
    return f"{seconds:,.4g} s" if abs(seconds) >= 1 or not seconds else f"{seconds * 1000:,.3g} ms"


def _number(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 and value != int(value) else f"{value:,.0f}"
