"""A join of three streams with all its arrivals, by which policies are judged."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from midstream.autopilot.costs.bill import hindsight
from midstream.autopilot.costs.exact import ExactCosts

Key = str | int

Row = tuple[Key, ...]

Recorded = Sequence[tuple[int, Row]]
"""Timestamps in order, each with a row."""

Order = tuple[str, str]
"""The two streams that are joined first."""

Arrival = tuple[int, str, Row]
"""The instant, the stream, and the row."""


@dataclass(frozen=True)
class Case:
    """Streams, and the orders in which they may be joined, with times in chronons.

    window      the length of each element's validity
    bucket      the length of buckets, for policies that look at time in them; the first one begins with the
                first element
    columns     of each stream
    on          by order, the columns that agree: the first stream's, and the second's
    """

    name: str
    window: int
    bucket: int
    columns: Mapping[str, tuple[str, ...]]
    on: Mapping[Order, tuple[str, str]]
    streams: Mapping[str, Recorded]

    @property
    def orders(self) -> tuple[Order, ...]:
        """The plans to choose from."""
        return tuple(self.on)

    @cached_property
    def arrivals(self) -> tuple[Arrival, ...]:
        """All elements in order of time; of equal times, streams in the order in which they are named."""
        mixed = [(time, name, row) for name, rows in self.streams.items() for time, row in rows]
        return tuple(sorted(mixed, key=itemgetter(0)))

    def instants(self) -> Iterator[tuple[int, list[Arrival]]]:
        """All arrivals, grouped by instant."""
        for time, together in groupby(self.arrivals, key=itemgetter(0)):
            yield time, list(together)

    @cached_property
    def costs(self) -> ExactCosts:
        """The costs of the orders, by number: their intermediate results, pair by pair."""
        instants = [time for time, _ in self.instants()]
        return ExactCosts([self._pairs(order) for order in self.orders], instants, self.window)

    @property
    def hindsight(self) -> int:
        """The intermediate results of the best order of each bucket, with free moves."""
        buckets = range(self.first, self.beyond, self.bucket)
        return int(hindsight(self.costs.spent, len(self.orders), buckets))

    @property
    def first(self) -> int:
        """The start of the first element."""
        return self.arrivals[0][0]

    @property
    def beyond(self) -> int:
        """An instant after all starts."""
        return self.arrivals[-1][0] + 1

    def key(self, order: Order, side: int, row: Row) -> Key:
        """The key by which a row of an order's first or second stream is joined."""
        return row[self.columns[order[side]].index(self.on[order][side])]

    def _pairs(self, order: Order) -> Iterator[tuple[int, int]]:
        """The times during which pairs of equal keys are valid together."""
        one, other = (
            [(time, self.key(order, side, row)) for time, row in self.streams[order[side]]] for side in (0, 1)
        )
        return (
            (max(time, partner), min(time, partner) + self.window)
            for time, partner in pairs(one, other, self.window)
        )


def pairs(
    left: Sequence[tuple[int, Key]], right: Sequence[tuple[int, Key]], window: int
) -> Iterator[tuple[int, int]]:
    """The times of all pairs of equal keys that are valid together: less than a window apart.

    >>> list(pairs([(0, "x"), (9, "x")], [(4, "x"), (5, "y"), (10, "x")], 10))
    [(0, 4), (9, 4), (9, 10)]
    """
    times: dict[Key, list[int]] = defaultdict(list)
    for time, key in right:
        times[key].append(time)
    for time, key in left:
        partners = times.get(key, [])
        near = slice(bisect_right(partners, time - window), bisect_left(partners, time + window))
        for partner in partners[near]:
            yield time, partner


def one_key(name: str, window: int, bucket: int, streams: Mapping[str, Sequence[tuple[int, Key]]]) -> Case:
    """A case of streams of keys, where each two streams are joined by key."""
    names = list(streams)
    orders = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
    return Case(
        name,
        window,
        bucket,
        {stream: ("key",) for stream in names},
        {order: ("key", "key") for order in orders},
        {stream: [(time, (key,)) for time, key in keys] for stream, keys in streams.items()},
    )
