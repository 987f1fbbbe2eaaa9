"""The columns of JSON Lines, by the objects of the file's beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from midstream.io.sniffing.samples import Sample, sample_of
from midstream.io.sniffing.tables import FoundColumn, Table
from midstream.io.sniffing.times import forms_of
from midstream.io.sources.bad_rows import shown
from midstream.plans.sql.declarations import ISO, OptionValue
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type

TYPES: Mapping[type, Type] = {
    bool: Type.BOOLEAN,
    int: Type.INTEGER,
    float: Type.FLOAT,
    str: Type.STRING,
}


def sniffed_json(path: str, options: Mapping[str, Any]) -> Table:
    """The columns of a file: the keys of its objects, in the order of their first occurrence.

    Integers beside numbers with decimals are numbers. Objects may lack keys.

    Raises   InputFileError, with the line, for nested values, for a key with values of several types, and for
             JSON that is not an object a line.
    """
    sample = sample_of(path, options.get("encoding"), "")
    values: dict[str, list[Any]] = {}
    types: dict[str, Type] = {}
    objects = 0
    is_sparse = False
    for number, line in enumerate(sample.text.split("\n"), 1):
        if not line.strip():
            continue
        found = _object(sample, number, line)
        is_sparse = is_sparse or (objects > 0 and found.keys() != values.keys())
        objects += 1
        for key, value in found.items():
            column = values.setdefault(key, [])
            if value is not None:
                types[key] = _type(sample, number, key, value, types.get(key))
                column.append(value)
    found_options: list[tuple[str, OptionValue]] = []
    if sample.encoding is not None:
        found_options.append(("encoding", sample.encoding))
    if options.get("sparse", is_sparse):
        found_options.append(("sparse", True))
    columns = tuple(_column(key, types.get(key, Type.STRING), column) for key, column in values.items())
    empty = tuple(f"column {one.name} has no values, it is TEXT" for one in columns if not one.values)
    layout = f"JSON Lines in {sample.encoding or 'utf-8'}{', some without all keys' if is_sparse else ''}"
    return Table("jsonl", columns, tuple(found_options), layout, empty, sample.is_whole)


def _object(sample: Sample, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        what, instead = f"{error}", "jq -c . FILE writes one object a line"
        if number == 1 and line.lstrip().startswith("["):
            what, instead = "an array of objects", "jq -c '.[]' FILE writes one object a line"
        raise _fault(sample, number, what, f"an object a line; {instead}") from None
    if isinstance(value, list):
        raise _fault(
            sample, number, "an array", "an object a line; jq -c '.[]' FILE writes one object a line"
        )
    if not isinstance(value, dict):
        raise _fault(sample, number, shown(value), "an object a line")
    return value


def _type(sample: Sample, number: int, key: str, value: Any, before: Type | None) -> Type:
    if isinstance(value, dict | list):
        inner = next(iter(value), "key") if isinstance(value, dict) else None
        flat = f"{key}_{inner}: .{key}.{inner}" if inner is not None else f"{key}: .{key}[0]"
        raise _fault(
            sample,
            number,
            "a nested value",
            f"plain values; jq -c '. + {{{flat}}} | del(.{key})' FILE writes them flat",
            key,
        )
    type_ = TYPES[type(value)]
    if before is None or before is type_:
        return type_
    if {before, type_} == {Type.INTEGER, Type.FLOAT}:
        return Type.FLOAT
    expected = f"{before.value}, as in the lines before"
    raise _fault(sample, number, shown(value), expected, key)


def _fault(
    sample: Sample, number: int, found: str, expected: str, column: str | None = None
) -> InputFileError:
    place = "" if column is None else f", column {column}"
    return InputFileError(
        f"{sample.path}, line {number}{place}: found {found}, expected {expected}",
        path=sample.path,
        line=number,
    )


def _column(name: str, type_: Type, values: list[Any]) -> FoundColumn:
    forms = tuple(forms_of(values)) if type_ is Type.STRING else ()
    is_date = forms == (ISO,) and all(len(text) <= len("2026-11-27") for text in values)
    return FoundColumn(name, type_, values, forms, is_date)
