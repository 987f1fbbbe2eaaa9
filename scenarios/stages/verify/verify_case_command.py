"""`midstream study verify-case`: a counter-example of `verify` once more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.requirements import require_libraries
from midstream.plans.values.artefacts import parsed, typed
from midstream.plans.values.errors import InputFileError, MidstreamError

EPILOG = examples("midstream study verify-case found/counter-example-17.json")


def verify_case(
    file: Annotated[Path, typer.Argument(help="A counter-example, which `verify` wrote.")],
    as_json: AsJson = False,
) -> None:
    """Try a counter-example once more, with its planted fault if it has one.

    Exit status 1 where it still breaks the law.
    """
    require_libraries(["hypothesis"], "testing", "trying a case needs")
    from midstream.io.plan_files import MOST_BYTES
    from midstream.io.text_file import read_text
    from midstream.testing.cases import case_from_json, failure_of

    try:
        data = typed(parsed(read_text(file, MOST_BYTES)), dict[str, Any])
        case, mutant = case_from_json(data.get("case")), data.get("mutant")
    except MidstreamError as error:
        if isinstance(error, InputFileError):
            raise
        raise InputFileError(f"{file}: found no counter-example: {error}", path=file) from error
    failure = failure_of(case, mutant)
    if as_json:
        typer.echo(json.dumps({"failure": failure, "mutant": mutant}, indent=2))
    else:
        typer.echo(f"{file}: {failure or 'it keeps the law'}")
    if failure is not None:
        raise typer.Exit(1)
