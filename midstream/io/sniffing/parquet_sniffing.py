"""The columns of Parquet files, which know their types."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from midstream.io.parquet import is_text, opened_parquet, read_columns
from midstream.io.sniffing.tables import Doubt, FoundColumn, Table
from midstream.io.sniffing.times import forms_of
from midstream.io.sources.parquet_reader import values_of
from midstream.plans.sql.declarations import ISO, literal
from midstream.plans.sql.statements import identifier
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 14
"""The number of rows of which texts and integers are looked at."""


def sniffed_parquet(path: str) -> Table:
    """The columns of a file with the types that its schema names; texts may be dates.

    There is a doubt about nested columns and bytes.

    Raises   InputFileError for a file without rows; MissingExtra without pyarrow.
    """
    with opened_parquet(path) as file:
        schema, count = file.schema_arrow, file.metadata.num_rows
    if not count:
        raise InputFileError(
            f"{path}: found nothing, expected rows; CREATE STREAM declares a file that is still empty",
            path=path,
        )
    found = {name: _type(schema.field(name).type) for name in dict.fromkeys(schema.names)}
    types = {name: one or (Type.STRING, False, False) for name, one in found.items()}
    looked = [
        name
        for name, (type_, is_time, _) in types.items()
        if found[name] is not None and not is_time and type_ in _TELLING
    ]
    first: dict[str, Any] = next(iter(read_columns(path, looked, ROWS)))[1] if looked else {}
    columns = []
    for name, (type_, is_time, is_date) in types.items():
        values = [one for one in values_of(first[name]) if one is not None] if name in first else ()
        doubt = _doubt(path, name, schema.field(name).type) if found[name] is None else None
        forms = (ISO,) if is_time else tuple(forms_of(values)) if type_ is Type.STRING else ()
        scale = getattr(schema.field(name).type, "scale", None) if type_ is Type.FLOAT else None
        columns.append(FoundColumn(name, type_, values, forms, is_date, doubt, decimals=scale))
    notes = [f"column {one.name} has decimals, which become floats" for one in columns if one.decimals]
    return Table("parquet", tuple(columns), (), "Parquet", tuple(notes), count <= ROWS)


_TELLING = (Type.STRING, Type.INTEGER)


def _type(found: pa.DataType) -> tuple[Type, bool, bool] | None:
    """The type of a column, if it holds times, and if these are dates; None for others than we read."""
    from pyarrow import types

    plain = found.value_type if types.is_dictionary(found) else found
    if types.is_date(plain) or types.is_timestamp(plain):
        return Type.INTEGER, True, types.is_date(plain)
    if types.is_integer(plain) or (types.is_decimal(plain) and plain.scale == 0):
        return Type.INTEGER, False, False
    if types.is_floating(plain) or types.is_decimal(plain):
        return Type.FLOAT, False, False
    if types.is_boolean(plain):
        return Type.BOOLEAN, False, False
    if types.is_null(plain) or types.is_time(plain) or is_text(plain):
        return Type.STRING, False, False
    return None


def _doubt(path: str, name: str, found: pa.DataType) -> Doubt:
    """The doubt about a column whose values are no numbers, texts, booleans or dates."""
    from pyarrow import types

    expected = "numbers, texts, booleans or dates"
    column = identifier(name)
    if types.is_nested(found):
        return Doubt(None, f"{found}", f"{expected}; types = '{column} TEXT' takes them as texts in JSON")
    is_bytes = types.is_binary(found) or types.is_large_binary(found) or types.is_fixed_size_binary(found)
    text = f"hex({column})" if is_bytes else f"CAST({column} AS VARCHAR)"
    copy = f"COPY (SELECT * REPLACE ({text} AS {column}) FROM {literal(path)}) TO 'texts.parquet'"
    program = shlex.quote(f"import duckdb; duckdb.sql({copy!r})")
    return Doubt(None, f"{found}", f"{expected}; python -c {program} writes them as texts")
