"""Options of commands about recorded streams, and checks of what is read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from midstream.io.distinct_files import Use, require_distinct_files
from midstream.io.plan_files import read_plan
from midstream.optimizer.cost.objective import Objective, objective_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError, InputFileError, MidstreamError, StatisticsError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.ingest.input_files import input_files
from midstream.scenarios.studies.inputs import require_fitting
from midstream.scenarios.studies.renaming import studied
from midstream.scenarios.studies.steps import steps

if TYPE_CHECKING:
    from midstream.scenarios.studies.recording import Recording

STUDY = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="What declares the streams and the query: a study (.toml, or a ready-made one) or a script "
        "(.sql).",
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="The folder to which the declaration's paths are relative; by default its own."),
]
PLAN = Annotated[Path | None, typer.Option(help="A JSON file with the plan; by default the declared query.")]
QUERY = Annotated[str | None, typer.Option(help="The name of the query in a script with several.")]
SINCE = Annotated[
    str | None, typer.Option("--from", help="Only what starts then or later: a date, or a chronon.")
]
UNTIL = Annotated[str | None, typer.Option("--until", help="Only what starts before.")]
BUCKET = Annotated[str, typer.Option(help="How long a time bucket is, in s, m, h or d, for example 3h.")]
MASTER = Annotated[
    str, typer.Option(help="Where Spark runs: local[2], local[*], or the address of a cluster.")
]
FOLDER = Annotated[Path | None, typer.Option(help="A folder for the results as Parquet files.")]

SMALL = 4 << 20
"""The most bytes of small files: some 10,000 rows of a CSV file, or some 100,000 that were ingested."""


def declared_plan(study: Study, file: Path | None) -> Plan:
    """The plan in a file, else the study's query.

    Raises   InputFileError
    """
    plan = study.query if file is None else studied(read_plan(file))
    if plan is None:
        raise InputFileError(
            f"study {study.name}: found no query and no plan, expected one of them", path=study.name
        )
    return plan


def plan_to_study(study: Study, file: Path | None) -> Plan:
    """The plan in a file, else the study's query, which must fit the streams."""
    plan = declared_plan(study, file)
    require_fitting(plan, study, file)
    return plan


@contextmanager
def errors_of(option: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of some kinds in the block into BadParameter for an option."""
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def length_of(study: Study, text: str, option: str) -> int:
    """A duration in chronons.

    Raises   BadParameter, naming the option.
    """
    with errors_of(option, ValueError):
        return study.clock.chronons(text)


def objective_named(text: str) -> Objective:
    """The objective that --objective names.

    Raises   BadParameter
    """
    with errors_of("--objective", ArgumentError, StatisticsError):
        return objective_of(text)


def some_of(known: Collection[str], text: str | None, option: str) -> tuple[str, ...]:
    """Names with commas between, each once; without a text all that are known.

    Raises   BadParameter
    """
    found = tuple(known) if text is None else tuple(dict.fromkeys(text.split(",")))
    if not {*found} <= {*known}:
        raise typer.BadParameter(f"found {text}, expected some of {', '.join(known)}", param_hint=option)
    return found


def reachable_mutant(name: str | None) -> str | None:
    """A mutant that stages can plant.

    Raises   BadParameter
    """
    if name is None:
        return None
    from midstream.testing.mutants import MUTANTS

    if name not in MUTANTS:
        known = ", ".join(one for one, mutant in MUTANTS.items() if not mutant.beyond)
        raise typer.BadParameter(f"found {name}, expected one of {known}", param_hint="--mutant")
    if beyond := MUTANTS[name].beyond:
        raise typer.BadParameter(f"{name} is out of reach: {beyond}", param_hint="--mutant")
    return name


def replaced_in(output: Path | None, names: Sequence[str]) -> list[Use]:
    """The files that are replaced in a folder for results."""
    return [] if output is None else [("--output", output / name) for name in names]


def require_files_apart(
    name: str, study: Study, plan: Path | None, writes: Sequence[Use], others: Sequence[Use] = ()
) -> None:
    """Raise MidstreamError where a path to be replaced is also read, or holds a path that is read."""
    reads: list[Use] = [("STUDY", name), *([] if plan is None else [("--plan", plan)]), *others]
    for stream in study.streams.values():
        # Of a pattern of files, what stands before the first wildcard.
        reads.append((f"stream {stream.name}", re.split(r"[*?\[{]", stream.path)[0]))
    require_distinct_files(reads, writes)
    for use, path in reads:
        for written, replaced in writes:
            if Path(replaced).resolve() in Path(path).resolve().parents:
                raise MidstreamError(f"{written}: found {replaced}, which holds what {use} reads: {path}")


def make_folder(folder: Path | None) -> None:
    """Make a folder for results, unless it is there."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputFileError(f"{folder}: {error.strerror or error}", path=folder) from error


def is_small(study: Study) -> bool:
    """True if the files of a study's streams are small together; false for URLs."""
    try:
        files = {file for stream in study.streams.values() for file in input_files(stream.path)}
    except InputFileError:  # what is wrong with them is told where they are read
        return False
    return sum(file.size for file in files) <= SMALL


@contextmanager
def opened(
    master: str, study: Study, bucket: int, *following: str
) -> Iterator[tuple[Recording, Callable[[], None]]]:
    """Open the streams of a study in a session of Spark.

    Yields the recording, and a function to call at the end of each of the following steps, which a terminal
    shows while they are under way.
    """
    from midstream.scenarios.studies import recording, session

    with (
        steps("starting Spark", "reading the streams", *following) as step,
        session.spark_session(master, is_small=is_small(study)) as spark,
    ):
        step()
        with recording.open_recording(spark, study, bucket) as found:
            step()
            yield found, step


def print_found(
    study: Study,
    summary: dict[str, Any],
    as_json: bool,
    show: Callable[[Study, dict[str, Any], Console], None],
) -> None:
    """Print a summary, as JSON or for people."""
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        show(study, summary, Console())
