"""Times of day, which some files have in a column beside that of dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time
from typing import Any

from midstream.plans.values.instants import FINEST_DIGITS, SECOND

TIME_OF_DAY = "a time of day, such as 08:15:00, 8:15 PM or 081500"
"""The form of times of day, for messages."""

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?: ?([AaPp])\.?[Mm]\.?)?")
_DIGITS = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})?()()")

_NAMES = ("time", "time_of_day", "clock", "hour", "zeit", "uhrzeit", "hora", "heure")


def time_of_day(value: Any) -> int:
    """The nanoseconds from midnight to a time of day.

    Raises   ValueError for anything else, also for 930: half past nine, or nine minutes past midnight.

    >>> time_of_day("08:15") == time_of_day("0815") == time_of_day("8:15 AM") == (8 * 60 + 15) * 60 * SECOND
    True
    """
    if isinstance(value, time):
        value = value.isoformat()
    found = (_CLOCK.fullmatch(value) or _DIGITS.fullmatch(value)) if isinstance(value, str) else None
    if found is None:
        raise ValueError(value)
    hour, minute, second = (int(part or 0) for part in found.groups()[:3])
    if half := (found[5] or "").lower():
        if not 1 <= hour <= 12:
            raise ValueError(value)
        hour = hour % 12 + 12 * (half == "p")
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(value)
    fraction = int((found[4] or "").ljust(FINEST_DIGITS, "0"))
    return (hour * 3600 + minute * 60 + second) * SECOND + fraction


def are_times_of_day(name: str, values: Sequence[Any]) -> bool:
    """True if the values of a column are times of day, or integers such as 930 where its name says so.

    >>> are_times_of_day("x", ["08:15"]), are_times_of_day("time", ["930"]), are_times_of_day("n", [930])
    (True, True, False)
    """
    texts = [f"{value}" for value in values]
    if not texts:
        return False
    if all(map(str.isdigit, texts)):
        if name.lower() not in _NAMES:
            return False
        texts = [text.zfill(4 if len(text) <= 4 else 6) for text in texts]
    try:
        for text in texts:
            time_of_day(text)
    except ValueError:
        return False
    return True
