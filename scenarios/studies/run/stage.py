"""A stage of a study: what it may be told, what it does, and what it says of that, in sentences, tables and
pictures for a page or for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.declaration import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import SparkSession

    from midstream.scenarios.studies.recording import Recording
    from midstream.scenarios.studies.run.study_file import StudyFile


@dataclass(frozen=True)
class Found:
    """What a stage leaves behind besides its files, as plain data for JSON.

    summary    what the stage's own command prints with --json
    drawn      what pictures need besides
    rows_in    how many rows went in, and `rows_out` how many came out
    """

    summary: dict[str, Any]
    drawn: dict[str, Any] = field(default_factory=dict)
    rows_in: int = 0
    rows_out: int = 0


class Work:
    """What stages work with: Spark, the streams as they are to be read by now, and a folder.

    folder    where each stage has a folder of its own, by its name
    place     where the stage under way writes; it becomes its folder once the stage is done
    tell      is told what is under way
    """

    def __init__(
        self, spark: SparkSession, file: StudyFile, folder: Path, tell: Callable[[str], None]
    ) -> None:
        self.spark = spark
        self.file = file
        self.folder = folder
        self.place = folder
        self.tell = tell
        self.study = file.study
        self._open = ExitStack()
        self._recording: Recording | None = None

    @property
    def recording(self) -> Recording:
        """The recorded streams, read once and checked for all stages that need them."""
        from midstream.scenarios.studies.recording import open_recording

        if self._recording is None:
            self.tell("reading the streams")
            opened = open_recording(self.spark, self.study, self.file.bucket)
            self._recording = self._open.enter_context(opened)
        return self._recording

    def read_from(self, study: Study) -> None:
        """From now on the streams are read as this study declares them."""
        self.close()
        self._recording, self.study = None, study

    def close(self) -> None:
        """Leave nothing in the session's memory."""
        self._open.close()

    @property
    def elements(self) -> int:
        """How many elements the streams have together."""
        return sum(total.count for total in self.recording.totals.values())


@dataclass(frozen=True)
class Table:
    """Rows of texts under titles.

    texts    how many of the first columns hold words; the others hold numbers
    note     what is said below
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it shows in words.

    name             tells it from the others of its stage
    has_own_ground   whether it has colours of its own, and not those of the page
    """

    name: str
    title: str
    caption: str
    words: Sequence[str]
    draw: Callable[[], Figure]
    has_own_ground: bool = False


@dataclass(frozen=True)
class Told:
    """What a stage found.

    advice    what to do about it, the most important first; empty where that is for other stages to say
    facts     the rest in few sentences
    holds     whether the answer is yes, where the stage answers a question
    """

    facts: Sequence[str] = ()
    advice: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    holds: bool = True


@dataclass(frozen=True)
class Stage:
    """One step of a study.

    options    what a study file may say of it
    run        does the work, writes into `Work.place`
    adds       whether it adds to what is in its folder; else the folder is replaced
    told       what is said of a summary, and of what is drawn
    reads      what the result depends on besides the streams, its options and the stages before, as plain
               data: the length of buckets, the query, or files
    check      finds what is wrong with the options, before anything runs
    after      the stages whose results it uses, where a study has them
    ready      what the stages behind it must know, done also where the stage itself need not run again
    """

    name: str
    options: type[Strict]
    run: Callable[[Work, Any], Found]
    told: Callable[[StudyFile, Found], Told]
    reads: Callable[[StudyFile, Any], Any] = lambda file, options: file.part
    check: Callable[[StudyFile, Any], None] = lambda file, options: None
    after: tuple[str, ...] = ()
    adds: bool = False
    ready: Callable[[Work], None] = lambda work: None
