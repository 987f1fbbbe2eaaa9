"""A stage of a study, declared once: options, work, files, and a report for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import ConfigDict, Field

from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.contents import Report
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.run.request import Request

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from midstream.scenarios.studies.ingest.feeds import Feed
    from midstream.scenarios.studies.recording import Recording

T = TypeVar("T")


class Options(Strict):
    """Options of a stage.

    A field is a key in a study file, an option of the stage's command and an argument in Python; its
    description is the help of all three.
    """

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))


PlanFile = Annotated[
    str | None, Field(description="A JSON file with the plan; by default the declared query.")
]


def listed(value: Any) -> Any:
    """A list of a sequence, or of one value that may stand for itself."""
    if isinstance(value, str | int | float):
        return [value]
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Outcome:
    """Results of a stage besides its files, as plain data for JSON.

    summary             printed by the stage's command with --json
    drawn               data of the pictures, where the summary does not have them
    rows_in, rows_out   rows read and rows written
    """

    summary: dict[str, Any]
    drawn: dict[str, Any] = field(default_factory=dict)
    rows_in: int = 0
    rows_out: int = 0


class Work:
    """Tools of a stage at work: Spark, the recorded streams, and folders.

    request   study and options' surroundings of the stage under way
    feeds     the files behind the streams, for ingestion
    study     the streams as they are read by now
    folder    holds a folder of each stage, by its name
    place     takes the files of the stage under way; it becomes the stage's folder once the stage is done
    tell      shows progress
    """

    def __init__(
        self,
        spark: SparkSession,
        request: Request,
        feeds: Sequence[Feed],
        folder: Path,
        tell: Callable[[str], None],
    ) -> None:
        self.spark = spark
        self.request = request
        self.feeds = feeds
        self.study = request.study
        self.folder = folder
        self.place = folder
        self.tell = tell
        self._streams, self._results = ExitStack(), ExitStack()
        self._recording: Recording | None = None

    @property
    def recording(self) -> Recording:
        """The recorded streams, read once and checked for all stages that need them."""
        from midstream.scenarios.studies.recording import open_recording

        if self._recording is None:
            self.tell("reading the streams")
            opened = open_recording(self.spark, self.study, self.request.bucket)
            self._recording = self._streams.enter_context(opened)
        return self._recording

    def hold(self, resource: AbstractContextManager[T]) -> T:
        """Enter a context until `release` leaves it."""
        return self._results.enter_context(resource)

    def release(self) -> None:
        """Release the results of the stage under way, once they have been written."""
        self._results.close()

    def read_from(self, study: Study) -> None:
        """Read the streams from now on as this study declares them."""
        self.close()
        self._recording, self.study = None, study

    def close(self) -> None:
        """Release all data in Spark's memory."""
        self.release()
        self._streams.close()

    @property
    def elements(self) -> int:
        """Number of elements of all streams together."""
        return sum(total.count for total in self.recording.totals.values())


@dataclass(frozen=True)
class Stage:
    """One step of a study.

    options    its options
    run        does the work; gives the result, for programs and for `write`, and the outcome
    tell       makes a report of an outcome
    write      writes the result into a folder; empty for a stage that writes while it works
    files      names that `write` replaces there
    pictures   names of the pictures that a report may have
    reads      names of options that name files
    depends    all that the result depends on besides the streams, the options and the stages before, as plain
               data
    check      raises errors of options before anything runs
    after      names of stages whose results it uses, where a study has them
    adds       True if it adds to its folder; else the folder is replaced
    ready      prepares the stages behind it, also where the stage itself need not run again
    help       of its command: the first line says what it does
    examples   calls of its command
    """

    name: str
    options: type[Options]
    run: Callable[[Work, Any], tuple[Any, Outcome]]
    tell: Callable[[Study, Outcome], Report]
    write: Callable[[Any, Outcome, Path], None] = lambda result, outcome, folder: None
    files: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    depends: Callable[[Request, Any], Any] = lambda request, options: request.part
    check: Callable[[Request, Any], None] = lambda request, options: None
    after: tuple[str, ...] = ()
    adds: bool = False
    ready: Callable[[Work], None] = lambda work: None
    help: str = ""
    examples: tuple[str, ...] = ()
