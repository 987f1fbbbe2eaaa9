"""The elements of a plan's input: those of its stream after filters and projections below the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from midstream.plans.algebra.operators import Filter, Project, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.expressions.expressions import Col, compile_row, compile_rows
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.recording import TIME, Recording, payload
from midstream.scenarios.spark.arrow_schemas import ARROW_TYPES, spark_schema
from midstream.scenarios.streams.recorded.inputs import PlanInput
from midstream.scenarios.streams.recorded.renaming import only_names


def elements_of(recording: Recording, plan_input: PlanInput) -> DataFrame:
    """The elements of an input, with the column `time` and the payload in columns c0, c1 and so on."""
    frame = recording.frames[plan_input.stream.name]
    nodes = list(plan_input.chain.walk())
    positions = {name: plan_input.stream.columns.index(name) for name in nodes[0].schema.names}
    if all(map(only_names, nodes[1:])):
        for node in nodes[1:]:
            operator = logical(node)
            assert isinstance(operator, Project)
            positions = {new: positions[old.name] for new, old in operator.columns if isinstance(old, Col)}
        return _selected(frame, positions.values())
    text = dumps(Plan(plan_input.chain))
    schema = spark_schema(_timed(plan_input.chain.schema))
    return _selected(frame, positions.values()).mapInArrow(lambda batches: compute(batches, text), schema)


def _selected(frame: DataFrame, positions: Any) -> DataFrame:
    return frame.selectExpr(TIME, *(f"{payload(old)} AS {payload(new)}" for new, old in enumerate(positions)))


def compute(batches: Iterator[pa.RecordBatch], chain: str) -> Iterator[pa.RecordBatch]:
    """Run filters and projections, given as a plan's JSON text, on batches of (time, payload columns…)."""
    node = loads(chain).root
    step = compiled(node)
    schema = _timed(node.schema)
    for batch in batches:
        times, *columns = (column.to_pylist() for column in batch.columns)
        rows = list(step(zip(times, zip(*columns, strict=True), strict=True)))
        values = [[time for time, _ in rows], *([row[i] for _, row in rows] for i in range(len(node.schema)))]
        yield pa.RecordBatch.from_arrays(list(map(pa.array, values, schema.types)), schema=schema)


def _timed(columns: Schema) -> pa.Schema:
    payloads = [(payload(i), ARROW_TYPES[column.type]) for i, column in enumerate(columns)]
    return pa.schema([(TIME, pa.int64()), *payloads])


Timed = tuple[int, tuple[Any, ...]]
"""The start of an element, and its payload."""


def compiled(node: Node) -> Callable[[Iterator[Timed]], Iterator[Timed]]:
    """A function from the timed rows of the source to those of a node."""
    operator = logical(node)
    if isinstance(operator, Source):
        return lambda rows: rows
    (child,) = node.inputs
    below = compiled(child)
    if isinstance(operator, Filter):
        holds = compile_row(operator.condition, child.schema)
        return lambda rows: ((time, row) for time, row in below(rows) if holds(row))
    assert isinstance(operator, Project)
    values = compile_rows([expression for _, expression in operator.columns], child.schema)
    return lambda rows: ((time, values(row)) for time, row in below(rows))
