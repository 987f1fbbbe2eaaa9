"""Options of sources: their values, as a script or a program gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from midstream.plans.sql.declarations import FIELDS, ISO, REPEATABLE, SWITCHES, OptionValue, literal
from midstream.plans.values.schema import suggest

ELSEWHERE = {
    "sep": "delim",
    "delimiter": "delim",
    "separator": "delim",
    "quotechar": "quote",
    "dateformat": "format",
    "timestampformat": "format",
    "date_format": "format",
    "decimal": "decimal_separator",
    "null": "nullstr",
    "na_values": "nullstr",
}
"""Options of DuckDB and pandas, and those that do the same here."""


THOUSANDS = (",", ".", "'", " ", "\u00a0", "\u202f")
"""The characters between thousands in some country."""


def name_fault(name: str, names: Iterable[str]) -> str:
    """A message about an option that is none of `names`.

    >>> name_fault("sep", ["delim", "quote"])
    'found the option sep, expected one of delim, quote; did you mean delim?'
    """
    expected = list(names)
    instead = ELSEWHERE.get(name)
    near = f"; did you mean {instead}?" if instead in expected else suggest(name, expected)
    return f"found the option {name}, expected one of {', '.join(expected)}{near}"


def checked_options(
    options: Iterable[tuple[str, OptionValue]],
) -> list[tuple[str, OptionValue]]:
    """Options of a source with their values as they are meant: `'\\t'` is a tab.

    Raises   ValueError, whose text tells what was found and expected.
    """
    checked: list[tuple[str, OptionValue]] = []
    for name, value in options:
        if name not in FIELDS:
            raise ValueError(name_fault(name, FIELDS))
        if name not in REPEATABLE and name in dict(checked):
            raise ValueError(f"{name}: found it twice, expected it once")
        if isinstance(value, bool) is not (name in SWITCHES):
            expected = "true or false" if name in SWITCHES else "a text"
            raise ValueError(f"{name}: found {literal(value)}, expected {expected}")
        meant = value
        if isinstance(value, str):
            meant = value.replace("\\t", "\t") if name == "delim" else value
            _require_text(name, meant)
        checked.append((name, meant))
    given = dict(checked)
    delim = given.get("delim", ",")
    if delim == given.get("quote", '"'):
        raise ValueError(f"quote: found {literal(delim)}, which is delim, expected another character")
    if "delim" in given and given["delim"] == given.get("decimal_separator"):
        raise ValueError("decimal_separator: found delim, expected another character")
    if given.get("thousands") == given.get("decimal_separator", "."):
        raise ValueError(
            f"thousands: found {literal(given['thousands'])}, which is decimal_separator, expected another "
            "character; decimal_separator = ',', thousands = '.' reads 1.234,5"
        )
    return checked


def _require_text(name: str, value: str) -> None:
    """Raise ValueError unless a text fits an option."""
    expected = ""
    match name:
        case "delim" if len(value) != 1 or value in "\r\n":
            expected = r"one character, such as ';' or '\t'"
        case "quote" if len(value) > 1 or value in ("\r", "\n"):
            expected = "one character, such as '\"', or '' where fields have no quotes"
        case "decimal_separator" if value not in (",", "."):
            expected = "',' or '.'"
        case "thousands" if value not in THOUSANDS:
            expected = "one of " + ", ".join(map(literal, THOUSANDS))
        case "encoding" if not _is_encoding(value):
            expected = "'utf-8', 'utf-16', 'latin-1', 'cp1252', or another encoding that Python knows"
        case "format" if "%Z" in value.replace("%%", ""):
            expected = (
                "%z, which stands for offsets such as +0100 and Z, or the name of the zone as it is, such as "
                f"{literal(value.replace('%Z', 'UTC'))}, as machines differ in the names that they know"
            )
        case "format" if value != ISO and not _is_format(value):
            expected = f"directives of strptime, such as '%d.%m.%Y %H:%M', or '{ISO}' for ISO 8601"
    if expected:
        raise ValueError(f"{name}: found {literal(value)}, expected {expected}")


def _is_encoding(name: str) -> bool:
    try:
        "".encode(name)  # refuses codecs of bytes, such as zip
    except (LookupError, ValueError):
        return False
    return True


def _is_format(text: str) -> bool:
    example = datetime(2026, 11, 27, 15, 40, tzinfo=UTC)
    try:
        return datetime.strptime(example.strftime(text), text) != datetime(1900, 1, 1)
    except (ValueError, re.error):  # the latter where a directive occurs twice
        return False
