"""The costs of policies, as plain data for JSON, as tables for people, and as files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from midstream.io.new_file import write_file
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.policies.judging import CLAIRVOYANT, Judged, flown
from midstream.scenarios.studies.policies.rows import TITLES, policy_rows
from midstream.scenarios.studies.policies.stage import Found
from midstream.scenarios.studies.report import Summary, frame, table, title
from midstream.scenarios.studies.writing import write_json

VERSION = 1

POLICIES = ("policies.json", "courses.json", "autopilot.json")
"""The files that `write_policies` replaces in a folder."""


def policies_summary(study: Study, found: Found) -> Summary:
    """The cost of each policy, and the recommended settings."""
    courses = found.courses
    return {
        "version": VERSION,
        **frame(study, courses.starts),
        "window": courses.window,
        "cost_unit": courses.unit,
        "strategies": list(found.strategies),
        "orders": list(courses.labels),
        "contested": sum(map(courses.is_contested, range(len(courses.starts)))),
        "hindsight": courses.hindsight,
        "policies": [asdict(one) for one in found.judged],
        "front": [one.policy for one in found.front],
        "recommended": found.recommended,
        "settings": {name: asdict(one) for name, one in found.grid.items()},
        "moves": {
            name: [
                {"at": move.at, "to": courses.labels[move.to], "strategy": move.strategy} for move in moves
            ]
            for name, moves in found.flights.items()
        },
    }


def show_policies(study: Study, summary: Summary, console: Console) -> None:
    """Print the summary."""
    title(study, summary, console)
    console.print(
        Text(
            f"Costs are {summary['cost_unit']} of all plans that ran, migrations by "
            f"{' or '.join(summary['strategies'])}; orders differ in {summary['contested']:,} buckets. * "
            "marks what nothing else beats in both cost and moves:\n"
        )
    )
    shown = table(*TITLES)
    for row in policy_rows(summary):
        shown.add_row(*row)
    console.print(shown)
    console.print(Text(f"\nRecommended: the settings {summary['recommended']}"))


def write_policies(found: Found, summary: Summary, folder: Path) -> None:
    """Write `policies.json`, `courses.json` and `autopilot.json`, and replace those of an earlier replay.

    `courses.json` has each plan's costs over time, `autopilot.json` the recommended settings.
    """
    write_file(folder / "courses.json", found.courses.dumps() + "\n")
    write_file(folder / "autopilot.json", found.settings.dumps() + "\n")
    write_json(summary, folder / "policies.json")


def draw_policies(study: Study, found: Found, file: Path) -> None:
    """Write a picture of cost over moves as a PNG file: each policy, and the front."""
    from matplotlib.figure import Figure

    from midstream.io.pictures import write_picture

    figure = Figure(figsize=(9, 6), dpi=120, layout="constrained")
    axes = figure.subplots()
    best = flown(found.recommended)
    # Policies at one place have one label.
    places: dict[tuple[int, float], list[Judged]] = {}
    for one in found.judged:
        places.setdefault((one.moves, one.total), []).append(one)
    for (moves, total), together in places.items():
        names = [one.policy for one in together]
        color = "#c44e52" if best in names else "#8c8c8c" if CLAIRVOYANT in names else "#4c72b0"
        axes.plot(moves, total, "o", color=color)
        axes.annotate(", ".join(names), (moves, total), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.step(
        [one.moves for one in found.front],
        [one.total for one in found.front],
        where="post",
        color="#4c72b0",
        alpha=0.4,
    )
    axes.set_xscale("symlog", linthresh=1)
    # To the right there is room for labels.
    axes.set_xlim(-0.2, 8 * max(1, *(one.moves for one in found.judged)))
    axes.set_xlabel("moves")
    axes.set_ylabel(f"total cost, {found.courses.unit}")
    axes.set_ylim(0, 1.1 * max(one.total for one in found.judged) or 1)
    axes.set_title(f"{study.title}: recommended is {best}", loc="left")
    axes.grid(alpha=0.3)
    write_picture(figure, file, "png")
