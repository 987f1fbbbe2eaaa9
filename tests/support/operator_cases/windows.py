"""Time, count-based and partitioned windows, and granularity conversion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from operator_cases.base import PLAIN, UNKNOWN, Case, Histories, source

APART = st.sampled_from((1, 1, 2, 4))
"""Gaps that leave no ties."""


class SteppingCase(Case):
    """The next result starts at the next instant of a step: where a window advances, or a granule begins."""

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        time, step = reached[0], self.period
        rest = step - 1 if self.implementation == "time-window" else 0
        if time not in (BEGINNING, FOREVER):
            while time % step != rest:
                time += 1
        return time


@dataclass(frozen=True)
class Stay:
    """A row's time in a window: at which row of the history it enters, from when and until when it is there.

    No end where that is not known."""

    position: int
    start: Time
    end: Time | None


@dataclass(frozen=True)
class RowsCase(Case):
    """Rows wait until their end is known, and behind others that wait; `groups` are the columns that make
    groups."""

    groups: tuple[int, ...] = ()

    @cached_property
    def streams(self) -> st.SearchStrategy[dict[str, list[Element]]]:
        every = super().streams
        if self.plan.root.operator.ties == "arrival":
            return every
        return every.map(lambda streams: {name: self._untied(one) for name, one in streams.items()})

    def _untied(self, elements: Iterable[Element]) -> list[Element]:
        return list({(element[0], self._group(element)): element for element in elements}.values())

    def _group(self, element: Element) -> Any:
        return tuple(element[2][i] for i in self.groups)

    def stays(self, history: Sequence[Element]) -> list[Stay]:
        """The rows that enter a window, in that order."""
        rows, slide = self.plan.root.operator.rows, self.plan.root.operator.slide
        found = []
        for group in {self._group(element) for element in history}:
            mine = [i for i, element in enumerate(history) if self._group(element) == group]
            for i in range(len(mine) // slide * slide):
                enters = mine[i // slide * slide + slide - 1]
                start = history[enters][0]
                if rows is None:
                    found.append(Stay(enters, start, FOREVER))
                    continue
                leaves = -(-(i + 1 + rows) // slide) * slide - 1
                end = history[mine[leaves]][0] if leaves < len(mine) else None
                if leaves >= len(mine) or mine[leaves] != enters:
                    found.append(Stay(enters, start, end))
        return sorted(found, key=lambda stay: stay.position)

    def first(self, histories: Histories) -> Time | None:
        """Where the first row starts whose end is not known."""
        return min((stay.start for stay in self.stays(histories[0]) if stay.end is None), default=None)

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        first = self.first(histories)
        return reached[0] if reached[0] == FOREVER or first is None else first

    def waiting(self, history: Sequence[Element]) -> int:
        """How many rows wait for an advance that will take them in."""
        rows, slide = self.plan.root.operator.rows, self.plan.root.operator.slide
        counts = Counter(map(self._group, history)).values()
        passed_over = 0 if rows is None else max(slide - rows, 0)
        return sum(max(n % slide - passed_over, 0) for n in counts)

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        stays = self.stays(histories[0])
        known = [stay.end is not None for stay in stays]
        held = len(stays) - (known.index(False) if False in known else len(stays))
        assert size == (0 if reached[0] == FOREVER else held + self.waiting(histories[0]))

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        # A row whose end is known may wait behind one whose end is not.
        assert all(end >= operator.progress() for _, end, _ in kept)


@dataclass(frozen=True)
class DelayCase(RowsCase):
    """A row goes on from where it was cut, which is at each row that comes later by more than the delay."""

    def first(self, histories: Histories) -> Time | None:
        delay = self.plan.root.operator.delay
        starts = []
        for stay in self.stays(histories[0]):
            if stay.end is None:
                start = stay.start
                for now, _, _ in histories[0]:
                    start = now if now - start > delay else start
                starts.append(start)
        return min(starts, default=None)

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        first, stays = self.progress(histories, reached), self.stays(histories[0])
        open_ = sum(stay.end is None for stay in stays)
        behind = sum(stay.end is not None and stay.end >= first for stay in stays) if open_ else 0
        waiting = self.waiting(histories[0])
        if reached[0] == FOREVER:
            assert size == 0
        else:
            assert open_ + waiting <= size <= open_ + behind + waiting


def cases() -> list[Case]:
    """The cases."""
    chronons = stream("s0", k="integer", v="integer")
    time = [
        SteppingCase(
            f"window of {size or 'all'} sliding by {slide}",
            "time-window",
            chronons.window(size, slide).plan(),
            PLAIN,
            period=slide,
        )
        for size, slide in ((1, 1), (3, 1), (None, 1), (7, 3), (6, 3), (2, 3), (1, 4), (4, 4), (None, 3))
    ]
    granularity = [
        SteppingCase(
            f"granularity {granule}",
            "granularity",
            source(0).granularity(granule).plan(),
            PLAIN,
            period=granule,
        )
        for granule in (1, 2, 5)
    ]
    samples = [
        SteppingCase(
            f"sample of {share}",
            "sample",
            chronons.sample(share).plan(),
            PLAIN,
            lengths=st.just(1),
            heeds_time=True,
        )
        for share in (0.3, 0.7, 1)
    ]
    return [*samples, *time, *granularity, *count(chronons), *partitioned(chronons)]


def count(chronons: Stream) -> list[Case]:
    """Count-based windows."""
    unique = ((1, 1), (3, 1), (None, 1), (2, 2), (4, 2), (1, 3), (2, 3), (3, 2), (None, 3))
    tied = ((1, 1), (3, 1), (2, 3), (3, 2), (None, 2))
    return [
        RowsCase(
            f"last {rows or 'all'} rows sliding by {slide}, ties: {ties}",
            "count-window",
            chronons.last(rows, slide=slide, ties=ties).plan(),
            PLAIN,
            is_eager=rows is None,
            **({"gaps": APART} if ties == "error" else {}),
        )
        for ties, sizes in (("error", unique), ("arrival", tied))
        for rows, slide in sizes
    ]


def partitioned(chronons: Stream) -> list[Case]:
    """Partitioned windows."""
    maybe = stream("s0", k="integer?", v="integer?")
    unique = [
        RowsCase(
            f"last {rows or 'all'} rows a group sliding by {slide}",
            "partitioned-window",
            chronons.last(rows, by=["k"], slide=slide).plan(),
            PLAIN,
            is_eager=rows is None,
            gaps=APART,
            groups=(0,),
        )
        for rows, slide in ((1, 1), (2, 1), (2, 2), (1, 3), (3, 2), (None, 1), (None, 2))
    ]
    tied = [
        RowsCase(
            f"last {rows or 'all'} rows a group that may be unknown sliding by {slide}, ties: arrival",
            "partitioned-window",
            maybe.last(rows, by=["v", "k"], slide=slide, ties="arrival").plan(),
            UNKNOWN,
            is_eager=rows is None,
            groups=(0, 1),
        )
        for rows, slide in ((1, 1), (2, 1), (1, 2), (None, 1))
    ]
    delayed = [
        DelayCase(
            f"last {rows or 'all'} rows a group sliding by {slide} delayed by {delay}",
            "partitioned-window",
            chronons.last(rows, by=["k"], slide=slide, ties="arrival", delay=delay).plan(),
            PLAIN,
            is_eager=rows is None,
            groups=(0,),
        )
        for rows, slide, delay in ((1, 1, 3), (2, 1, 1), (2, 2, 4), (None, 2, 1))
    ]
    return [*unique, *tied, *delayed]
