"""The elements of a plan's input: those of its stream after the filters and projections below the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from midstream.plans.algebra.operators import Filter, Project, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.expressions.expressions import Col, compile_row, compile_rows
from midstream.plans.values.schema import Type
from midstream.scenarios.studies.inputs import PlanInput
from midstream.scenarios.studies.raw_files import SPARK_TYPES
from midstream.scenarios.studies.recording import TIME, Recording, payload

ARROW_TYPES = {
    Type.INTEGER: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOLEAN: pa.bool_(),
}


def elements_of(recording: Recording, one: PlanInput) -> DataFrame:
    """The elements of an input, with the column `time` and the payload as c0, c1, …"""
    frame = recording.frames[one.stream.name]
    nodes = list(one.chain.walk())
    positions = {name: one.stream.columns.index(name) for name in nodes[0].schema.names}
    renamings = _renamings(nodes[1:])
    if renamings is not None:
        for names in renamings:
            positions = {new: positions[old] for new, old in names}
        return _selected(frame, positions.values())
    text = dumps(Plan(one.chain))
    schema = ", ".join(
        [f"{TIME} long"]
        + [f"{payload(i)} {SPARK_TYPES[c.type].simpleString()}" for i, c in enumerate(one.chain.schema)]
    )
    return _selected(frame, positions.values()).mapInArrow(lambda batches: compute(batches, text), schema)


def _selected(frame: DataFrame, positions: Any) -> DataFrame:
    return frame.select(TIME, *(F.col(payload(old)).alias(payload(new)) for new, old in enumerate(positions)))


def _renamings(nodes: Sequence[Node]) -> list[list[tuple[str, str]]] | None:
    """The new and old names in each projection; None where anything else than renaming is done."""
    found = []
    for node in nodes:
        operator = logical(node)
        if not isinstance(operator, Project):
            return None
        names = [(name, e.name) for name, e in operator.columns if isinstance(e, Col)]
        if len(names) < len(operator.columns):
            return None
        found.append(names)
    return found


def compute(batches: Iterator[pa.RecordBatch], chain: str) -> Iterator[pa.RecordBatch]:
    """Run filters and projections, given as a plan's JSON text, on batches of (time, payload columns…)."""
    node = loads(chain).root
    step = compiled(node)
    fields = [(TIME, pa.int64())] + [(payload(i), ARROW_TYPES[c.type]) for i, c in enumerate(node.schema)]
    for batch in batches:
        times, *columns = (column.to_pylist() for column in batch.columns)
        rows = list(step(zip(times, zip(*columns, strict=True), strict=True)))
        values = [[time for time, _ in rows], *([row[i] for _, row in rows] for i in range(len(node.schema)))]
        arrays = [pa.array(value, type=kind) for value, (_, kind) in zip(values, fields, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


Timed = tuple[int, tuple[Any, ...]]
"""When an element starts, and its payload."""


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
