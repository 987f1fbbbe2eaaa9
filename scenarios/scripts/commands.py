"""`midstream run` and `midstream explain`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from midstream.plans.errors import InputFileError, MidstreamError
from midstream.scenarios.progress import progress_bar

if TYPE_CHECKING:
    from midstream.plans.sql import Catalog, Query, SourceClause

Script = Annotated[str, typer.Argument(help="A file with a script in SQL; - is standard input.")]
Unit = Annotated[
    str | None, typer.Option("--time-unit", help="What time is counted in, unless the script sets it.")
]
Functions = Annotated[
    Path | None,
    typer.Option(help="A Python file whose register(catalog) adds functions and aggregates for the script."),
]


def run(
    script: Script,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PATH: where a stream or relation comes from (.csv, .jsonl, .parquet; - is standard "
            "input), instead of what the script says. nexmark: generated auctions for all streams."
        ),
    ] = None,
    output: Annotated[str, typer.Option(help="A file for the results; - is standard output.")] = "-",
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl, csv or parquet; by default what the suffix says.")
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=0, help="Take so many rows of each stream at most; of nexmark, events in all."),
    ] = None,
    dead_letters: Annotated[
        Path | None,
        typer.Option(help="A file for rows that do not fit or come late; else the first one ends the run."),
    ] = None,
    slack: Annotated[
        int | None, typer.Option(min=0, help="By how much rows may come late, in units of time.")
    ] = None,
    header: Annotated[
        bool, typer.Option(help="Whether CSV files begin with the names of their columns.")
    ] = True,
    unit: Unit = None,
    functions: Functions = None,
) -> None:
    """Run the queries of a script and write their results as soon as they are ready.

    Each line is {"start": 1000, "end": 6000, "row": {"item": 7}}, in order of start; "end": null is for ever.
    """
    from midstream.scenarios.scripts.running import Wishes, run_queries

    catalog, queries = _read(script, unit, functions)
    wishes = Wishes(_sources(catalog, source or []), output, form, rows, dead_letters, slack, header)
    try:
        with progress_bar("elements") as advance:
            summary = run_queries(catalog, queries, wishes, advance if output != "-" else _silent)
    except KeyboardInterrupt:
        # Whoever stops an endless run has seen its results.
        raise typer.Exit(130) from None
    if output != "-":
        typer.echo(str(summary), err=True)


def explain(
    script: Script,
    svg: Annotated[Path | None, typer.Option(help="A file for a drawing of the physical plan.")] = None,
    dot: Annotated[Path | None, typer.Option(help="A file for the same in Graphviz' language.")] = None,
    stage: Annotated[
        str, typer.Option(help="Which plan to draw: physical, logical, or the number of a stage from 1.")
    ] = "physical",
    notes: Annotated[bool, typer.Option(help="Whether to tell the properties of each operator.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    unit: Unit = None,
    functions: Functions = None,
) -> None:
    """Show how the queries of a script are carried out: the plan as written, each rewriting, the plan that
    runs, and what is known of every operator."""
    from midstream.scenarios.scripts.explaining import Stage
    from midstream.scenarios.scripts.explaining import explain as explained

    _, queries = _read(script, unit, functions)
    explanations = {query.name: explained(query.plan) for query in queries}
    if (svg or dot) and len(queries) != 1:
        raise MidstreamError(f"found {len(queries)} queries, expected one to draw")
    if as_json:
        shown = {name: one.as_dict() for name, one in explanations.items()}
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        for query in queries:
            title = f"{query.name}\n\n" if len(queries) > 1 else ""
            typer.echo(f"{title}{explanations[query.name].text(notes)}\n")
    for path, draw in ((svg, Stage.svg), (dot, Stage.dot)):
        if path is not None:
            _write(path, draw(_stage(explanations[queries[0].name].stages, stage), notes))


def _silent(done: int, total: int | None) -> None:
    """Results on a terminal are progress enough."""


def _stage(stages: Sequence[Any], wanted: str) -> Any:
    if wanted in ("physical", "logical"):
        return stages[-1 if wanted == "physical" else 0]
    if wanted.isascii() and wanted.isdigit() and 0 < int(wanted) <= len(stages):
        return stages[int(wanted) - 1]
    raise MidstreamError(
        f"--stage: found {wanted!r}, expected physical, logical or a number from 1 to {len(stages)}"
    )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error


def _read(script: str, unit: str | None, functions: Path | None) -> tuple[Catalog, list[Query]]:
    from midstream.plans.schema import Type
    from midstream.plans.sql import Catalog, TimeUnit
    from midstream.scenarios.nexmark.streams import dol_to_euro
    from midstream.scenarios.scripts.running import read_script

    try:
        catalog = Catalog(TimeUnit.of(unit or "milliseconds"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--time-unit") from error
    catalog.add_function("DolToEuro", dol_to_euro, Type.FLOAT)
    if functions is not None:
        _register(functions, catalog)
    text = read_script(script)
    queries = catalog.execute(text.text, text.name)
    if not queries:
        raise MidstreamError(f"{text.name}: found no query, expected a SELECT")
    return catalog, queries


def _register(path: Path, catalog: Catalog) -> None:
    """Run a user's file. An error of its own code is the user's, but no reason for a long traceback."""
    import runpy

    try:
        found = runpy.run_path(str(path))
        register = found.get("register")
        if not callable(register):
            raise MidstreamError(f"{path}: found no function register(catalog)")
        register(catalog)
    except MidstreamError:
        raise
    except OSError as error:
        raise InputFileError(f"{path}: {error.strerror or error}", path=path) from error
    except Exception as error:
        line = _line_in(path, error)
        raise MidstreamError(f"{path}{line}: {type(error).__name__}: {error}") from error


def _line_in(path: Path, error: Exception) -> str:
    import traceback

    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f", line {lines[-1]}" if lines else ""


def _sources(catalog: Catalog, given: Sequence[str]) -> Mapping[str, str | SourceClause]:
    """By stream or relation, what --source says."""
    from midstream.plans.sql import SourceClause

    found: dict[str, str | SourceClause] = {}
    names = {name.lower(): name for name in (*catalog.streams, *catalog.relations)}
    for text in given:
        name, is_named, path = text.partition("=")
        if text == "nexmark":
            for declared in catalog.streams.values():
                if declared.source is None or declared.source.kind.lower() != "nexmark":
                    found[declared.name] = SourceClause("nexmark")
        elif not is_named or not path:
            raise typer.BadParameter(f"found {text!r}, expected NAME=PATH, or nexmark", param_hint="--source")
        else:
            found[names.get(name.lower(), name)] = path
    return found
