"""Lengths of SQL intervals, from their texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from midstream.plans.values.units import NANOSECONDS, duration, unit_name

_FIELDS = ("day", "hour", "minute", "second")
_PATTERNS = {"day": r"(\d+)", "hour": r"(\d+)", "minute": r"(\d+)", "second": r"(\d+)(?:\.(\d{1,9}))?"}
_LIMITS = {"hour": 24, "minute": 60, "second": 60}
_WHOLE = "a whole number of weeks, days, hours, …"


def interval(text: str, units: Sequence[str]) -> int:
    """The length of INTERVAL 'text' UNIT [TO UNIT], in nanoseconds.

    Raises   ValueError with the expected form.

    >>> interval("5", ["MINUTE"]) == interval("5 minutes", []) == 300 * 10**9
    True
    >>> interval("1 02:03", ["DAY", "MINUTE"]) // 10**9, interval("1 day -2 hours", []) // 10**9
    (93780, 79200)
    >>> interval("1 2", ["DAY"])
    Traceback (most recent call last):
    ValueError: a whole number of weeks, days, hours, …
    """
    if not units:
        return duration(text)
    names = [unit_name(unit) for unit in units]
    if len(names) > 1:
        return _of_fields(text, names)
    if names[0] is None or not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text, re.ASCII):
        raise ValueError(_WHOLE)
    return int(text) * NANOSECONDS[names[0]]


def _of_fields(text: str, names: Sequence[str | None]) -> int:
    """The length of fields from one unit to another, such as `1 02:03:04.5`."""
    first, last = names
    if first not in _FIELDS or last not in _FIELDS[_FIELDS.index(first) + 1 :]:
        raise ValueError("a unit, TO, and a smaller one, of DAY, HOUR, MINUTE and SECOND")
    fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    pattern = _PATTERNS[fields[0]]
    for before, field in pairwise(fields):
        pattern += (r"\s+" if before == "day" else ":") + _PATTERNS[field]
    form = "".join({"day": "D ", "hour": "HH:", "minute": "MM:", "second": "SS"}[f] for f in fields).rstrip(
        ": "
    )
    match = re.fullmatch(rf"\s*([+-]?){pattern}\s*", text, re.ASCII)
    if match is None:
        raise ValueError(form)
    sign, *numbers = match.groups()
    length = 0
    for field, number in zip(fields, numbers, strict=False):
        if field != fields[0] and int(number) >= _LIMITS[field]:
            raise ValueError(f"{form}, with less than {_LIMITS[field]} {field}s")
        length += int(number) * NANOSECONDS[field]
    if last == "second" and numbers[-1] is not None:
        length += int(numbers[-1].ljust(9, "0"))
    return -length if sign == "-" else length
