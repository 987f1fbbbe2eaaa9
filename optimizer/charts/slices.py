"""Slices of a chart in two dimensions, to be shown on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.optimizer.charts.chart import Chart, Place

PANELS = 3
"""Number of slices that are shown of a chart with three or more dimensions."""


@dataclass(frozen=True)
class Slice:
    """The places of a chart whose parts in the dimensions from the third on are `beyond`."""

    chart: Chart
    beyond: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """The parts of the first dimension, which goes to the right."""
        return self.chart.dimensions[0].parts

    @property
    def height(self) -> int:
        """The parts of the second dimension, which goes up; 1 where there is none."""
        return self.chart.dimensions[1].parts if len(self.chart.dimensions) > 1 else 1

    def place(self, across: int, up: int) -> Place:
        """The place at a part of the first dimension and one of the second."""
        return (across, up, *self.beyond)[: len(self.chart.dimensions)]

    def rows(self) -> list[list[int]]:
        """The numbers of the best plans, from below."""
        return [
            [self.chart.number_at(self.place(across, up)) for across in range(self.width)]
            for up in range(self.height)
        ]

    def title(self) -> str:
        """The values of the other dimensions; "" if there are none.

        >>> from midstream.optimizer.charts.chart import Dimension
        >>> from midstream.plans.algebra.builder import stream
        >>> plans = (stream("s", x="integer").plan(),)
        >>> cube = Chart(tuple(Dimension(name, 0, 4, 2) for name in "xyz"), plans, (0,) * 8)
        >>> [one.title() for one in slices(cube)]
        ['z = 1', 'z = 3']
        """
        return ", ".join(
            f"{dimension.name} = {dimension.middle(part):.3g}"
            for dimension, part in zip(self.chart.dimensions[2:], self.beyond, strict=True)
        )


def slices(chart: Chart) -> list[Slice]:
    """The whole chart, if it has one or two dimensions; else some slices along the third one.

    Further dimensions are cut in the middle.
    """
    further = chart.dimensions[2:]
    if not further:
        return [Slice(chart)]
    middle = tuple(dimension.parts // 2 for dimension in further[1:])
    return [Slice(chart, (part, *middle)) for part in cuts(further[0].parts)]


def cuts(parts: int) -> Sequence[int]:
    """A few parts of a dimension, evenly spread.

    >>> cuts(10), cuts(2)
    ([1, 5, 8], [0, 1])
    """
    number = min(PANELS, parts)
    return [(2 * i + 1) * parts // (2 * number) for i in range(number)]
