"""`midstream study verify-run`: the recorded output of a run, against Spark SQL."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.progress import telling
from midstream.io.requirements import require_spark
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.scenarios.stages.base.command_options import DATA, MASTER, PLAN, QUERY, STUDY, is_small

if TYPE_CHECKING:
    from midstream.scenarios.stages.verify_run.recorded_run import RunCheck

EPILOG = examples(
    "midstream study verify-run query.sql results.jsonl",
    "midstream study verify-run script.sql results.jsonl --data recordings",
    "midstream study verify-run nycflights13 results.parquet --data recordings --plan plan.json",
)


def verify_run(
    study: STUDY,
    results: Annotated[
        str,
        typer.Argument(help="What the run gave, as midstream run writes it: .csv, .jsonl or .parquet."),
    ],
    data: DATA = None,
    plan: PLAN = None,
    query: QUERY = None,
    sample: Annotated[
        int, typer.Option(min=0, help="At the starts and ends of how many elements of each stream to look.")
    ] = 250,
    instants: Annotated[int, typer.Option(min=1, help="At how many random instants to look.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the random instants.")] = 1,
    master: MASTER = "local[*]",
    as_json: AsJson = False,
) -> None:
    """Compare the recorded output of a run with Spark SQL over the recorded inputs, at many instants.

    Exit status 1 where they differ.
    """
    from midstream.scenarios.streams.recorded.inputs import declared_plan
    from midstream.scenarios.streams.recorded.script import load_study

    declared = load_study(study, data, query)
    ran = declared_plan(declared, plan)
    require_spark()
    from midstream.scenarios.recordings import recording
    from midstream.scenarios.spark import session
    from midstream.scenarios.stages.verify_run.recorded_run import check_run, read_results, require_checkable

    place = plan or study
    try:
        require_checkable(ran, declared)
        with ExitStack() as stack:
            tell = stack.enter_context(telling())
            tell("starting Spark")
            spark = stack.enter_context(session.spark_session(master, is_small=is_small(declared)))
            tell("reading the streams")
            recorded = stack.enter_context(recording.open_recording(spark, declared, 1))
            tell("comparing with Spark SQL")
            found = read_results(spark, results, ran.schema)
            check = check_run(recorded, declared, ran, found, sample=sample, instants=instants, seed=seed)
    except PlanError as error:
        raise InputFileError(f"{place}: {error}", path=place) from error
    typer.echo(json.dumps(check.as_dict(), indent=2) if as_json else _told(results, check))
    if not check.is_right:
        raise typer.Exit(1)


def _told(results: str, check: RunCheck) -> str:
    """The comparison in words."""
    rows = f"{check.rows:,} rows at {check.instants:,} instants"
    if check.is_right:
        return f"{results} agrees with Spark SQL: {rows}."
    kinds = [f"{n:,} {word}" for word, n in (("missing", check.missing), ("surplus", check.surplus)) if n]
    if check.differing:
        kinds.append(f"{check.differing:,} with other floats")
    lines = [f"{results} differs from Spark SQL: of {rows}, {', '.join(kinds)}."]
    for one in check.examples:
        lines.append(f"  at {one['at']}: expected {_row(one['expected'])}, found {_row(one['recorded'])}")
    return "\n".join(lines)


def _row(row: dict[str, object] | None) -> str:
    return "nothing more" if row is None else json.dumps(row, ensure_ascii=False)
