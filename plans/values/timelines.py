"""Streams as text: each element on a line, with its validity drawn below a common axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time

MOST_LINES = 40
"""Most lines of a drawing; further lines are counted."""


def drawn(streams: Iterable[tuple[str, Sequence[Element]]]) -> str:
    """Draw streams by name, on an axis of the instants at which elements start or end.

    >>> print(drawn([("bids", [(0, 1, (7,)), (3, float("inf"), (8,))]), ("result", [])]))
                  0   1   3
    bids    (7,)  [───)
            (8,)          [──→
    result  nothing
    """
    named = list(streams)
    elements = [element for _, stream in named for element in stream]
    times = sorted({t for start, end, _ in elements for t in (start, end)} - {BEGINNING, FOREVER})
    label = max((len(name) for name, _ in named), default=0)
    text = max((len(str(row)) for _, _, row in elements), default=0)
    step = max((len(str(time)) for time in times), default=1) + 3
    places: dict[Time, int] = {time: i * step for i, time in enumerate(times)}
    axis = "".join(f"{time!s:<{step}}" for time in times)
    lines = [f"{'':<{label}}  {'':<{text}}  {axis}"]
    for name, stream in named:
        shown = [f"{row!s:<{text}}  {_bar(start, end, places, step)}" for start, end, row in stream]
        for i, line in enumerate(shown or ["nothing"]):
            lines.append(f"{name if i == 0 else '':<{label}}  {line}")
    more = len(lines) - MOST_LINES
    lines = [line.rstrip() for line in lines[:MOST_LINES]]
    return "\n".join([*lines, *([f"and {more} more lines"] if more > 0 else [])])


def _bar(start: Time, end: Time, places: dict[Time, int], step: int) -> str:
    first = places.get(start, 0)
    is_endless = end == FOREVER
    last = max(places.values(), default=0) + step - 1 if is_endless else places[end]
    opens, closes = "←" if start == BEGINNING else "[", "→" if is_endless else ")"
    return " " * first + opens + "─" * (last - first - 1) + closes
