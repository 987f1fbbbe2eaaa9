"""Delivery of a stream's rows to the engine: late, out of order, held up, with heartbeats in between.

Times are chronons of application time, from the beginning of the scenario at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush, merge
from operator import itemgetter
from random import Random
from typing import Literal, NamedTuple

from midstream.io.sources.rows import Row
from midstream.plans.values.streams import Element
from midstream.scenarios.streams.stream_spec import Idle, StreamSpec, number_at

Kind = Literal["element", "heartbeat", "end"]


class Arrival(NamedTuple):
    """The arrival of an element, a heartbeat or the end on a stream.

    at      the instant in application time; at least the start of an element, or the time of a heartbeat
    what    the element; for a heartbeat the time before which no later element of the stream starts; None at
            the end, which comes once, last
    """

    at: int
    stream: str
    kind: Kind
    what: Element | int | None


_Turn = tuple[int, Element | None]
"""The instant at which an element, or a heartbeat (None), would arrive without lag."""


def delivered(
    name: str, spec: StreamSpec, rows: Iterable[Row], random: Random, duration: int
) -> Iterator[Arrival]:
    """The arrivals of rows that are ordered by start, of the heartbeats between them, and of the end.

        arrival  =  start + displacement + lag at that instant, but never before an earlier arrival, and never
                    while the stream is idle

    The displacement is drawn between 0 and `disorder`. Elements are delivered in the order of start +
    displacement. So an element starts at most `disorder` before an element that came earlier, however lag and
    idle phases move them. A heartbeat tells only what is certain at its arrival.

    State    Elements that start within `disorder`, and elements that are held up.
    """
    held: list[_Turn] = []
    phases = list(spec.idle)
    arrival = 0
    for turn, element in _in_turn(spec, rows, random, duration):
        arrival = max(arrival, turn + round(number_at(spec.lag, turn)))
        yield from _released(name, spec, held, phases, arrival)
        if not phases or arrival < phases[0].since:
            yield _arrival(name, spec, turn, element, arrival)
        elif element is not None or not phases[0].heartbeats:
            held.append((turn, element))
        else:
            # A heartbeat cannot go beyond the start of the first element that is held up.
            yield _arrival(name, spec, held[0][0] if held else turn, None, arrival)
    end = max(arrival, duration + round(number_at(spec.lag, duration)))
    for phase in phases:
        if phase.since <= end:
            end = max(end, phase.until)
    yield from _released(name, spec, held, phases, end)
    yield Arrival(end, name, "end", None)


def _released(
    name: str, spec: StreamSpec, held: list[_Turn], phases: list[Idle], arrival: int
) -> Iterator[Arrival]:
    """Arrivals that are released because idle phases have ended."""
    while phases and phases[0].until <= arrival:
        phase = phases.pop(0)
        if not phases or phases[0].since > phase.until:
            yield from (_arrival(name, spec, turn, element, phase.until) for turn, element in held)
            held.clear()


def _in_turn(spec: StreamSpec, rows: Iterable[Row], random: Random, duration: int) -> Iterator[_Turn]:
    """Elements in order of start + displacement; a heartbeat precedes elements of the same instant."""
    every = spec.heartbeats or duration
    beats: Iterator[_Turn] = ((beat, None) for beat in range(every, duration, every))
    # At equal times, merge takes from its first argument first.
    return merge(beats, _displaced(rows, spec.disorder, random), key=itemgetter(0))


def _displaced(rows: Iterable[Row], disorder: int, random: Random) -> Iterator[_Turn]:
    waiting: list[tuple[int, int, Element]] = []
    for number, (start, payload) in enumerate(rows):
        turn = start + random.randint(0, disorder) if disorder else start
        heappush(waiting, (turn, number, (start, start + 1, payload)))
        # No later row has an earlier turn than the start of this one.
        while waiting and waiting[0][0] <= start:
            turn, _, element = heappop(waiting)
            yield turn, element
    while waiting:
        turn, _, element = heappop(waiting)
        yield turn, element


def _arrival(name: str, spec: StreamSpec, turn: int, element: Element | None, at: int) -> Arrival:
    if element is None:
        return Arrival(at, name, "heartbeat", turn - spec.disorder)
    return Arrival(at, name, "element", element)
