"""A stage of a study, declared once: options, work, files, and a report for people."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from midstream.scenarios.reports.contents import Report
from midstream.scenarios.stages.base.options import Options
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.streams.recorded.declaration import Study

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from midstream.scenarios.recordings.recording import Recording

T = TypeVar("T")


STREAMS = ("study", "data", "query", "since", "until")
"""Parameters of commands that say which streams are studied."""


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

    session   Spark; None where a stage is to do without
    request   study and options' surroundings of the stage under way
    study     the streams as they are read by now
    folder    holds a folder of each stage, by its name
    place     takes the files of the stage under way; it becomes the stage's folder once the stage is done
    tell      shows progress
    """

    def __init__(
        self,
        session: SparkSession | None,
        request: Request,
        folder: Path,
        tell: Callable[[str], None],
    ) -> None:
        self.session = session
        self.request = request
        self.study = request.study
        self.folder = folder
        self.place = folder
        self.tell = tell
        self._streams, self._results = ExitStack(), ExitStack()
        self._recording: Recording | None = None

    @property
    def spark(self) -> SparkSession:
        """The session of Spark, for stages that cannot do without."""
        assert self.session is not None
        return self.session

    @property
    def recording(self) -> Recording:
        """The recorded streams, read once and checked for all stages that need them."""
        from midstream.scenarios.recordings.recording import open_recording

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
    adds       True if it works in its folder and adds to it; else the folder is replaced
    asks       common parameters of its command: those of STREAMS, and `bucket`; without `study` it reads no
               streams and can do without Spark
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
    asks: tuple[str, ...] = (*STREAMS, "bucket")
    ready: Callable[[Work], None] = lambda work: None
    help: str = ""
    examples: tuple[str, ...] = ()
