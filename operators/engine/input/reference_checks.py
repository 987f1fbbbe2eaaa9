"""Checks that elements find the rows that they are declared to refer to.

A row of one stream may arrive before the row of the other stream that it refers to. So an element is taken at
once, and is checked when the other stream has gone past it: an element without a partner by then is reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from midstream.operators.engine.input.input_manager import DeadLetters, dead_letter
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.operators.declarations import Reference
from midstream.plans.values.errors import DeclarationError
from midstream.plans.values.streams import BEGINNING, END, FOREVER, Batch, Element, Payload, Time


class ReferenceCheck:
    """One declared reference of a stream or relation to another one.

    Input    Elements of both, each in order of start, with the progress behind them.
    State    The elements that start after the other's progress; and the times at which partners serve, as far
             as a future element may need them: for lasting partners, those of every value.
    Cost     O(log n) per element.

    >>> from midstream.plans.algebra.builder import stream
    >>> items = stream("items", id="integer")
    >>> bids = stream("bids", item="integer").references([("item", "id")], items, within=2)
    >>> (bid,), (item,) = bids.plan().sources, items.plan().sources
    >>> check = ReferenceCheck(bid.references[0], bid, item)
    >>> check.refer([(3, 4, (7,)), (5, 6, (7,))], 5)
    >>> check.serve([(2, 3, (7,))], 4)
    >>> list(check.unmatched())
    []
    >>> check.serve([(6, 7, (7,))], 6)
    >>> list(check.unmatched())
    [(5, 6, (7,))]
    """

    def __init__(
        self,
        reference: Reference,
        leaf: Source | Relation,
        other: Source | Relation,
        since: Time = BEGINNING,
    ) -> None:
        self.reference = reference
        self.leaf = leaf
        self.other = other
        self._since = since
        self._is_brief = isinstance(other, Source) and not other.intervals
        self._places = [leaf.columns.index(name) for name in reference.columns]
        self._other_places = [other.columns.index(name) for name in reference.to_columns]
        self._served: dict[Payload, list[tuple[Time, Time]]] = {}
        """By values, the times at which there is a partner: in order, none meets another."""
        self._ends: list[tuple[Time, int, Payload]] = []
        self._pending: list[tuple[Time, int, Element]] = []
        """Elements, by the instant up to which they have partners."""
        self._numbers = count()
        self._progress: Time = BEGINNING
        self.other_progress: Time = since

    def size(self) -> int:
        """The number of waiting elements and of remembered times."""
        return len(self._pending) + sum(map(len, self._served.values()))

    def serve(self, partners: Iterable[Element], progress: Time) -> None:
        """Take elements of the other stream, and its progress behind them."""
        for start, end, row in partners:
            values = tuple(row[i] for i in self._other_places)
            until = FOREVER if FOREVER in (end, self.reference.within) else end + self.reference.within
            times = self._served.setdefault(values, [])
            if times and start <= times[-1][1]:
                if until <= times[-1][1]:
                    continue
                times[-1] = (times[-1][0], until)
            else:
                times.append((start, until))
            heappush(self._ends, (until, next(self._numbers), values))
        self.other_progress = max(progress, self.other_progress)

    def refer(self, elements: Iterable[Element], progress: Time) -> None:
        """Take elements of this stream, and its progress behind them."""
        for element in elements:
            if self._can_be_checked(element):
                heappush(self._pending, (element[0], next(self._numbers), element))
        self._progress = max(progress, self._progress)

    def unmatched(self) -> Iterator[Element]:
        """The elements without a partner at some instant; each is reported once."""
        pending = self._pending
        while pending and pending[0][0] < self.other_progress:
            reached, number, element = heappop(pending)
            values = tuple(element[2][i] for i in self._places)
            times = self._served.get(values, [])
            at = bisect_right(times, reached, key=END)
            if at < len(times) and times[at][0] <= reached:
                reached = times[at][1]
            if reached >= element[1]:
                continue
            if reached < self.other_progress:
                yield element
            else:
                heappush(pending, (reached, number, element))
        self._forget()

    def _can_be_checked(self, element: Element) -> bool:
        """True if its values are known, and all its possible partners were seen."""
        if any(element[2][i] is None for i in self._places):
            return False
        if self._since == BEGINNING:
            return True
        return self._is_brief and element[0] - self.reference.within > self._since

    def _forget(self) -> None:
        """Drop the times that no element can need any more."""
        least = min(self._progress, self._pending[0][0]) if self._pending else self._progress
        while self._ends and self._ends[0][0] <= least and self._ends[0][0] != FOREVER:
            _, _, values = heappop(self._ends)
            times = self._served.get(values, [])
            while times and times[0][1] <= least:
                del times[0]
            if not times:
                self._served.pop(values, None)


class ReferenceChecks:
    """The enforced references between streams and relations of an engine, if both sides are read."""

    def __init__(self, letters: DeadLetters | None) -> None:
        self._letters = letters
        self._checks: dict[tuple[str, Reference], ReferenceCheck] = {}
        self.streams: set[str] = set()
        """The streams whose elements must be seen."""

    def __bool__(self) -> bool:
        """True if there is anything to check."""
        return bool(self._checks)

    def size(self) -> int:
        """The number of waiting elements and of remembered times."""
        return sum(check.size() for check in self._checks.values())

    def enter(self, check: ReferenceCheck) -> None:
        """Add a check from now on; an equal one that exists goes on."""
        if self._checks.setdefault((check.leaf.label, check.reference), check) is check:
            self.streams |= {leaf.stream for leaf in (check.leaf, check.other) if isinstance(leaf, Source)}

    def keep(self, read: Container[str]) -> None:
        """Keep only the checks between streams that are read from now on."""
        self._checks = {
            key: check
            for key, check in self._checks.items()
            if all(leaf.label in read for leaf in (check.leaf, check.other) if isinstance(leaf, Source))
        }

    def see(self, stream: str, elements: Batch, progress: Time) -> None:
        """Take elements of a stream, in order, and report elements of any stream without a partner.

        Raises   DeclarationError for such an element, unless there are dead letters.
        """
        concerned = [c for c in self._checks.values() if stream in (c.other.label, c.leaf.label)]
        for check in concerned:
            if stream == check.other.label:
                check.serve(elements, progress)
            if stream == check.leaf.label:
                check.refer(elements, progress)
        report([(check, element) for check in concerned for element in check.unmatched()], self._letters)


def report(unmatched: Sequence[tuple[ReferenceCheck, Element]], letters: DeadLetters | None) -> None:
    """Report elements without a partner, by an exception or as dead letters."""
    refused = []
    for check, element in unmatched:
        kind, label = "stream" if isinstance(check.leaf, Source) else "relation", check.leaf.label
        error = DeclarationError(
            f"{kind} {label}: element {element!r} has been taken, and there is no row that it refers to; "
            f"expected {check.reference}",
            name=label,
            element=element,
            declaration=check.reference,
        )
        if letters is None:
            raise error
        refused.append(dead_letter(label, element, error, check.other_progress))
    if letters is not None:
        letters.take(refused)
