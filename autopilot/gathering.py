"""The elements of a stream between two looks, summed up in cells."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.operators.engine.measuring.sampling import Ahead, CellSample, StreamSampler, by_step
from midstream.operators.engine.measuring.statistics_collector import LONG, MOST, Summary
from midstream.plans.algebra.operators import Source
from midstream.plans.values.observations import Cell
from midstream.plans.values.streams import Batch, Time


class Gathering:
    """Gathers the elements of a stream from look to look.

    A cell begins with the last look, or with the step of its first element.

    State    Two samples, and one for each cell ahead of the next look, `CELLS` of them at most.
    """

    def __init__(self, source: Source, step: int, columns: Iterable[str] = ()) -> None:
        self._source, self._step = source, step
        self.columns = columns
        """The columns whose values are counted."""
        self._sampler = StreamSampler(source.stream, LONG * step)
        self._since = CellSample(LONG * MOST)
        """The elements since the last look that are before the next one, or were ahead."""
        self._ahead: Ahead[CellSample] = Ahead(CellSample.merge)

    def take(self, batch: Batch, progress: Time) -> None:
        """Take elements; those from `progress` on, the next look as far as is known, are ahead of it."""
        for number, some in by_step(batch, progress, self._step):
            sample = self._since if number is None else CellSample(LONG * MOST)
            self._sampler.add(some, sample)
            if number is not None:
                self._ahead.add(number, sample)

    def forget(self, start: int) -> None:
        """Forget the elements of the step of an instant and later ones, of those ahead of the next look."""
        self._ahead.drop(start // self._step)

    def cell(self, looked: int | None, now: int) -> Cell | None:
        """The cell of the elements from the last look, which was at an instant, to this one, if any."""
        sample = self._since
        for one in self._ahead.first(now // self._step):
            sample.merge(one)
        if not sample.count:
            return None
        start = int(sample.first) // self._step * self._step
        start = start if looked is None else max(start, looked)
        if max(start, sample.first) >= now:  # its elements belong to the next cell
            return None
        self._since = CellSample(LONG * MOST)
        return Summary(self._source, self.columns, self._step)(sample, start, now)
