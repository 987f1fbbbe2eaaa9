"""`midstream calibrate`: measure the costs of operators on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.console.progress import progress_bar

if TYPE_CHECKING:
    from midstream.optimizer.cost.calibration import Profile, Timed

Costs = Annotated[
    Path | None,
    typer.Option(
        "--costs",
        help="A cost profile as `midstream calibrate` writes it; by default that in your configuration "
        "folder, if there is one.",
    ),
]


def default_place() -> Path:
    """The profile that all commands use: midstream/costs.json in the user's configuration folder."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "midstream" / "costs.json"


def costs_in_use(path: Path | None) -> AbstractContextManager[None]:
    """Price plans by a cost profile during a block.

    It is the given profile, else that in the default place, else the default costs hold. If the profile in
    the default place is outdated, a note says that the default costs hold.

    Raises   StatisticsError for a given profile that is outdated, and for a file that is not a profile.
    """
    place = path or default_place()
    if path is None and not place.is_file():
        return nullcontext()
    from midstream.optimizer.cost.calibration import OutdatedProfileError, Profile
    from midstream.optimizer.cost.units import using

    try:
        return using(Profile.read(place).units)
    except OutdatedProfileError as error:
        if path is not None:
            raise
        typer.echo(f"note: {error}; until then, default costs hold", err=True)
        return nullcontext()


def calibrate(
    output: Annotated[
        Path | None, typer.Option(help="A file for the profile, instead of the default place.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs: a first look.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the profile instead of text.")] = False,
) -> None:
    """Measure what the steps of operators take on this machine, and keep it for all commands.

    It takes two or three minutes, of a machine that does nothing else. Exit status: 0, or 2 for bad input.
    """
    from midstream.io.new_file import checked_folder, nothing_written, write_file
    from midstream.scenarios.trials.costs.calibrating import calibrate as measure

    place = output or default_place()
    if output is None:
        place.parent.mkdir(parents=True, exist_ok=True)
    checked_folder(place)
    with progress_bar("runs") as advance, nothing_written():
        profile, fitted, held_out = measure(quick, advance)
    text = profile.dumps()
    write_file(str(place), text)
    if as_json:
        typer.echo(text, nl=False)
    else:
        _show(profile, fitted, held_out, place)


def _show(profile: Profile, fitted: Sequence[Timed], held_out: Sequence[Timed], place: Path) -> None:
    """Show the cost variables, and the remaining errors by operator."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from midstream.optimizer.cost.units import STEPS, UnitCosts

    console, before = Console(), UnitCosts()
    steps = Table(title="Cost variables, microseconds", box=box.SIMPLE_HEAD)
    for column in ("step", "default", "here"):
        steps.add_column(column, justify="left" if column == "step" else "right")
    for step in STEPS:
        steps.add_row(step, f"{getattr(before, step):.3f}", f"{getattr(profile.units, step):.3f}")
    console.print(steps)
    table = Table(title="Predicted by measured", box=box.SIMPLE_HEAD)
    for column in ("operator", "formula", "factor", "fitted", "held out"):
        table.add_column(column, justify="left" if column in ("operator", "formula") else "right")
    for run in held_out:
        mine = [one for one in fitted if one.label == run.label]
        ratios = ", ".join(f"{one.predicted(profile.units) / one.measured:.2f}" for one in mine)
        factor = profile.units.factors.get(run.formula, 1.0)
        of_run = f"{run.predicted(profile.units) / run.measured:.2f}" if run.measured else "-"
        table.add_row(run.label, run.formula, f"{factor:.2f}", ratios, of_run)
    console.print(table)
    left = f"Median error of what is held out: {100 * profile.error:.0f} %."
    console.print(f"{left} Written to {place}.", markup=False)
