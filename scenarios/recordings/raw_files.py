"""Files as Spark data frames whose values are checked against declared types, whatever the format.

CSV has only texts, so this module finds texts that are no values of the declared type. JSON and Parquet have
types, and Spark finds the values that do not fit. In a nullable column of a CSV file, nothing stands for
None, as elsewhere in Midstream, and so do the words that the declaration names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from glob import glob

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Column, Type, suggest
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason

SPARK_TYPES: Mapping[Type, DataType] = {
    Type.INTEGER: LongType(),
    Type.FLOAT: DoubleType(),
    Type.STRING: StringType(),
    Type.BOOLEAN: BooleanType(),
}

READABLE: Mapping[Type, tuple[type[DataType], ...]] = {
    Type.INTEGER: (LongType, IntegerType, ShortType, ByteType),
    Type.FLOAT: (DoubleType, FloatType, LongType, IntegerType, ShortType, ByteType),
    Type.STRING: (StringType,),
    Type.BOOLEAN: (BooleanType,),
}
"""The types of Parquet columns that can be read as each type."""

NUMBERS: Mapping[Type, str] = {
    Type.INTEGER: r"^\s*[+-]?[0-9]+\s*$",
    Type.FLOAT: r"^\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*$",
}

_UNREADABLE = "_corrupt_record"


@dataclass(frozen=True)
class RawFile:
    """The rows of a file.

    frame      all rows
    value      a column's value in its type; null where there is none, or none of this type
    text       a column's value as it stands in the file, for messages
    unreadable the text of a row that could not be parsed; null for others
    unknown    texts that stand for None in nullable columns
    """

    frame: DataFrame
    value: Callable[[Column], Value]
    text: Callable[[Column], Value]
    unreadable: Value
    unknown: tuple[str, ...] = ("",)

    def misfit(self, column: Column) -> Value:
        """The fault of a column's value, in words; null where there is none."""
        value, text = self.value(column), self.text(column)
        is_unknown = text.isNull() | text.isin(*self.unknown) if column.nullable else F.lit(False)
        found = f"column {column.name}: found "
        expected = f", expected {column.type.value}" + (
            f"{''.join(f', {word}' for word in self.unknown if word)} or nothing" if column.nullable else ""
        )
        of_text = F.concat(F.lit(f"{found}'"), text, F.lit(f"'{expected}"))
        message = F.coalesce(of_text, F.lit(f"{found}nothing{expected}"))
        return F.when(value.isNull() & ~is_unknown, message)


def open_raw(
    spark: SparkSession, path: str, form: str, columns: Mapping[str, Column], unknown: tuple[str, ...] = ()
) -> RawFile:
    """Open a file of some format (csv, json, parquet) that has at least the given columns.

    unknown    texts that stand for a missing value in CSV, besides nothing

    Raises   InputFileError where there is no such file, where it is of another format, or lacks a column.
    """
    if "://" not in path and not glob(path) and not os.path.exists(path):
        raise InputFileError(f"{path}: found no such file", path=path)
    try:
        return READERS[form](spark, path, columns, ("", *unknown))
    except SPARK_ERRORS as error:
        raise InputFileError(f"{path}: found no readable {form} file: {reason(error)}", path=path) from error


def _open_csv(
    spark: SparkSession, path: str, columns: Mapping[str, Column], unknown: tuple[str, ...]
) -> RawFile:
    reader = spark.read.option("header", True).option("encoding", "UTF-8")
    names = reader.csv(path).columns
    _require(path, names, columns)
    # All columns and the whole line are asked for: only so is a line with too few or too many fields found.
    fields = [StructField(name, StringType()) for name in (*names, _UNREADABLE)]
    frame = (
        reader.schema(StructType(fields))
        .option("enforceSchema", False)
        .option("columnNameOfCorruptRecord", _UNREADABLE)
        .csv(path)
    )

    # Each part of an expression is a call of Java.
    @cache
    def text(column: Column) -> Value:
        return F.coalesce(_quoted(column.name), F.lit(""))

    @cache
    def value(column: Column) -> Value:
        parsed = _parsed(text(column), column.type)
        return F.when(~text(column).isin(*unknown), parsed) if column.nullable else parsed

    return RawFile(frame, value, text, F.col(_UNREADABLE), unknown)


def _open_json(
    spark: SparkSession, path: str, columns: Mapping[str, Column], unknown: tuple[str, ...]
) -> RawFile:
    fields = [StructField(name, SPARK_TYPES[column.type]) for name, column in columns.items()]
    schema = StructType([*fields, StructField(_UNREADABLE, StringType())])
    frame = spark.read.schema(schema).option("columnNameOfCorruptRecord", _UNREADABLE).json(path)
    return RawFile(frame, _typed, _as_text, F.col(_UNREADABLE))


def _open_parquet(
    spark: SparkSession, path: str, columns: Mapping[str, Column], unknown: tuple[str, ...]
) -> RawFile:
    frame = spark.read.parquet(path)
    _require(path, frame.columns, columns)
    for name, column in columns.items():
        found = frame.schema[name].dataType
        if not isinstance(found, READABLE[column.type]):
            raise InputFileError(
                f"{path}, column {name}: found {found.simpleString()}, expected {column.type.value}",
                path=path,
            )
    return RawFile(frame, _typed, _as_text, F.lit(None).cast("string"))


READERS: Mapping[str, Callable[[SparkSession, str, Mapping[str, Column], tuple[str, ...]], RawFile]] = {
    "csv": _open_csv,
    "json": _open_json,
    "parquet": _open_parquet,
}


def _require(path: str, found: list[str], columns: Mapping[str, Column]) -> None:
    for name in columns:
        if name not in found:
            raise InputFileError(
                f"{path}: found no column {name}, expected it among {', '.join(found) or 'none'}"
                f"{suggest(name, found)}",
                path=path,
            )


def _quoted(name: str) -> Value:
    """A column whose name may hold dots."""
    return F.col(f"`{name.replace('`', '``')}`")


def _parsed(text: Value, type_: Type) -> Value:
    """The value that a text stands for; null where it stands for none."""
    if type_ is Type.STRING:
        return text
    if type_ is Type.BOOLEAN:
        return F.when(F.lower(text) == "true", True).when(F.lower(text) == "false", False)
    number = F.when(text.rlike(NUMBERS[type_]), text.try_cast(SPARK_TYPES[type_]))
    return _finite(number) if type_ is Type.FLOAT else number


def _typed(column: Column) -> Value:
    value = _quoted(column.name).cast(SPARK_TYPES[column.type])
    return _finite(value) if column.type is Type.FLOAT else value


def _as_text(column: Column) -> Value:
    return _quoted(column.name).cast("string")


def _finite(number: Value) -> Value:
    return F.when(~F.isnan(number) & (F.abs(number) != float("inf")), number)
