"""Charts as grids over what changes, with the best plan for each region."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import MidstreamError

HEADER: Header = {"format": "midstream-chart", "version": 1}


class ChartError(MidstreamError):
    """A chart cannot be made, read, or looked up; the message names the place."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A changing quantity, such as the rate of a stream or a selectivity, from low to high in equal parts.

    If it `is_logarithmic`, each part is the same multiple of the previous one: this suits rates, which may
    differ by a factor of a thousand.

    >>> selectivity = Dimension("selectivity", 0.0, 1.0, 10)
    >>> selectivity.part(0.07), selectivity.part(0.1), selectivity.part(7.0)
    (0, 1, 9)
    >>> selectivity.middle(0)
    0.05
    >>> rate = Dimension("rate", 1.0, 10_000.0, 4, is_logarithmic=True)
    >>> rate.part(5.0), rate.part(50.0), rate.part(5000.0), rate.part(0.0)
    (0, 1, 3, 0)
    """

    name: str
    low: float
    high: float
    parts: int
    is_logarithmic: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ChartError(
                f"dimension {self.name}: found [{self.low}, {self.high}], expected a range with a length"
            )
        if self.parts < 1:
            raise ChartError(f"dimension {self.name}: found {self.parts} parts, expected 1 or more")
        if self.is_logarithmic and self.low <= 0:
            raise ChartError(
                f"dimension {self.name}: found a logarithmic range from {self.low}, expected more than 0"
            )

    def part(self, value: float) -> int:
        """The part that contains a value; beyond the range, the nearest one; O(1)."""
        if value != value:
            raise ChartError(f"dimension {self.name}: found NaN, expected a number")
        inside = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = (inside - self.low) / (self.high - self.low)
        return min(self.parts - 1, int(share * self.parts))

    def middle(self, part: int) -> float:
        """The value in the middle of a part."""
        return self.at((part + 0.5) / self.parts)

    def at(self, share: float) -> float:
        """The value at a share of the way from low to high."""
        if self.is_logarithmic:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)


Place = tuple[int, ...]
"""A part of each dimension."""


@dataclass(frozen=True)
class Chart:
    """The best of some plans for each place of a grid.

    best    by place, in the order of `places()`, the position of the best plan in `plans`

    Cost     O(dimensions) to look up; the product of the dimensions' parts to store
    Source   OM, 4.4 and Algorithm 2, lines 1 to 3
    """

    dimensions: tuple[Dimension, ...]
    plans: tuple[Plan, ...]
    best: tuple[int, ...]

    def __post_init__(self) -> None:
        places = math.prod(dimension.parts for dimension in self.dimensions)
        if not self.dimensions or len(self.best) != places:
            raise ChartError(
                f"chart: found {len(self.best)} places, expected {places} of 1 dimension or more"
            )
        for number in self.best:
            if not 0 <= number < len(self.plans):
                raise ChartError(f"chart: found plan {number}, expected one of {len(self.plans)}")

    def places(self) -> Iterator[Place]:
        """All places; the last dimension changes first."""
        return product(*(range(dimension.parts) for dimension in self.dimensions))

    def place(self, point: Sequence[float]) -> Place:
        """The place that contains a point; beyond the ranges, the nearest one."""
        if len(point) != len(self.dimensions):
            raise ChartError(f"chart: found {len(point)} values, expected {len(self.dimensions)}")
        return tuple(dimension.part(value) for dimension, value in zip(self.dimensions, point, strict=True))

    def number_at(self, place: Place) -> int:
        """The position of the best plan at a place."""
        index = 0
        for dimension, part in zip(self.dimensions, place, strict=True):
            index = index * dimension.parts + part
        return self.best[index]

    def plan(self, point: Sequence[float]) -> Plan:
        """The best plan in the middle of the place that contains a point."""
        return self.plans[self.number_at(self.place(point))]

    def middle(self, place: Place) -> tuple[float, ...]:
        """The centre of a place."""
        return tuple(dimension.middle(part) for dimension, part in zip(self.dimensions, place, strict=True))

    @cached_property
    def regions(self) -> Mapping[Place, int]:
        """The region of each place: neighbours with the same plan.

        Regions are numbered in the order of their first places.
        """
        found: dict[Place, int] = {}
        count = 0
        for first in self.places():
            if first not in found:
                found[first] = count
                waiting = [first]
                while waiting:
                    place = waiting.pop()
                    for other in self._neighbours(place):
                        if other not in found and self.number_at(other) == self.number_at(first):
                            found[other] = count
                            waiting.append(other)
                count += 1
        return found

    def _neighbours(self, place: Place) -> Iterator[Place]:
        for i, dimension in enumerate(self.dimensions):
            for part in (place[i] - 1, place[i] + 1):
                if 0 <= part < dimension.parts:
                    yield (*place[:i], part, *place[i + 1 :])

    def dumps(self) -> str:
        """The chart as JSON that `loads` reads."""
        dimensions = tuple(
            _DimensionInFile(one.name, one.low, one.high, one.parts, one.is_logarithmic)
            for one in self.dimensions
        )
        plans = tuple(map(plan_to_json, self.plans))
        return artefact_text(HEADER, _ChartFile(dimensions, plans, self.best))

    @classmethod
    def loads(cls, text: str) -> Chart:
        """Read a chart from JSON; raises ChartError, or PlanError if a plan cannot be read."""
        try:
            file = read_artefact(parsed(text), HEADER, _ChartFile)
        except ArtefactError as error:
            raise ChartError(f"chart: {error}") from error
        return cls(
            tuple(
                Dimension(one.name, one.low, one.high, one.parts, one.logarithmic) for one in file.dimensions
            ),
            tuple(map(plan_from_json, file.plans)),
            file.best,
        )


@dataclass(frozen=True)
class _DimensionInFile:
    name: str
    low: float
    high: float
    parts: int
    logarithmic: bool = False


@dataclass(frozen=True)
class _ChartFile:
    dimensions: tuple[_DimensionInFile, ...]
    plans: tuple[dict[str, Any], ...]
    best: tuple[int, ...]
