"""A migration in progress: both plans side by side, forks at the new one's inputs, a joiner at each output.

    moving      the old plan gets everything and answers; the new one gets what is valid from the split time
                on, until every input has passed that
    draining    the old plan has been ended and is gone; results that begin before the split time are still
                being completed
    done        the new plan stands alone: `successor` names it
    aborted     the old plan stands alone again: `successor` names it

The phases follow from the progress of the inputs alone (erratum 14). While the migration is moving, the old
plan is complete, and all results so far are its own, so the migration can be aborted at any moment. It is
aborted if the new plan fails. Draining ends as soon as the new plan's outputs have passed the split time and
all promises are kept. That is at once, unless one plan cuts the validity of a result where the other does
not.

This module switches between the phases. A backlog forks the new plan's input, and an observer records sizes
and the trace.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain

from midstream.migration.backlog import Backlog, append
from midstream.migration.fork import EVERYTHING, Fork
from midstream.migration.fuse import Joiner, Origins
from midstream.migration.trace import LOOK_EVERY, Listener, Observer, TraceEntry
from midstream.operators.base.box import Box, driver, settled
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.guest import Guest
from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Element, Time, chronon_end


class Phase(Enum):
    """The phases of a migration."""

    CHECKING = "checking"
    MOVING = "moving"
    DRAINING = "draining"
    DONE = "done"
    ABORTED = "aborted"
    QUEUED = "queued"
    REFUSED = "refused"


class Migration:
    """A Box that moves from an old Box to a new one.

    Input    As both boxes, which must have the same ports; `reached` is the progress of each port so far.
    Output   Snapshot-equivalent to the old box alone, and ordered, if the boxes are equivalent. While it is
             moving: the old box's results that start before the split time.
    State    That of both boxes and of the joiners; that of the old box is released when the last input passes
             the split time.
    Cost     O(1) per element besides the boxes' and the joiners' own.
    Raises   What the old box raises; what the new one raises, once the old one is gone.
    Source   thesis, Algorithm 25

    There is a fork for each input and a joiner for each output. `initial` holds a batch per input, which the
    new box gets before anything else. `begin()` must be called once, before any event; it returns the results
    that are ready then.
    """

    is_patient = True
    """True if the new plan may wait for its input while the old plan answers."""

    def __init__(
        self,
        old: Box,
        new: Box,
        split: Time,
        reached: Sequence[Time],
        forks: Sequence[Fork],
        joiners: Sequence[Joiner],
        *,
        initial: Sequence[Batch] = (),
    ) -> None:
        self.inputs = old.inputs
        self.outputs = old.outputs
        self.split = split
        """The instant before which the old plan answers, and from which on the new one does."""
        self.phase = Phase.MOVING
        self.successor: Box | None = None
        """The box that goes on once the migration is done or aborted; None before."""
        self.old: Box | None = None
        """The old box; None once it is gone, or no longer to be replaced."""
        self._outer: Migration | None = None
        """The migration whose old box this one is; None if there is none."""
        self._adopt(old)
        self.backlog = Backlog(new, forks, None if self.is_patient else 0)
        """The new box, behind its backlog."""
        self._joiners = joiners
        self._initial = initial
        self._reached = list(reached)
        self._promised = [old.progress(output) for output in range(len(self.outputs))]
        """By output, the progress when the migration began, below which it never falls.

        The new box may promise less for a while, as it has yet to pass the rows of relations.
        """
        self._new_progress: list[Time] = [BEGINNING] * len(self.outputs)
        """By output, the new box's progress when it last got something."""
        self._new_size = new.size()
        """The new box's size at that moment."""
        self.started: Time = self.least_reached
        """The least progress of the inputs when it began."""
        self.ended: Time | None = None
        """The least progress of the inputs when the migration was done or aborted; None before."""
        self.reason = ""
        """Why its strategy was chosen, or why it was aborted; empty where the caller chose it."""
        self.failure: Exception | None = None
        """The exception of the new box, if the migration was aborted for it; else None."""
        self.observer = Observer(split)
        """Records the trace and the largest sizes."""
        self.observer.measure(*self._sizes())

    @property
    def new(self) -> Box:
        """The new box; the old one once the migration has been aborted."""
        return self.backlog.box

    @property
    def trace(self) -> Sequence[TraceEntry]:
        """The trace from the beginning of the migration to its end."""
        return self.observer.trace

    @property
    def listener(self) -> Listener | None:
        """Gets each entry of the trace as it occurs."""
        return self.observer.listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        self.observer.listener = listener

    @property
    def least_reached(self) -> Time:
        """The least progress of all inputs."""
        return min(self._reached, default=BEGINNING)

    def begin(self) -> list[Batch]:
        """Give the new box its initial elements, and tell both boxes the progress of the inputs.

        If all inputs are past the split time already, the old box is ended at once.
        """
        self._record(self.reason)
        # This entry is the first sample, too.
        self.observer.sampling.is_due(self.least_reached)
        results = self._nothing()
        try:
            ready = [self.new.push(port, batch) for port, batch in enumerate(self._initial) if batch]
        except Exception as failure:
            results = self._give_way(failure)
        else:
            for from_new in ready:
                append(results, self._join(self._nothing(), from_new))
        self._initial = ()
        for port, progress in enumerate(self._reached):
            if self.old is None or port + 1 == len(self._reached):
                append(results, self._event(port, [], progress))
            else:
                # Nothing can be completed before all inputs have reported.
                append(results, self._join_old(self._driver.process(port, [], progress)))
                self.backlog.take(port, [], progress)
        # This was not an arrival, and sizes are measured after a number of arrivals.
        self.observer.seen, self.observer.look_at = 0, 1
        return results

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Process a batch, possibly empty, and the progress of its port behind it, in one event.

        Until the last input comes to the split time nobody waits for the new plan, so its input may wait.
        """
        if self.old is None or (progress >= self.split and self._is_last(port, progress)):
            return self._event(port, batch, progress)
        self._reached[port] = progress
        results = self._driver.process(port, batch, progress)
        if any(results):
            results = self._join_old(results)
        if self._driver.successor is not None:
            # The old box may itself be a migration that has just ended.
            self._adopt(settled(self.old))
        observer = self.observer
        observer.seen += len(batch) or 1
        if self.backlog.take(port, batch, progress):
            if self._catch_up(results):
                self._look(results)
        elif observer.seen >= observer.look_at:
            self._look(results)
        return results

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on an input."""
        return self._event(port, batch, batch[-1][0]) if batch else self._nothing()

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat on an input."""
        return self._event(port, [], time) if time > self._reached[port] else self._nothing()

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on an input."""
        return self.advance(port, FOREVER)

    def _event(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Process an event for which both plans give all results that they have."""
        if self.phase is Phase.ABORTED:
            # The caller has not taken the successor yet.
            return self.backlog.process(port, batch, progress)
        if self.old is not None and not self._is_last(port, progress):
            results = self.process(port, batch, progress)
            if self.backlog.is_behind and self._catch_up(results):
                self._look(results)
            return results
        self._reached[port] = progress
        if self.old is not None:
            results = self._complete(port, batch, progress)
        else:
            results = self._join(self._nothing(), self._from_new(self.backlog.process(port, batch, progress)))
        self.observer.measure(*self._sizes())
        if self.phase is Phase.DRAINING and self._is_over():
            self._enter(Phase.DONE)
        return results

    def _is_last(self, port: int, progress: Time) -> bool:
        """True if every input is at or past the split time once this port has come to `progress`."""
        if progress < self.split:
            return False
        return all(i == port or reached >= self.split for i, reached in enumerate(self._reached))

    def _catch_up(self, results: list[Batch]) -> bool:
        """Give the new plan its waiting input, and append its results.

        Returns False if the new plan failed; then the migration has been aborted.
        """
        try:
            from_new = self._from_new(self.backlog.catch_up())
        except Exception as failure:
            append(results, self._give_way(failure))
            return False
        append(results, self._join(self._nothing(), from_new))
        return True

    def _look(self, results: list[Batch]) -> None:
        """Measure the sizes, or take a sample if one is due.

        Before a sample, the new plan processes its waiting input if there is enough of it.
        """
        is_worth_it = not self.backlog.is_behind or self.observer.seen >= LOOK_EVERY
        if not (is_worth_it and self.observer.sampling.is_due(self.least_reached)):
            self.observer.measure(*self._sizes())
        elif self.backlog.waiting < LOOK_EVERY or self._catch_up(results):
            self._record()

    def _complete(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """Process the event by which the last input passes the split time.

        The old box gets the elements before the split time, is ended on all ports that have not ended yet,
        and is dropped.
        """
        old = self.old
        assert old is not None
        reach = bisect_left(batch, self.split, key=START)
        results = old.push(port, batch[:reach]) if reach else self._nothing()
        self.backlog.limit = 0
        try:
            from_new = self._from_new(self.backlog.process(port, batch, progress))
        except Exception as failure:
            results = self._join_old(append(results, self._driver.process(port, batch[reach:], progress)))
            return append(results, self._give_way(failure))
        results = self._join(results, from_new)
        old = settled(old)
        self._adopt(old)
        self.observer.measure(*self._sizes())
        for inside in under_way(old):
            inside.cut(self.split)
        remaining = self._nothing()
        for i, reached in enumerate(self._reached):
            if i == port or reached != FOREVER:
                append(remaining, old.end(i))
        self._drop_old()
        joined = zip(self._joiners, remaining, self._new_progress, strict=True)
        append(results, [joiner.complete(batch, progress) for joiner, batch, progress in joined])
        self._enter(Phase.DRAINING)
        return results

    def abort(self, reason: str = "") -> list[Batch]:
        """Drop the new plan and go on with the old one, which has seen everything; only while it is moving.

        Returns the old plan's results from beyond the split time that are still held. If this migration is
        the old box of another one, the results pass through that one first.

        Raises   MigrationRefused where the old plan has been ended, or there is nothing to abort any more.
        """
        if self.phase is not Phase.MOVING:
            raise MigrationRefused(
                f"the migration is {self.phase.value}, expected moving: it is too late to abort it"
            )
        results = self._abort(reason)
        return results if self._outer is None else self._outer._relay(results)

    def _abort(self, reason: str) -> list[Batch]:
        results = [joiner.abandon() for joiner in self._joiners]
        self.reason = reason
        assert self.old is not None
        self.backlog = Backlog(settled(self.old), [EVERYTHING] * len(self.inputs), 0)
        self._drop_old()
        self._enter(Phase.ABORTED, reason)
        return results

    def _relay(self, results: list[Batch]) -> list[Batch]:
        """Pass results of the old box on that came without an event."""
        if self.phase is Phase.MOVING:
            results = self._join_old(results)
        return results if self._outer is None else self._outer._relay(results)

    def _from_new(self, results: list[Batch]) -> list[Batch]:
        """Read the new plan's progress and size, which may fail like its results."""
        self._new_progress = [self.new.progress(output) for output in range(len(self.outputs))]
        self._new_size = self.new.size()
        return results

    def _give_way(self, failure: Exception) -> list[Batch]:
        """Abort because the new box failed; the old one goes on."""
        self.failure = failure
        return self._abort(f"the new plan failed: {type(failure).__name__}: {failure}")

    def _join(self, from_old: list[Batch], from_new: list[Batch]) -> list[Batch]:
        joined = zip(self._joiners, from_old, from_new, self._new_progress, strict=True)
        return [joiner.process(old, new, progress) for joiner, old, new, progress in joined]

    def _join_old(self, from_old: list[Batch]) -> list[Batch]:
        joined = zip(self._joiners, from_old, self._new_progress, strict=True)
        return [joiner.process(old, [], progress) for joiner, old, progress in joined]

    def _is_over(self) -> bool:
        """True if nothing is held, and later results lie behind the split time and the promises."""
        promises = zip(self._new_progress, self._promised, strict=True)
        return not self.held() and all(self.split < time >= promised for time, promised in promises)

    def _adopt(self, old: Box) -> None:
        self.old, self._driver = old, driver(old)
        if isinstance(old, Migration):
            old._outer = self

    def _drop_old(self) -> None:
        self.old = None
        del self._driver

    def _enter(self, phase: Phase, note: str = "") -> None:
        self.phase = phase
        if phase in (Phase.DONE, Phase.ABORTED):
            self.successor = self.new
            self.ended = self.least_reached
        self._record(note)

    def _record(self, note: str = "") -> None:
        self.observer.record(
            self.phase.value, self.least_reached, self._sizes(), self.backlog.waiting, self.origins(), note
        )

    def _sizes(self) -> tuple[int, int, int]:
        """The sizes of the old plan, the new plan and the joiners, in elements."""
        if self.phase is Phase.ABORTED:
            # The old plan is the successor now.
            return self.new.size(), 0, self.held()
        return self.old.size() if self.old is not None else 0, self._new_size, self.held()

    def _nothing(self) -> list[Batch]:
        return [[] for _ in self.outputs]

    def held(self) -> int:
        """The number of elements that wait in the joiners."""
        return sum(map(len, self._joiners))

    def progress(self, output: int = 0) -> Time:
        """A lower bound of the starts of later results; the split time itself never shows."""
        if self.phase is Phase.ABORTED:
            return self.new.progress(output)
        old = FOREVER if self.old is None else self.old.progress(output)
        joined = self._joiners[output].progress(old, self._new_progress[output])
        return max(self._promised[output], joined)

    def size(self) -> int:
        """Elements in both boxes, in the joiners, and on their way to the new box."""
        old = 0 if self.old is None else self.old.size()
        return old + self.backlog.size() + self.held()

    def state(self) -> Iterable[Element]:
        """The elements in both boxes, in the joiners, and on their way to the new box."""
        old: Iterable[Element] = () if self.old is None else self.old.state()
        return chain(old, self.backlog.state(), *self._joiners)

    def horizon(self) -> Time:
        """The instant beyond which the split time of a further migration must lie."""
        return chronon_end(self.split)

    def cut(self, split: Time) -> None:
        """Take note that an outer migration is past its split time.

        The old box of the outer migration contains this one. Elements from behind that split time were not
        the same on all inputs, so neither are the results of both plans for them.
        """
        # Nothing to do: that split time is behind the horizon.

    def held_bound(self) -> int:
        """An upper bound of the elements that the joiners have ever held (see each joiner)."""
        return sum(joiner.bound for joiner in self._joiners)

    def counters(self) -> Mapping[str, int]:
        """The new box's counters; during the migration they count the work of the new plan so far."""
        return self.new.counters()

    def operators(self) -> Iterable[tuple[Node, Operator]]:
        """The operators of the old box, until it is gone, and of the new one."""
        boxes = (self.new,) if self.old is None else (self.old, self.new)
        return chain.from_iterable(driver(box).operators() for box in boxes)

    def origins(self) -> Origins:
        """The number of results so far, by origin."""
        return Origins.together(joiner.origins for joiner in self._joiners)


def under_way(box: Box) -> list[Migration]:
    """The migrations inside a Box."""
    if isinstance(box, Migration):
        return [box]
    guests = (operator for _, operator in driver(box).operators() if isinstance(operator, Guest))
    return [migration for guest in guests for migration in under_way(guest.hosted.box)]
