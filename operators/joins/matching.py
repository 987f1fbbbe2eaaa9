"""Semi-join and anti-join: left elements while some, or no, right element matches them."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable
from typing import Any, ClassVar

from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.base.pairing import equal_columns
from midstream.operators.base.port_order import PortOrder
from midstream.operators.base.running import Running, operator_of
from midstream.operators.base.segment import Segment
from midstream.operators.joins.covers import SEGMENT, Cover, Covers, KeyCovers, PairCovers
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import joins as facts
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import TRUE, compile_pair
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time


class _Matching(Operator):
    """A sweep over application time, through the starts on both ports and the ends of covers."""

    ports: ClassVar[int] = 2

    def __init__(self, covers: Covers) -> None:
        super().__init__()
        self._covers = covers
        self._arrivals = PortOrder(2)
        self._expiry: Expiry[Cover] = Expiry()
        self._now: Time = BEGINNING
        self._quiet: Time = BEGINNING
        """A lower bound of the starts of right elements that are still to come."""

    def _process(self, port: int, batch: Batch) -> Batch:
        bound = min(self.reached)
        waiting = self._arrivals.first(1)
        if waiting is not None:
            self._quiet = waiting
        else:
            self._quiet = batch[0][0] if port and batch else self.reached[1]
        out: Batch = []
        for start, side, element in self._arrivals.take(port, batch, bound):
            if start > self._now:
                self._advance(start, out)
            if side:
                self._right(element, out)
            else:
                self._left(element, out)
        if bound > self._now:
            self._advance(bound, out)
        return self._leave(out)

    def _advance(self, time: Time, out: Batch) -> None:
        """Go to a later instant, through those at which covers end."""
        for end, cover in self._expiry.expired(time):
            self._move(end)
            self._end(cover, out)
        self._move(time)

    def _move(self, time: Time) -> None:
        if time > self._now:
            self._finish_instant()
            self._now = time
            self._covers.purge(time)

    def _await(self, cover: Cover, end: Time) -> None:
        """Await the end of a cover, as far as it is known."""
        self._expiry.add(end if end < cover.end else cover.end, cover)

    @abstractmethod
    def _left(self, element: Element, out: Batch) -> None:
        """Process a left element that starts."""

    @abstractmethod
    def _right(self, element: Element, out: Batch) -> None:
        """Process a right element that starts."""

    @abstractmethod
    def _end(self, cover: Cover, out: Batch) -> None:
        """Process the end of a cover, unless it has been extended since the end was set."""

    def _finish_instant(self) -> None:
        """Finish the present instant, at which nothing more can happen."""

    def _leave(self, out: Batch) -> Batch:
        return out

    def size(self) -> int:
        """The number of elements on both sides, and of waiting ones."""
        return len(self._covers) + len(self._arrivals)

    def state(self) -> Iterable[Element]:
        """The elements on both sides, and waiting ones.

        Where only the end of a right element matters, its key stands for it.
        """
        yield from self._covers
        yield from self._arrivals


class SemiJoin(_Matching):
    """Give the left elements while some right element matches them.

        semi-join(L, R)@t  =  { l | l in L@t, condition(l, r) for some r in R@t }        (as often as in L@t)

    A left element is given out up to the end of the matches known when it starts. The next part follows when
    that end is reached, or when the next match starts. So no result waits for a match to end, and a left
    element is not cut at every right one.

    Input    Two ports, each ordered by start; one may run ahead of the other.
    Output   Ordered by start, as soon as it is known. Parts of one left element are disjoint.
    State    The valid left elements that outlive their first part; of the right side, the covered keys, or
             the valid elements if the condition has more than equalities; elements that start after the least
             progress.
    Cost     O(1 + results) amortised per element, O(log n) more where ends are unordered; if the condition
             has more than equalities, O(1 + elements of equal key).
    Source   thesis, (8.11) with erratum 5

    >>> semi = SemiJoin(KeyCovers([0], [0]))
    >>> semi.push(0, [(0, 10, ("a", 1)), (2, 5, ("b", 2))])
    []
    >>> semi.push(1, [(1, 3, ("a",)), (2, 7, ("a",))])
    [(1, 3, ('a', 1))]
    >>> semi.advance(0, 3) + semi.advance(1, 3)
    [(3, 7, ('a', 1))]
    """

    def _left(self, element: Element, out: Batch) -> None:
        start, end, payload = element
        cover = self._covers.find(start, payload)
        if cover is None:
            if end > self._quiet:
                self._covers.keep([start, end, payload, None], None)
            return
        until = cover.told_until
        if end <= until:
            out.append(element)
            return
        out.append((start, until, payload))
        fresh = self._covers.keep([start, end, payload, None], cover)
        if fresh is not None:
            self._await(fresh, until)

    def _right(self, element: Element, out: Batch) -> None:
        end = element[1]
        for cover in self._covers.reached(element):
            if cover.until is None:
                cover.until = end
                self._give(cover, out)
            elif end > cover.until:
                cover.until = end

    def _end(self, cover: Cover, out: Batch) -> None:
        assert cover.until is not None
        if cover.until <= self._now:
            self._covers.release(cover)
        elif self._now < cover.end:
            self._give(cover, out)

    def _give(self, cover: Cover, out: Batch) -> None:
        """Give all left elements under a cover out from now on."""
        now, until = self._now, cover.until
        assert until is not None
        cover.told_until = until
        for _, end, payload, *_ in self._covers.lefts(cover):
            out.append((now, end if end < until else until, payload))
        self._await(cover, until)


class AntiJoin(_Matching):
    """Give the left elements while no right element matches them.

        anti-join(L, R)@t  =  { l | l in L@t, condition(l, r) for no r in R@t }        (as often as in L@t)

    For each left element a segment opens at the end of an instant where no match is valid, and closes where
    one starts. Segments are queued as they open, which is in order of their starts. They leave from the front
    when closed, or when no match can start before their end.

    Input    Two ports, each ordered by start; one may run ahead of the other.
    Output   Ordered by start. Parts of one left element are disjoint. A result leaves when its end is known
             and no earlier segment is open.
    State    As SemiJoin; open segments, and closed ones behind them.
    Cost     As SemiJoin.
    Source   thesis, (8.16) with erratum 5

    >>> anti = AntiJoin(KeyCovers([0], [0]))
    >>> anti.push(0, [(0, 10, ("a", 1)), (2, 5, ("b", 2))])
    []
    >>> anti.push(1, [(1, 3, ("a",)), (6, 7, ("a",))])        # what ends after 6 may be matched
    [(0, 1, ('a', 1)), (2, 5, ('b', 2))]
    >>> anti.end(1) + anti.end(0)
    [(3, 6, ('a', 1)), (7, 10, ('a', 1))]
    """

    def __init__(self, covers: Covers) -> None:
        super().__init__(covers)
        self._ended: list[Cover] = []
        """The covers that have ended at this instant, at which a match may still start."""
        self._segments: deque[Segment] = deque()

    def _left(self, element: Element, out: Batch) -> None:
        start, end, payload = element
        cover = self._covers.find(start, payload)
        left = [start, end, payload, None]
        if cover is None:
            is_open = end > self._quiet and self._covers.can_match(payload)
            left[SEGMENT] = self._open(end, payload, is_open)
            if not is_open:
                return
        fresh = self._covers.keep(left, cover)
        if fresh is not None and fresh.until is not None:
            self._await(fresh, fresh.until)

    def _open(self, end: Time, payload: Any, is_open: bool) -> Segment:
        """Open a segment with its latest end; `is_open` while a match may close it sooner."""
        segment = [self._now, end, payload, is_open]
        self._segments.append(segment)
        return segment

    def _right(self, element: Element, out: Batch) -> None:
        start, end, _ = element
        for cover in self._covers.reached(element):
            until = cover.until
            if until is None:
                self._close(cover)
            if until is None or until < end:
                cover.until = end
            if until is None or until <= start:
                self._await(cover, end)

    def _close(self, cover: Cover) -> None:
        """Close the segments under a cover, as a match starts now."""
        now = self._now
        for left in self._covers.lefts(cover):
            segment = left[SEGMENT]
            segment[1] = now
            segment[3] = False
            left[SEGMENT] = None

    def _end(self, cover: Cover, out: Batch) -> None:
        assert cover.until is not None
        if cover.until <= self._now:
            self._ended.append(cover)
        elif self._now < cover.end:
            self._await(cover, cover.until)

    def _finish_instant(self) -> None:
        now = self._now
        for cover in self._ended:
            assert cover.until is not None
            if cover.until <= now:
                for left in self._covers.lefts(cover):
                    if left[1] > now:
                        left[SEGMENT] = self._open(left[1], left[2], True)
                self._covers.release(cover)
        self._ended.clear()

    def _leave(self, out: Batch) -> Batch:
        if self._now == FOREVER:
            self._finish_instant()
        waiting = self._arrivals.first(1)
        quiet = self.reached[1] if waiting is None else waiting
        segments = self._segments
        while segments:
            start, end, payload, is_open = segments[0]
            if is_open and end > quiet:
                break
            segments.popleft()
            if start < end:
                out.append((start, end, payload))
        return out

    def progress(self) -> Time:
        """The start of the first segment that has not left; the least progress if there is none."""
        return self._segments[0][0] if self._segments else min(self.reached)

    def size(self) -> int:
        """The number of elements on both sides, of waiting ones, and of segments."""
        return super().size() + len(self._segments)

    def state(self) -> Iterable[Element]:
        """The elements on both sides, the waiting ones, and the segments."""
        yield from super().state()
        for start, end, payload, _ in self._segments:
            yield start, end, payload


def _by_key(node: Node, kind: type[logical.Matching]) -> Covers:
    """Covers by equal keys, and by the rest of the condition."""
    left, right = (child.schema for child in node.inputs)
    mine, theirs, rest = equal_columns(operator_of(node, kind).condition, left, right)
    if rest == TRUE:
        return KeyCovers(mine, theirs)
    return PairCovers(mine, theirs, compile_pair(rest, left, right))


def _by_loops(node: Node, kind: type[logical.Matching]) -> Covers:
    """Covers by the whole condition."""
    condition = operator_of(node, kind).condition
    return PairCovers([], [], compile_pair(condition, *(child.schema for child in node.inputs)))


RUNNING: Running = {
    facts.HASH_SEMI_JOIN: lambda node: SemiJoin(_by_key(node, logical.SemiJoin)),
    facts.NESTED_LOOPS_SEMI_JOIN: lambda node: SemiJoin(_by_loops(node, logical.SemiJoin)),
    facts.HASH_ANTI_JOIN: lambda node: AntiJoin(_by_key(node, logical.AntiJoin)),
    facts.NESTED_LOOPS_ANTI_JOIN: lambda node: AntiJoin(_by_loops(node, logical.AntiJoin)),
}
