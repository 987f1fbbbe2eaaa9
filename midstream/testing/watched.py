"""A Box that checks its promises after every event."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from midstream.migration.machine import Migration
from midstream.migration.migrate import migrate_box
from midstream.migration.strategies import find_strategy
from midstream.operators.base.box import Box, settled
from midstream.plans.values.snapshots import compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

PROMISES: Mapping[str, str] = {
    "snapshots": "At every instant, the results depend on nothing but what is valid on the inputs at that "
    "instant. It makes no difference where batches end, which input is served first, and whether heartbeats "
    "come.",
    "the same meaning": "For the same inputs, the results are at every instant what they should mean, and "
    "what the other Box gives.",
    "order": "Results on an output are ordered by start, whatever the order in which inputs are served; each "
    "ends after it starts.",
    "honest progress": "After progress() has said t, no result starts before t. It never goes back. When the "
    "inputs have passed the end of every element, it has passed it, too.",
    "any comparable time": "Timestamps between two chronons, such as 40.5, are as good as integers.",
    "heartbeats that tell nothing": "A heartbeat that tells nothing new, and a repeated end, give nothing "
    "and change nothing.",
    "state by time alone": "What ended before the progress is kept no longer, and nothing is kept once the "
    "inputs have passed the end of every element.",
    "release": "When the last input has ended, all results are out, progress() is FOREVER, and nothing is "
    "kept. An input that has ended refuses elements by an exception.",
    "hashable payloads": "Payloads can be hashed.",
    "events": "Each event returns one list of elements (start, end, payload) for each output. It raises "
    "nothing, and leaves the batch that arrived as it was.",
    "true figures": "size() is the number of elements in state(); counters never go down.",
}
"""The promises of a Box; docs/embedding.md gives the reasons under the same names."""


class BrokenPromise(AssertionError):
    """A Box breaks one of its promises.

    The message gives the events so far, the violation, the promise, and where to read about it.
    """

    def __init__(self, who: str, promise: str, observed: str, log: Sequence[str]) -> None:
        events = "\n".join(f"    {line}" for line in log) or "    nothing yet"
        super().__init__(
            f"{who} breaks a promise of Boxes: {promise}\n"
            f"  What happened:\n{events}\n"
            f"  What was found:\n    {observed}\n"
            f"  What is asked:\n{_indented(PROMISES[promise])}\n"
            f'  Read docs/embedding.md, "What a Box must promise": {promise}.'
        )
        self.promise = promise
        """The promise's name in `PROMISES`."""
        self.observed = observed


class Watched:
    """A Box that records its events and checks its promises after each one.

    Raises   BrokenPromise where an event shows that a promise is not kept.
    """

    def __init__(self, box: Box, *, by_time: bool = True) -> None:
        self.box = box
        self.name = type(box).__name__
        self.histories: list[list[Element]] = [[] for _ in box.inputs]
        """The elements that have arrived on each input."""
        self.reached: list[Time] = [BEGINNING for _ in box.inputs]
        """The progress of each input."""
        self.results: list[list[Element]] = [[] for _ in box.outputs]
        """All results of each output."""
        self.log: list[str] = []
        """The events so far, one per line."""
        self.migrations: list[tuple[Migration, Box]] = []
        """The migrations so far, each with its new Box."""
        self.promised_before: Time = BEGINNING
        """The value of `promised` before the last event."""
        self._by_time = by_time
        """True if progress and state depend on time alone, unlike those of windows that count rows."""
        self._progress: list[Time] = [BEGINNING for _ in box.outputs]
        self._counters: dict[str, int] = {}
        self._latest: Time = BEGINNING
        """The largest end of all elements."""
        self._examine()

    def push(self, port: int, batch: Sequence[Element]) -> None:
        """Push elements."""
        self.histories[port] += batch
        self.reached[port] = batch[-1][0]
        sent = list(batch)
        self._latest = max([self._latest, *(end for _, end, _ in batch)])
        self._take(self._call("push", port, sent))
        if sent != list(batch):
            raise self.broken("events", f"the batch that arrived was changed to {sent!r}")

    def advance(self, port: int, time: Time) -> None:
        """Send a heartbeat."""
        self.reached[port] = max(self.reached[port], time)
        self._take(self._call("advance", port, time))

    def end(self, port: int) -> None:
        """End an input."""
        self.reached[port] = FOREVER
        self._take(self._call("end", port))

    def repeat(self) -> None:
        """Repeat the heartbeats and ends so far, which must change nothing."""
        known, kept = len(self.log), self.box.size()
        for port, reached in enumerate(self.reached):
            results = self._call("advance", port, reached) + self._call("advance", port, BEGINNING)
            if reached == FOREVER:
                results += self._call("end", port)
            if any(results) or self._told() != self._progress or self.box.size() != kept:
                before = f"before, progress was {_all_said(self._progress)}, and size {kept}"
                behind = f"behind, they are {_all_said(self._told())} and {self.box.size()}"
                found = f"{before}; {behind}; results {results!r}"
                raise self.broken("heartbeats that tell nothing", found)
        del self.log[known:]

    def finish(self) -> None:
        """Advance all inputs beyond every end, and then end them."""
        ends = [end for history in self.histories for _, end, _ in history if end != FOREVER]
        late = (
            max([*ends, *(time for time in self.reached if time not in (BEGINNING, FOREVER))], default=0) + 1
        )
        for port, reached in enumerate(self.reached):
            if reached != FOREVER:
                self.advance(port, late)
        for port, reached in enumerate(self.reached):
            if reached != FOREVER:
                self.end(port)
        if any(time != FOREVER for time in self._progress):
            raise self.broken(
                "release", f"all inputs have ended, and progress() is {_all_said(self._progress)}"
            )
        if self.box.size():
            raise self.broken("release", f"all inputs have ended, and kept are {list(self.box.state())!r}")
        self.repeat()
        for port in range(len(self.reached)):
            self._push_behind_the_end(port)

    def migrate(self, new: Box) -> None:
        """Begin a migration to another Box, by GenMig.

        Raises   MigrationRefused where elements never end.
        """
        ends = [max((end for _, end, _ in history), default=BEGINNING) for history in self.histories]
        migration, ready = migrate_box(self.box, new, find_strategy("genmig"), ends, self.reached)
        self.migrations.append((migration, new))
        self.box, self._counters = migration, {}
        self.log.append(f"box is migrated to a new {type(new).__name__}")
        self._take(ready)

    def require_same(self, promise: str, expected: Sequence[Iterable[Element]], whose: str) -> None:
        """Compare all results with others, output by output, by the snapshot normal form."""
        for output, (right, found) in enumerate(zip(expected, self.results, strict=True)):
            outcome = compare(normal_form(right), normal_form(found))
            if not outcome:
                where = f"output {output}" if len(self.results) > 1 else "all results"
                raise self.broken(promise, f"{whose} (left) against {where} (right): {outcome}")

    def promised(self) -> Time:
        """The smallest progress of all outputs."""
        return min(self._progress, default=FOREVER)

    def broken(self, promise: str, observed: str) -> BrokenPromise:
        """The exception for a broken promise, with the events so far."""
        return BrokenPromise(self.name, promise, observed, self.log)

    def _call(self, event: str, *args: Any) -> list[Batch]:
        """Send an event to the Box; returns its results, if they have the right form."""
        shown = ", ".join(repr(arg) if isinstance(arg, list) else _said(arg) for arg in args)
        self.log.append(f"box.{event}({shown})")
        try:
            results = getattr(self.box, event)(*args)
        except Exception as error:
            raise self.broken("events", f"it raised {type(error).__name__}: {error}") from error
        self.log[-1] += f"  gave  {results!r}"
        if not isinstance(results, list) or len(results) != len(self.results):
            raise self.broken("events", f"for {len(self.results)} outputs it gave {results!r}")
        for element in chain.from_iterable(results):
            if not isinstance(element, tuple) or len(element) != 3:
                raise self.broken("events", f"a result is {element!r}")
        return results

    def _take(self, results: list[Batch]) -> None:
        """Record and check the results of an event."""
        for output, batch in enumerate(results):
            for element in batch:
                self._take_result(output, element)
        self.box = settled(self.box)
        self._examine()

    def _take_result(self, output: int, element: Element) -> None:
        start, end, payload = element
        before = self.results[output]
        if not start < end:
            raise self.broken("order", f"{element!r} does not end after it starts")
        if before and start < before[-1][0]:
            raise self.broken("order", f"{element!r} came after {before[-1]!r}")
        if start < self._progress[output]:
            said = f"progress({output}) had said {_said(self._progress[output])}"
            raise self.broken("honest progress", f"{said}, and then {element!r} came")
        try:
            hash(payload)
        except TypeError as error:
            raise self.broken("hashable payloads", f"that of {element!r} cannot") from error
        before.append(element)

    def _examine(self) -> None:
        """Check the Box's progress, state and counters."""
        progress = self._told()
        for output, (before, now) in enumerate(zip(self._progress, progress, strict=True)):
            if now < before:
                raise self.broken(
                    "honest progress", f"progress({output}) went back from {_said(before)} to {_said(now)}"
                )
        self.promised_before = self.promised()
        self._progress = progress
        state = list(self.box.state())
        if self.box.size() != len(state):
            raise self.broken("true figures", f"size() is {self.box.size()}, and state() has {state!r}")
        counters = dict(self.box.counters())
        for name, count in self._counters.items():
            if counters.get(name, count) < count:
                raise self.broken("true figures", f"counter {name} went from {count} to {counters[name]}")
        self._counters = counters
        if self._by_time:
            self._require_time_to_go_on(state)

    def _require_time_to_go_on(self, state: list[Element]) -> None:
        least = min(self.reached, default=FOREVER)
        for element in state:
            if element[1] < min(self.promised(), least):
                told = f"progress() is {_all_said(self._progress)}"
                raise self.broken("state by time alone", f"{told}; kept is {element!r}")
        if self._latest >= least or least == FOREVER:
            return
        if self.promised() < least:
            told = f"the inputs are at {_said(least)}, where all that arrived has ended"
            raise self.broken("honest progress", f"{told}, and progress() is {_all_said(self._progress)}")
        if state:
            told = f"all that arrived has ended before {_said(least)}"
            raise self.broken("state by time alone", f"{told}; kept are {state!r}")

    def _push_behind_the_end(self, port: int) -> None:
        payloads = [element[2] for element in chain(self.histories[port], *self.histories)]
        if not payloads:
            return
        times = [time for history in self.histories for *both, _ in history for time in both]
        start = max(time for time in times if time != FOREVER)
        batch = [(start, start + 1, payloads[0])]
        try:
            results = self.box.push(port, batch)
        except Exception:
            self.repeat()
            return
        self.log.append(f"box.push({port}, {batch!r})  gave  {results!r}")
        raise self.broken("release", f"input {port} had ended, and took an element")

    def _told(self) -> list[Time]:
        return [self.box.progress(output) for output in range(len(self.results))]


def _all_said(times: Iterable[Time]) -> str:
    return " and ".join(map(_said, times))


def _said(time: Time) -> str:
    return "BEGINNING" if time == BEGINNING else "FOREVER" if time == FOREVER else str(time)


def _indented(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ")
