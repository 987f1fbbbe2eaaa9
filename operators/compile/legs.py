"""Legs: the stops of a stream's path in pieces, each of which runs as one generated function.

So a stop that is added or removed costs the compilation of one piece, and not of all that the stream reaches.

    source ─▶ [ window 60, count by item, filter, … ] ─▶ [ distinct, filter, … ]
              leg                                        next leg
"""

from __future__ import annotations

from midstream.operators.base.failures import Failures
from midstream.operators.base.walk import RunStops, Stop
from midstream.operators.compile.routes import compile_step

LEG = 32
"""The largest number of operators that run as one function.

One more call per so many operators costs little, and compiling them costs about as much as making the
operators of a query.
"""


class Leg:
    """Stops that follow each other, and the function that runs them, once it was needed."""

    __slots__ = ("step", "stops")

    def __init__(self) -> None:
        self.stops: dict[Stop, None] = {}
        self.step: RunStops | None = None


class Legs:
    """The legs of a stream's path, in order.

    Cost     A stop that comes, goes or changes costs the compilation of a leg, at the next event.
    """

    __slots__ = ("_failures", "_leg_of", "_legs", "_numbers", "_steps", "_stream")

    def __init__(self, source: Stop, failures: Failures) -> None:
        self._failures = failures
        (self._stream,) = source.streams
        self._numbers = {source.number}
        self._legs: list[Leg] = []
        self._leg_of: dict[Stop, Leg] = {}
        self._steps: list[RunStops] | None = None

    def enter(self, stop: Stop) -> None:
        """Add a stop, behind all that it reads."""
        if not self._legs or len(self._legs[-1].stops) >= LEG:
            self._legs.append(Leg())
        leg = self._leg_of[stop] = self._legs[-1]
        leg.stops[stop] = None
        self._numbers.add(stop.number)
        self.change(stop)

    def leave(self, stop: Stop) -> None:
        """Remove a stop."""
        self.change(stop)
        del self._leg_of.pop(stop).stops[stop]
        self._numbers.discard(stop.number)

    def change(self, stop: Stop) -> None:
        """Take note that the readers of a stop have changed."""
        if stop in self._leg_of:
            self._leg_of[stop].step = None
        self._steps = None

    def steps(self) -> list[RunStops]:
        """The functions of the legs."""
        if self._steps is None:
            self._merge()
            for leg in self._legs:
                if leg.step is None:
                    leg.step = self._compile(leg)
            self._steps = [leg.step for leg in self._legs if leg.step is not None]
        return self._steps

    def _merge(self) -> None:
        """Merge legs that have become small."""
        merged: list[Leg] = []
        for leg in self._legs:
            if merged and len(merged[-1].stops) + len(leg.stops) <= LEG:
                before = merged[-1]
                before.stops |= leg.stops
                self._leg_of |= dict.fromkeys(leg.stops, before)
                before.step = None
            else:
                merged.append(leg)
        self._legs = merged

    def _compile(self, leg: Leg) -> RunStops:
        inner = {stop.number for stop in leg.stops}
        below = {number for stop in leg.stops for number in stop.below if number in self._numbers}
        kept = {stop.number for stop in leg.stops if stop.readers and not _is_inside(stop, leg)}
        stops, title = list(leg.stops), f"path of {self._stream}"
        return compile_step(sorted(below - inner), stops, kept, title, self._failures)


def _is_inside(stop: Stop, leg: Leg) -> bool:
    """True if one stop alone reads a stop, nobody else sees it, and that one is in the leg.

    A second reader changes the stop.
    """
    return stop.is_alone and leg.stops.keys() >= stop.readers.keys()
