"""What windows hold, straight from the definitions of thesis sections 8.2, 17.1 and 20.3.

A window is asked, at every instant of a range, which rows it holds; nothing is assumed about when a row comes
and goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[int, tuple[Any, ...]]
"""A timestamp and the values of the columns."""

NEVER = 2**62
"""The end of what stays."""

UNIT_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400}

SPECIFICATION = re.compile(
    r"(?:PARTITION BY (?P<keys>[\w, ]+?) )?"
    r"(?P<frame>ROWS|RANGE) (?P<size>UNBOUNDED|\d+(?: [A-Z]+)?)"
    r"(?: SLIDE (?P<slide>\d+(?: (?!TIES)[A-Z]+)?))?"
    r"(?P<ties> TIES BY ARRIVAL)?"
)


@dataclass(frozen=True, slots=True)
class Window:
    """A window and a granularity behind it, in chronons or rows; a size of None is unbounded.

    `by_arrival` lets the order of rows decide which of one timestamp are the last.
    """

    frame: str
    size: int | None
    slide: int = 1
    keys: tuple[str, ...] = ()
    granule: int = 1
    by_arrival: bool = False

    @property
    def reach(self) -> int:
        """By how many chronons after the last row the last change may come."""
        return (self.size or 0) * (self.frame == "RANGE") + self.slide + self.granule


def parse(text: str, chronon: int) -> Window:
    """A window from its specification; `; GRANULARITY n` may stand behind. `chronon` is in seconds.

    >>> parse("PARTITION BY a, b ROWS 3", 1).keys, parse("RANGE 2 HOURS SLIDE 30", 60).size
    (('a', 'b'), 120)
    """
    text, _, granularity = text.partition("; GRANULARITY ")
    granule = _chronons(granularity, chronon) if granularity else 1
    if text in ("", "NOW"):
        return Window("RANGE", 1, granule=granule)
    found = SPECIFICATION.fullmatch(text)
    assert found, f"no window: {text}"
    frame, size, slide = found["frame"], found["size"], found["slide"] or "1"
    keys = tuple(key.strip() for key in (found["keys"] or "").split(",") if key.strip())
    count = int if frame == "ROWS" else lambda amount: _chronons(amount, chronon)
    held = None if size == "UNBOUNDED" else count(size)
    return Window(frame, held, count(slide), keys, granule, found["ties"] is not None)


def _chronons(text: str, chronon: int) -> int:
    amount, _, unit = text.partition(" ")
    return int(amount) * UNIT_SECONDS[unit.rstrip("S")] // chronon if unit else int(amount)


def content(window: Window, rows: Sequence[Row], columns: Sequence[str], instant: int) -> list[int]:
    """Which rows a window holds at an instant, by number.

    >>> content(Window("RANGE", 3), [(5, ("a",)), (7, ("b",))], ["x"], 8)
    [1]
    """
    instant = instant // window.granule * window.granule  # (20.1), held until the next one
    if window.frame == "RANGE":
        last = (instant + 1) // window.slide * window.slide - 1
        first = 0 if window.size is None else max(last - window.size + 1, 0)
        return [i for i, (t, _) in enumerate(rows) if first <= t <= last]  # (8.17), (17.1)
    positions = [columns.index(key) for key in window.keys]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, (t, values) in enumerate(rows):
        if t <= instant:
            groups.setdefault(tuple(values[p] for p in positions), []).append(i)  # (8.19)
    held: list[int] = []
    for group in groups.values():
        assert window.by_arrival or len({rows[i][0] for i in group}) == len(group), "ties in a count window"
        last = len(group) // window.slide * window.slide
        first = 1 if window.size is None else max(last - window.size + 1, 1)
        held += [i for n, i in enumerate(group, 1) if first <= n <= last]  # (8.18), (17.2)
    return held


def validity(window: Window, rows: Sequence[Row], columns: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of consecutive instants at which a row is held: `(row, since, until)`.

    >>> validity(Window("RANGE", 3), [(5, ("a",))], ["x"])
    [(0, 5, 8)]
    """
    if not rows:
        return []
    runs: list[tuple[int, int, int]] = []
    since: dict[int, int] = {}
    for instant in range(rows[0][0], rows[-1][0] + window.reach + 1):
        held = set(content(window, rows, columns, instant))
        runs += [(row, since.pop(row), instant) for row in sorted(since.keys() - held)]
        since.update((row, instant) for row in held - since.keys())
    return [*runs, *((row, start, NEVER) for row, start in since.items())]
