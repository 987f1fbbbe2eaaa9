"""Run one stage alone, for its command and for its function in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from midstream.io.new_file import nothing_written
from midstream.scenarios.reports.contents import Report
from midstream.scenarios.stages.base.options import Options
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.streams.faults import described
from midstream.scenarios.streams.yaml_file import dotted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Done(NamedTuple):
    """A stage that has run: its result, for programs; the outcome as plain data; and the report."""

    result: Any
    outcome: Outcome
    report: Report


def options_of(stage: Stage, values: Mapping[str, Any], request: Request) -> Options:
    """The checked options of a stage, from values by field; None stands for the default.

    Raises   The request's error for a fault.
    """
    fields = stage.options.model_fields.items()
    given = {field.alias or name: values[name] for name, field in fields if values.get(name) is not None}
    try:
        options = stage.options.model_validate(given)
    except ValidationError as error:
        path, message = described(given, error)[0]
        raise request.error(dotted(path), message) from error
    stage.check(request, options)
    return options


@contextmanager
def ran(
    stage: Stage,
    session: SparkSession | None,
    request: Request,
    options: Options,
    output: Path | None = None,
    tell: Callable[[str], None] = lambda step: None,
) -> Iterator[Done]:
    """Run a stage and write its files; its results stay in Spark's memory during the block.

    session   Spark; None where the stage does without
    output    an existing folder for files; None for none
    """
    with closing(Work(session, request, output or Path(), tell)) as work:
        with nullcontext() if stage.adds else nothing_written():
            result, outcome = stage.run(work, options)
        if output is not None:
            tell("writing")
            stage.write(result, outcome, output)
        yield Done(result, outcome, stage.tell(request.study, outcome))
