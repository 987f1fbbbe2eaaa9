"""The outcome of the demonstration as text for people."""

from __future__ import annotations

from textwrap import indent

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.scenarios.trials.demonstration.demo import Demonstration, PricedPlan


def show(demonstration: Demonstration, console: Console) -> None:
    """Print the events in order of time, and the verdict."""
    d, migration = demonstration, demonstration.migration
    total = d.elements.before + d.elements.during + d.elements.after
    seed = "" if d.scenario.seed is None else f", seed {d.scenario.seed}"
    console.print(Text(f"Query on {d.scenario.name}{seed}: {d.scenario.question}.\n", style="bold"))
    _show_plan("It started as it was written:", d.old, console)
    _show_plan(
        f"After {d.elements.before:,} of {total:,} elements, {d.considered} parts of equivalent plans were "
        "priced by what had been measured of the streams, and the query moved to:",
        d.new,
        console,
    )
    console.print(_phases(d))
    console.print(
        Text(
            f"The new plan answers from {_number(migration.split_time)} s of application time on, "
            f"{_number(migration.duration)} s after the migration began. In the meantime the old plan kept "
            f"at most {migration.peak_state_old:,} elements, and the new one {migration.peak_state_new:,}. "
            f"All in all, {d.elements_per_second:,.0f} elements were processed per second.\n"
        )
    )
    console.print(_verdict(d))


def _show_plan(title: str, priced: PricedPlan, console: Console) -> None:
    console.print(Text(f"{title}\n"))
    # A drawing that is wrapped or cropped cannot be read.
    console.print(Text(indent(str(priced.plan), "  ")), soft_wrap=True)
    console.print(Text(f"\n  estimated cost: {priced.cost:.4g} µs per second of application time\n"))


def _phases(d: Demonstration) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("")
    for title in ("elements", "results", "intermediate results\nper 1,000 elements"):
        table.add_column(title, justify="right")
    rows = (
        ("before the migration", d.elements.before, d.results.before, d.intermediate.before),
        ("during", d.elements.during, d.results.during, None),
        ("after", d.elements.after, d.results.after, d.intermediate.after),
        ("instead, without migration", d.elements.after, None, d.intermediate.after_without),
    )
    for name, elements, results, intermediate in rows:
        table.add_row(name, _number(elements), _number(results), _number(intermediate))
    table.add_row()
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _verdict(d: Demonstration) -> Text:
    if d.is_equivalent:
        verdict = (
            "Verified: the results are in order and mean the same as those of the query without migration."
        )
        return Text(verdict, style="bold green")
    reasons = [] if d.equivalence else [f"compared with the query without migration, {d.equivalence}"]
    if not d.is_ordered:
        reasons.append("they are not in order")
    if d.migration.unmatched:
        reasons.append(f"{d.migration.unmatched:,} of their fragments found no other half")
    return Text("The results are WRONG: " + "\nand ".join(reasons), style="bold red")
