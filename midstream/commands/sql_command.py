"""`midstream sql` and `midstream init`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from midstream.commands import options
from midstream.console.state_line import showing

Text = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="A query in SQL, with files in single quotes in FROM; or a script in one argument.",
    ),
]
Files = Annotated[
    list[str],
    typer.Argument(
        help="Files in CSV, JSON Lines or Parquet; patterns such as 'orders-*.csv' are one stream each. "
        "Calls such as \"read_csv('orders.csv', delim = ';')\" have options."
    ),
]


def sql(
    query: Text,
    output: options.Output = "-",
    form: options.Format = None,
    rows: options.Rows = None,
    dead_letters: options.DeadLetters = None,
    slack: options.Slack = None,
    times: options.Times = None,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Ask a query over files that nobody declared.

    What is found in a file is told on standard error. On a terminal results are a table, else JSON Lines.
    `midstream run` takes the same query in a script, and more options.
    """
    from midstream.commands.running import RunSettings, run_queries
    from midstream.plans.sql.faults import Script

    if query.lower().endswith(".sql"):
        raise typer.BadParameter(f"found {query}, expected a query; midstream run {query} runs a script")
    catalog, queries = options.executed(lambda: Script(query), unit, functions)
    if form is None and output == "-" and len(queries) == 1 and sys.stdout.isatty():
        form = "table"
    settings = RunSettings(
        output=output,
        form=form,
        rows=rows,
        dead_letters=dead_letters,
        slack=options.slack_of(slack, catalog),
        read=options.also_read("", functions),
        times=times,
    )
    with showing(beside_results=output == "-", form=form) as show:
        summary = run_queries(catalog, queries, settings, show)
    if output != "-":
        typer.echo(str(summary), err=True)
    options.tell(summary.notes)


def init(files: Files, output: options.Output = "-") -> None:
    """Write the declarations of files, as a script to which queries are added.

    What is found in a file is told on standard error, and so is the first row that does not fit. Options
    stand in a call in place of the file: "read_csv('orders.csv', time = 'ordered_at')".
    """
    from midstream.commands.declaring import declarations, named_file
    from midstream.io.distinct_files import require_distinct_files
    from midstream.io.file_formats import files_of
    from midstream.io.new_file import write_file

    named = list(map(named_file, files))
    read = [("FILES", file) for one in named for file in files_of(one.path)]
    require_distinct_files(read, [("--output", output)])
    write_file(output, "\n\n".join(declarations(named)) + "\n")
