"""Split and coalesce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.testing import elements
from operator_cases.base import PLAIN, Case, Histories, source

FINITE = st.sampled_from((1, 1, 2, 3, 5, 8))


@dataclass(frozen=True)
class SplitCase(Case):
    """An element is kept until its last piece has begun."""

    @cached_property
    def streams(self) -> st.SearchStrategy[dict[str, list[Element]]]:
        is_finite = self.plan.root.operator.length == 1
        return st.fixed_dictionaries({"s0": elements(PLAIN, forever=not is_finite, max_size=10)})

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        now, length = reached[0], self.plan.root.operator.length
        assert size == (
            0
            if now == FOREVER
            else sum(start + ((now - start) // length + 1) * length < end for start, end, _ in histories[0])
        )


class CoalesceCase(Case):
    """An element waits for others that go on where it ends, and for those that started before it."""

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        assert all(end >= operator.progress() for _, end, _ in kept)

    def merged(self, history: Sequence[Element]) -> list[list[Any]]:
        """What has become of the elements."""
        found: list[list[Any]] = []
        for start, end, payload in history:
            fitting = [one for one in found if one[1:] == [start, payload] and not self.is_long(one)]
            last = fitting[-1] if fitting else [start, start, payload]
            found = [one for one in found if one is not last]
            found.append([last[0], end, payload])
        return found

    def is_long(self, element: Sequence[Any]) -> bool:
        """Whether it need not go on."""
        return element[1] >= element[0] + self.plan.root.operator.longest

    def open_starts(self, histories: Histories, now: Time) -> list[Time]:
        """Where those start that may go on."""
        return [
            one[0] for one in self.merged(histories[0]) if not self.is_long(one) and one[1] >= now != FOREVER
        ]

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        return min([reached[0], *self.open_starts(histories, reached[0])])

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        first = min(self.open_starts(histories, reached[0]), default=None)
        starts = [one[0] for one in self.merged(histories[0])]
        if first is None:
            assert size == 0
        else:
            assert sum(s > first for s in starts) < size <= sum(s >= first for s in starts)


def cases() -> list[Case]:
    """The cases."""
    split = [
        SplitCase(
            f"split {length}",
            "split",
            source(0).split(length).plan(),
            PLAIN,
            heeds_heartbeats=length > 1,
            **({"lengths": FINITE} if length == 1 else {}),
        )
        for length in (1, 2, 3)
    ]
    coalesce = [
        CoalesceCase(
            f"coalesce {longest}",
            "coalesce",
            source(0).coalesce(longest).plan(),
            PLAIN,
            is_eager=False,
        )
        for longest in (1, 3, 6, 100)
    ]
    return [*split, *coalesce]
