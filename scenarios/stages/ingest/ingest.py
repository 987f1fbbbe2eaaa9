"""Ingest recorded streams: read, check, sort and write them, and record this in a manifest."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F

from midstream.io.ingested import (
    IngestedFile,
    IngestedInput,
    IngestRun,
    Manifest,
    StreamRun,
    is_ingested,
    read_manifest,
    write_manifest,
)
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.ingest.disorder import cell_of
from midstream.scenarios.stages.ingest.folder import named_run, new_run, next_name, only_writer
from midstream.scenarios.stages.ingest.sorting import write_sorted, written
from midstream.scenarios.stages.ingest.staging import BAD, FAULT, PIECE_DONE, ROW, staged
from midstream.scenarios.stages.ingest.survey import PIECE
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.input_files import InputFile, input_files, unchanged


@dataclass(frozen=True)
class Ingested:
    """The contents of a folder after a run; the run is None if there was nothing new."""

    manifest: Manifest
    run: IngestRun | None


def ingest(
    spark: SparkSession,
    feeds: Sequence[Feed],
    folder: Path | str,
    *,
    slack: int | None = None,
    step: Callable[[str], None] = lambda step: None,
    piece_size: int = PIECE,
) -> Ingested:
    """Read the files of streams that a folder does not hold yet, and add them to it.

    slack         rows that are later in their file, in chronons, go to the quarantine; without it, none do
    step          receives the steps that are under way
    piece_size    the least number of bytes of a file of lines that a task reads

    The session is used as it is: nothing is closed, set or kept in it.

    Cost     A pass over each new file, a sort of its rows, and a pass over the written files.
    Raises   MidstreamError, naming file and place: for a file that cannot be read, or has changed since it
             was read; where streams are declared otherwise than before; where no row of a stream fits its
             declaration. The folder then holds what it held; rows that do not fit stay until the next run.
    """
    place = Path(folder)
    with only_writer(place):
        manifest = _known(feeds, place)
        new = {feed.name: new_files(feed, manifest) for feed in feeds}
        streams = {**manifest.streams, **{feed.name: feed.described() for feed in feeds}}
        manifest = replace(manifest, streams=streams)
        if not any(new.values()):
            return Ingested(manifest, None)
        name = next_name(place)
        with new_run(place) as unfinished, _spark_errors(place):
            parts = []
            for feed in feeds:
                if files := new[feed.name]:
                    step(f"stream {feed.name}, {len(files):,} files")
                    parts.append(_Part(spark, feed, files, manifest, unfinished, slack, piece_size).ingest())
            for files in new.values():
                unchanged(files)
            shutil.rmtree(unfinished / STAGED, ignore_errors=True)
            run = _run(name, unfinished, parts)
            named_run(unfinished, name)
        _require_rows(run, place)
        manifest = replace(manifest, runs=(*manifest.runs, run))
        write_manifest(manifest, place)
        return Ingested(manifest, run)


def new_files(feed: Feed, manifest: Manifest) -> list[InputFile]:
    """The files of a feed that have not been read yet.

    Files are told apart by size and time of their last change.

    Raises   InputFileError for a file that has changed since it was read.
    """
    known = {one.path: one for one in manifest.inputs if one.stream == feed.name}
    new = []
    for file in input_files(feed.path, feed.form):
        before = known.get(file.path)
        if before is None:
            new.append(file)
        elif (before.size, before.modified) != (file.size, file.modified):
            grown = file.size - before.size
            what = f"{grown:,} bytes more than" if grown > 0 else "another content than"
            raise InputFileError(
                f"{file.path}, stream {feed.name}: found {what} when it was ingested, expected the same; "
                "put new rows into a new file, or ingest into a new folder",
                path=file.path,
                stream=feed.name,
            )
    return new


def _known(feeds: Sequence[Feed], folder: Path) -> Manifest:
    """The manifest of a folder, whose streams must be declared as they are now."""
    chronon = feeds[0].chronon.nanoseconds
    if not is_ingested(folder):
        return Manifest(chronon, 0, {})
    found = read_manifest(folder)
    if (found.chronon, found.epoch) != (chronon, 0):
        since = f" since {found.epoch:,} ns after 1970" if found.epoch else ""
        raise MidstreamError(
            f"{folder}: found chronons of {found.chronon:,} ns{since}, expected {chronon:,} ns since 1970, "
            "as is declared now"
        )
    for feed in feeds:
        before = found.streams.get(feed.name)
        if before is not None and before != feed.described():
            raise MidstreamError(
                f"{folder}, stream {feed.name}: found {json.dumps(before)}, expected "
                f"{json.dumps(feed.described())}, as is declared now; ingest into a new folder"
            )
    return found


LARGEST = 2**63 - 1

STAGED = "staged"
QUARANTINE = "quarantine"


@dataclass(frozen=True)
class _Done:
    """The files that a run has made of one stream."""

    stream: str
    inputs: list[IngestedInput]
    files: list[IngestedFile]
    found: StreamRun
    quarantine: list[Path]


@dataclass(frozen=True)
class _Part:
    """One stream in a run."""

    spark: SparkSession
    feed: Feed
    files: Sequence[InputFile]
    manifest: Manifest
    place: Path
    slack: int | None
    piece_size: int

    @property
    def folder(self) -> str:
        """The name of the stream's folder, whatever characters the stream's name has."""
        return quote(self.feed.name, safe=" ")

    def ingest(self) -> _Done:
        stage = self.place / STAGED / self.folder
        staged(self.spark, self.feed, self.files, self.piece_size).write.parquet(str(stage))
        frame = self.spark.read.parquet(str(stage))
        by_file = self._by_file(frame)
        rows = self._with_lateness(frame)
        bad = frame.where(F.col("kind") == BAD).select("path", "position", "reason", "text")
        if self.slack is not None:
            is_late = F.col("lateness") > self.slack
            too_late = rows.where(is_late)
            bad = bad.unionAll(self._letters(too_late))
            rows = rows.where(~is_late)
        taken, found = self._facts(rows)
        count = sum(taken.values())
        total = sum(row["rows"] - row["other"] for row in by_file.values())
        quarantine = self._quarantine(bad) if count < total else []
        size = sum(file.stat().st_size for file in stage.glob("*.parquet"))
        files, double = list[IngestedFile](), 0
        if count:
            target = self.place / self.folder
            write_sorted(rows, self.feed.name, count, size, target)
            files, double = written(self.spark, self.feed.name, target)
        shutil.rmtree(stage)
        inputs = [self._input(file, by_file[file.path], taken.get(file.path, 0)) for file in self.files]
        self._require_agreement(inputs, files)
        cut = sum(row["cut"] for row in by_file.values())
        return _Done(self.feed.name, inputs, files, replace(found, double=double, cut=cut), quarantine)

    def _by_file(self, frame: DataFrame) -> dict[str, Row]:
        """The counts and the hash of each file.

        Raises   InputFileError for the first file that cannot be read.
        """
        sums = (F.sum(name).alias(name) for name in ("rows", "other", "bad", "cut"))
        least = (F.min(name).alias(name) for name in ("sha256", "reason"))
        told = frame.where(F.col("kind").isin(PIECE_DONE, FAULT)).groupBy("path").agg(*sums, *least)
        found = {row["path"]: row for row in told.collect()}
        faults = [found[file.path]["reason"] for file in self.files if found[file.path]["reason"] is not None]
        if faults:
            raise InputFileError(f"stream {self.feed.name}: {faults[0]}", stream=self.feed.name)
        return found

    def _with_lateness(self, frame: DataFrame) -> DataFrame:
        """The elements with their lateness: how far they start behind the greatest start before."""
        rows, done = frame.where(F.col("kind") == ROW), frame.where(F.col("kind") == PIECE_DONE)
        if any(file.size > self.piece_size for file in self.files):
            before = Window.partitionBy("path").orderBy("piece").rowsBetween(Window.unboundedPreceding, -1)
            pieces = done.select("path", "piece", F.max("ahead").over(before).alias("before"))
            rows = rows.join(pieces.where(F.col("before").isNotNull()), ["path", "piece"], "left")
        else:
            rows = rows.withColumn("before", F.lit(None).cast("long"))
        ahead = F.greatest("ahead", "before")
        distance = F.coalesce(F.try_subtract(ahead, F.col("start")), F.lit(LARGEST))
        late = F.when(ahead > F.col("start"), distance).otherwise(F.lit(0).cast("long"))
        return rows.withColumn("lateness", late)

    def _facts(self, rows: DataFrame) -> tuple[dict[str, int], StreamRun]:
        """The number of rows taken of each file, and their latenesses."""
        last = max((one.last for one in self.manifest.files(self.feed.name)), default=None)
        is_late = F.lit(False) if last is None else F.col("start") < last
        found = (
            rows.groupBy("path", cell_of(F.col("lateness")).alias("cell"))
            .agg(
                F.count("*").alias("rows"),
                F.max("lateness").alias("greatest"),
                F.count_if(is_late).alias("late"),
            )
            .collect()
        )
        taken, counts = Counter[str](), Counter[int]()
        for row in found:
            taken[row["path"]] += row["rows"]
            counts[row["cell"]] += row["rows"]
        greatest = max((row["greatest"] for row in found), default=0)
        late = sum(row["late"] for row in found)
        return taken, StreamRun(late, counts=dict(sorted(counts.items())), greatest=greatest)

    def _letters(self, too_late: DataFrame) -> DataFrame:
        """The dead letters of rows that come too late."""
        told = F.format_string(
            f"found a start %d chronons before an earlier row's, expected at most {self.slack}, the slack",
            F.col("lateness"),
        )
        shown = [name for name in ("start", "end", "payload") if name in too_late.columns]
        return too_late.select(
            "path", "position", told.alias("reason"), F.to_json(F.struct(*shown)).alias("text")
        )

    def _quarantine(self, bad: DataFrame) -> list[Path]:
        """Write rows that do not fit, in order of their places, as the dead letters of `midstream run`."""
        target = self.place / QUARANTINE / self.folder
        letters = bad.orderBy("path", "position").select(
            F.col("path").alias("source"),
            F.col("position").alias("line"),
            "reason",
            F.col("text").alias("row"),
        )
        letters.write.option("ignoreNullFields", False).json(str(target))
        return sorted(file for file in target.glob("*.json") if file.stat().st_size)

    def _input(self, file: InputFile, found: Row, taken: int) -> IngestedInput:
        quarantined = found["rows"] - found["other"] - taken
        late = quarantined - found["bad"]
        if late < 0 or (late and self.slack is None):
            raise MidstreamError(
                f"{file.path}, stream {self.feed.name}: found {found['rows']:,} rows, but {taken:,} were "
                f"taken, {found['bad']:,} do not fit, {found['other']:,} are of other streams; expected "
                "counts that agree"
            )
        return IngestedInput(
            self.feed.name,
            file.path,
            file.size,
            file.modified,
            found["sha256"],
            found["rows"],
            taken,
            quarantined,
            found["other"],
        )

    def _require_agreement(self, inputs: Sequence[IngestedInput], files: Sequence[IngestedFile]) -> None:
        taken, stored = sum(one.taken for one in inputs), sum(one.rows for one in files)
        if taken != stored:
            raise MidstreamError(
                f"stream {self.feed.name}: found {stored:,} rows in the files that were written, expected "
                f"the {taken:,} that were taken"
            )


def _run(name: str, place: Path, parts: Sequence[_Done]) -> IngestRun:
    """The record of a run, with later paths; files get names in order of time."""
    files, letters = list[IngestedFile](), list[str]()
    for part in parts:
        paths = _numbered([Path(file.path) for file in part.files], ".parquet")
        files += (
            replace(file, path=f"{name}/{path.relative_to(place)}")
            for file, path in zip(part.files, paths, strict=True)
        )
        letters += (f"{name}/{path.relative_to(place)}" for path in _numbered(part.quarantine, ".jsonl"))
    streams: Mapping[str, StreamRun] = {part.stream: part.found for part in parts}
    inputs = tuple(one for part in parts for one in part.inputs)
    return IngestRun(name, inputs, tuple(files), streams, tuple(letters))


def _require_rows(run: IngestRun, folder: Path) -> None:
    """Raise InputFileError for the first stream that has rows in its files, none of which fits.

    The declaration is wrong then, and stages after this one would find no elements.
    """
    for stream in run.streams:
        inputs = [one for one in run.inputs if one.stream == stream]
        refused = sum(one.quarantined for one in inputs)
        if refused and not any(one.taken for one in inputs):
            own = quote(stream, safe=" ")
            letters = next(folder / path for path in run.quarantine if Path(path).parent.name == own)
            with letters.open(encoding="utf-8") as file:
                first = json.loads(file.readline())
            raise InputFileError(
                f"stream {stream}: found {refused:,} rows, expected some that fit the declaration, but every "
                f"row was refused; the first: {first['source']}, row at {first['line']}: {first['reason']}; "
                f"all are in {letters.parent} until the next run",
                stream=stream,
                path=first["source"],
            )


def _numbered(files: Sequence[Path], suffix: str) -> list[Path]:
    """Rename the files of a folder to their final names, and remove other files that Spark has written."""
    named = [file.rename(file.with_name(f"part-{number:05}{suffix}")) for number, file in enumerate(files)]
    for file in named[0].parent.iterdir() if named else ():
        if file not in named:
            file.unlink()
    return named


@contextmanager
def _spark_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except SPARK_ERRORS as error:
        raise InputFileError(f"{folder}: ingesting failed: {reason(error)}", path=folder) from error
