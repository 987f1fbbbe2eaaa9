"""Count the facts that the cost model needs of a plan's inputs, bucket by bucket.

Values are counted where they lie; of each bucket only a bounded number comes to one place. So it does not
matter how many elements a bucket has, or how many different values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.plans.algebra.plan import Node
from midstream.plans.values.schema import Schema, Type
from midstream.scenarios.recordings.derived import elements_of
from midstream.scenarios.recordings.pricing import InputFacts
from midstream.scenarios.recordings.recording import TIME, Recording, floor_to, payload, text_of
from midstream.scenarios.recordings.remaining_values import GroupTotal, spread_remaining
from midstream.scenarios.streams.recorded.inputs import Group, PlanInput, Question

SAMPLE = 256
"""The number of rows of a bucket on which conditions are tried, in place of all rows."""

MOST_VALUES = 1000
"""The most values of a group of columns that are kept of a bucket.

Up to this number, Spark looks for the first ones before it shuffles
(spark.sql.window.group.limit.threshold).
"""

ROW, TOTAL, VALUE = "row", "total", "value"
"""Kinds of facts: an element's payload, the totals of a group of columns, one value of such a group."""

ELEMENTS = -1
"""The number of a group in which all elements of all inputs have one value: so elements are counted."""

SPARK_PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.INTEGER: int,
    Type.FLOAT: float,
    Type.STRING: str,
    Type.BOOLEAN: "true".__eq__,
}
"""Parsers of values that Spark wrote as texts."""


def gather(
    recording: Recording,
    inputs: Sequence[PlanInput],
    asked: Sequence[Question],
    groups: Sequence[Group],
    most_values: int = MOST_VALUES,
    fullest: Sequence[int] | None = None,
) -> DataFrame:
    """Count the facts of every bucket, in one row (start, facts) each; `read_facts` reads them.

    fullest  by input, the most elements that start in any bucket, if known. Where all are at most
             `most_values`, values are counted once, else twice

    Cost     A shuffle of as many rows as there are different values in each bucket, and one of the sampled
             rows. Of one bucket come to one place at most `most_values` values of each group, or as many
             elements of each input where none has more; and SAMPLE rows of each input.
    """
    bucketed = [
        elements_of(recording, one).withColumn("start", floor_to(F.col(TIME), recording.bucket))
        for one in inputs
    ]
    every = _facts_of(bucketed, inputs, asked, groups, most_values, fullest or _counts(recording, inputs))
    return recording.buckets().join(every, "start", "left")


def gather_all(
    recording: Recording,
    inputs: Sequence[PlanInput],
    asked: Sequence[Question],
    groups: Sequence[Group],
    most_values: int = MOST_VALUES,
) -> DataFrame:
    """The facts of the whole time, as one bucket; no row where there are no elements."""
    elements = [elements_of(recording, one).withColumn("start", F.lit(0).cast("long")) for one in inputs]
    return _facts_of(elements, inputs, asked, groups, most_values, _counts(recording, inputs))


def _counts(recording: Recording, inputs: Sequence[PlanInput]) -> list[int]:
    """The most elements of each input; filters drop some."""
    return [recording.totals[one.stream.name].count for one in inputs]


def _facts_of(
    elements: Sequence[DataFrame],
    inputs: Sequence[PlanInput],
    asked: Sequence[Question],
    groups: Sequence[Group],
    most_values: int,
    fullest: Sequence[int],
) -> DataFrame:
    chains = [one.chain for one in inputs]
    values = [
        _values(frame, i, question, chains, groups)
        for i, (frame, question) in enumerate(zip(elements, asked, strict=True))
        if question.is_counted or any(member.input == i for group in groups for member in group)
    ]
    one_by_one = reduce(DataFrame.unionAll, values)
    if max(fullest) <= most_values:
        # What may come to one place comes there at once.
        one_by_one = one_by_one.repartition("start")
    counted = _counted(one_by_one, max(len(inputs), _width(groups)))
    # Where there are no more elements than values that are kept, no value is left out.
    leaves_out = any(sum(fullest[member.input] for member in group) > most_values for group in groups)
    told = [_told(counted)]
    if leaves_out:
        told = [_heaviest(counted, most_values), _totals(counted, _width(groups), most_values)]
    sampled = [
        _sampled(frame, i, len(chains[i].schema))
        for i, (frame, question) in enumerate(zip(elements, asked, strict=True))
        if question.is_sampled
    ]
    every = reduce(DataFrame.unionAll, [*told, *sampled])
    # Sorted, so that nothing depends on which partition was read first.
    facts = F.sort_array(F.collect_list(F.struct("about", "number", "texts", "counts"))).alias("facts")
    return every.groupBy("start").agg(facts)


def read_facts(
    facts: Sequence[Mapping[str, Any]] | None, nodes: Sequence[Node], groups: Sequence[Group]
) -> dict[Node, InputFacts]:
    """The facts of one bucket; None stands for a bucket without elements."""
    return dict(zip(nodes, read_in_order(facts, nodes, groups), strict=True))


def read_in_order(
    facts: Sequence[Mapping[str, Any]] | None, nodes: Sequence[Node], groups: Sequence[Group]
) -> list[InputFacts]:
    """The facts of inputs in their order; some of the inputs may be equal."""
    kept: dict[int, dict[str, Sequence[int]]] = {}
    totals: dict[int, GroupTotal] = {}
    rows: list[list[tuple[Any, ...]]] = [[] for _ in nodes]
    for fact in facts or ():
        number, texts, counts = fact["number"], fact["texts"], fact["counts"]
        if fact["about"] == ROW:
            rows[number].append(parsed_row(texts, nodes[number].schema))
        elif fact["about"] == VALUE:
            kept.setdefault(number, {})[texts[0]] = counts
        else:
            totals[number] = _read_total(counts, _width(groups), len(groups[number]))
    (elements,) = kept.pop(ELEMENTS, {"": [0] * len(nodes)}).values()
    frequencies: list[dict[str, dict[Any, float]]] = [{} for _ in nodes]
    own: list[dict[str, dict[Any, float]]] = [{} for _ in nodes]
    distinct: list[dict[str, int]] = [{} for _ in nodes]
    for number, counted in kept.items():
        group, total = groups[number], totals.get(number)
        heaviest_first = sorted(counted.items(), key=lambda one: (-sum(one[1]), one[0]))
        counts = [each[: len(group)] for _, each in heaviest_first]
        shown = None if total is None else spread_remaining(counts, total)
        for i, member in enumerate(group):
            parse = _parser(group, member.type)
            values = [parse(text) for text, _ in heaviest_first]
            known = _column(values, counts, i)
            own[member.input][member.column] = known
            frequencies[member.input][member.column] = known if shown is None else _column(values, shown, i)
            distinct[member.input][member.column] = len(known) if total is None else total.distinct[i]
    return [InputFacts(elements[i], frequencies[i], rows[i], distinct[i], own[i]) for i in range(len(nodes))]


def _column(values: Sequence[Any], counts: Sequence[Sequence[float]], member: int) -> dict[Any, float]:
    return {value: n for value, each in zip(values, counts, strict=True) if (n := each[member])}


def _width(groups: Sequence[Group]) -> int:
    return max(map(len, groups), default=0)


def parsed_row(texts: Sequence[str | None], schema: Schema) -> tuple[Any, ...]:
    """A row whose values Spark wrote as texts."""
    return tuple(
        None if text is None else SPARK_PARSERS[column.type](text)
        for text, column in zip(texts, schema.columns, strict=True)
    )


def _parser(group: Group, type_: Type) -> Callable[[str], Any]:
    # Where integers are compared with floats, they were written as floats.
    if type_ is Type.INTEGER and _has_floats(group):
        return lambda text: int(float(text))
    return SPARK_PARSERS[type_]


def _read_total(counts: Sequence[int], width: int, members: int) -> GroupTotal:
    agreeing = zip(combinations(range(width), 2), counts[2 * width :], strict=True)
    return GroupTotal(
        elements=tuple(counts[:members]),
        distinct=tuple(counts[width : width + members]),
        agreeing={pair: n for pair, n in agreeing if pair[1] < members},
    )


def _has_floats(group: Group) -> bool:
    return any(member.type is Type.FLOAT for member in group)


def _values(
    elements: DataFrame, number: int, asked: Question, chains: Sequence[Node], groups: Sequence[Group]
) -> DataFrame:
    """A row for each element, if it is counted, and one for each known value of its columns in a group."""
    facts = [_value(ELEMENTS, number, F.lit(""))] if asked.is_counted else []
    for place, group in enumerate(groups):
        for i, member in enumerate(group):
            if member.input == number:
                value = F.col(payload(chains[number].schema.index(member.column)))
                text = text_of(value, with_floats=_has_floats(group))
                facts.append(F.when(value.isNotNull(), _value(place, i, text)))
    exploded = elements.select("start", F.explode(F.array(*facts)).alias("fact"))
    return exploded.where("fact IS NOT NULL").select("start", "fact.*")


def _value(number: int, member: int, text: Value) -> Value:
    return F.struct(F.lit(number).alias("number"), F.lit(member).alias("member"), text.alias("text"))


def _counted(values: DataFrame, width: int) -> DataFrame:
    """The counts of each bucket, group and value: one for each member of the group."""
    # count_if makes names of its own, by which Spark fails to see that what is read twice is the same.
    counts = F.array(*(F.count(F.when(F.col("member") == i, True)) for i in range(width)))
    return values.groupBy("start", "number", "text").agg(counts.alias("counts"))


def _heaviest(counted: DataFrame, most: int) -> DataFrame:
    """The values that most elements have, the first ones among equally frequent values."""
    elements = F.aggregate("counts", F.lit(0).cast("long"), lambda total, n: total + n)
    order = Window.partitionBy("start", "number").orderBy(elements.desc(), "text")
    return _told(counted.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= most))


def _told(counted: DataFrame) -> DataFrame:
    """The facts of all values that were counted."""
    return _facts(counted, VALUE, F.col("number"), F.array("text"), F.col("counts"))


def _totals(counted: DataFrame, width: int, most: int) -> DataFrame:
    """The totals of each group of which not all values are kept.

    They are each member's elements and different values, and for two members the agreeing pairs of elements.
    """
    column = [F.col("counts")[i] for i in range(width)]
    sums = [F.sum(one) for one in column]
    distinct = [F.count_if(one > 0) for one in column]
    agreeing = [F.sum(column[i] * column[j]) for i, j in combinations(range(width), 2)]
    # No condition on what was counted: it would be pushed below, and all would be counted twice.
    of_groups = counted.groupBy("start", "number")
    totals = of_groups.agg(F.count("*").alias("values"), F.array(*sums, *distinct, *agreeing).alias("counts"))
    none = F.array().cast("array<string>")
    cast = F.col("counts").cast("array<long>")
    return _facts(totals.where(F.col("values") > most), TOTAL, F.col("number"), none, cast)


def _sampled(elements: DataFrame, number: int, width: int) -> DataFrame:
    """Some rows of each bucket, chosen by their content, so that the choice does not depend on partitions."""
    columns = [TIME, *map(payload, range(width))]
    order = Window.partitionBy("start").orderBy(F.xxhash64(*columns), *columns)
    chosen = elements.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= SAMPLE)
    texts = F.array(*(F.col(payload(i)).cast("string") for i in range(width))).cast("array<string>")
    return _facts(chosen, ROW, F.lit(number), texts, F.array().cast("array<long>"))


def _facts(frame: DataFrame, about: str, number: Value, texts: Value, counts: Value) -> DataFrame:
    return frame.select(
        "start",
        F.lit(about).alias("about"),
        number.alias("number"),
        texts.alias("texts"),
        counts.alias("counts"),
    )
