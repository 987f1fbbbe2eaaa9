"""`midstream migrate`: run a query and migrate it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.commands import options
from midstream.commands.queries_read import only, plan_in
from midstream.console.options import STRATEGY_NAMES
from midstream.console.state_line import showing
from midstream.plans.values.units import is_number

if TYPE_CHECKING:
    from midstream.plans.sql.catalog import Catalog

AUTO = "auto"


def migrate(
    script: options.Script,
    at: Annotated[
        str,
        typer.Option(help="The application time to migrate at: an integer in units of time, or a date."),
    ],
    to: Annotated[
        str,
        typer.Option(
            help="The new plan: a file with a query in SQL, or with a plan in JSON (.json); auto: the "
            "optimizer's choice by the statistics until then."
        ),
    ] = AUTO,
    strategy: Annotated[str, typer.Option(help=f"The strategy: {STRATEGY_NAMES}.")] = "genmig",
    accept_unproved: Annotated[
        bool,
        typer.Option(
            "--accept-unproved",
            help="Migrate although Midstream cannot tell whether both plans mean the same: you vouch for it.",
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Also run the query without migration, and compare all results."),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="A file for the migration's trace, as JSON Lines: phases, times in chronons, state, results."
        ),
    ] = None,
    source: options.Sources = None,
    output: options.Output = "-",
    form: options.Format = None,
    rows: options.Rows = None,
    dead_letters: options.DeadLetters = None,
    slack: options.Slack = None,
    header: options.Header = True,
    times: options.Times = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="The summary as one JSON object; on standard output, unless the results are there."
        ),
    ] = False,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Run a query, and change its plan at application time --at: no result is lost, doubled or delayed.

    Both plans must mean the same. That is checked first: a plan that does not is refused, with a small input
    that shows it. The query begins with its plan as written. Results are as those of run; a file for them is
    there only once all went well. A file for --to has a script of its own, or a query over the declarations
    of the first one.

    Exit status: 0 done, 1 if the results turned out not to mean the same as without migration, 2 if the
    migration is refused, --at is not reached, or the input is bad.
    """
    from midstream.commands.migrating import migrate_query
    from midstream.commands.migration_summary import PlannedMigration
    from midstream.commands.running import RunSettings

    catalog, queries = options.read(script, unit, functions)
    query = only(queries, script, "migrate")
    planned = PlannedMigration(
        _instant(at, catalog),
        None if to == AUTO else plan_in(to, "migrate to", catalog, unit, functions)[0],
        strategy,
        "accept" if accept_unproved else "refuse",
        is_verified=verify,
        trace=trace,
    )
    settings = RunSettings(
        options.sources_of(catalog, source or []),
        output,
        form,
        rows,
        dead_letters,
        options.slack_of(slack, catalog),
        header,
        options.also_read(script, functions, None if to == AUTO else to),
        times,
    )
    with showing(beside_results=output == "-", form=form) as show:
        summary = migrate_query(catalog, query, settings, planned, show)
    if as_json:
        typer.echo(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False), err=output == "-")
    else:
        typer.echo(str(summary), err=True)
    options.tell(summary.notes)
    if summary.is_interrupted:
        raise typer.Exit(130)
    if summary.is_verified is False:
        raise typer.Exit(1)


def _instant(text: str, catalog: Catalog) -> int:
    """Read an instant as rows have it: in units of time, or as a date."""
    if catalog.number_unit is None and is_number(text):
        raise typer.BadParameter(
            f"found {text}, and nothing says what an integer counts; expected a date or a date with a time "
            "in ISO 8601, or SET time_unit at the script's beginning",
            param_hint="--at",
        )
    try:
        return catalog.unit.instant(text, number_unit=catalog.number_unit, is_exact=False)
    except ValueError as error:
        raise typer.BadParameter(f"found {text!r}, expected {error}", param_hint="--at") from error
