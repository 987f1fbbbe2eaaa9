"""Checks that elements keep the declared keys of their stream."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from midstream.plans.algebra.operators.declarations import Key
from midstream.plans.values.errors import DeclarationError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, END, Element, Payload, Time

Span = tuple[Time, Time]


class WhileValid:
    """Values are taken while the element is valid.

    State    The elements that end after the progress.
    Cost     O(log n) per element.
    """

    def __init__(self) -> None:
        self._spans: dict[Payload, list[Span]] = {}
        """By values, the times at which they are taken: in order, none overlaps another."""
        self._ends: list[tuple[Time, int, Payload]] = []
        self._numbers = count()

    def holder(self, values: Payload, element: Element) -> Span | None:
        """The validity of another element that has taken these values; None if there is none."""
        spans = self._spans.get(values)
        if spans is None:
            return None
        start, end, _ = element
        at = bisect_right(spans, start, key=END)
        return spans[at] if at < len(spans) and spans[at][0] < end else None

    def add(self, values: Payload, element: Element) -> None:
        """Let an element take values that no other holds."""
        start, end, _ = element
        insort(self._spans.setdefault(values, []), (start, end))
        heappush(self._ends, (end, next(self._numbers), values))

    def remove(self, values: Payload, element: Element) -> None:
        """Give back the values of an element, the last one that took them."""
        spans = self._spans[values]
        spans.remove((element[0], element[1]))
        if not spans:
            del self._spans[values]

    def expire(self, progress: Time) -> None:
        """Drop the elements that end at or before the progress."""
        ends = self._ends
        while ends and ends[0][0] <= progress:
            end, _, values = heappop(ends)
            # The end of values that were given back is still in the heap.
            if (spans := self._spans.get(values)) and spans[0][1] == end:
                del spans[0]
                if not spans:
                    del self._spans[values]

    def __len__(self) -> int:
        return sum(map(len, self._spans.values()))


class ForAllTime:
    """Values are taken for ever.

    State    All values that ever came.
    Cost     O(1) per element.
    """

    def __init__(self) -> None:
        self._taken: dict[Payload, Span] = {}

    def holder(self, values: Payload, element: Element) -> Span | None:
        return self._taken.get(values)

    def add(self, values: Payload, element: Element) -> None:
        self._taken[values] = (element[0], element[1])

    def remove(self, values: Payload, element: Element) -> None:
        del self._taken[values]

    def expire(self, progress: Time) -> None:
        """Do nothing, as values stay taken."""

    def __len__(self) -> int:
        return len(self._taken)


Taken = WhileValid | ForAllTime
"""The values of a key that elements have taken, and the times at which they are taken."""


class KeyChecks:
    """The enforced keys of one stream or relation.

    If two elements agree on a key, the one that arrives later breaks it. The result does not depend on batch
    boundaries.

    Cost     O(keys × log n) per element, O(keys) for keys of all time.

    >>> bids = KeyChecks("stream bids", Schema.of(id="integer"), [Key(("id",))])
    >>> bids.take((1, 5, (7,)))
    >>> try: bids.take((4, 9, (7,)))
    ... except DeclarationError as error: print(error)
    stream bids: element (4, 9, (7,)) agrees on id with another one, valid from 1 to 5; expected unique (id)
    >>> bids.take((5, 9, (7,)))
    """

    def __init__(self, name: str, columns: Schema, keys: Sequence[Key]) -> None:
        self._name = name
        self._keys: list[tuple[Key, Callable[[Payload], Payload], Taken]] = [
            (
                key,
                _values([columns.index(column) for column in key.columns]),
                ForAllTime() if key.is_lasting else WhileValid(),
            )
            for key in keys
            if key.is_enforced
        ]
        self._log: list[tuple[Taken, Payload, Element]] = []
        """The values taken since the last `keep`."""

    def __bool__(self) -> bool:
        """True if there is anything to check."""
        return bool(self._keys)

    def size(self) -> int:
        """The number of remembered elements, once for each key."""
        return sum(len(taken) for _, _, taken in self._keys)

    def take(self, element: Element) -> None:
        """Check an element, and take its values.

        Raises   DeclarationError where it breaks a key; then it takes none.
        """
        additions = []
        for key, values_of, taken in self._keys:
            values = values_of(element[2])
            if (span := taken.holder(values, element)) is not None:
                raise self._broken(key, element, span)
            additions.append((taken, values, element))
        for taken, values, _ in additions:
            taken.add(values, element)
        self._log += additions

    def keep(self, progress: Time) -> None:
        """Let the last elements in for good; no later element starts before the progress."""
        self._log.clear()
        for _, _, taken in self._keys:
            taken.expire(progress)

    def give_back(self) -> None:
        """Give back the values of all elements since the last `keep`."""
        while self._log:
            taken, values, element = self._log.pop()
            taken.remove(values, element)

    def _broken(self, key: Key, element: Element, span: Span) -> DeclarationError:
        names = ", ".join(key.columns) or "no column"
        when = "always valid" if span[0] == BEGINNING else f"valid from {span[0]} to {span[1]}"
        return DeclarationError(
            f"{self._name}: element {element!r} agrees on {names} with another one, {when}; expected {key}",
            name=self._name,
            element=element,
            declaration=key,
        )


def _values(places: Sequence[int]) -> Callable[[Payload], Payload]:
    return lambda row: tuple(row[i] for i in places)
