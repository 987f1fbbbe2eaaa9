"""Study files: streams, a query, and the stages of a study, described in YAML.

    title: Departures of EWR, JFK and LGA
    streams: nycflights13.sql         # the script that declares them and the query; or `sql`, its text
    bucket: 3h
    stages:
      ingest: {slack: 5m}
      profile:
      what-if: {limit: 5000}

docs/study-guide.md says what each key means.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from midstream.io.text_file import find_text, ready_made
from midstream.plans.values.errors import InputFileError, SqlError
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile, chronons_of
from midstream.scenarios.streams.faults import shown, validated
from midstream.scenarios.streams.recorded.script import DeclaredStudy, declared_study, read_script
from midstream.scenarios.streams.stream_spec import Strict
from midstream.scenarios.streams.yaml_file import Document, read_yaml

SUFFIXES = (".yaml", ".yml")


class StudySpec(Strict):
    """The keys of a study file.

    streams        a script (.sql), or the name of one that comes with Midstream
    sql            the text of a script, instead
    query          the name of the query, in a script with several
    from, until    a part of the time; ingestion takes all
    data           the folder to which paths of streams are relative
    bucket         the length of a time bucket
    """

    title: str | None = None
    streams: str | None = None
    sql: str | None = None
    query: str | None = None
    since: str | int | None = Field(default=None, alias="from")
    until: str | int | None = None
    data: str | None = None
    bucket: str = "1h"
    stages: Any


def load_study_file(name: str, data: Path | str | None = None) -> StudyFile:
    """Read a study file: a path, or the name of one that comes with Midstream.

    data    the folder to which the paths of streams are relative, instead of the file's

    Raises   InputFileError, naming file, line and key, what was found and what was expected.
    """
    file, text = find_text("study file", name, packaged(), SUFFIXES)
    # Spark may have another working folder.
    data = data if data is None or "://" in str(data) else Path(data).absolute()
    return parse_study_file(file, text, Path(file).absolute().parent, data)


def parse_study_file(file: str, text: str, folder: Path, data: Path | str | None = None) -> StudyFile:
    """A study from the text of a file."""
    document = read_yaml(file, text, "a study")
    if not isinstance(document.data, dict):
        raise document.error((), f"found {shown(document.data)}, expected the keys of a study")
    _refuse_declarations(document)
    spec = validated(_spec(), document)
    wished = {name: options for name in STAGES if (options := getattr(spec.stages, _field(name))) is not None}
    if not wished:
        raise document.error(("stages",), f"found none, expected one at least of {', '.join(STAGES)}")
    if data is None:
        data = None if spec.data is None else folder / spec.data
    if (spec.streams is None) == (spec.sql is None):
        beside = "none" if spec.sql is None else "sql beside it"
        raise document.error(("streams",), f"found {beside}, expected streams, a script, or sql, its text")
    key = ("streams",) if spec.sql is None else ("sql",)
    place = folder if data is None else data
    with document.errors_at(key, SqlError, InputFileError):
        declared = _declared(document.file, spec, folder)
        feeds = declared.feeds(place)
    names = [one.name for one in declared.queries]
    is_odd = spec.query is not None and spec.query not in names
    with document.errors_at(("query",) if is_odd else key, InputFileError):
        study = declared.study(place, spec.query)
    ends = (None if end is None else str(end) for end in (spec.since, spec.until))
    try:
        study = study.within(*ends)
    except InputFileError as error:
        raise document.error(("until" if "until:" in str(error) else "from",), str(error)) from error
    found = StudyFile(
        document=document,
        text=text,
        declared=declared.text,
        folder=folder,
        title=spec.title or study.title,
        feeds=tuple(feed for feed in feeds if feed.name in study.streams),
        study=study,
        bucket=chronons_of(document, study, ("bucket",), spec.bucket),
        stages=wished,
    )
    for name, options in wished.items():
        STAGES[name].check(found.request(name), options)
    return found


def packaged() -> dict[str, Traversable]:
    """The study files that come with Midstream, by name."""
    return ready_made(resources.files(__package__), SUFFIXES)


@cache
def _spec() -> type[StudySpec]:
    """The keys of a study file, with those of all stages."""
    fields: dict[str, Any] = {
        _field(name): (
            Annotated[stage.options, BeforeValidator(lambda given: {} if given is None else given)],
            Field(default=None, alias=name),
        )
        for name, stage in STAGES.items()
    }
    stages = create_model("Stages", __base__=Strict, **fields)
    return create_model("StudySpecWithStages", __base__=StudySpec, stages=(stages, ...))


def _field(stage: str) -> str:
    return stage.replace("-", "_")


def _declared(file: str, spec: StudySpec, folder: Path) -> DeclaredStudy:
    """The script that a study file names or holds."""
    if spec.sql is not None:
        return declared_study(Path(file).stem, "the script", spec.sql)
    assert spec.streams is not None
    place = folder / spec.streams
    return read_script(str(place) if place.exists() or Path(spec.streams).suffix else spec.streams)


def _refuse_declarations(document: Document) -> None:
    """Raise InputFileError for streams that are declared in YAML, as they once were."""
    data = document.data
    for key in ("epoch", "defaults", "streams", "query"):
        if isinstance(data.get(key), dict) or (key in data and key in ("epoch", "defaults")):
            raise document.error(
                (key,),
                "found a declaration in YAML, expected one in SQL, CREATE STREAM … SOURCE csv('…') ORDERED "
                "BY … and a SELECT: under the key sql, or in a file that the key streams names",
            )
