"""Promises: validity from the split time on that results of the old plan have already claimed."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heappushpop, heapreplace
from itertools import count

from midstream.plans.values.streams import BEGINNING, Batch, Element, Payload, Time, chronon_end


class Promises:
    """Subtract the promises of old results from new results, snapshot by snapshot.

        out@t  =  new@t - promised@t        for t >= split

    A promise is the part `[split, end)` of an old result; a fragment is a new result that starts at the split
    time. The plans are equivalent, so there are at least as many fragments of a payload as promises, and a
    fragment with the same end cancels a promise. If the plans cut validity differently, a promise may end
    after its fragment, or before it. Then, under the promises that are left, lie as many fragments; the ends
    of both are kept. A new result

        that starts where a kept end is     goes on under the promise: its own end is kept instead
        other than that                     is additional, and ends with the earliest of its own and the kept
                                            ends

    and where a promise ends, the earliest kept end tells how long the payload stays valid. Kept ends lie
    behind those that were given out, so a kept end is never missing where one is needed.

    State    Promises and fragments without a counterpart; after `start`, promises, each with an end that is
             kept under it.
    Cost     O(1) per result of a payload without promises, else O(log n).
    """

    def __init__(self, split: Time) -> None:
        self._split = split
        self._balance: dict[Payload, dict[Time, int]] = {}
        """By payload and end: fragments less promises."""
        self._kept: dict[Payload, list[Time]] = {}
        """By payload with promises: a heap of the ends that lie under them."""
        self._due: list[tuple[Time, int, Payload]] = []
        """The ends of promises: a heap."""
        self._arrivals = count()
        self._size = 0
        self.unmatched = 0
        """Promises or fragments without a counterpart; above 0 the plans are not equivalent."""

    def add(self, payload: Payload, end: Time, by: int) -> None:
        """Add that many fragments, or promises if `by` is negative."""
        ends = self._balance.setdefault(payload, {})
        before = ends.pop(end, 0)
        after = before + by
        if after:
            ends[end] = after
        elif not ends:
            del self._balance[payload]
        self._size += abs(after) - abs(before)

    def take(self, payload: Payload, wanted: int, is_complete: bool) -> list[Time]:
        """Take out the ends of the fragments that belong to `wanted` old halves, the earliest ends first.

        While not all fragments are known, it returns only ends that are certain: any, if the payload has no
        promises; otherwise all `wanted` ends, once their number shows that they have come.
        """
        ends = self._balance.get(payload, {})
        is_known = is_complete or min(ends.values(), default=1) > 0 or sum(ends.values()) >= wanted
        certain = sorted(end for end, n in ends.items() if n > 0) if is_known else []
        taken = [end for end in certain for _ in range(ends[end])][:wanted]
        for end in taken:
            self.add(payload, end, -1)
        return taken

    def start(self) -> Batch:
        """Cancel fragments against promises, once all fragments are known and `take` is done.

        Returns the additional fragments, rounded so that the split time does not show.
        """
        alone: Batch = []
        first = chronon_end(self._split)
        for payload, balance in self._balance.items():
            promised = [end for end, n in balance.items() for _ in range(-n)]
            ends = sorted(end for end, n in balance.items() for _ in range(n))
            for end in promised:
                heappush(self._due, (end, next(self._arrivals), payload))
            if promised:
                # A promise without a fragment counts as if its fragment had ended at once.
                missing = max(0, len(promised) - len(ends))
                self._kept[payload] = [self._split] * missing + ends[: len(promised)]
                heapify(self._kept[payload])
            alone += [(first, end, payload) for end in ends[len(promised) :]]
        self._balance.clear()
        self._size = len(self._due)
        # With a split at the beginning of time, all fragments are the new plan's alone.
        self.unmatched += len(alone) if self._split > BEGINNING else 0
        # A result that ends with the split time's chronon belongs to the old plan.
        return [element for element in alone if element[1] > first]

    def subtract(self, new: Batch, progress: Time) -> Batch:
        """New results that start after the split time, less the promises; in order.

        Results that resume where promises end, up to the new plan's progress, are among them.
        """
        if not self._due:
            return new
        out: Batch = []
        for element in new:
            start, end, payload = element
            out += self._resume(start)
            kept = self._kept.get(payload)
            if kept is None:
                out.append(element)
            elif kept[0] > start:
                out.append((start, heappushpop(kept, end), payload))
            else:
                self.unmatched += kept[0] < start
                heapreplace(kept, end)
        return out + self._resume(progress)

    def _resume(self, time: Time) -> Batch:
        """Results that resume because promises have ended."""
        out: Batch = []
        while self._due and self._due[0][0] <= time:
            start, _, payload = heappop(self._due)
            end = heappop(self._kept[payload])
            if not self._kept[payload]:
                del self._kept[payload]
            if end > start:
                out.append((start, end, payload))
            self.unmatched += end < start
            self._size -= 1
        return out

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Element]:
        for payload, ends in self._balance.items():
            for end, n in ends.items():
                yield from [(self._split, end, payload)] * abs(n)
        latest = {payload: max(ends) for payload, ends in self._kept.items()}
        yield from ((self._split, max(end, latest[payload]), payload) for end, _, payload in self._due)
