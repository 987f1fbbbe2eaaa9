"""The same events in other batches, or at another time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from midstream.plans.values.snapshots import NormalForm
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.testing import Event

SHIFTS = (-(2**70), -1000, -3, 2**53 - 5, 2**60 + 1, 10**400)
"""Chronons by which time is moved, to where floats are not exact any more, too."""


def one_by_one(events: Iterable[Event]) -> Iterator[Event]:
    """The same events with batches of one."""
    for kind, name, what in events:
        if kind == "push":
            yield from ((kind, name, [element]) for element in what)
        else:
            yield kind, name, what


def at_once(streams: dict[str, list[Element]]) -> list[Event]:
    """Each stream in one batch, one stream after the other."""
    return [("push", name, batch) for name, batch in streams.items() if batch]


def moved(elements: Iterable[Element], by: int) -> list[Element]:
    """The same elements at another time."""
    return [(start + by, _moved(end, by), payload) for start, end, payload in elements]


def _moved(time: Time, by: int) -> Time:
    return time if time == FOREVER else time + by


def moved_events(events: Iterable[Event], by: int) -> list[Event]:
    """The same events at another time."""
    kinds = {
        "push": lambda what: moved(what, by),
        "advance": lambda what: _moved(what, by),
        "end": lambda what: what,
    }
    return [(kind, name, kinds[kind](what)) for kind, name, what in events]


def moved_form(form: NormalForm, by: int) -> NormalForm:
    """The same step functions at another time."""
    return {
        payload: tuple((start + by, _moved(end, by), height) for start, end, height in steps)
        for payload, steps in form.items()
    }
