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
"""An old result on its way out: `[start, end or None, payload]`; without an end it waits for its other
half."""

Unmatched = dict[tuple[Time, Payload], int]
"""Ends and payloads, each with how often it is there; never zero."""


@dataclass(slots=True)
class Origins:
    """How many results came from where; `unmatched` ones had no counterpart in the other plan."""

    old: int = 0
    new: int = 0
    fused: int = 0
    unmatched: int = 0

    @classmethod
    def together(cls, parts: Iterable[Origins]) -> Origins:
        """Those of several outputs."""
        total = cls()
        for one in parts:
            # Field by field: this is asked at every sample, and what dataclasses offer copies deeply.
            total.old += one.old
            total.new += one.new
            total.fused += one.fused
            total.unmatched += one.unmatched
        return total


class Joiner(Protocol):
    """Puts together one output of the old and the new plan."""

    @property
    def origins(self) -> Origins:
        """Where the results came from so far."""

    @property
    def bound(self) -> int:
        """It has never held more elements than this."""

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Results of both plans, and the progress of the new one. Old ones come before `complete` only."""

    def complete(self, rest: Batch, new_progress: Time) -> Batch:
        """The old plan has been ended, all inputs being past the split time; this is what it gave on that."""

    def abandon(self) -> Batch:
        """The old plan goes on alone: what it has given that has not come out. Before `complete` only."""

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Element]: ...


class Fuse:
    """Give out what the old plan says, and of the new one's results what the old plan has not said.

    The old plan is given whole elements, so what it gives before it is ended is final:

        (e, [s, t)) with s < split    comes out as it is; if t > split, [split, t) is promised, and taken away
                                      from what the new plan says of e
        (e, [s, t)) with s > split    is the new plan's to say

    When it is ended, it has not seen all that starts after the split time, and is right until then only:

        (e, [s, split)) of the old plan and (e, [split, t)) of the new one become (e, [s, t))

    No element starts or ends at the split time, so neither does a result of its own accord: at that instant
    both plans, being equivalent, hold the same multiset of payloads, so there is a fragment of the new plan
    for every promise and every half. If the plans are not equivalent after all, what has no counterpart is
    counted, and still comes out, rounded to the end of its chronon so that the split time does not show.

    Output   Ordered by start: old results as they come, behind them the new ones.
    State    Promises and fragments without a counterpart; other new results, and old ones from beyond the
             split time, until the old plan has ended; then old results from the first half that waits.
    Bound    New results, plus old ones that end after the split time or came when the old plan was ended:
             what is held is one of these, or what it has become, and each only once.
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
        """`said` are results of the old plan that came out before and are valid at the split time."""
        self._split = split
        self._promised: Unmatched = {}
        """As long as the old plan has not ended: promises to which there is no fragment."""
        self._fragments: Unmatched = {}
        """The reverse."""
        self._open = 0
        """How many they are, both together."""
        self._promises = Promises(split)
        self._beyond: Batch = []
        """Old results from beyond the split time."""
        self._later: Batch = []
        """New results that start after the split time."""
        self._slots: deque[Slot] = deque()
        self._waiting: dict[Payload, deque[Slot]] = {}
        self._is_old_done = False
        self._is_past = False
        """Whether the new plan has given all that starts at the split time, and the old one has ended."""
        self._counts = Origins()
        self.bound = 0
        self._compare([element for element in said if element[1] > split], [])
        self._counts.old = 0

    @property
    def origins(self) -> Origins:
        """Where the results came from so far."""
        counts = self._counts
        unmatched = counts.unmatched + self._promises.unmatched
        return Origins(counts.old, counts.new, counts.fused, unmatched)

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Results of both plans, and the progress of the new one. Old ones come before `complete` only."""
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
        """Take note of what either plan alone has said of the time behind the split time."""
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

    def complete(self, rest: Batch, new_progress: Time) -> Batch:
        """The old plan has been ended, all inputs being past the split time; this is what it gave on that."""
        self._is_old_done = True
        self._beyond.clear()
        self.bound += len(rest)
        for unmatched, by in ((self._promised, -1), (self._fragments, 1)):
            for (end, payload), count in unmatched.items():
                self._promises.add(payload, end, by * count)
        self._forget()
        for start, end, payload in rest:
            if end < self._split:
                self._counts.old += 1
                self._slots.append([start, end, payload])
            elif start < self._split:
                self._slots.append([start, None, payload])
                self._waiting.setdefault(payload, deque()).append(self._slots[-1])
        return self._proceed(new_progress)

    def _proceed(self, new_progress: Time) -> Batch:
        """What is ready once the old plan has ended."""
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
        """Complete the halves that wait, as far as that can be told."""
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
        """The old plan goes on alone: what it has given that has not come out. Before `complete` only."""
        out, self._beyond, self._later = self._beyond, [], []
        self._forget()
        self._counts.old += len(out)
        return out

    def _forget(self) -> None:
        """What either plan alone has said is known otherwise now, or of no interest."""
        self._promised.clear()
        self._fragments.clear()
        self._open = 0

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
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
    """Match what one plan says with what the other one has said; tells how many more are unmatched now."""
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
    """The progress of an output of which the old plan is past the split time, and has not ended: as far as
    both plans are. What they have given of that is held, and one of them will give it."""
    if new_progress <= split:
        return chronon_end(split)
    held = (start for batch in (beyond, later) for start, _, _ in batch[:1])
    return chronon_end(min(old_progress, new_progress, *held))
