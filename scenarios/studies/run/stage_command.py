"""The command of a stage, made of its declaration."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from annotated_types import Ge, Le
from rich.console import Console

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.pictures import write_picture
from midstream.io.requirements import require_libraries, require_spark
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.studies.contents import Report
from midstream.scenarios.studies.options import (
    BUCKET,
    DATA,
    FOLDER,
    MASTER,
    QUERY,
    SINCE,
    STUDY,
    UNTIL,
    is_small,
    length_of,
    make_folder,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.run.alone import options_of, ran
from midstream.scenarios.studies.run.request import Request
from midstream.scenarios.studies.run.stage import Stage, listed
from midstream.scenarios.studies.run.terminal import show_report
from midstream.scenarios.studies.script import load_declared
from midstream.scenarios.studies.steps import telling

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


NO_PICTURES = Annotated[bool, typer.Option("--no-pictures", help="Draw no pictures in --output.")]


def add_command(app: typer.Typer, stage: Stage) -> None:
    """Add the command of a stage: the options of all stages, and its own."""
    app.command(stage.name, help=cleandoc(stage.help), epilog=examples(*stage.examples))(command(stage))


def command(stage: Stage) -> Callable[..., None]:
    """A function that carries the command out, with the parameters that typer reads."""

    def run(**values: Any) -> None:
        _run(stage, **values)

    parameters = [Parameter(n, Parameter.KEYWORD_ONLY, annotation=a, default=d) for n, a, d in _all(stage)]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = stage.name.replace("-", "_")
    return run


def _all(stage: Stage) -> Iterator[tuple[str, Any, Any]]:
    """By parameter, its type with its help, and its default."""
    yield "study", STUDY, Parameter.empty
    yield from (("data", DATA, None), ("query", QUERY, None), ("since", SINCE, None), ("until", UNTIL, None))
    for name, field in stage.options.model_fields.items():
        yield name, *_option(field)
    yield from (("bucket", BUCKET, "1h"), ("master", MASTER, "local[*]"), ("output", FOLDER, None))
    if stage.pictures:
        yield "no_pictures", NO_PICTURES, False
    yield "as_json", AsJson, False


def _option(field: FieldInfo) -> tuple[Any, Any]:
    """The type and the default of an option; an option for a list may be given several times."""
    name, help_text = f"--{field.alias}", field.description
    kind: Any = field.annotation
    default = field.get_default(call_default_factory=True)
    bounds: dict[str, Any] = {}
    for bound in field.metadata:
        if isinstance(bound, Ge):
            bounds["min"] = bound.ge
        elif isinstance(bound, Le):
            bounds["max"] = bound.le
    if kind is bool:
        return Annotated[bool, typer.Option(name, help=help_text)], default
    if isinstance(default, list) or list in {getattr(one, "__origin__", None) for one in get_args(kind)}:
        return Annotated[kind | None, typer.Option(name, help=help_text)], None
    return Annotated[kind, typer.Option(name, help=help_text, **bounds)], default


def _run(
    stage: Stage,
    study: str,
    data: Path | None,
    query: str | None,
    since: str | None,
    until: str | None,
    bucket: str,
    master: str,
    output: Path | None,
    as_json: bool,
    no_pictures: bool = True,
    **values: Any,
) -> None:
    declared = load_declared(study, data, query).within(since, until)
    name = f"study {declared.name}"

    def error(option: str, message: str) -> Exception:
        if option:
            return typer.BadParameter(message, param_hint=f"--{option}")
        return InputFileError(f"{name}: {message}", path=declared.name)

    request = Request(declared, length_of(declared, bucket, "--bucket"), Path(), name, error)
    options = options_of(stage, values, request)
    draws = output is not None and not no_pictures
    if draws:
        require_libraries(["matplotlib"], "plot", "pictures need")
    require_spark()
    from midstream.scenarios.studies.session import spark_session

    files = [*stage.files, *(f"{name}.png" for name in stage.pictures if draws)]
    reads = [(f"--{name}", Path(one)) for name in stage.reads for one in listed(getattr(options, name)) or ()]
    require_files_apart(study, declared, None, replaced_in(output, files), reads)
    make_folder(output)
    with ExitStack() as stack:
        with nothing_written():
            tell = stack.enter_context(telling())
            tell("starting Spark")
            spark = stack.enter_context(spark_session(master, is_small=is_small(declared)))
            done = stack.enter_context(ran(stage, spark, request, options, tell))
        if output is not None:
            tell("writing")
            stage.write(done.result, done.outcome, output)
            if draws:
                _draw(done.report, output)
    if as_json:
        typer.echo(json.dumps(done.outcome.summary, indent=2, ensure_ascii=False))
    else:
        show_report(declared.title, done.report, Console())
    if not done.report.holds:
        raise typer.Exit(1)


def _draw(report: Report, folder: Path) -> None:
    for picture in report.pictures:
        write_picture(picture.draw(), folder / f"{picture.name}.png", "png")
