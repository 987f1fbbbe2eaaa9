"""`midstream compare`: compare results in two files."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from midstream.console.options import AsJson
from midstream.io.output import STDOUT
from midstream.plans.values.errors import MidstreamError

FILE = "A file with results of midstream run (.jsonl, .csv, .parquet)"


def compare(
    left: Annotated[str, typer.Argument(help=f"{FILE}; - is standard input, in JSON Lines.")],
    right: Annotated[str, typer.Argument(help=f"{FILE}, or -.")],
    as_json: AsJson = False,
) -> None:
    """Compare the results in two files: do they have the same rows at every instant?

    The order of lines does not count, nor how a row's time is cut into intervals. Floats are equal up to
    rounding. Columns are compared by name, and so are the queries of files with several. Both files are held
    in memory.

    Exit status: 0 equal, 1 different, 2 bad input.
    """
    from midstream.commands.result_differences import differences
    from midstream.io.sources.result_files import read_results

    if left == right == STDOUT:
        raise MidstreamError("both files are standard input; name a file for one of them")
    first, second = ("standard input" if file == STDOUT else file for file in (left, right))
    files = first, second
    found = differences(read_results(left), read_results(right), files)
    is_equal = all(one.is_equal for one in found)
    if as_json:
        facts = {"equal": is_equal, "files": [left, right], "queries": [one.as_dict() for one in found]}
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        typer.echo(
            "\n".join(one.text(files) for one in found) or f"equal: no results in {first} and {second}"
        )
    if not is_equal:
        raise typer.Exit(1)
