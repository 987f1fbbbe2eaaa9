"""Studies in SQL: the CREATE STREAMs of a script declare the streams, and one of its queries is studied.

    CREATE STREAM ewr(dep_ts BIGINT, dest TEXT) SOURCE csv('departures.csv') WHERE origin = 'EWR'
        ORDERED BY dep_ts TIME_UNIT 's';
    CREATE STREAM jfk(dep_ts BIGINT, dest TEXT) SOURCE csv('departures.csv') WHERE origin = 'JFK'
        ORDERED BY dep_ts TIME_UNIT 's';
    SELECT * FROM ewr WINDOW(RANGE 1 HOUR) JOIN jfk WINDOW(RANGE 1 HOUR) ON ewr.dest = jfk.dest

docs/studies.md says more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from midstream.io.file_formats import FORMATS
from midstream.io.ingested import is_ingested
from midstream.io.text_file import find_text, ready_made
from midstream.io.time_units import NANOSECONDS, UNITS, Clock
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.instants import EPOCH
from midstream.plans.values.schema import suggest
from midstream.scenarios.streams.recorded.declaration import (
    FOLDER,
    SPARK_FORMATS,
    RecordedStream,
    Study,
    format_of,
)
from midstream.scenarios.streams.recorded.feeds import Feed, feed_of, located, source_file
from midstream.scenarios.streams.recorded.renaming import studied

SUFFIXES = (".sql",)


def load_study(name: str, data: Path | str | None = None, query: str | None = None) -> Study:
    """The study of a script's query; by its name, where there are several.

    name    a path, or the name of a script that comes with Midstream
    data    the folder to which paths are relative, by default the working folder; or a folder into which the
            streams were ingested

    A script without a query is a study without one.

    Raises   SqlError; InputFileError where the query is ambiguous, or a stream is not recorded in files.
    """
    return read_script(name).study(data, query)


def load_feeds(name: str, data: Path | str | None = None) -> tuple[Study, list[Feed]]:
    """The files behind all streams of a script, and a study that says how time is shown.

    Raises   MidstreamError, as `load_study`.
    """
    script = read_script(name)
    return script.study_of([], None), script.feeds(data)


def packaged() -> dict[str, Traversable]:
    """The scripts that come with Midstream, by name."""
    return ready_made(resources.files(__package__), SUFFIXES)


def read_script(name: str) -> DeclaredStudy:
    """Read the script at a path, or of the name of one that comes with Midstream."""
    if Path(name).suffix in (".yaml", ".yml"):
        raise InputFileError(
            f"{name}: found a study file, expected a script (.sql); midstream study run takes it",
            path=name,
        )
    if Path(name).suffix == ".toml":
        raise InputFileError(
            f"{name}: found a declaration in TOML, expected a script in SQL, where CREATE STREAM … SOURCE "
            "csv('…') ORDERED BY … declares a stream, and SELECT the query",
            path=name,
        )
    place, text = find_text("study", name, packaged(), SUFFIXES)
    return declared_study(Path(place).stem, place, text)


def declared_study(name: str, place: str, text: str) -> DeclaredStudy:
    """The streams and queries of a script's text; errors say the place.

    Raises   SqlError; InputFileError where there are no streams.
    """
    catalog = Catalog(None)
    queries = catalog.execute(text, place)
    if not catalog.streams:
        raise InputFileError(f"{place}: found no CREATE STREAM, expected one at least", path=place)
    return DeclaredStudy(name, place, text, catalog, queries)


@dataclass(frozen=True)
class DeclaredStudy:
    """The streams and queries of a script."""

    name: str
    place: str
    text: str
    catalog: Catalog
    queries: Sequence[Query]

    def feeds(self, data: Path | str | None = None) -> list[Feed]:
        """The files behind all streams; relative paths are relative to `data`.

        Raises   InputFileError where a stream has no file, no timestamps, or a column without a type.
        """
        return [feed_of(self.place, one, self.catalog.unit, data) for one in self.catalog.streams.values()]

    def study(self, data: Path | str | None = None, query: str | None = None) -> Study:
        """The study of a query, or of all streams where there is none; see `load_study`."""
        chosen = self._chosen(query)
        plan = None if chosen is None else studied(chosen.plan)
        declared = self.catalog.streams
        names = declared if plan is None else dict.fromkeys(source.stream for source in plan.sources)
        streams = [
            self._recorded(declared[name], 1 if plan is None else largest_window_over(name, plan), data)
            for name in names
            if name in declared
        ]
        study = self.study_of(streams, plan)
        if chosen is None or len(self.queries) == 1:
            return study
        return replace(study, title=f"{self.name}, query {chosen.name}")

    def study_of(self, streams: Sequence[RecordedStream], plan: Plan | None) -> Study:
        """A study of some of the streams."""
        unit = self.catalog.unit
        if unit.nanoseconds not in UNITS:
            expected = f"one of {', '.join(NANOSECONDS)}"
            raise InputFileError(
                f"{self.place}: found time in {unit.name}, expected {expected}", path=self.place
            )
        clock = Clock(UNITS[unit.nanoseconds], EPOCH)
        return Study(self.name, self.name, clock, {stream.name: stream for stream in streams}, plan)

    def _chosen(self, name: str | None) -> Query | None:
        names = [query.name for query in self.queries]
        if name is None and len(names) < 2:
            return self.queries[0] if names else None
        if name is None or name not in names:
            found = f"no query {name}" if name else f"{len(names)} queries"
            expected = f"the name of one of them: {', '.join(names)}" if names else "none to be named"
            near = suggest(name, names) if name else ""
            raise InputFileError(f"{self.place}: found {found}, expected {expected}{near}", path=self.place)
        return self.queries[names.index(name)]

    def _recorded(self, declared: StreamDeclaration, window: int, data: Path | str | None) -> RecordedStream:
        place = f"{self.place}, stream {declared.name}"
        if declared.ordered_by is None:
            raise InputFileError(
                f"{place}: found no timestamps, expected ORDERED BY a column", path=self.place
            )
        recorded = RecordedStream(
            name=declared.name,
            path="",
            format=FOLDER,
            time=declared.ordered_by,
            where=dict(declared.where),
            columns=declared.schema,
            window=window,
            unknown=() if declared.source is None else declared.source.unknown,
        )
        if data is not None and is_ingested(data):
            return replace(recorded, path=str(data))
        path, form = _file(self.place, declared)
        chronon = self.catalog.unit
        if form != FOLDER and declared.unit != chronon:
            found, expected = (
                ("without a unit", "TIME_UNIT 's', or another one, behind the declaration")
                if declared.unit is None
                else (f"in {declared.unit.name}", f"{chronon.name}, as all streams have together")
            )
            raise InputFileError(
                f"{place}: found timestamps {found}, expected {expected}; or ingest the streams first, and "
                "give the folder as --data",
                path=self.place,
            )
        return replace(recorded, path=located(path, data), format=form)


def largest_window_over(stream: str, plan: Plan) -> int:
    """The size of the largest time window of a plan that a stream goes through; 1 without any."""
    sizes = [
        operator.size
        for node in plan.nodes
        if isinstance(operator := logical(node), TimeWindow) and operator.size is not None
        if any(source.stream == stream for source in Plan(node).sources)
    ]
    return max(sizes, default=1)


def _file(script: str, declared: StreamDeclaration) -> tuple[str, str]:
    """The path of a stream's source, and Spark's format of it."""
    place, source = f"{script}, stream {declared.name}", declared.source
    if source is not None and source.kind.lower() == "ingested" and len(source.arguments) == 1:
        return str(source.arguments[0]), FOLDER
    path, form = source_file(script, declared)
    if declared.has_intervals:
        raise InputFileError(
            f"{place}: found the source {source}, expected timestamps; or ingest the streams first, and give "
            "the folder as --data",
            path=script,
        )
    known = format_of(path) if form is None else SPARK_FORMATS[form]
    if known is None:
        raise InputFileError(
            f"{place}: found {path}, expected a name that ends in one of {', '.join(FORMATS)}, or a folder",
            path=script,
        )
    return path, known
