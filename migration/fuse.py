"""Fuse: put the results of both plans together again, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from midstream.plans.streams import Batch, Element, Payload, Time, chronon_end

Slot = list[Any]
"""An old result on its way out: `[start, end or None, payload]`; without an end it waits for its other
half."""


@dataclass(slots=True)
class Origins:
    """How many results came from where; `unmatched` fragments had no other half."""

    old: int = 0
    new: int = 0
    fused: int = 0
    unmatched: int = 0


class Joiner(Protocol):
    """Puts together one output of the old and the new plan."""

    origins: Origins

    def process(self, old: Batch, new: Batch, is_old_done: bool, new_progress: Time) -> Batch:
        """Results of both; whether the old plan has ended; and the progress of the new one."""

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Element]: ...


class Fuse:
    """Join the fragments that the fork cut apart, and order old results before new ones.

        (e, [s, split)) of the old plan and (e, [split, t)) of the new one become (e, [s, t))

    No element starts or ends at the split time, so neither does a result of its own accord: at that instant
    both plans, being equivalent, hold the same multiset of payloads, and every fragment finds its other half.
    If the plans are not equivalent after all, a fragment without one still comes out, rounded to the end of
    its chronon so that the split time does not show.

    Output   Ordered by start: old results in their order, behind them the new ones.
    State    Old results from the first that waits; new fragments that wait; new results while old ones may
             still come.
    Cost     O(1) per element.
    Source   thesis, Algorithm 27, with erratum 3

    >>> fuse = Fuse(split=4.5)
    >>> fuse.process([(1, 3, "a"), (2, 4.5, "b"), (3, 4, "c")], [], False, 4.5)
    [(1, 3, 'a')]
    >>> fuse.process([], [(4.5, 9, "b")], False, 4.5)
    [(2, 9, 'b'), (3, 4, 'c')]
    """

    def __init__(self, split: Time) -> None:
        self._split = split
        self._slots: deque[Slot] = deque()
        self._waiting_old: dict[Payload, deque[Slot]] = {}
        self._waiting_new: dict[Payload, deque[Time]] = {}
        self._later: Batch = []
        self.origins = Origins()

    def process(self, old: Batch, new: Batch, is_old_done: bool, new_progress: Time) -> Batch:
        """Results of both; whether the old plan has ended; and the progress of the new one."""
        for start, end, payload in old:
            self._take_old(start, end, payload)
        for element in new:
            if element[0] == self._split:
                self._take_fragment(element[1], element[2])
            else:
                self._later.append(element)
        if new_progress > self._split:
            self._give_up_old()
        out = self._leave()
        if is_old_done and not self._slots:
            out += self._give_up_new()
            out += self._later
            self.origins.new += len(self._later)
            self._later = []
        return out

    def _take_old(self, start: Time, end: Time, payload: Payload) -> None:
        if end < self._split:
            self.origins.old += 1
            self._slots.append([start, end, payload])
        elif other := self._waiting_new.get(payload):
            self._slots.append([start, other.popleft(), payload])
            self.origins.fused += 1
            if not other:
                del self._waiting_new[payload]
        else:
            slot: Slot = [start, None, payload]
            self._slots.append(slot)
            self._waiting_old.setdefault(payload, deque()).append(slot)

    def _take_fragment(self, end: Time, payload: Payload) -> None:
        if waiting := self._waiting_old.get(payload):
            waiting.popleft()[1] = end
            self.origins.fused += 1
            if not waiting:
                del self._waiting_old[payload]
        else:
            self._waiting_new.setdefault(payload, deque()).append(end)

    def _give_up_old(self) -> None:
        """The new plan will give no more fragments: the old ones that wait are alone."""
        for slots in self._waiting_old.values():
            for slot in slots:
                slot[1] = chronon_end(self._split)
                self.origins.unmatched += 1
        self._waiting_old.clear()

    def _give_up_new(self) -> Batch:
        """The old plan will give no more fragments: the new ones that wait are alone."""
        start = chronon_end(self._split)
        alone = [(start, end, payload) for payload, ends in self._waiting_new.items() for end in ends]
        self._waiting_new.clear()
        self.origins.unmatched += len(alone)
        # What ends with the split time's chronon was the old plan's to say.
        return [element for element in alone if element[1] > start]

    def _leave(self) -> Batch:
        slots = self._slots
        out: Batch = []
        while slots and slots[0][1] is not None:
            start, end, payload = slots.popleft()
            out.append((start, end, payload))
        return out

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
        if self._slots:
            return self._slots[0][0]  # type: ignore[no-any-return]
        return chronon_end(min(old_progress, new_progress))

    def __len__(self) -> int:
        return len(self._slots) + sum(map(len, self._waiting_new.values())) + len(self._later)

    def __iter__(self) -> Iterator[Element]:
        for start, end, payload in self._slots:
            yield start, self._split if end is None else end, payload
        for payload, ends in self._waiting_new.items():
            yield from ((self._split, end, payload) for end in ends)
        yield from self._later


class ReferencePoint:
    """Take a new result only if it starts after the split time; the old plan has given the others, in full.

    Right only where every operator preserves starts: a result then starts at the split time exactly if all
    that it comes from started before it. Nothing needs to be matched.

    Output   Ordered by start: old results, behind them the new ones.
    State    New results while old ones may still come.
    Cost     O(1) per element.
    Source   thesis, 29.4.1, with erratum 13

    >>> point = ReferencePoint(split=4.5)
    >>> point.process([(2, 9, "b")], [(4.5, 9, "b"), (7, 8, "c")], False, 7)
    [(2, 9, 'b')]
    >>> point.process([], [], True, 7)
    [(7, 8, 'c')]
    """

    def __init__(self, split: Time) -> None:
        self._split = split
        self._later: Batch = []
        self.origins = Origins()

    def process(self, old: Batch, new: Batch, is_old_done: bool, new_progress: Time) -> Batch:
        """Results of both; whether the old plan has ended; and the progress of the new one."""
        self.origins.old += len(old)
        self._later += [element for element in new if element[0] > self._split]
        if not is_old_done:
            return old
        out, self._later = old + self._later, []
        self.origins.new += len(out) - len(old)
        return out

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
        return chronon_end(min(old_progress, new_progress))

    def __len__(self) -> int:
        return len(self._later)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._later)
