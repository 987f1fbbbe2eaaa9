"""The command line.

Exit status     0 done     1 the answer is no     2 bad input, or something is not installed
                3 the answer is unknown (verify)     130 interrupted
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from midstream import __version__
from midstream.commands.calibrate_command import Costs, calibrate, costs_in_use
from midstream.commands.chart_command import chart
from midstream.commands.compare_command import compare
from midstream.commands.migrate_command import migrate
from midstream.commands.script_commands import explain, run
from midstream.commands.sql_command import init, sql
from midstream.commands.verify_command import verify
from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.process import ONLY_HELP, ErrorReportingGroup, as_process
from midstream.console.progress import progress_bar
from midstream.io.new_file import nothing_written
from midstream.scenarios.stages.commands import app as study
from midstream.scenarios.trials.simulator.commands import simulate

EXAMPLES: Mapping[str, Sequence[str]] = {
    "run": (
        "midstream run query.sql --source bid=bids.csv",
        "midstream run query.sql --source bid=bids.csv.gz --output results.parquet --dead-letters bad.jsonl",
        "midstream run query.sql --source bid=- < bids.jsonl | head -5",
    ),
    "sql": (
        "midstream sql \"SELECT kind, COUNT(*) AS n FROM 'orders.csv' WINDOW(RANGE 1 HOUR) GROUP BY kind\"",
        "midstream sql \"SELECT * FROM read_csv('orders-*.csv', time = 'at')\" --output orders.parquet",
        "midstream sql \"SELECT COUNT(*) AS n FROM 'log.jsonl' WINDOW(RANGE 1 DAY)\" --format csv | head -5",
    ),
    "init": (
        "midstream init orders.csv > orders.sql",
        "midstream init 'orders-*.csv' users.jsonl --output shop.sql",
        "midstream init \"read_csv('orders.csv', delim = ';')\" > orders.sql",
    ),
    "explain": (
        "midstream explain query.sql",
        "midstream explain query.sql --svg plan.svg --stage logical",
    ),
    "chart": (
        "midstream chart query.sql --stats stats.json --along 'rate(bids)=0.1..2' --along 'rate(items)'",
        "midstream chart query.sql --seen seen.jsonl --output chart.json --picture chart.svg",
        "midstream chart chart.json --seen seen.jsonl",
    ),
    "migrate": (
        "midstream migrate query.sql --source bid=bids.csv --at 2024-05-01T12:00:00 --verify",
        "midstream migrate query.sql --source bid=bids.csv --at 60000 --to new.sql --output results.jsonl",
    ),
    "verify": (
        "midstream verify old.sql new.sql",
        "midstream verify query.sql plan.json --rules my_rules.py --json",
    ),
    "compare": (
        "midstream compare before.jsonl after.parquet",
        "midstream compare expected.jsonl - < results.jsonl",
    ),
    "simulate": (
        "midstream simulate --list",
        "midstream simulate scenario.yaml --strategy genmig --strategy swap --report report.html",
    ),
    "calibrate": ("midstream calibrate", "midstream calibrate --quick --output costs.json"),
    "demo": ("midstream demo", "midstream demo --seed 5 --json"),
}
"""By command, calls that its help shows."""

SUB_APPS: tuple[tuple[str, typer.Typer], ...] = (("study", study),)
"""Groups of commands, by name; the modules that define them import nothing heavy at the top."""


def build(sub_apps: tuple[tuple[str, typer.Typer], ...] = SUB_APPS) -> typer.Typer:
    """The application, with groups of commands mounted under their names."""
    app = typer.Typer(
        cls=ErrorReportingGroup,
        help="Change the query plan of a running continuous query: no result lost, doubled or delayed.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for command in (sql, init, run, explain, chart, migrate, verify, compare, simulate, calibrate, demo):
        app.command(epilog=examples(*EXAMPLES[command.__name__]))(command)
    for name, sub_app in sub_apps:
        app.add_typer(sub_app, name=name)
    return app


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"midstream {__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
    costs: Costs = None,
) -> None:
    """Options of all commands."""
    if not context.meta[ONLY_HELP]:  # a profile of costs loads all that is priced
        context.with_resource(costs_in_use(costs))


def demo(
    data: Annotated[
        Path | None,
        typer.Option(help="A folder with departures.csv: recorded flights instead of generated auctions."),
    ] = None,
    as_json: AsJson = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the generated auctions.")] = None,
    to: Annotated[
        Path | None,
        typer.Option(help="A JSON file with the plan to move to; by default the optimizer chooses."),
    ] = None,
) -> None:
    """Run a query that starts with a poor join order and gets a better one in mid-stream.

    The results are compared with those of the same query without migration. Exit status: 0 if they mean the
    same, 1 if not, 2 for bad input.
    """
    import json

    from rich.console import Console

    from midstream.io.plan_files import read_plan
    from midstream.scenarios.trials.demonstration.demo import auctions, demonstrate, flights
    from midstream.scenarios.trials.demonstration.demo_text import show

    if data is not None and seed is not None:
        raise typer.BadParameter("recorded flights have no seed; give --seed or --data", param_hint="--seed")
    target = None if to is None else read_plan(to)
    scenario = auctions(seed) if data is None else flights(data)
    with progress_bar("elements") as advance, nothing_written():
        demonstration = demonstrate(scenario, target, advance)
    if as_json:
        typer.echo(json.dumps(demonstration.as_dict(), indent=2, ensure_ascii=False))
    else:
        show(demonstration, Console())
    if not demonstration.is_equivalent:
        raise typer.Exit(1)


app = build()


def main() -> None:
    """The entry point of the console script `midstream`."""
    sys.exit(as_process(lambda: app(prog_name="midstream")))


if __name__ == "__main__":
    main()
