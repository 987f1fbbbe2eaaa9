"""`midstream study simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_spark
from midstream.migration.strategies import STRATEGIES
from midstream.scenarios.studies.options import (
    DATA,
    MASTER,
    QUERY,
    SINCE,
    STUDY,
    UNTIL,
    length_of,
    make_folder,
    opened,
    plan_to_study,
    print_found,
    reachable_mutant,
    replaced_in,
    require_files_apart,
    some_of,
)
from midstream.scenarios.studies.script import load_declared
from midstream.scenarios.studies.simulate.making import grid_of, targets

EPILOG = examples(
    "midstream study simulate nycflights13 --data recordings --slice 1d --slices 20 --output found",
    "midstream study simulate study.toml --slice 6h --to plan.json --strategies genmig,moving-states",
)


def simulate(
    study: STUDY,
    data: DATA = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="A JSON file with the plan that runs first; by default the declared query."),
    ] = None,
    query: QUERY = None,
    since: SINCE = None,
    until: UNTIL = None,
    to: Annotated[
        list[Path] | None,
        typer.Option(
            help="A JSON file with a plan to move to; may be given several times. By default a plan of each "
            "other join order."
        ),
    ] = None,
    slice_length: Annotated[
        str, typer.Option("--slice", help="How long a slice is, in s, m, h or d; longer than the windows.")
    ] = "1h",
    slices: Annotated[
        int, typer.Option(min=1, help="How many slices, spread over the whole time, at most.")
    ] = 10,
    strategies: Annotated[
        str | None, typer.Option(help="Those that migrate, with commas between; by default all.")
    ] = None,
    at: Annotated[
        list[float] | None,
        typer.Option(
            min=0,
            max=1,
            help="At which share of a slice to migrate, such as 0.5; may be given several times. By default "
            "the seed draws one.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 1,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 1,
    mutant: Annotated[
        str | None, typer.Option(help="A planted fault that is to be found, as for verify.")
    ] = None,
    master: MASTER = "local[*]",
    output: Annotated[
        Path | None, typer.Option(help="A folder for all runs (Parquet), the cost profile and the summary.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Migrate the real engine on slices of recorded streams, and compare with the plan that stays.

    Tells how long migrations take, what they hold, and what operators cost on these machines. Exit status 1
    where a run gives another output than the plan that stays.
    """
    declared = load_declared(study, data, query).within(since, until)
    length = length_of(declared, slice_length, "--slice")
    asked = plan_to_study(declared, plan)
    grid = grid_of(
        declared,
        asked,
        targets(declared, asked, to or []),
        strategies=some_of(STRATEGIES, strategies, "--strategies"),
        seeds=range(seed, seed + seeds),
        at=tuple(at or ()),
        mutant=reachable_mutant(mutant),
    )
    require_spark()
    from midstream.scenarios.studies.simulate.report import (
        SIMULATE,
        show_simulate,
        simulate_summary,
        write_simulate,
    )
    from midstream.scenarios.studies.simulate.stage import simulate as simulated

    reads = [("--to", file) for file in to or []]
    require_files_apart(study, declared, plan, replaced_in(output, SIMULATE), reads)
    make_folder(output)
    following = ("running slices", "summing up")
    with nothing_written(), opened(master, declared, length, *following) as (recording, step):
        found = simulated(recording, declared, grid, length, slices)
        step()
        summary = simulate_summary(declared, grid, found)
    if output is not None:
        write_simulate(found, summary, output)
    print_found(declared, summary, as_json, show_simulate)
    if found.wrong:
        raise typer.Exit(1)
