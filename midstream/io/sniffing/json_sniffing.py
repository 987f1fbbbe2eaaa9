"""The columns of JSON Lines, by the objects of the file's beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from midstream.io.sniffing.samples import Sample, sample_of
from midstream.io.sniffing.tables import Doubt, FoundColumn, Table
from midstream.io.sniffing.times import forms_of, may_hold_time
from midstream.io.sources.bad_rows import shown
from midstream.plans.sql.declarations import ISO, OptionValue, literal
from midstream.plans.sql.statements import identifier
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

    Integers beside numbers with decimals are numbers. Objects may lack keys. There is a doubt about a key
    with nested values, or with values of several types.

    Raises   InputFileError, with the line, for JSON that is not an object a line.
    """
    sample = sample_of(path, options.get("encoding"), "")
    columns: dict[str, _Key] = {}
    objects = 0
    is_sparse = False
    for number, line in enumerate(sample.text.split("\n"), 1):
        if not line.strip():
            continue
        found = _object(sample, number, line)
        is_sparse = is_sparse or (objects > 0 and found.keys() != columns.keys())
        objects += 1
        for key, value in found.items():
            columns.setdefault(key, _Key(key, sample)).take(number, value)
    found_options: list[tuple[str, OptionValue]] = []
    if sample.encoding is not None:
        found_options.append(("encoding", sample.encoding))
    if options.get("sparse", is_sparse):
        found_options.append(("sparse", True))
    named = tuple(key.column() for key in columns.values())
    empty = tuple(f"column {one.name} has no values, it is TEXT" for one in named if not one.values)
    layout = f"JSON Lines in {sample.encoding or 'utf-8'}{', some without all keys' if is_sparse else ''}"
    return Table("jsonl", named, tuple(found_options), layout, empty, sample.is_whole)


WITH_NULL = (
    "import json, sys; loads = json.JSONDecoder(parse_constant=lambda _: None).decode; "
    "[print(json.dumps(loads(line))) for line in sys.stdin if line.strip()]"
)
"""A program that writes null for the words that JSON does not have."""


def _object(sample: Sample, number: int, line: str) -> dict[str, Any]:
    lines = f"writes one object a line, {LARGE}"
    each, together = sample.mended_by("jq", "-c", ".[]"), sample.mended_by("jq", "-c", ".")
    try:
        value = json.loads(line, parse_constant=_refuse)
    except _NotJson as error:
        nulls = sample.mended_by("python", "-c", WITH_NULL)
        raise _fault(
            sample, number, f"{error}, which is no JSON", f"a number or null; {nulls} writes null"
        ) from None
    except ValueError as error:
        what, instead = f"{error}", "mend it, or remove the line"
        if number == 1 and line.lstrip().startswith("["):
            what, instead = "an array of objects", f"{each} {lines}"
        elif number == 1 and _begins_with_object(sample.text):
            instead = f"{together} {lines}"
        elif number == 1 and not line.lstrip().startswith("{"):
            instead = f"FROM read_csv({literal(sample.path)}) reads CSV"
        raise _fault(sample, number, what, f"an object a line; {instead}") from None
    if isinstance(value, list):
        raise _fault(sample, number, "an array", f"an object a line; {each} {lines}")
    if not isinstance(value, dict):
        raise _fault(sample, number, shown(value), "an object a line; mend it, or remove the line")
    return value


LARGE = "with large integers from jq 1.7 on"
"""The limit of jq, in words: earlier versions make floats of integers beyond 53 bits."""


def _begins_with_object(text: str) -> bool:
    """True if a text begins with an object in JSON, which may have many lines."""
    try:
        return isinstance(json.JSONDecoder().raw_decode(text.lstrip())[0], dict)
    except ValueError:
        return False


class _NotJson(Exception):
    """A word that Python writes for a float, and that JSON does not have."""


def _refuse(constant: str) -> Any:
    raise _NotJson(constant)


@dataclass(slots=True)
class _Key:
    """The values of a key that are known, with their lines, and the type of all of them."""

    name: str
    sample: Sample
    values: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    type: Type | None = None
    doubt: Doubt | None = None

    def take(self, line: int, value: Any) -> None:
        """Take the value of a line."""
        if value is None:
            return
        self.values.append(value)
        self.lines.append(line)
        if self.doubt is not None:
            return
        as_text = f"types = '{identifier(self.name)} TEXT' takes"
        if isinstance(value, dict | list):
            expected = f"plain values; {as_text} it as its text in JSON"
            if may_hold_time(self.name) and isinstance(value, dict) and value:
                key, inner = json.dumps(self.name), json.dumps(next(iter(value)))
                command = self.sample.mended_by("jq", "-c", f".[{key}] = .[{key}][{inner}]")
                expected = f"plain values; {command} takes the value inside, {LARGE}"
            self.doubt = Doubt(line, "a nested value", expected)
            return
        type_ = TYPES[type(value)]
        if self.type is None or self.type is type_:
            self.type = type_
        elif {self.type, type_} == {Type.INTEGER, Type.FLOAT}:
            self.type = Type.FLOAT
        else:
            expected = f"{self.type.value}, as in the lines before; {as_text} all as texts"
            self.doubt = Doubt(line, shown(value), expected)

    def column(self) -> FoundColumn:
        """The column of the values."""
        if self.doubt is not None:
            return FoundColumn(self.name, Type.STRING, doubt=self.doubt)
        type_ = self.type or Type.STRING
        forms = tuple(forms_of(self.values)) if type_ is Type.STRING else ()
        is_date = forms == (ISO,) and all(len(text) <= len("2026-11-27") for text in self.values)
        return FoundColumn(self.name, type_, self.values, forms, is_date, lines=self.lines)


def _fault(sample: Sample, number: int, found: str, expected: str) -> InputFileError:
    return InputFileError(
        f"{sample.path}, line {number}: found {found}, expected {expected}",
        path=sample.path,
        line=number,
    )
