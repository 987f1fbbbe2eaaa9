"""Columns whose type the beginning of a file showed: later values must look like those there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from midstream.io.parquet import Moments
from midstream.io.sources.converter import Converter
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ISO
from midstream.plans.values.unit_words import PLAUSIBLE

_CODE = re.compile(r"^(?:\+|0[0-9])", re.MULTILINE)
"""The beginning of a text of digits that is no number to a sniffer, but a code, such as 02139 or +49."""

_DIGITS = re.compile(r"^[+-]?[0-9]+$", re.MULTILINE)


def without_codes(plain: Converter) -> Converter:
    """A converter of texts to numbers that refuses codes such as 02139."""
    return _refusing(plain, _has_codes, f"{plain.expected}, without a plus or zeros in front")


def without_integers(plain: Converter, formats: Sequence[str]) -> Converter:
    """A converter of dates and timestamps that refuses integers, whose unit nobody knows."""
    if formats and ISO not in formats:
        return plain
    return _refusing(plain, _has_integers, plain.expected.replace("an integer, or ", "", 1))


def in_the_guessed_unit(plain: Converter, timestamps: Timestamps) -> Converter:
    """A converter of integers whose unit was guessed; it refuses dates, and other years than 1980 to 2100."""
    assert timestamps.unit is not None
    word, length = timestamps.unit.name, timestamps.chronon.nanoseconds

    def is_odd(values: Sequence[Any]) -> bool:
        if not _has_integers(values) or not all(map(_is_integer, values)):
            return True
        chronons = plain.many(values)
        return not all(bound * length // 10**9 in PLAUSIBLE for bound in (min(chronons), max(chronons)))

    expected = f"an integer of {word} from 1980 to 2100; unit = '{word}' takes all integers as {word}"
    return _refusing(plain, is_odd, expected)


def _refusing(plain: Converter, is_odd: Callable[[Sequence[Any]], bool], expected: str) -> Converter:
    def many(values: Sequence[Any]) -> Sequence[Any]:
        if values and is_odd(values):
            raise ValueError("values that look otherwise than those of the file's beginning")
        return plain.many(values)

    def single(value: Any) -> Any:
        if is_odd([value]):
            raise ValueError(value)
        return plain.single(value)

    return Converter(many, single, expected)


def _is_integer(value: Any) -> bool:
    return type(value) is int or (type(value) is str and _DIGITS.fullmatch(value) is not None)


def _has_integers(values: Sequence[Any]) -> bool:
    """True for integers, and texts of integers, among values."""
    if isinstance(values, Moments):
        return False
    return int in set(map(type, values)) or _DIGITS.search(_texts(values)) is not None


def _has_codes(values: Sequence[Any]) -> bool:
    return _CODE.search(_texts(values)) is not None


def _texts(values: Sequence[Any]) -> str:
    return "\n".join([value for value in values if type(value) is str])
