"""A migration in progress: both plans side by side, forks at their inputs, a joiner at each output.

    moving      elements are split between both plans, until every input has passed the split time
    draining    the old plan has ended and is gone; results that begin before the split time are still being
                completed
    done        the new plan stands alone: `successor` names it

The phases follow from the progress of the inputs alone (erratum 14). Draining ends as soon as the new plan's
outputs have passed the split time; that is at once but for results that were cut in two and are not yet
complete in the new plan either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain

from midstream.migration.fuse import Joiner, Origins
from midstream.operators.box import Box, settled
from midstream.plans.streams import BEGINNING, FOREVER, Batch, Element, Time, chronon_end

Fork = Callable[[Batch, Time], tuple[Batch, Batch]]


class Phase(Enum):
    """Where a migration stands."""

    MOVING = "moving"
    DRAINING = "draining"
    DONE = "done"
    ABORTED = "aborted"
    QUEUED = "queued"
    REFUSED = "refused"


class Migration:
    """A Box that moves from an old Box to a new one.

    Input    As both boxes, which must have the same ports; `reached` tells the progress of each so far.
    Output   Snapshot-equivalent to the old box alone, and ordered, if both boxes mean the same.
    State    That of both boxes and of the joiners; that of the old box is released when the last input passes
             the split time.
    Cost     O(1) per element besides the boxes' own.
    Source   thesis, Algorithm 25

    `begin()` must be called once, before any event; what it returns is ready then.
    """

    def __init__(
        self,
        old: Box,
        new: Box,
        split: Time,
        reached: Sequence[Time],
        fork: Fork,
        joiner: Callable[[Time], Joiner],
    ) -> None:
        self.inputs = old.inputs
        self.outputs = old.outputs
        self.split = split
        """The instant before which the old plan answers, and from which on the new one does."""
        self.old: Box | None = old
        """The old box; None once it is gone."""
        self.new = new
        self._fork = fork
        self._joiners = [joiner(split) for _ in self.outputs]
        self._reached = list(reached)
        self._passed = [False] * len(self.inputs)
        self.phase = Phase.MOVING
        self.started: Time = min(self._reached, default=BEGINNING)
        """The least progress of the inputs when it began."""
        self.peak_old = old.size()
        """The largest state of the old box since the beginning, in elements."""
        self.peak_new = new.size()
        """The largest state of the new box since the beginning, in elements."""
        self.peak_held = 0
        """The largest number of elements that waited in the joiners."""
        self.reason = ""
        """Why its strategy was chosen; empty where the caller chose it."""

    @property
    def successor(self) -> Box | None:
        """The box that goes on once the migration is done; None before."""
        return self.new if self.phase is Phase.DONE else None

    def begin(self) -> list[Batch]:
        """Tell both boxes how far the inputs are: what is already past the split time ends the old box at
        once."""
        results: list[Batch] = [[] for _ in self.outputs]
        for port, progress in enumerate(self._reached):
            _append(results, self._event(port, [], progress))
        return results

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on an input."""
        return self._event(port, batch, batch[-1][0]) if batch else [[] for _ in self.outputs]

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat on an input."""
        return self._event(port, [], time) if time > self._reached[port] else [[] for _ in self.outputs]

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on an input."""
        return self.advance(port, FOREVER)

    def _event(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        self._reached[port] = progress
        old, new = self._fork(batch, self.split)
        from_old = self._feed_old(port, old, progress)
        from_new = self._feed_new(port, new, progress)
        if self.phase is Phase.MOVING:
            assert self.old is not None
            # The old box may itself be a migration that has just ended.
            self.old = settled(self.old)
            self.peak_old = max(self.peak_old, self.old.size())
            if all(self._passed):
                self.phase = Phase.DRAINING
                self.old = None
        self.peak_new = max(self.peak_new, self.new.size())
        results = []
        for output, joiner in enumerate(self._joiners):
            is_done, new_progress = self.old is None, self.new.progress(output)
            results.append(joiner.process(from_old[output], from_new[output], is_done, new_progress))
        self.peak_held = max(self.peak_held, sum(map(len, self._joiners)))
        # The joiners then hold nothing, and no result of the new plan can touch the split time any more.
        if self.old is None and all(self.new.progress(i) > self.split for i in range(len(self.outputs))):
            self.phase = Phase.DONE
        return results

    def _feed_old(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        if self.old is None:
            return [[] for _ in self.outputs]
        if progress < self.split:
            return _feed(self.old, port, batch, progress)
        results = self.old.push(port, batch) if batch else [[] for _ in self.outputs]
        if not self._passed[port]:
            # Once and for all: the old plan has nothing more to expect on this port.
            self._passed[port] = True
            _append(results, self.old.end(port))
        return results

    def _feed_new(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        return _feed(self.new, port, batch, max(progress, self.split))

    def progress(self, output: int = 0) -> Time:
        """No later result starts before this. The split time itself never shows."""
        old = FOREVER if self.old is None else min(self.old.progress(output), self.split)
        return self._joiners[output].progress(old, self.new.progress(output))

    def size(self) -> int:
        """Elements in both boxes and in the joiners."""
        boxes = self.new.size() + (self.old.size() if self.old is not None else 0)
        return boxes + sum(map(len, self._joiners))

    def state(self) -> Iterable[Element]:
        """The same elements."""
        boxes = [self.new] if self.old is None else [self.old, self.new]
        return chain(chain.from_iterable(box.state() for box in boxes), *self._joiners)

    def horizon(self) -> Time:
        """The end of what a further migration must leave to this one: a later split time must lie beyond its
        own."""
        return chronon_end(self.split)

    def counters(self) -> Mapping[str, int]:
        """The new box's counters; during the migration they count what the new plan did so far."""
        return self.new.counters()

    def origins(self) -> Origins:
        """Where the results came from so far."""
        parts = [joiner.origins for joiner in self._joiners]
        return Origins(
            old=sum(part.old for part in parts),
            new=sum(part.new for part in parts),
            fused=sum(part.fused for part in parts),
            unmatched=sum(part.unmatched for part in parts),
        )


def _feed(box: Box, port: int, batch: Batch, progress: Time) -> list[Batch]:
    # The last element of a part starts at the progress behind it: at the split time, if it was cut there.
    return box.push(port, batch) if batch else box.advance(port, progress)


def _append(results: list[Batch], more: list[Batch]) -> None:
    for i, batch in enumerate(more):
        if batch:
            results[i] = results[i] + batch
