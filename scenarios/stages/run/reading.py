"""Study files: streams, a query, and the stages of a study, described in YAML.

    title: Departures of EWR, JFK and LGA
    streams: nycflights13.toml        # what declares them; or all that such a file says, in this one
    bucket: 3h
    stages:
      ingest: {slack: 5m}
      profile:
      what-if: {limit: 5000}

docs/study-guide.md says what each key means.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from midstream.io.text_file import find_text, read_text, ready_made
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile, chronons_of
from midstream.scenarios.streams.faults import shown, validated
from midstream.scenarios.streams.recorded.declaration import Study, declared_study
from midstream.scenarios.streams.recorded.feeds import Feed, feeds_of_script, feeds_of_study
from midstream.scenarios.streams.recorded.script import SCRIPTS, load_declared
from midstream.scenarios.streams.recorded.toml_table import TomlTable
from midstream.scenarios.streams.stream_spec import Strict
from midstream.scenarios.streams.yaml_file import Document, dotted, read_yaml
from midstream.scenarios.streams.yaml_file import Path as Place

SUFFIXES = (".yaml", ".yml")


class StudySpec(Strict):
    """The keys of a study file.

    streams        the name of a declaration (.toml) or of a script (.sql); or streams, as in a declaration,
                   with its keys epoch, defaults and query beside
    query          also the name of a query of a script with several
    from, until    a part of the time; ingestion takes all
    data           the folder to which paths of streams are relative
    bucket         the length of a time bucket
    """

    title: str | None = None
    epoch: str | None = None
    defaults: dict[str, Any] | None = None
    streams: str | dict[str, Any]
    query: str | dict[str, Any] | None = None
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
    spec = validated(_spec(), document)
    wished = {name: options for name in STAGES if (options := getattr(spec.stages, _field(name))) is not None}
    if not wished:
        raise document.error(("stages",), f"found none, expected one at least of {', '.join(STAGES)}")
    if data is None:
        data = None if spec.data is None else folder / spec.data
    feeds, study, declared = _streams(document, spec, folder, data)
    ends = (None if end is None else str(end) for end in (spec.since, spec.until))
    try:
        study = study.within(*ends)
    except InputFileError as error:
        raise document.error(("until" if "until:" in str(error) else "from",), str(error)) from error
    found = StudyFile(
        document=document,
        text=text,
        declared=declared,
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


def _streams(
    document: Document, spec: StudySpec, folder: Path, data: Path | str | None
) -> tuple[list[Feed], Study, tuple[str, ...]]:
    """The declared streams, and the texts of their declarations."""
    if isinstance(spec.streams, dict):
        own = ("epoch", "defaults", "streams", "query")
        entries = {key: document.data[key] for key in own if key in document.data}
        study = _declared(document, entries, str(folder if data is None else data))
        return feeds_of_study(study), study, (json.dumps(entries, sort_keys=True),)
    place = folder / spec.streams
    name = str(place) if place.exists() or Path(spec.streams).suffix else spec.streams
    is_script = Path(name).suffix in SCRIPTS
    for key in ("epoch", "defaults", *(() if is_script else ("query",))):
        if getattr(spec, key) is not None:
            raise document.error((key,), f"found it beside {spec.streams}, which declares it; expected one")
    if is_script:
        data = str(folder if data is None else data)
        if isinstance(spec.query, dict):
            raise document.error(("query",), "found keys with values, expected the name of a query")
        return feeds_of_script(name, data), load_declared(name, data, spec.query), (read_text(name),)
    study = load_declared(name, data)
    query = "" if study.query is None else dumps(study.query)
    return feeds_of_study(study), study, (repr(study.clock), repr(study.streams), query)


def _declared(document: Document, entries: dict[str, Any], folder: str) -> Study:
    """The streams that the file itself declares, in the form of a declaration."""
    if (epoch := entries.get("epoch")) is not None:
        try:
            entries = {**entries, "epoch": datetime.fromisoformat(epoch)}
        except ValueError:
            expected = "a date and time with an offset, for example 1970-01-01T00:00:00Z"
            raise document.error(("epoch",), f"found {epoch!r}, expected {expected}") from None
    try:
        return declared_study(TomlTable(document.file, "", entries), folder)
    except InputFileError as error:
        key = getattr(error, "key", None)
        if key is None:
            raise
        message = str(error).removeprefix(document.file).partition(": ")[2]
        raise document.error(_place(document, key), message) from error


def _place(document: Document, key: str) -> Place:
    """The innermost part of a file that a dotted key names; keys that a stream lacks are in the defaults."""
    around = [one for one in document.lines if f"{key}.".startswith(f"{dotted(one)}.") or not one]
    found = max(around, key=len)
    default = ("defaults", key.rpartition(".")[2])
    return default if dotted(found) != key and default in document.lines else found
