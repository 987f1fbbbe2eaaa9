"""Count what the cost model wants to know of a plan's inputs, bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.plans.algebra.operators import Filter, Project, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.expressions.expressions import Col, compile_row, compile_rows
from midstream.plans.values.schema import Schema, Type
from midstream.scenarios.studies.inputs import PlanInput, Question
from midstream.scenarios.studies.pricing import InputFacts
from midstream.scenarios.studies.raw_files import SPARK_TYPES
from midstream.scenarios.studies.recording import TIME, Recording, floor_to, payload

SAMPLE = 256
"""How many rows of a bucket stand for all where conditions are tried on rows."""

COUNT, ROW = -1, -2
"""What a fact is about, where it is not about the column of this position."""

ARROW_TYPES = {
    Type.INTEGER: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOLEAN: pa.bool_(),
}

SPARK_PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.INTEGER: int,
    Type.FLOAT: float,
    Type.STRING: str,
    Type.BOOLEAN: "true".__eq__,
}
"""How a value that Spark wrote as text is read back."""


def gather(recording: Recording, inputs: Sequence[PlanInput], asked: Sequence[Question]) -> DataFrame:
    """For every bucket, one row (start, facts); `read_facts` reads the facts.

    Cost     One shuffle of as many rows as there are different values in each bucket, and one more of the
             sampled rows. What is known of one bucket must fit into the memory of one worker.
    """
    counted, sampled = [], []
    for i, (one, question) in enumerate(zip(inputs, asked, strict=True)):
        derived = _derived(recording, one).withColumn("start", floor_to(F.col(TIME), recording.bucket))
        counted.append(_asked(derived, i, one, question))
        if question.is_sampled:
            sampled.append(_sampled(derived, i, len(one.chain.schema)))
    facts = ["input", "about", "values"]
    frequencies = reduce(DataFrame.unionAll, counted).groupBy("start", *facts).agg(F.count("*").alias("n"))
    every = reduce(DataFrame.unionAll, [frequencies, *sampled])
    # Sorted, so that nothing depends on which partition was read first.
    gathered = F.sort_array(F.collect_list(F.struct(*facts, "n"))).alias("facts")
    return recording.buckets().join(every.groupBy("start").agg(gathered), "start", "left")


def read_facts(facts: Sequence[dict[str, Any]] | None, nodes: Sequence[Node]) -> dict[Node, InputFacts]:
    """The facts of one bucket; None stands for a bucket without elements."""
    counts = dict.fromkeys(range(len(nodes)), 0)
    frequencies: list[dict[str, dict[Any, int]]] = [{} for _ in nodes]
    rows: list[list[tuple[Any, ...]]] = [[] for _ in nodes]
    for fact in facts or ():
        i, about, values = fact["input"], fact["about"], fact["values"]
        schema = nodes[i].schema
        if about == COUNT:
            counts[i] = fact["n"]
        elif about == ROW:
            rows[i].append(_parsed_row(values, schema))
        else:
            column = schema.columns[about]
            value = SPARK_PARSERS[column.type](values[0])
            known = frequencies[i].setdefault(column.name, {})
            # 0.0 and −0.0 are written differently, but they are one value.
            known[value] = known.get(value, 0) + fact["n"]
    return {node: InputFacts(counts[i], frequencies[i], rows[i]) for i, node in enumerate(nodes)}


def _parsed_row(values: Sequence[str | None], schema: Schema) -> tuple[Any, ...]:
    return tuple(
        None if value is None else SPARK_PARSERS[column.type](value)
        for value, column in zip(values, schema.columns, strict=True)
    )


def _asked(derived: DataFrame, number: int, one: PlanInput, question: Question) -> DataFrame:
    """A row for each element, and one for each known value of the columns that are asked for."""
    facts = [_fact(COUNT, [])]
    for name in question.columns:
        position = one.chain.schema.index(name)
        facts.append(
            F.when(F.col(payload(position)).isNotNull(), _fact(position, [F.col(payload(position))]))
        )
    exploded = derived.select("start", F.explode(F.array(*facts)).alias("fact")).where("fact IS NOT NULL")
    return exploded.select("start", F.lit(number).alias("input"), "fact.*")


def _fact(about: int, values: Sequence[Value]) -> Value:
    texts = F.array(*(value.cast("string") for value in values)).cast("array<string>")
    return F.struct(F.lit(about).alias("about"), texts.alias("values"))


def _sampled(derived: DataFrame, number: int, width: int) -> DataFrame:
    """Some rows of each bucket, chosen by their content, so that the choice does not depend on partitions."""
    columns = [TIME, *map(payload, range(width))]
    order = Window.partitionBy("start").orderBy(F.xxhash64(*columns), *columns)
    chosen = derived.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= SAMPLE)
    fact = _fact(ROW, [F.col(payload(i)) for i in range(width)])
    return chosen.select("start", F.lit(number).alias("input"), fact.alias("fact")).select(
        "start", "input", "fact.*", F.lit(1).cast("long").alias("n")
    )


def _derived(recording: Recording, one: PlanInput) -> DataFrame:
    """The elements of an input: those of its stream after the filters and projections below its window."""
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
    step = _compiled(node)
    fields = [(TIME, pa.int64())] + [(payload(i), ARROW_TYPES[c.type]) for i, c in enumerate(node.schema)]
    for batch in batches:
        times, *columns = (column.to_pylist() for column in batch.columns)
        rows = list(step(zip(times, zip(*columns, strict=True), strict=True)))
        values = [[time for time, _ in rows], *([row[i] for _, row in rows] for i in range(len(node.schema)))]
        arrays = [pa.array(value, type=kind) for value, (_, kind) in zip(values, fields, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


Timed = tuple[int, tuple[Any, ...]]


def _compiled(node: Node) -> Callable[[Iterator[Timed]], Iterator[Timed]]:
    """A function from the timed rows of the source to those of a node."""
    operator = logical(node)
    if isinstance(operator, Source):
        return lambda rows: rows
    (child,) = node.inputs
    below = _compiled(child)
    if isinstance(operator, Filter):
        holds = compile_row(operator.condition, child.schema)
        return lambda rows: ((time, row) for time, row in below(rows) if holds(row))
    assert isinstance(operator, Project)
    values = compile_rows([expression for _, expression in operator.columns], child.schema)
    return lambda rows: ((time, values(row)) for time, row in below(rows))
