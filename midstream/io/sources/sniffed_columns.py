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

_CODE = re.compile(r"\+|0[0-9]")
"""The beginning of a text of digits that is no number to a sniffer, but a code, such as 02139 or +49."""

_INTEGER = re.compile(r"[+-]?[0-9]+")


def without_codes(plain: Converter) -> Converter:
    """A converter of texts to numbers that refuses codes such as 02139."""

    def is_odd(texts: Sequence[Any]) -> bool:
        lines = "\n" + "\n".join(texts)
        return ("\n0" in lines or "\n+" in lines) and any(map(_CODE.match, texts))

    return _refusing(plain, is_odd, f"{plain.expected}, without a plus or zeros in front")


def without_integers(plain: Converter, formats: Sequence[str]) -> Converter:
    """A converter of dates and timestamps that refuses integers, whose unit nobody knows."""
    if formats and ISO not in formats:
        return plain
    expected = plain.expected.replace("an integer, or ", "", 1)
    return _refusing(plain, lambda values: not isinstance(values, Moments) and _any_integer(values), expected)


def in_the_guessed_unit(plain: Converter, timestamps: Timestamps) -> Converter:
    """A converter of integers whose unit was guessed; it refuses dates, and other years than 1980 to 2100."""
    assert timestamps.unit is not None
    word, length = timestamps.unit.name, timestamps.chronon.nanoseconds

    def many(values: Sequence[Any]) -> Sequence[Any]:
        if isinstance(values, Moments) or not _all_integers(values):
            raise ValueError("dates among integers")
        chronons = plain.many(values)
        bounds = (min(chronons), max(chronons)) if chronons else ()
        if not all(bound * length // 10**9 in PLAUSIBLE for bound in bounds):
            raise ValueError("integers of another unit")
        return chronons

    expected = f"an integer of {word} from 1980 to 2100; unit = '{word}' takes all integers as {word}"
    return Converter(many, lambda value: many([value])[0], expected)


def _refusing(plain: Converter, is_odd: Callable[[Sequence[Any]], bool], expected: str) -> Converter:
    def many(values: Sequence[Any]) -> Sequence[Any]:
        if is_odd(values):
            raise ValueError("values that look otherwise than those of the file's beginning")
        return plain.many(values)

    def single(value: Any) -> Any:
        if is_odd([value]):
            raise ValueError(value)
        return plain.single(value)

    return Converter(many, single, expected)


def _any_integer(values: Sequence[Any]) -> bool:
    """True if there is an integer, or a text of one, among values."""
    kinds = set(map(type, values))
    if int in kinds:
        return True
    if str not in kinds:
        return False
    texts = [value for value in values if type(value) is str] if len(kinds) > 1 else values
    lines = "\n" + "\n".join(texts)
    has_signs = "\n+" in lines or "\n-" in lines
    return any(map(str.isdigit, texts)) or (has_signs and any(map(_INTEGER.fullmatch, texts)))


def _all_integers(values: Sequence[Any]) -> bool:
    """True if all values are integers, or texts of integers."""
    kinds = set(map(type, values))
    if not kinds <= {int, str}:
        return False
    texts = [value for value in values if type(value) is str] if int in kinds else values
    digits = "".join(texts)
    return (digits.isascii() and digits.isdigit() and "" not in texts) or all(map(_INTEGER.fullmatch, texts))
