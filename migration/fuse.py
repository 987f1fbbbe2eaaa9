"""Fuse: put the results of both plans together, in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from midstream.migration.promises import Promises
from midstream.plans.values.streams import START, Batch, Element, Payload, Time, chronon_end

Slot = list[Any]
"""An old result on its way out: `[start, end or None, payload]`; None until its other half is known."""

Unmatched = dict[tuple[Time, Payload], int]
"""Ends and payloads, each with its number of copies; never zero."""


@dataclass(slots=True)
class Origins:
    """The number of results by origin; `unmatched` ones had no counterpart in the other plan."""

    old: int = 0
    new: int = 0
    fused: int = 0
    unmatched: int = 0

    @classmethod
    def together(cls, parts: Iterable[Origins]) -> Origins:
        """The sums over several outputs."""
        total = cls()
        for part in parts:
            # Field by field, as this runs at every sample and `dataclasses.asdict` copies deeply.
            total.old += part.old
            total.new += part.new
            total.fused += part.fused
            total.unmatched += part.unmatched
        return total


class Joiner(Protocol):
    """Puts together one output of the old and the new plan."""

    @property
    def origins(self) -> Origins:
        """The number of results so far, by origin."""

    @property
    def bound(self) -> int:
        """An upper bound of the elements held at any time so far."""

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Join results of both plans, given the new plan's progress; old results only before `complete`."""

    def complete(self, remaining: Batch, new_progress: Time) -> Batch:
        """Take the results that the old plan gave when it was ended, all inputs being past the split time."""

    def abandon(self) -> Batch:
        """Return the old plan's results that are still held, as it goes on alone; before `complete` only."""

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """A lower bound of the starts of later results."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Element]: ...


class Fuse:
    """Give out the old plan's results, and the new plan's results as far as the old plan has not given them.

    The old plan is given uncut elements, so its results before it is ended are final:

        (e, [s, t)) with s < split    comes out as it is; if t > split, [split, t) is promised, and subtracted
                                      from the new plan's results for e
        (e, [s, t)) with s > split    is left to the new plan

    When the old plan is ended, it has not seen all that starts after the split time, so its results are right
    only before the split time:

        (e, [s, split)) of the old plan and (e, [split, t)) of the new one become (e, [s, t))

    No element starts or ends at the split time, so no result does either, unless it was cut there. At that
    instant both plans, being equivalent, hold the same multiset of payloads, so the new plan has a fragment
    for every promise and every half. If the plans are not equivalent after all, results without a counterpart
    are counted, and still come out, rounded to the end of their chronon so that the split time does not show.

    Output   Ordered by start: old results as they come, behind them the new ones.
    State    Promises and fragments without a counterpart; other new results, and old ones from beyond the
             split time, until the old plan has ended; then old results from the first half that waits.
    Bound    New results, plus old ones that end after the split time or came when the old plan was ended:
             each element held is one of these, or what it has become, and none is held twice.
    Cost     O(1) per element of a payload without promises, else O(log n).
    Source   thesis, Algorithm 27, with erratum 3

    >>> fuse = Fuse(split=4.5)
    >>> fuse.process([(1, 3, "a"), (2, 9, "b")], [], 4.5)               # "b" is promised until 9
    [(1, 3, 'a'), (2, 9, 'b')]
    >>> fuse.process([], [(4.5, 9, "b"), (4.5, 8, "c"), (6, 7, "b")], 6)
    []
    >>> fuse.complete([(3, 5, "c")], 6)
    [(3, 8, 'c'), (6, 7, 'b')]
    """

    def __init__(self, split: Time, said: Iterable[Element] = ()) -> None:
        """`said` are results of the old plan that came out earlier and are valid at the split time."""
        self._split = split
        self._promised: Unmatched = {}
        """The promises without a fragment, until the old plan has ended."""
        self._fragments: Unmatched = {}
        """The fragments without a promise, until the old plan has ended."""
        self._open = 0
        """The number of both together."""
        self._promises = Promises(split)
        self._beyond: Batch = []
        """Old results from beyond the split time."""
        self._later: Batch = []
        """New results that start after the split time."""
        self._slots: deque[Slot] = deque()
        self._waiting: dict[Payload, deque[Slot]] = {}
        self._is_old_done = False
        self._is_past = False
        """True if the new plan has given all fragments, and the old plan has ended."""
        self._counts = Origins()
        self.bound = 0
        self._compare([element for element in said if element[1] > split], [])
        self._counts.old = 0

    @property
    def origins(self) -> Origins:
        """The number of results so far, by origin."""
        counts = self._counts
        unmatched = counts.unmatched + self._promises.unmatched
        return Origins(counts.old, counts.new, counts.fused, unmatched)

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Join results of both plans, given the new plan's progress; old results only before `complete`."""
        self.bound += len(new)
        if self._is_old_done:
            for element in new:
                if element[0] == self._split:
                    self._promises.add(element[2], element[1], 1)
                else:
                    self._later.append(element)
            return self._proceed(new_progress)
        return self._compare(old, new)

    def _compare(self, old: Batch, new: Batch) -> Batch:
        """Match the promises of the old plan with the fragments of the new one."""
        split, promised, fragments = self._split, self._promised, self._fragments
        out = old
        if old:
            if old[-1][0] > split:
                reach = bisect_left(old, split, key=START)
                out = old[:reach]
                self._beyond += old[reach:]
                self.bound += len(old) - reach
            self._counts.old += len(out)
            said = [(end, payload) for _, end, payload in out if end > split]
            self.bound += len(said)
            self._open += _cancel(said, fragments, promised)
        if new:
            reach = bisect_right(new, split, key=START)
            self._later += new[reach:]
            begun = [(end, payload) for _, end, payload in new[:reach]]
            self._open += _cancel(begun, promised, fragments)
        return out

    def complete(self, remaining: Batch, new_progress: Time) -> Batch:
        """Take the results that the old plan gave when it was ended, all inputs being past the split time."""
        self._is_old_done = True
        self._beyond.clear()
        self.bound += len(remaining)
        for unmatched, by in ((self._promised, -1), (self._fragments, 1)):
            for (end, payload), count in unmatched.items():
                self._promises.add(payload, end, by * count)
        self._forget()
        for start, end, payload in remaining:
            if end < self._split:
                self._counts.old += 1
                self._slots.append([start, end, payload])
            elif start < self._split:
                self._slots.append([start, None, payload])
                self._waiting.setdefault(payload, deque()).append(self._slots[-1])
        return self._proceed(new_progress)

    def _proceed(self, new_progress: Time) -> Batch:
        """The results that are ready once the old plan has ended."""
        out: Batch = []
        if not self._is_past:
            self._is_past = new_progress > self._split or bool(self._later)
            self._match()
            while self._slots and self._slots[0][1] is not None:
                start, end, payload = self._slots.popleft()
                out.append((start, end, payload))
            if not self._is_past:
                return out
            out += self._promises.start()
        later = self._promises.subtract(self._later, new_progress)
        self._later = []
        self._counts.new += len(later)
        return out + later

    def _match(self) -> None:
        """Give the waiting halves their ends, as far as these are known."""
        for payload, slots in list(self._waiting.items()):
            for end in self._promises.take(payload, len(slots), self._is_past):
                slots.popleft()[1] = end
                self._counts.fused += 1
            if self._is_past:
                # The new plan will give no more fragments: the halves that still wait are alone.
                self._counts.unmatched += len(slots)
                for slot in slots:
                    slot[1] = chronon_end(self._split)
            if not slots or self._is_past:
                del self._waiting[payload]

    def abandon(self) -> Batch:
        """Return the old plan's results that are still held, as it goes on alone; before `complete` only."""
        out, self._beyond, self._later = self._beyond, [], []
        self._forget()
        self._counts.old += len(out)
        return out

    def _forget(self) -> None:
        """Clear the unmatched results of either plan: they are kept elsewhere now, or of no interest."""
        self._promised.clear()
        self._fragments.clear()
        self._open = 0

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """A lower bound of the starts of later results."""
        if old_progress < self._split:
            return old_progress  # it has not ended, and what it gives comes out at once
        if self._slots:
            return self._slots[0][0]  # type: ignore[no-any-return]
        if self._is_old_done:
            return chronon_end(max(new_progress, self._split))
        if self._open:
            return chronon_end(self._split)
        return behind_split(self._split, old_progress, new_progress, self._beyond, self._later)

    def __len__(self) -> int:
        undecided = self._open + len(self._promises)
        return undecided + len(self._beyond) + len(self._later) + len(self._slots)

    def __iter__(self) -> Iterator[Element]:
        for start, end, payload in self._slots:
            yield start, self._split if end is None else end, payload
        for (end, payload), count in chain(self._promised.items(), self._fragments.items()):
            yield from [(self._split, end, payload)] * count
        yield from chain(self._promises, self._beyond, self._later)


def _cancel(keys: list[tuple[Time, Payload]], theirs: Unmatched, ours: Unmatched) -> int:
    """Match the results of one plan with those of the other; returns the change in unmatched ones."""
    matched = 0
    get, pop = ours.get, theirs.pop
    for key in keys:
        count = pop(key, 0) if theirs else 0
        if not count:
            ours[key] = get(key, 0) + 1
            continue
        matched += 1
        if count > 1:
            theirs[key] = count - 1
    return len(keys) - 2 * matched


def behind_split(split: Time, old_progress: Time, new_progress: Time, beyond: Batch, later: Batch) -> Time:
    """The progress of an output whose old plan is past the split time, but has not ended.

    It is the least progress of both plans. Results of later instants are held, and one of the plans will give
    them.
    """
    if new_progress <= split:
        return chronon_end(split)
    held = (start for batch in (beyond, later) for start, _, _ in batch[:1])
    return chronon_end(min(old_progress, new_progress, *held))
