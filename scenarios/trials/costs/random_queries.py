"""Random queries of the plans of Table 24.1, and the Poisson streams that they read (thesis, 24.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from random import Random

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count, min_
from midstream.scenarios.streams.stream_spec import Poisson, StreamSpec, Uniform
from midstream.scenarios.trials.costs.plan_shapes import TABLE_24_1

NESTED_LOOPS = 0.33
"""The share of joins that cannot be hash joins."""

COLUMNS = "abc"
"""The keys of each stream; its name is in front of them."""

Range = tuple[float, float]


@dataclass(frozen=True)
class RandomQueries:
    """The terms by which queries and streams are drawn; equal terms give equal ones.

    seed       of all that is drawn
    windows    the range of the bounds of windows, in chronons; each window begins at its upper bound
    granules   the range of the bounds of granules, in chronons; each conversion begins at its finest
    rates      the range of the streams' rates, in elements a second
    values     the range of the number of values of a key; a join has the selectivity 1 / that number
    number     the number of streams
    heartbeats the chronons between heartbeats of each stream; without them, slow streams hold up looks

    >>> queries = RandomQueries(seed=1, windows=(1_000, 30_000), granules=(1, 160), rates=(0.1, 10.0))
    >>> print(next(queries.plans()))
    join s32b = s39b
    ├─ join s32a = s36a
    │  ├─ window 17549 (from 11386 to 17549)
    │  │  └─ source s32
    │  └─ window 15316 (from 1477 to 15316)
    │     └─ source s36
    └─ window 23815 (from 18764 to 23815)
       └─ source s39
    """

    seed: int
    windows: Range
    granules: Range
    rates: Range
    values: Range = (50, 200)
    number: int = 50
    heartbeats: int | None = None
    keys: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """The number of values of each stream's key."""

    def __post_init__(self) -> None:
        rng = Random(f"{self.seed}/keys")
        width = len(str(self.number - 1))
        keys = {f"s{i:0{width}}": round(rng.uniform(*self.values)) for i in range(self.number)}
        object.__setattr__(self, "keys", keys)

    def streams(self) -> dict[str, StreamSpec]:
        """The streams by name."""
        rng = Random(f"{self.seed}/rates")
        return {
            name: StreamSpec(
                columns={
                    f"{name}{column}": Uniform(values="uniform", low=0, high=keys - 1) for column in COLUMNS
                },
                arrivals=Poisson(process="poisson", rate=rng.uniform(*self.rates)),
                heartbeats=self.heartbeats,
            )
            for name, keys in self.keys.items()
        }

    def plans(self, first: int = 0) -> Iterator[Plan]:
        """The queries by their numbers, without an end; a query's number alone decides what it is."""
        return map(self.plan, count_from(first))

    def plan(self, number: int) -> Plan:
        """The query of a number."""
        rng = Random(f"{self.seed}/query {number}")
        shapes = list(TABLE_24_1.values())
        (shape,) = rng.choices(shapes, [one.percent for one in shapes])
        return shape.build(_RandomParts(self, rng, rng.sample(list(self.keys), shape.streams))).plan()


@dataclass(frozen=True)
class _RandomParts:
    """The parts of a random query; each is drawn when it is asked for."""

    terms: RandomQueries
    rng: Random
    names: Sequence[str]

    def window(self, stream: int) -> Stream:
        bounds = self._bounds(self.terms.windows)
        return self._source(self.names[stream]).window(bounds[1], bounds=bounds)

    def aggregate(self, stream: int) -> Stream:
        bounds = self._bounds(self.terms.granules)
        rows = self.window(stream).granularity(bounds[0], bounds=bounds)
        key = rows.schema.names[0]
        # A count changes with each row, as any aggregate may; the least key is for joins.
        return rows.aggregate(**{key: min_(key), f"{key}n": count()})

    def join(self, left: Stream, right: Stream) -> Stream:
        """By hash, or by nested loops; either is as selective as an equality of the keys.

        Each join of a query has columns of its own, so that no join depends on another.
        """
        below = sum(isinstance(node.operator, Join) for side in (left, right) for node in side.node.walk())
        names = [side.schema.names[0][:-1] for side in (left, right)]
        key, other = (f"{name}{COLUMNS[below]}" for name in names)
        if self.rng.random() >= NESTED_LOOPS:
            return left.join(right, on=[(key, other)])
        largest = max(self.terms.keys[name] for name in names) - 1
        return left.join(right, on=(left[key] + right[other]).eq(largest))

    def join_aggregate(self, aggregate: Stream, other: Stream) -> Stream:
        """The least key is one of the smallest, so that it equals keys of any stream."""
        return self.join(aggregate, other)

    def _source(self, name: str) -> Stream:
        return stream(name, {f"{name}{column}": "integer" for column in COLUMNS})

    def _bounds(self, of: Range) -> tuple[int, int]:
        least, most = sorted(self.rng.randint(*map(round, of)) for _ in range(2))
        return least, most
