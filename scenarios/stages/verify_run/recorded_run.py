"""Comparison of a run's recorded output with Spark SQL over the recorded inputs, at many instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import and_
from random import Random
from typing import Any

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from midstream.io.file_formats import FORMATS
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.plans.values.schema import Column, Schema, Type
from midstream.scenarios.recordings.raw_files import SPARK_TYPES, open_raw
from midstream.scenarios.recordings.recording import TIME, Recording, payload
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.verify_run.spark_sql import InstantGrid, SparkSql, cell_of, valid_at
from midstream.scenarios.streams.recorded.declaration import FOLDER, Study, format_of
from midstream.scenarios.streams.recorded.inputs import recorded_stream

TOLERANCE = 1e-9
"""The largest difference of equal floats, relative to the larger one."""

CELLS = 1024
"""The number of cells of time for the range join, about."""

SHOWN = 5
"""The number of differences that are shown."""

START, END = Column("start", Type.INTEGER, True), Column("end", Type.INTEGER, True)
_CORRUPT = "_corrupt_record"


@dataclass(frozen=True)
class RunCheck:
    """The result of comparing a run's output with Spark SQL.

    instants   how many instants were compared
    rows       how many rows Spark SQL has at them together
    missing    rows of Spark SQL that the output lacks
    surplus    rows of the output that Spark SQL lacks
    differing  rows whose floats differ
    examples   the first differences: the instant, Spark SQL's row, and the recorded one
    """

    instants: int
    rows: int
    missing: int
    surplus: int
    differing: int
    examples: Sequence[Mapping[str, Any]]

    @property
    def is_right(self) -> bool:
        """True if there is no difference."""
        return not (self.missing or self.surplus or self.differing)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {"is_right": self.is_right, **asdict(self)}


def check_run(
    recording: Recording,
    study: Study,
    plan: Plan,
    results: DataFrame,
    *,
    sample: int,
    instants: int,
    seed: int,
) -> RunCheck:
    """Compare results (since, until, c0, …) of a plan with Spark SQL over the recorded inputs.

    They are compared at the starts and ends of some elements of each input and of some results, one chronon
    before each of these, and at random instants. Elements that are valid at none of them are not compared.

    Cost     Each element is joined with the instants at which it is valid; then the query's work at these.
    Raises   PlanError; see `require_checkable`.
    """
    require_checkable(plan, study)
    streams = dict.fromkeys(source.stream for source in plan.sources)
    elements = [_elements(recording, study, stream) for stream in streams]
    looked_at = _instants([*elements, results], sample, instants, seed)
    if not looked_at:
        return RunCheck(0, 0, 0, 0, 0, ())
    first, last = looked_at[0], looked_at[-1]
    grid = InstantGrid(first, last, max(1, -(-(last + 1 - first) // CELLS)))
    spark = recording.spark
    frame = spark.createDataFrame([(at,) for at in looked_at], "at long")
    at = frame.withColumn("cell", F.expr(cell_of("at", grid.cell)))
    query = SparkSql(grid)
    text = query.of(plan)
    inputs: dict[str, Any] = {
        name: _input(recording, study, plan, stream) for stream, name in query.streams.items()
    }
    ended = results.withColumn("until", F.coalesce("until", F.lit(last + 1)))
    columns = [payload(i) for i in range(len(plan.schema))]
    expected = spark.sql(text, instants=at, **inputs)
    recorded = spark.sql(valid_at("SELECT * FROM {results}", columns, grid), instants=at, results=ended)
    return _compared(expected, recorded, plan.schema, len(looked_at))


def require_checkable(plan: Plan, study: Study) -> None:
    """Raise PlanError where Spark SQL cannot express a plan, or the plan reads unrecorded columns."""
    SparkSql(InstantGrid(0, 0, 1)).of(plan)
    for source in plan.sources:
        names = recorded_stream(source, study.streams).columns.names
        for column in source.columns:
            if column.name not in names:
                raise PlanError(
                    f"{source}: found column {column}, expected those declared: {', '.join(names)}"
                )


def _elements(recording: Recording, study: Study, stream: str) -> DataFrame:
    """The validity of a stream's elements by its declaration."""
    window = study.streams[stream].window
    return recording.frames[stream].select(F.col(TIME).alias("since"), (F.col(TIME) + window).alias("until"))


def _input(recording: Recording, study: Study, plan: Plan, stream: str) -> DataFrame:
    """A stream's frame with the columns that the plan reads, in their order."""
    sources = {logical(node) for node in plan.nodes if isinstance(logical(node), Source)}
    (source,) = (one for one in sources if isinstance(one, Source) and one.stream == stream)
    names = study.streams[stream].columns.names
    chosen = [F.col(payload(names.index(c.name))).alias(payload(i)) for i, c in enumerate(source.columns)]
    return recording.frames[stream].select(TIME, *chosen)


def _instants(frames: Sequence[DataFrame], sample: int, number: int, seed: int) -> list[int]:
    """The instants to compare, in order; their number at the driver does not grow with the data."""
    bounds = [frame.agg(F.min("since"), F.max(F.coalesce("until", "since"))) for frame in frames]
    found = [row for row in reduce(DataFrame.unionAll, bounds).collect() if row[0] is not None]
    if not found:
        return []
    first, last = min(row[0] for row in found) - 1, max(row[1] for row in found) + 1
    chosen = [_sample(frame, sample) for frame in frames]
    times = {time for row in reduce(DataFrame.unionAll, chosen).collect() for time in row if time is not None}
    random = Random(seed)
    some = {random.randint(first, last) for _ in range(number)}
    return sorted({*times, *(time - 1 for time in times), *some})


def _sample(frame: DataFrame, number: int) -> DataFrame:
    """Some elements, chosen so that they do not depend on how Spark has cut the frame."""
    by = F.xxhash64("since", "until")
    return frame.select("since", "until").distinct().orderBy(by, "since", "until").limit(number)


def _compared(expected: DataFrame, recorded: DataFrame, schema: Schema, instants: int) -> RunCheck:
    """Compare rows, and pair unequal rows that agree except for their floats."""
    columns = ["at", *(payload(i) for i in range(len(schema)))]
    ones = [
        side.withColumn("e", F.lit(e)).withColumn("r", F.lit(1 - e))
        for side, e in ((expected, 1), (recorded, 0))
    ]
    counts = ones[0].unionAll(ones[1]).groupBy(*columns).agg(F.sum("e").alias("e"), F.sum("r").alias("r"))
    counts = counts.persist()
    try:
        rows, unequal = counts.agg(F.coalesce(F.sum("e"), F.lit(0)), F.count_if(F.expr("e <> r"))).collect()[
            0
        ]
        if not unequal:
            return RunCheck(instants, rows, 0, 0, 0, ())
        return _paired(counts.where("e <> r"), schema, instants, rows)
    finally:
        counts.unpersist()


def _paired(unequal: DataFrame, schema: Schema, instants: int, rows: int) -> RunCheck:
    """Pair the rows that are only on one side by exact columns, then in the order of their floats."""
    floats = [payload(i) for i, column in enumerate(schema) if column.type is Type.FLOAT]
    exact = [payload(i) for i, column in enumerate(schema) if column.type is not Type.FLOAT]
    theirs = _numbered(unequal.where("e > r"), "e - r", exact, floats).alias("e")
    ours = _numbered(unequal.where("r > e"), "r - e", exact, floats).alias("r")
    same_row = [F.col(f"e.{name}").eqNullSafe(F.col(f"r.{name}")) for name in ("at", *exact, "n")]
    both = theirs.join(ours, reduce(and_, same_row), "full")
    missing, surplus = F.col("r.n").isNull(), F.col("e.n").isNull()
    close = reduce(and_, (_is_close(F.col(f"e.{one}"), F.col(f"r.{one}")) for one in floats), F.lit(True))
    differing = ~missing & ~surplus & ~close
    counted = both.agg(*(F.count_if(one) for one in (missing, surplus, differing))).collect()[0]
    lacking, extra, others = counted
    check = RunCheck(instants, rows, lacking, extra, others, ())
    if check.is_right:
        return check
    found = both.where(missing | surplus | differing).select(
        F.coalesce("e.at", "r.at").alias("at"),
        *(F.col(f"{side}.{payload(i)}").alias(f"{side}{i}") for side in "er" for i in range(len(schema))),
        missing.alias("is_missing"),
        surplus.alias("is_surplus"),
    )
    order = ["at", *(f"{side}{i}" for side in "er" for i in range(len(schema)))]
    first = [row.asDict() for row in found.orderBy(*order).limit(SHOWN).collect()]
    return replace(check, examples=tuple(_example(row, schema) for row in first))


def _numbered(frame: DataFrame, times: str, exact: Sequence[str], floats: Sequence[str]) -> DataFrame:
    """Each row so many times, with numbers for rows that agree on the exact columns.

    The numbers follow the floats, compared roughly first.
    """
    repeated = frame.withColumn("copy", F.expr(f"explode(sequence(1, {times}))"))
    order = [F.col(name).cast("float") for name in floats] + [F.col(name) for name in floats]
    numbered = Window.partitionBy("at", *exact).orderBy(*order, "copy")
    return repeated.withColumn("n", F.row_number().over(numbered))


def _is_close(one: Value, other: Value) -> Value:
    close = F.abs(one - other) <= TOLERANCE * F.greatest(F.abs(one), F.abs(other))
    return one.eqNullSafe(other) | F.coalesce(close, F.lit(False))


def _example(row: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    def side(letter: str) -> dict[str, Any]:
        return {name: row[f"{letter}{i}"] for i, name in enumerate(schema.names)}

    return {
        "at": row["at"],
        "expected": None if row["is_surplus"] else side("e"),
        "recorded": None if row["is_missing"] else side("r"),
    }


def read_results(spark: SparkSession, path: str, schema: Schema) -> DataFrame:
    """Read results that `midstream run` wrote, as (since, until, c0, …); until is null for ever.

    Raises   InputFileError, naming the file, what was found and what was expected.
    """
    form = format_of(path)
    if form is None or form == FOLDER:
        expected = ", ".join(FORMATS)
        raise InputFileError(f"{path}: expected a file of results that ends in {expected}", path=path)
    frame = _nested(spark, path, schema) if form == "json" else _flat(spark, path, form, schema)
    try:
        wrong = frame.agg(F.count("misfit"), F.min("misfit")).collect()[0]
    except SPARK_ERRORS as error:
        raise InputFileError(f"{path}: could not be read: {reason(error)}", path=path) from error
    if wrong[0]:
        raise InputFileError(f"{path}: {wrong[1]}; {wrong[0]:,} rows are not as expected", path=path)
    return frame.drop("misfit")


def _flat(spark: SparkSession, path: str, form: str, schema: Schema) -> DataFrame:
    """Results with columns for the start, the end, and each column of the row."""
    columns = {column.name: column for column in (START, END, *schema)}
    raw = open_raw(spark, path, form, columns)
    values = [raw.value(column).alias(payload(i)) for i, column in enumerate(schema)]
    misfit = F.coalesce(
        F.when(raw.unreadable.isNotNull(), F.lit("found a row that cannot be taken apart")),
        *(raw.misfit(column) for column in columns.values()),
        _misplaced(raw.value(START), raw.value(END)),
    )
    since, until = raw.value(START).alias("since"), raw.value(END).alias("until")
    return raw.frame.select(since, until, *values, misfit.alias("misfit"))


def _nested(spark: SparkSession, path: str, schema: Schema) -> DataFrame:
    """Results in JSON Lines with start, end, and the row as an object."""
    row = StructType([StructField(column.name, SPARK_TYPES[column.type]) for column in schema])
    declared = StructType(
        [
            StructField("start", LongType()),
            StructField("end", LongType()),
            StructField("row", row),
            StructField(_CORRUPT, StringType()),
        ]
    )
    open_raw(spark, path, "json", {})
    frame = spark.read.schema(declared).option("columnNameOfCorruptRecord", _CORRUPT).json(path)
    values = [F.col("row").getField(column.name).alias(payload(i)) for i, column in enumerate(schema)]
    unknown = [
        F.when(value.isNull(), F.lit(f"column {column.name}: found nothing, expected {column.type.value}"))
        for value, column in zip(values, schema, strict=True)
        if not column.nullable
    ]
    torn = F.concat(F.lit("found the line "), F.substring(_CORRUPT, 1, 200), F.lit(", expected a result"))
    start, end = F.col("start"), F.col("end")
    misfit = F.coalesce(F.when(F.col(_CORRUPT).isNotNull(), torn), *unknown, _misplaced(start, end))
    return frame.select(start.alias("since"), end.alias("until"), *values, misfit.alias("misfit"))


def _misplaced(start: Value, end: Value) -> Value:
    """The fault of a result's validity; null where there is none."""
    found = F.concat(F.lit("found a result from "), start.cast("string"), F.lit(" to "), end.cast("string"))
    return F.coalesce(
        F.when(start.isNull(), F.lit("found no start, expected an integer")),
        F.when(end <= start, F.concat(found, F.lit(", expected an end behind its start"))),
    )
