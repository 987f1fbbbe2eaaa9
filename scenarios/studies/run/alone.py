"""Run one stage alone, for its command and for its function in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from midstream.scenarios.simulator.faults import described
from midstream.scenarios.simulator.yaml_file import dotted
from midstream.scenarios.studies.contents import Report
from midstream.scenarios.studies.run.request import Request
from midstream.scenarios.studies.run.stage import Options, Outcome, Stage, Work

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
    spark: SparkSession,
    request: Request,
    options: Options,
    tell: Callable[[str], None] = lambda step: None,
) -> Iterator[Done]:
    """Run a stage on recorded streams; its results stay in Spark's memory during the block."""
    with closing(Work(spark, request, (), Path(), tell)) as work:
        result, outcome = stage.run(work, options)
        yield Done(result, outcome, stage.tell(request.study, outcome))
