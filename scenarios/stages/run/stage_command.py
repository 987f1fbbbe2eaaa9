"""The command of a stage, made of its declaration."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import reduce
from inspect import Parameter, Signature, cleandoc
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from annotated_types import Ge, Le
from rich.console import Console

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.progress import telling
from midstream.io.new_file import nothing_written
from midstream.io.pictures import write_picture
from midstream.io.requirements import require_libraries, require_spark
from midstream.plans.values.errors import InputFileError, MissingExtra
from midstream.scenarios.reports.contents import Report
from midstream.scenarios.reports.terminal import show_report
from midstream.scenarios.stages.base.command_options import (
    BUCKET,
    DATA,
    FOLDER,
    MASTER,
    QUERY,
    SINCE,
    STUDY,
    UNTIL,
    is_small,
    make_folder,
    require_files_apart,
    require_outside,
)
from midstream.scenarios.stages.base.options import Options, listed
from midstream.scenarios.stages.base.request import Request, without_streams
from midstream.scenarios.stages.base.stage import Stage
from midstream.scenarios.stages.run.alone import options_of, ran
from midstream.scenarios.streams.recorded.script import load_feeds, load_study

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from midstream.scenarios.streams.recorded.feeds import Feed

ALONE = "none"
"""The master that stands for this process alone."""

MASTER_OR_NONE = Annotated[
    str, typer.Option(help="The address of Spark, or none: this process alone, without Spark.")
]
FOLDER_OF_STREAMS = Annotated[
    Path, typer.Option(help="The folder for the streams; new files are added to it.")
]
NO_PICTURES = Annotated[bool, typer.Option("--no-pictures", help="Draw no pictures in --output.")]


def add_command(app: typer.Typer, stage: Stage) -> None:
    """Add the command of a stage: the options of all stages, and its own."""
    paragraphs = cleandoc(stage.help).split("\n\n")
    help_text = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    app.command(stage.name, help=help_text, epilog=examples(*stage.examples))(command(stage))


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
    asked = (
        ("study", STUDY, Parameter.empty),
        ("data", DATA, None),
        ("query", QUERY, None),
        ("since", SINCE, None),
        ("until", UNTIL, None),
    )
    yield from (parameter for parameter in asked if parameter[0] in stage.asks)
    for name, field in stage.options.model_fields.items():
        yield name, *_option(field)
    if "bucket" in stage.asks:
        yield "bucket", BUCKET, "1h"
    yield "master", MASTER if stage.asks else MASTER_OR_NONE, "local[*]"
    yield "output", *((FOLDER_OF_STREAMS, Parameter.empty) if stage.adds else (FOLDER, None))
    if stage.pictures:
        yield "no_pictures", NO_PICTURES, False
    yield "as_json", AsJson, False


def _option(field: FieldInfo) -> tuple[Any, Any]:
    """The type and the default of an option; an option for a list may be given several times."""
    name, help_text = f"--{field.alias}", field.description
    kind = _plain(field.annotation)
    default = field.get_default(call_default_factory=True)
    bounds: dict[str, Any] = {}
    for bound in field.metadata:
        if isinstance(bound, Ge):
            bounds["min"] = bound.ge
        elif isinstance(bound, Le):
            bounds["max"] = bound.le
    if kind is bool:
        return Annotated[bool, typer.Option(name, help=help_text)], default
    if list in {get_origin(part) for part in (kind, *get_args(kind))}:
        return Annotated[kind | None, typer.Option(name, help=help_text)], None
    return Annotated[kind, typer.Option(name, help=help_text, **bounds)], default


def _plain(kind: Any) -> Any:
    """A type without the annotations that are for pydantic."""
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        return _plain(parts[0])
    if get_origin(kind) is list:
        return list[_plain(parts[0])]  # type: ignore[misc]
    return reduce(or_, map(_plain, parts)) if parts else kind


def _run(
    stage: Stage,
    master: str,
    output: Path | None,
    as_json: bool,
    study: str = "",
    data: Path | None = None,
    query: str | None = None,
    since: str | None = None,
    until: str | None = None,
    bucket: str | None = None,
    no_pictures: bool = True,
    **values: Any,
) -> None:
    request = _request(stage, study, data, query, since, until, bucket)
    options = options_of(stage, values, request)
    is_alone = master == ALONE and not stage.asks
    draws = output is not None and not no_pictures
    if draws:
        require_libraries(["matplotlib"], "plot", "pictures need")
    if not is_alone:
        _require_spark(stage)
    _require_files_apart(stage, study, request, options, output, draws)
    if output is not None:
        make_folder(output)
    with ExitStack() as stack:
        tell = stack.enter_context(telling())
        session = None
        if not is_alone:
            from midstream.scenarios.spark.session import spark_session

            tell("starting Spark")
            with nothing_written():
                session = stack.enter_context(spark_session(master, is_small=is_small(request.study)))
        done = stack.enter_context(ran(stage, session, request, options, output, tell))
        if output is not None and draws:
            _draw(done.report, output)
    if as_json:
        typer.echo(json.dumps(done.outcome.summary, indent=2, ensure_ascii=False))
    else:
        show_report(request.study.title, done.report, Console())
    if not done.report.holds:
        raise typer.Exit(1)


def _require_spark(stage: Stage) -> None:
    """Raise MissingExtra where Spark cannot start; a stage without streams can do without it."""
    try:
        require_spark()
    except MissingExtra as error:
        if stage.asks:
            raise
        raise MissingExtra(f"{error}; or --master {ALONE}: this process alone") from error


def _request(
    stage: Stage,
    study: str,
    data: Path | None,
    query: str | None,
    since: str | None,
    until: str | None,
    bucket: str | None,
) -> Request:
    feeds: Sequence[Feed] = ()
    if not stage.asks:
        declared = without_streams(stage.name)
    elif "query" in stage.asks:
        declared = load_study(study, data, query).within(since, until)
    else:
        declared, feeds = load_feeds(study, data)

    def error(option: str, message: str) -> Exception:
        if option:
            return typer.BadParameter(message, param_hint=f"--{option}")
        return InputFileError(f"study {declared.name}: {message}", path=declared.name)

    return Request.alone(declared, bucket, error, feeds)


def _require_files_apart(
    stage: Stage, study: str, request: Request, options: Options, output: Path | None, draws: bool
) -> None:
    """Raise MidstreamError where a file to be replaced is also read."""
    if output is None:
        return
    if stage.adds:
        require_outside([feed.path for feed in request.feeds], output)
        return
    reads = [(f"--{name}", Path(one)) for name in stage.reads for one in listed(getattr(options, name)) or ()]
    files = [*stage.files, *(f"{name}.png" for name in stage.pictures if draws)]
    require_files_apart(study, request.study, [("--output", output / name) for name in files], reads)


def _draw(report: Report, folder: Path) -> None:
    for picture in report.pictures:
        write_picture(picture.draw(), folder / f"{picture.name}.png", "png")
