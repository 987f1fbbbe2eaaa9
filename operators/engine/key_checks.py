"""Whether elements keep the keys that are declared of their stream."""

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
    """Values are taken as long as the element is valid.

    State    The elements that end after the progress.
    Cost     O(log n) per element.
    """

    def __init__(self) -> None:
        self._spans: dict[Payload, list[Span]] = {}
        """By values the times at which they are taken: in order, none overlaps another."""
        self._ends: list[tuple[Time, int, Payload]] = []
        self._numbers = count()

    def holder(self, values: Payload, element: Element) -> Span | None:
        """When an element is valid that has taken these values, so that another one cannot."""
        spans = self._spans.get(values)
        if spans is None:
            return None
        start, end, _ = element
        at = bisect_right(spans, start, key=END)
        return spans[at] if at < len(spans) and spans[at][0] < end else None

    def add(self, values: Payload, element: Element) -> None:
        """An element takes values that nobody holds."""
        start, end, _ = element
        insort(self._spans.setdefault(values, []), (start, end))
        heappush(self._ends, (end, next(self._numbers), values))

    def remove(self, values: Payload, element: Element) -> None:
        """The element that took values last gives them back."""
        spans = self._spans[values]
        spans.remove((element[0], element[1]))
        if not spans:
            del self._spans[values]

    def expire(self, progress: Time) -> None:
        """No later element starts before this."""
        ends = self._ends
        while ends and ends[0][0] <= progress:
            end, _, values = heappop(ends)
            # What was given back has left its end behind.
            if (spans := self._spans.get(values)) and spans[0][1] == end:
                del spans[0]
                if not spans:
                    del self._spans[values]

    def __len__(self) -> int:
        return sum(map(len, self._spans.values()))


class ForAllTime:
    """The same for values that are taken for ever.

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
        """They stay."""

    def __len__(self) -> int:
        return len(self._taken)


Taken = WhileValid | ForAllTime
"""The values of a key that elements have taken, and until when."""


class KeyChecks:
    """The declared keys of one stream or relation, as far as they are to be enforced.

    Of two elements that agree on a key, the one that arrives later breaks it. What is found does not depend
    on batch boundaries.

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
        """What was taken since the last `keep`."""

    def __bool__(self) -> bool:
        """Whether there is anything to check."""
        return bool(self._keys)

    def size(self) -> int:
        """How many elements are remembered, once for each key."""
        return sum(len(taken) for _, _, taken in self._keys)

    def take(self, element: Element) -> None:
        """An element comes. Raises DeclarationError where it breaks a key; then it takes none."""
        found = []
        for key, values_of, taken in self._keys:
            values = values_of(element[2])
            if (span := taken.holder(values, element)) is not None:
                raise self._broken(key, element, span)
            found.append((taken, values, element))
        for taken, values, _ in found:
            taken.add(values, element)
        self._log += found

    def keep(self, progress: Time) -> None:
        """What came is let in; no later element starts before the progress."""
        self._log.clear()
        for _, _, taken in self._keys:
            taken.expire(progress)

    def give_back(self) -> None:
        """What came since the last `keep` is not let in."""
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
