"""`midstream verify`: compare two queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.commands import options
from midstream.commands.queries_read import plan_in
from midstream.console.options import AsJson
from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan

Query = "A file with a query in SQL, or with a plan in JSON (.json)"


def verify(
    old: Annotated[str, typer.Argument(help=f"{Query}.")],
    new: Annotated[
        str, typer.Argument(help=f"{Query}. SQL without declarations is read over those of the first file.")
    ],
    rules: Annotated[
        Path | None,
        typer.Option(
            help="A Python file with RULES, a list of rules that proofs may use. Each is tried first."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="The number of small inputs to try.")] = 500,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.0, help="End the search then; without it, answers are always the same."),
    ] = None,
    as_json: AsJson = False,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Tell whether two queries mean the same.

    The answer is proved, with the steps of the proof; refuted, with a small input on which the queries
    differ; or unknown. Nothing is run, and no file is read but those that are named. Rules that --rules
    defines are tried on random plans and all small inputs first; one that is refuted is bad input.

    Exit status: 0 proved, 1 refuted, 3 unknown, 2 bad input.
    """
    from midstream.commands import verifying

    before, after, time_unit = _plans(old, new, unit, functions)
    own, examples = ([], {}) if rules is None else verifying.read_rules(rules)
    checks = [] if rules is None else verifying.check_rules(rules, own, examples)
    verified = verifying.verify(before, after, own, checks, steps=steps, seconds=seconds)
    if as_json:
        typer.echo(json.dumps(verified.as_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        typer.echo(str(verified))
        if time_unit and verified.answer.counterexample is not None:
            typer.echo(f"time is counted in {time_unit}")
    if verified.status:
        raise typer.Exit(verified.status)


def _plans(old: str, new: str, unit: str | None, functions: Path | None) -> tuple[Plan, Plan, str | None]:
    """Both plans, and the unit of time if a script tells it."""
    if old == new == "-":
        raise MidstreamError("both queries are standard input; name a file for one of them")
    before, catalog = plan_in(old, "verify", None, unit, functions)
    after, catalog = plan_in(new, "verify", catalog, unit, functions)
    return before, after, None if catalog is None else catalog.unit.name
