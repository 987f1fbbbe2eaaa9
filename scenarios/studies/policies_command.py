"""`midstream study policies`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_libraries, require_spark
from midstream.migration.strategies import find_strategy
from midstream.plans.values.errors import MigrationRefused
from midstream.scenarios.studies.options import (
    DATA,
    FOLDER,
    MASTER,
    PLAN,
    QUERY,
    SINCE,
    STUDY,
    UNTIL,
    errors_of,
    length_of,
    make_folder,
    objective_named,
    opened,
    plan_to_study,
    print_found,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.policies.grid import grid_of
from midstream.scenarios.studies.script import load_declared

EPILOG = examples(
    "midstream study policies nycflights13 --data recordings --output found",
    "midstream study policies study.toml --grid grid.json --strategy genmig --until 2013-07-01",
)

PICTURE = "policies.png"


def policies(
    study: STUDY,
    data: DATA = None,
    plan: PLAN = None,
    query: QUERY = None,
    grid: Annotated[
        str,
        typer.Option(
            help="Settings of the autopilot to try: some of careful, balanced, eager; or a JSON file with "
            "settings by name, or with lists of values, of which all combinations are tried."
        ),
    ] = "careful,balanced,eager",
    strategy: Annotated[
        str, typer.Option(help="How migrations are made: genmig, moving-states, or auto.")
    ] = "auto",
    objective: Annotated[
        str, typer.Option(help="What the autopilot compares plans by, as in `midstream optimize`.")
    ] = "intermediate",
    chart: Annotated[
        list[int] | None,
        typer.Option("--chart-parts", min=1, help="In so many parts charts cut costs; several times."),
    ] = None,
    bucket: Annotated[
        str | None, typer.Option(help="After how long the best order is repeated; by default a window.")
    ] = None,
    since: SINCE = None,
    until: UNTIL = None,
    master: MASTER = "local[*]",
    output: FOLDER = None,
    as_json: AsJson = False,
) -> None:
    """What it would have cost to change plans by this policy or that one, with the cost of migrating.

    Replays the engine's autopilot with several settings beside each fixed order, charts, and the cheapest way
    that there was; writes the recommended settings as autopilot.json, for `midstream run --autopilot`.
    """
    declared = load_declared(study, data, query).within(since, until)
    settings = grid_of(grid)
    aim = objective_named(objective)
    with errors_of("--strategy", MigrationRefused):
        find_strategy(strategy)
    period = None if bucket is None else length_of(declared, bucket, "--bucket")
    asked = plan_to_study(declared, plan)
    if output is not None:
        require_libraries(["matplotlib"], "plot")
    require_spark()
    from midstream.scenarios.studies.policies.report import (
        POLICIES,
        draw_policies,
        policies_summary,
        show_policies,
        write_policies,
    )
    from midstream.scenarios.studies.policies.stage import CHARTS
    from midstream.scenarios.studies.policies.stage import policies as replayed

    require_files_apart(study, declared, plan, replaced_in(output, [*POLICIES, PICTURE]))
    make_folder(output)
    with ExitStack() as stack:
        with nothing_written():
            # Costs are counted in buckets of their own.
            recording, step = stack.enter_context(opened(master, declared, 1, "replaying", "drawing"))
            found = replayed(
                recording,
                declared,
                asked,
                settings,
                objective=aim,
                strategy=strategy,
                charts=chart or CHARTS,
                period=period,
            )
            step()
            summary = policies_summary(declared, found)
        if output is not None:
            write_policies(found, summary, output)
            draw_policies(declared, found, output / PICTURE)
    print_found(declared, summary, as_json, show_policies)
