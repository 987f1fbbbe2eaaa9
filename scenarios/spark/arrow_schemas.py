"""Types of columns in Arrow, and schemas for Spark of frames that executors make by Arrow."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from midstream.plans.values.schema import Schema, Type

ARROW_TYPES: Mapping[Type, pa.DataType] = {
    Type.INTEGER: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOLEAN: pa.bool_(),
}


def payload_field(columns: Schema) -> list[pa.Field]:
    """The field that holds all columns of a payload; none for a payload without columns."""
    inner = [pa.field(column.name, ARROW_TYPES[column.type]) for column in columns]
    return [pa.field("payload", pa.struct(inner))] if inner else []


def spark_schema(schema: pa.Schema) -> StructType:
    """The schema's columns as Spark names them, for `mapInArrow`."""
    return from_arrow_schema(schema)
