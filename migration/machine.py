"""A migration in progress: both plans side by side, forks at the new one's inputs, a joiner at each output.

    moving      the old plan gets everything and answers; the new one gets what is valid from the split time
                on, until every input has passed that
    draining    the old plan has been ended and is gone; results that begin before the split time are still
                being completed
    done        the new plan stands alone: `successor` names it
    aborted     the old plan stands alone again: `successor` names it

The phases follow from the progress of the inputs alone (erratum 14). As long as it is moving, the old plan is
complete, and all that has come out is what it has said; so the migration can be aborted at any moment. It is,
if the new plan fails. Draining ends as soon as the new plan's outputs have passed the split time and promises
are kept; that is at once but for results that one plan cuts where the other does not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import chain
from operator import itemgetter
from time import time as clock_time

from midstream.migration.fork import Fork
from midstream.migration.fuse import Joiner, Origins
from midstream.migration.trace import Entry, Listener, Sampling, finite
from midstream.operators.base.box import Box, event_of, settled
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, chronon_end

_START = itemgetter(0)

AT_ONCE = 64
"""How many elements of an input wait until the new plan is given them. As long as the old plan answers nobody
waits for what the new one says, and it takes a fraction of the time for many that it takes for each."""

SELDOM = 16
"""After how many elements and heartbeats sizes are looked at again; and for how many elements that wait the
new plan is brought up to date on that occasion."""


class Phase(Enum):
    """Where a migration stands."""

    CHECKING = "checking"
    MOVING = "moving"
    DRAINING = "draining"
    DONE = "done"
    ABORTED = "aborted"
    QUEUED = "queued"
    REFUSED = "refused"


class Migration:
    """A Box that moves from an old Box to a new one.

    Input    As both boxes, which must have the same ports; `reached` tells the progress of each so far.
    Output   Snapshot-equivalent to the old box alone, and ordered, if both boxes mean the same. As long as it
             is moving: what the old box gives, of what starts before the split time.
    State    That of both boxes and of the joiners; that of the old box is released when the last input passes
             the split time.
    Cost     O(1) per element besides the boxes' and the joiners' own.
    Raises   What the old box raises; what the new one raises, once the old one is gone.
    Source   thesis, Algorithm 25

    There is a fork for each input and a joiner for each output. `initial` is given to the new box before
    anything else, a batch an input. `whole` are the inputs whose elements are not cut: there the new box's
    time runs with the input's from the beginning. `begin()` must be called once, before any event; what it
    returns is ready then.
    """

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
        whole: Collection[int] = (),
        clock: Callable[[], float] = clock_time,
        listener: Listener | None = None,
    ) -> None:
        self.inputs = old.inputs
        self.outputs = old.outputs
        self.split = split
        """The instant before which the old plan answers, and from which on the new one does."""
        self.old: Box | None = None
        """The old box; None once it is gone, or no longer to be replaced."""
        self.new = new
        """The new box; the old one once the migration has been aborted."""
        self._outer: Migration | None = None
        """The migration of whose old box this one is."""
        self._adopt(old)
        self._forks = forks
        self._joiners = joiners
        self._initial = initial
        self._whole = whole
        self._reached = list(reached)
        self._promised = [old.progress(output) for output in range(len(self.outputs))]
        """By output, how far it was at the beginning, which it does not take back. The new box may promise
        less for a while: it has yet to come past the rows of relations."""
        self._new_progress: list[Time] = [BEGINNING] * len(self.outputs)
        self.phase = Phase.MOVING
        self.successor: Box | None = None
        """The box that goes on once the migration is done or aborted; None before."""
        self.started: Time = min(reached, default=BEGINNING)
        """The least progress of the inputs when it began."""
        self.ended: Time | None = None
        """The same when it was done or aborted; None before."""
        self.peak_old = old.size()
        """The largest state of the old box since the beginning, in elements, of those that were looked at."""
        self.peak_new = new.size()
        """The same of the new box."""
        self.peak_held = 0
        """The largest number of elements that waited in the joiners."""
        self.reason = ""
        """Why its strategy was chosen, or why it was aborted; empty where the caller chose it."""
        self.failure: Exception | None = None
        """What the new box raised, if that is why it was aborted."""
        self.trace: list[Entry] = []
        """An entry for the beginning, for every change of phase, and for samples in between."""
        self.listener = listener
        """Gets each entry of the trace as it occurs."""
        self._clock = clock
        self._sampling = Sampling(split)
        # Elsewhere the new plan's time does not stand still until an input has passed the split time.
        self._quick_until = split if type(self)._feed_new is Migration._feed_new else BEGINNING
        """Before this, nobody waits for what the new plan says."""
        self._pending: list[Batch] = [[] for _ in forks]
        """What the new plan has yet to be given."""
        self._is_behind = False
        """Whether it has, or has yet to be told how far an input is."""
        self._seen = 0
        """How many elements and heartbeats have come."""
        self._look_at = 1
        """After how many of them sizes are to be looked at again."""

    def begin(self) -> list[Batch]:
        """Give the new box what it is to begin with, and tell both how far the inputs are: if all are past
        the split time already, the old box is ended at once."""
        self._record(self.reason)
        # Which is the first sample, too.
        self._sampling.is_due(min(self._reached, default=BEGINNING))
        results = self._nothing()
        try:
            ready = [self.new.push(port, batch) for port, batch in enumerate(self._initial) if batch]
        except Exception as failure:
            results = self._give_way(results, failure)
        else:
            for from_new in ready:
                _append(results, self._join(self._nothing(), from_new))
        self._initial = ()
        for port, progress in enumerate(self._reached):
            are_all_told = port + 1 == len(self._reached)
            _append(results, self._event(port, [], progress, are_all_told=are_all_told))
        return results

    def process(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        """A batch, possibly empty, and the progress of its port behind it, in one event.

        Until the last input comes to the split time nobody waits for the new plan: what it is given may wait,
        as it is faster with more at once. Here calls count.
        """
        if progress >= self._quick_until and self._is_slow(port, progress):
            results = self.push(port, batch)
            if not batch or batch[-1][0] < progress:
                _append(results, self.advance(port, progress))
            return results
        self._reached[port] = progress
        self._is_behind = True
        results = self._old_events[port](batch, progress)
        if any(results):
            pairs = zip(self._joiners, results, strict=True)
            results = [joiner.process(found, [], self.split) for joiner, found in pairs]
        if batch:
            pending = self._pending[port]
            pending += batch
            if len(pending) >= AT_ONCE:
                _append(results, self._feed_pending())
                self._measure()
        self._seen += len(batch) or 1
        if self._seen >= self._look_at:
            self._look(progress, results)
        if self._can_settle and self.old is not None:
            self._adopt(settled(self.old))
        return results

    def _is_slow(self, port: int, progress: Time) -> bool:
        """Whether results of the new plan may be waited for."""
        return self._quick_until == BEGINNING or self._is_last(port, progress)

    def _is_last(self, port: int, progress: Time) -> bool:
        """Whether no input is before the split time any more when this one has come so far."""
        if progress < self.split:
            return False
        return all(i == port or reached >= self.split for i, reached in enumerate(self._reached))

    def _look(self, progress: Time, results: list[Batch]) -> None:
        """Look at sizes, which takes as long as a light element: after few of them, by powers of two, and
        then seldom. For an entry of the trace the new plan is brought up to date, if enough waits for it."""
        self._look_at = self._seen + min(self._seen, SELDOM)
        is_due = self._seen >= SELDOM and progress >= self._sampling.due
        if is_due and self._sampling.is_due(min(self._reached)):
            if self._waiting() >= SELDOM:
                _append(results, self._feed_pending())
            self._record()
        else:
            self._measure()

    def push(self, port: int, batch: Batch) -> list[Batch]:
        """Elements arrived on an input."""
        return self._event(port, batch, batch[-1][0]) if batch else self._nothing()

    def advance(self, port: int, time: Time) -> list[Batch]:
        """A heartbeat on an input."""
        return self._event(port, [], time) if time > self._reached[port] else self._nothing()

    def end(self, port: int) -> list[Batch]:
        """Nothing more will arrive on an input."""
        return self.advance(port, FOREVER)

    def abort(self, reason: str = "") -> list[Batch]:
        """Drop the new plan and go on with the old one, which has seen everything; possible while it is
        moving.

        Gives what the old plan said already of the time behind the split time. In a migration whose old box
        this one is, that takes its way through it, and what comes out there is given.

        Raises   MigrationRefused where the old plan has been ended, or there is nothing to abort any more.
        """
        if self.phase is not Phase.MOVING:
            raise MigrationRefused(
                f"the migration is {self.phase.value}, expected moving: it is too late to abort it"
            )
        results = self._abort(reason)
        return results if self._outer is None else self._outer._relay(results)

    def _abort(self, reason: str) -> list[Batch]:
        assert self.old is not None
        results = [joiner.abandon() for joiner in self._joiners]
        self.reason = reason
        self.new, self.old = settled(self.old), None
        self._pending = [[] for _ in self._pending]
        self._enter(Phase.ABORTED, reason)
        return results

    def _relay(self, results: list[Batch]) -> list[Batch]:
        """What the old box gave without an event."""
        if self.phase is Phase.MOVING:
            results = self._join(results, self._nothing())
        return results if self._outer is None else self._outer._relay(results)

    def _event(self, port: int, batch: Batch, progress: Time, *, are_all_told: bool = True) -> list[Batch]:
        if self.phase is Phase.MOVING and self._is_behind:
            # Before it is told how far this input is now.
            results = self._feed_pending()
            _append(results, self._event(port, batch, progress, are_all_told=are_all_told))
            return results
        self._reached[port] = progress
        if self.phase is Phase.ABORTED:
            # Until whoever runs this has taken the successor.
            return event_of(self.new)(port, batch, progress)
        if self.phase is Phase.MOVING:
            is_last = are_all_told and min(self._reached) >= self.split
            results = self._move(port, batch, progress, is_last)
        else:
            results = self._join(self._nothing(), self._from_new(port, batch, progress))
        self.peak_held = max(self.peak_held, self.held())
        if self.phase is Phase.DRAINING and self._is_over():
            self._enter(Phase.DONE)
        is_due = progress >= self._sampling.due and self._sampling.is_due(min(self._reached))
        if is_due and self.phase is Phase.MOVING:
            self._record()
        return results

    def _feed_pending(self) -> list[Batch]:
        """Give the new plan what has waited for it."""
        results = self._nothing()
        self._is_behind = False
        try:
            for port, pending in enumerate(self._pending):
                reached = self._reached[port]
                self._pending[port] = []
                if pending or self._told(port, reached) != self.split:
                    _append(results, self._feed_new(port, pending, reached))
        except Exception as failure:
            return self._give_way(self._nothing(), failure)
        return self._join(self._nothing(), results)

    def _measure(self) -> tuple[int, int, int]:
        """How much the old plan, the new one and the joiners keep; the most so far is taken note of."""
        if self.phase is Phase.ABORTED:
            # What was the old plan is the successor.
            return self.new.size(), 0, self.held()
        old = self.old.size() if self.old is not None else 0
        new, held = self.new.size(), self.held()
        self.peak_old = max(self.peak_old, old)
        self.peak_new = max(self.peak_new, new)
        self.peak_held = max(self.peak_held, held)
        return old, new, held

    def _move(self, port: int, batch: Batch, progress: Time, is_last: bool) -> list[Batch]:
        """An event while the old plan is there, which is ended if no input is before the split time."""
        old = self.old
        assert old is not None
        reach = bisect_left(batch, self.split, key=_START) if is_last else len(batch)
        if is_last:
            from_old = old.push(port, batch[:reach]) if reach else self._nothing()
        else:
            from_old = self._feed_old(port, batch, progress)
        try:
            from_new = self._from_new(port, batch, progress)
        except Exception as failure:
            if is_last:
                _append(from_old, self._feed_old(port, batch[reach:], progress))
            return self._give_way(from_old, failure)
        results = self._join(from_old, from_new)
        # The old box may itself be a migration that has just ended.
        self._adopt(settled(old))
        self._measure()
        if is_last:
            _append(results, self._complete(port))
        return results

    def _complete(self, port: int) -> list[Batch]:
        """End the old box on all ports where it has not ended yet, and drop it."""
        assert self.old is not None
        rest = self._nothing()
        for i, reached in enumerate(self._reached):
            if i == port or reached != FOREVER:
                _append(rest, self.old.end(i))
        self.old = None
        given = zip(self._joiners, rest, self._new_progress, strict=True)
        results = [joiner.complete(batch, progress) for joiner, batch, progress in given]
        self._enter(Phase.DRAINING)
        return results

    def _from_new(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        results = self._feed_new(port, batch, progress)
        self._new_progress = [self.new.progress(output) for output in range(len(self.outputs))]
        self.peak_new = max(self.peak_new, self.new.size())
        return results

    def _feed_new(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        return event_of(self.new)(port, self._forks[port](batch, progress), self._told(port, progress))

    def _told(self, port: int, progress: Time) -> Time:
        """How far an input is for the new box."""
        return progress if port in self._whole else max(progress, self.split)

    def _give_way(self, from_old: list[Batch], failure: Exception) -> list[Batch]:
        """The new box has failed: the old one goes on."""
        results = self._join(from_old, self._nothing())
        self.failure = failure
        _append(results, self._abort(f"the new plan failed: {type(failure).__name__}: {failure}"))
        return results

    def _join(self, from_old: list[Batch], from_new: list[Batch]) -> list[Batch]:
        given = zip(self._joiners, from_old, from_new, self._new_progress, strict=True)
        return [joiner.process(old, new, progress) for joiner, old, new, progress in given]

    def _is_over(self) -> bool:
        """Whether nothing is held, and no result of the new plan can touch the split time any more, or come
        before what was promised."""
        promises = zip(self._new_progress, self._promised, strict=True)
        return not self.held() and all(self.split < time >= promised for time, promised in promises)

    def _adopt(self, old: Box) -> None:
        self.old = old
        self._feed_old = event_of(old)
        # Without the question whether the input has ended: then it is past the split time.
        ports = range(len(self.inputs))
        self._old_events = (
            old.events if isinstance(old, PlanBox) else [partial(self._feed_old, port) for port in ports]
        )
        self._can_settle = hasattr(old, "successor")
        if isinstance(old, Migration):
            old._outer = self

    def _enter(self, phase: Phase, note: str = "") -> None:
        self.phase = phase
        self._quick_until = BEGINNING
        if phase in (Phase.DONE, Phase.ABORTED):
            self.successor = self.new
            self.ended = min(self._reached)
        self._record(note)

    def _record(self, note: str = "") -> None:
        old, new, held = self._measure()
        origins = self.origins()
        entry = Entry(
            phase=self.phase.value,
            time=finite(min(self._reached, default=BEGINNING)),
            wall_time=self._clock(),
            old_state=old,
            new_state=new + self._waiting(),
            held=held,
            results_old=origins.old,
            results_new=origins.new,
            results_fused=origins.fused,
            unmatched=origins.unmatched,
            note=note,
        )
        self.trace.append(entry)
        if self.listener is not None:
            self.listener(entry)

    def _nothing(self) -> list[Batch]:
        return [[] for _ in self.outputs]

    def _waiting(self) -> int:
        """How many elements the new plan has yet to be given."""
        return sum(map(len, self._pending))

    def held(self) -> int:
        """How many elements wait in the joiners."""
        return sum(map(len, self._joiners))

    def progress(self, output: int = 0) -> Time:
        """No later result starts before this. The split time itself never shows."""
        if self.phase is Phase.ABORTED:
            return self.new.progress(output)
        old = FOREVER if self.old is None else self.old.progress(output)
        return max(self._promised[output], self._joiners[output].progress(old, self._new_progress[output]))

    def size(self) -> int:
        """Elements in both boxes, in the joiners, and on their way to the new box."""
        boxes = self.new.size() + (self.old.size() if self.old is not None else 0)
        return boxes + self.held() + self._waiting()

    def state(self) -> Iterable[Element]:
        """The same elements."""
        boxes = [self.new] if self.old is None else [self.old, self.new]
        return chain(chain.from_iterable(box.state() for box in boxes), *self._joiners, *self._pending)

    def horizon(self) -> Time:
        """The end of what a further migration must leave to this one: a later split time must lie beyond its
        own."""
        return chronon_end(self.split)

    def held_bound(self) -> int:
        """The joiners have never held more elements than this, by what they were given (see each joiner)."""
        return sum(joiner.bound for joiner in self._joiners)

    def counters(self) -> Mapping[str, int]:
        """The new box's counters; during the migration they count what the new plan did so far."""
        return self.new.counters()

    def origins(self) -> Origins:
        """Where the results came from so far."""
        return Origins.together(joiner.origins for joiner in self._joiners)


def _append(results: list[Batch], more: list[Batch]) -> None:
    for i, batch in enumerate(more):
        if batch:
            results[i] = results[i] + batch


def under_way(box: Box) -> list[Migration]:
    """The migrations inside a Box."""
    if isinstance(box, Migration):
        return [box]
    inside = box.operators().values() if isinstance(box, PlanBox) else ()
    return [found for one in inside if isinstance(one, Guest) for found in under_way(one.hosted.box)]
