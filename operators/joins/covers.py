"""Covers, the state of semi-joins and anti-joins: the matched left elements, and the ends of matches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, cast

from midstream.operators.base.keys import key_function
from midstream.operators.joins.sweepareas import HashSweepArea
from midstream.plans.values.streams import FOREVER, Element, Payload, Time

Left = Any
"""A left element in the state: `[start, end, payload, segment]`, with the open segment of an anti-join."""

SEGMENT = 3


class KeyCover:
    """The cover of all left elements of one key: the instant until which they are known to match."""

    __slots__ = ("key", "told_until", "until")

    end = FOREVER
    """The instant from which it is of no use."""

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.until: Time | None = None
        """The latest end of a matching right element; None where none is valid."""
        self.told_until: Time = FOREVER
        """The instant until which a semi-join has given out the left elements, as far as it knows."""


class OwnCover(list[Any]):
    """A left element that is its own cover."""

    __slots__ = ("told_until", "until")

    until: Time | None
    told_until: Time

    @property
    def end(self) -> Time:
        """The end of the element."""
        end: Time = self[1]
        return end


Cover = KeyCover | OwnCover


class KeyCovers:
    """Covers by key: left elements of one key match the same right elements, those of that key.

    So only the end of a right element matters, and the state of the right side is the latest end of each key.

    State    The left elements; the keys that are covered.
    Cost     O(1) per element, however many have its key.
    """

    def __init__(self, left: Sequence[int], right: Sequence[int]) -> None:
        self._left_key, self._right_key = key_function(left), key_function(right)
        self._lefts = HashSweepArea(left)
        self._covers: dict[Hashable, KeyCover] = {}

    def can_match(self, payload: Payload) -> bool:
        """True if a left element's key has no NULL."""
        return self._left_key(payload) is not None

    def find(self, start: Time, payload: Payload) -> Cover | None:
        """The cover of the key of a left element that starts; None where nothing covers it."""
        return self._covers.get(self._left_key(payload))

    def keep(self, left: Left, cover: Cover | None) -> Cover | None:
        """Keep a left element under its cover, unless its key has a NULL.

        Returns the cover if nobody awaits its end yet.
        """
        self._lefts.insert([left], left[0])
        return None

    def reached(self, right: Element) -> Iterable[Cover]:
        """The cover that a right element will extend when it starts: that of its key, maybe new."""
        key = self._right_key(right[2])
        if key is None:
            return ()
        cover = self._covers.get(key)
        if cover is None:
            cover = self._covers[key] = KeyCover(key)
        return (cover,)

    def lefts(self, cover: Cover) -> Iterable[Left]:
        """The valid left elements under a cover: those of its key."""
        assert isinstance(cover, KeyCover)
        return self._lefts.of(cover.key)

    def release(self, cover: Cover) -> None:
        """Forget a cover under which nothing matches any longer."""
        assert isinstance(cover, KeyCover)
        del self._covers[cover.key]

    def purge(self, time: Time) -> None:
        """Forget the left elements that end at or before a time."""
        self._lefts.purge(time)

    def __len__(self) -> int:
        return len(self._lefts) + len(self._covers)

    def __iter__(self) -> Iterator[Element]:
        yield from ((start, end, payload) for start, end, payload, *_ in self._lefts)
        for key, cover in self._covers.items():
            assert cover.until is not None
            yield cover.told_until if cover.told_until < cover.until else cover.until, cover.until, key


class PairCovers:
    """Covers by pairs: each left element matches right elements of its own, among those of its key.

    Without columns, all elements have the same key.

    State    The left elements; the right elements.
    Cost     O(elements of equal key on the other side) per element.
    """

    def __init__(
        self, left: Sequence[int], right: Sequence[int], condition: Callable[[Payload, Payload], Any]
    ) -> None:
        self._left_key, self._right_key = key_function(left), key_function(right)
        self._lefts, self._rights = HashSweepArea(left), HashSweepArea(right)
        self._holds = condition

    def can_match(self, payload: Payload) -> bool:
        """True if a left element's key has no NULL."""
        return self._left_key(payload) is not None

    def find(self, start: Time, payload: Payload) -> Cover | None:
        """A cover of its own, by the valid right elements."""
        holds = self._holds
        rights = self._rights.of(self._left_key(payload))
        matches = [right for right in rights if holds(payload, right[2]) is True]
        if not matches:
            return None
        cover = OwnCover()
        cover.until = max(end for _, end, _ in matches)
        # Chance decides which of the right elements with the same start are there already. So the result is
        # cut as if the left element had come before them: by the earlier ones, or by the first.
        earlier = [end for since, end, _ in matches if since < start]
        cover.told_until = max(earlier) if earlier else matches[0][1]
        return cover

    def keep(self, left: Left, cover: Cover | None) -> Cover | None:
        """Keep a left element, unless its key has a NULL."""
        own = OwnCover(left)
        own.until, own.told_until = (None, left[1]) if cover is None else (cover.until, cover.told_until)
        # The area accepts any list with an end and a payload in their places.
        self._lefts.insert([cast(Element, own)], left[0])
        return own if cover is not None else None

    def reached(self, right: Element) -> Iterable[Cover]:
        """The covers of the left elements that it matches."""
        self._rights.insert([right], right[0])
        holds, row = self._holds, right[2]
        lefts = self._lefts.of(self._right_key(row))
        return [cast(OwnCover, left) for left in lefts if holds(left[2], row) is True]

    def lefts(self, cover: Cover) -> Iterable[Left]:
        """The only left element, which is the cover."""
        return (cover,)

    def release(self, cover: Cover) -> None:
        """Wait for another match."""
        cover.until = None

    def purge(self, time: Time) -> None:
        """Forget the elements that end at or before a time."""
        self._lefts.purge(time)
        self._rights.purge(time)

    def __len__(self) -> int:
        return len(self._lefts) + len(self._rights)

    def __iter__(self) -> Iterator[Element]:
        return ((start, end, payload) for start, end, payload, *_ in chain(self._lefts, self._rights))


Covers = KeyCovers | PairCovers
"""The covers of a semi-join or anti-join; their state is that of the instant of the last purge."""
