"""The elements of streams between two looks, summed up in cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.plans.algebra.operators import Source
from midstream.plans.values.observations import Cell
from midstream.plans.values.streams import FOREVER, Batch, Time


class Gathering:
    """Gathers elements from look to look; each cell is as long as the time since, but for silence."""

    def __init__(self, sources: Iterable[Source], columns: Mapping[str, Iterable[str]], step: int) -> None:
        self._collector, self._step = Collector(sources, columns, step), step
        self._came: list[tuple[str, Batch, int]] = []
        """By stream, the elements since the last look, and the instant of the look to come."""

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Take elements of a stream, not none, up to the instant of the next look."""
        self._came.append((stream, batch, int(progress)))

    def cells(self, looked: int | None) -> list[Cell]:
        """The cells of the elements since the last look, which was at an instant."""
        for stream, batch, end in self._came:
            start = int(batch[0][0]) // self._step * self._step
            self._collector.take_cell(stream, batch, start if looked is None else max(start, looked), end)
        self._came = []
        return self._collector.cells(FOREVER)
