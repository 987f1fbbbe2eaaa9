"""Run the stages of a study in order, and skip those whose results are complete."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.spark.writing import new_folder
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.run.records import (
    Record,
    key_of,
    only_runner,
    read_record,
    remove_record,
    write_record,
)
from midstream.scenarios.stages.run.report import write_report
from midstream.scenarios.stages.run.run_log import RunLog, versions
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile
from midstream.scenarios.stages.run.study_run import Status, StudyRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_study(
    start: Callable[[], AbstractContextManager[SparkSession]],
    file: StudyFile,
    folder: Path,
    *,
    again: bool = False,
    tell: Callable[[str], None] = lambda step: None,
) -> StudyRun:
    """Run the stages of a study, and write the log and the page.

    start    starts Spark; called only where a stage has something to do
    again    run all stages, also those whose results are complete
    tell     shows progress

    Raises   MidstreamError: where a stage fails, those before it are complete.
    """
    folder = folder.absolute()  # Spark may have another working folder
    with only_runner(folder):
        log = RunLog(folder)
        if again:
            for name in file.stages:
                remove_record(folder, name)
                shutil.rmtree(folder / name, ignore_errors=True)
        done = _run_all(start, file, folder, log, tell)
        tell("writing the report")
        write_report(done)
        return done


def _run_all(
    start: Callable[[], AbstractContextManager[SparkSession]],
    file: StudyFile,
    folder: Path,
    log: RunLog,
    tell: Callable[[str], None],
) -> StudyRun:
    records: dict[str, Record] = {}
    statuses: dict[str, Status] = {}
    ready: list[Stage] = []
    with ExitStack() as stack:
        working: Work | None = None
        for number, (name, options) in enumerate(file.stages.items(), 1):
            stage = STAGES[name]
            place, request = f"{number} of {len(file.stages)}, {name}", file.request(name)
            key = _key(file, stage, options, records)
            record = read_record(folder, name)
            if record is not None and record.key == key:
                log.add(name, "unchanged")
                statuses[name] = "unchanged"
            else:
                if working is None:
                    tell("starting Spark")
                    spark = stack.enter_context(start())
                    working = stack.enter_context(closing(Work(spark, request, folder, tell)))
                    for earlier in ready:
                        earlier.ready(working)
                tell(place)
                working.request = request
                working.tell = lambda step, place=place: tell(f"{place}: {step}")  # type: ignore[misc]
                record = _run_stage(working, stage, options, key, log)
                statuses[name] = "done"
            records[name] = record
            ready.append(stage)
            if working is not None:
                stage.ready(working)
    return StudyRun(file, folder, records, statuses)


def _run_stage(working: Work, stage: Stage, options: Any, key: str, log: RunLog) -> Record:
    folder = working.folder
    remove_record(folder, stage.name)
    with log.timed(stage.name, versions=versions()) as outcomes, _spark_errors(stage.name):
        if stage.adds:
            working.place = folder / stage.name
            working.place.mkdir(exist_ok=True)
            outcomes.append(_run_and_write(working, stage, options))
        else:
            with new_folder(folder / stage.name) as working.place:
                outcomes.append(_run_and_write(working, stage, options))
        return write_record(folder, stage.name, key, outcomes[0])


def _run_and_write(working: Work, stage: Stage, options: Any) -> Outcome:
    result, outcome = stage.run(working, options)
    stage.write(result, outcome, working.place)
    working.release()
    return outcome


def _key(file: StudyFile, stage: Stage, options: Any, records: Mapping[str, Record]) -> str:
    """A digest of all that the result of a stage depends on."""
    return key_of(
        midstream=version("midstream"),
        stage=stage.name,
        declared=file.declared,
        options=options.model_dump(mode="json"),
        reads=stage.depends(file.request(stage.name), options),
        inputs=None if "ingest" in records else file.inputs(),
        before={name: records[name].key for name in stage.after if name in records},
    )


@contextmanager
def _spark_errors(stage: str) -> Iterator[None]:
    """Turn Spark's errors into MidstreamError."""
    from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason

    try:
        yield
    except SPARK_ERRORS as error:
        told = reason(error)
        # Of what went wrong in a Python worker, the last line of the traceback.
        last = re.search(r".*\s(\w[\w.]*: .*)", told) if "Traceback" in told else None
        raise MidstreamError(f"stage {stage}: Spark failed: {last[1] if last else told}") from error
