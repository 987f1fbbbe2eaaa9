"""The tables of a report: the comparison of strategies, and the outcome of each migration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from midstream.scenarios.simulator.policy_table import shown_policy, unequal, without_replay
from midstream.scenarios.simulator.results import (
    FIGURES,
    HINDSIGHT,
    OF_POLICIES,
    Compared,
    Moved,
    Simulation,
    Spread,
)
from midstream.scenarios.simulator.words import first_runs, shown_name, shown_number, shown_time

VERDICTS = {
    "equal": ("good", "✓ equal", "the same results, in order"),
    "unordered": (
        "off",
        "✓ unordered",
        "the same results as without migration; order is given up by the scenario",
    ),
    "different": ("bad", "✗ different", "other results than meant"),
    "refused": ("off", "– refused", "the migration was refused"),
}
"""Class, mark and meaning of each verdict."""


def comparison(simulation: Simulation) -> str:
    several = simulation.repetitions > 1
    rows = [_row("verdict", map(_verdict, simulation.compared))]
    for key, meaning in FIGURES.items():
        if all(one.figures[key].median is None for one in simulation.compared if key in one.figures):
            continue
        is_time = meaning.endswith(", in chronons")
        cells = (_spread(simulation, one.figures.get(key), is_time, several) for one in simulation.compared)
        rows.append(_row(meaning.removesuffix(", in chronons"), cells))
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
    head = ("", *(shown_name(one.strategy) for one in simulation.compared))
    return (
        note
        + _table(head, rows)
        + (f"\n<h3>Refused</h3>\n<ul>{refusals}</ul>" if refusals else "")
        + (f"\n<h3>Differences</h3>\n<ul>{differences}</ul>" if differences else "")
    )


def _verdict(one: Compared) -> str:
    kind, mark, meaning = VERDICTS[one.verdict]
    return f'<span class="{kind}" title="{escape(meaning)}">{escape(mark)}</span>'


def _spread(simulation: Simulation, spread: Spread | None, is_time: bool, several: bool) -> str:
    if spread is None or spread.median is None or spread.least is None or spread.largest is None:
        return "–"

    def show(value: float) -> str:
        return escape(shown_time(simulation, value) if is_time else shown_number(value))

    middle = show(spread.median)
    if not several or spread.least == spread.largest:
        return middle
    return f'{middle}<br><span class="range">{show(spread.least)} … {show(spread.largest)}</span>'


def policies(simulation: Simulation) -> str:
    """Table of the costs of each policy, by replay or as the engine counted them."""
    several = simulation.repetitions > 1
    rows = []
    for name in simulation.policies:
        first = next(one for one in simulation.judged if one.policy == name)
        cells = [
            *(
                ""
                if name == HINDSIGHT and figure == "moves"
                else _spread(simulation, simulation.spread_of(name, figure), False, several)
                for figure in OF_POLICIES
            ),
            "" if first.kind == "fixed" or first.start is None else escape(first.start),
        ]
        rows.append(_row(shown_policy(name), cells))
    notes = [
        "Intermediate results of all plans that run, at all times; during a migration both plans count. "
        "A policy starts with the plan that is the worst one for it, unless the scenario names another.",
        "Totals are also shown relative to the fixed plan that costs least, and to the clairvoyant that has "
        "the same strategies.",
    ]
    notes += [without_replay(simulation.unpriced)] if simulation.unpriced else []
    if several:
        notes.append(f"Medians of {simulation.repetitions} repetitions, each with streams of its own.")
    unlike = "".join(f"<li>{escape(text)}</li>" for text in unequal(simulation))
    head = ("policy", "intermediate results", "migrations", "/ best fixed", "/ clairvoyant", "starts with")
    return (
        "".join(f"<p>{escape(note)}</p>\n" for note in notes)
        + _table(head, rows)
        + (f"\n<h3>Differences</h3>\n<ul>{unlike}</ul>" if unlike else "")
    )


def policy_runs(simulation: Simulation) -> str:
    """Table of the engine's CPU and state for the run of each policy."""
    several = simulation.repetitions > 1
    rows = []
    for one in simulation.compared:
        if one.strategy in simulation.policies:
            figures = (
                _spread(simulation, one.figures[name], False, several) for name in ("cpu", "peak_state")
            )
            rows.append(_row(shown_policy(one.strategy), (_verdict(one), *figures)))
    note = (
        "CPU is that of this machine and differs from run to run. It includes what the policy itself takes."
    )
    return f"<p>{note}</p>\n" + _table(("policy", "results", "CPU seconds", "largest state, elements"), rows)


def _row(name: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>' + "".join(f"<td>{one}</td>" for one in cells) + "</tr>"


def _table(head: Iterable[str], rows: Iterable[str]) -> str:
    """An HTML table; a column whose name is empty has no title."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' if title else "<th></th>" for title in head)
    return (
        f'<div class="wide"><table>\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody>\n</table></div>"
    )


FINDINGS = {
    "holds": ("good", "✓ holds"),
    "does not hold": ("bad", "✗ does not hold"),
    "not measured": ("off", "– not measured"),
}
"""Class and mark of each finding."""


def claims(simulation: Simulation) -> str:
    rows = []
    for one in simulation.claims:
        kind, mark = FINDINGS[one.finding]
        rows.append(_row(one.claim, (escape(one.measured), f'<span class="{kind}">{mark}</span>')))
    return _table(("claim", "measured", ""), rows) + (
        "\n<p>What is measured is shown where it is closest to what would not hold; of CPU, medians.</p>"
    )


def migrations(simulation: Simulation) -> str:
    titles = (
        "strategy", "to", "began", "split", "over", "phase",
        "results of the old plan", "of the new", "put together", "largest state, old", "new", "held",
    )  # fmt: skip
    rows = []
    reasons = []
    for run in first_runs(simulation):
        for moved in run.migrations:
            cells = (
                moved.to,
                *(shown_time(simulation, time) for time in (moved.asked, moved.split, moved.ended)),
                moved.phase if not moved.unmatched else f"{moved.phase}, {moved.unmatched:,} unmatched",
                *map(shown_number, (moved.results_old, moved.results_new, moved.results_fused)),
                *map(shown_number, (moved.peak_old, moved.peak_new, moved.peak_held)),
            )
            rows.append(_row(run.strategy, map(escape, cells)))
            reasons += [f"<li><b>{escape(run.strategy)}</b>: {escape(why)}</li>" for why in _reasons(moved)]
    if not rows:
        return "<p>No strategy migrated.</p>"
    return _table(titles, rows) + (f"<ul>{''.join(reasons)}</ul>" if reasons else "")


def _reasons(moved: Moved) -> Iterator[str]:
    if moved.condition is not None:
        yield f"began when {moved.condition}"
    if moved.reason:
        yield moved.reason
