"""Difference, strict difference, intersection and max-union."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from midstream.operators.base.operator import Operator
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, Element, Time
from operator_cases.base import UNKNOWN, Case, Histories, any_row, source, valid

FEW = any_row((0, 1), (0,))
"""Two payloads, so that each is valid several times."""

Segments = list[list[Time | None]]


@dataclass(frozen=True)
class MultisetsCase(Case):
    """A result leaves when it and all that start earlier have closed. A payload's oldest segment closes where
    a carrying element ends, and where the height falls over an instant that is past."""

    height: Callable[[int, int], int] = max
    """From the multiplicities on the carrying side and the other to the number of open segments."""
    carrier: int = 0
    others_pass: bool = False

    def segments(self, histories: Histories, least: Time) -> Segments:
        """All segments so far, `[start, end or None]`."""
        carrying, other = histories[self.carrier], histories[1 - self.carrier]
        times = sorted({t for e in [*carrying, *other] for t in e[:2] if t <= least})
        found: Segments = []
        for payload in {e[2] for e in carrying}:
            opened: Segments = []
            for t in times:
                for _ in (e for e in carrying if e[1] == t and e[2] == payload):
                    for segment in [s for s in opened if s[1] is None][:1]:
                        segment[1] = t
                if t < least:
                    wanted = self.height(snapshot(carrying, t)[payload], snapshot(other, t)[payload])
                    is_open = [s for s in opened if s[1] is None]
                    for segment in is_open[: max(0, len(is_open) - wanted)]:
                        segment[1] = t
                    opened += ([t, None] for _ in range(wanted - len(is_open)))
            found += opened
        return found

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        least = min(reached)
        if least == BEGINNING:
            return least
        return min([least, *(start for start, end in self.segments(histories, least) if end is None)])

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        least = min(reached)
        first = self.progress(histories, reached)
        segments = self.segments(histories, least)
        kept = sum(len(valid(history, least)) for history in histories)
        passing = [e for e in histories[1 - self.carrier] if first <= e[0] <= least and self.others_pass]
        opened = [s for s in segments if s[1] is None]
        behind = [s for s in segments if s[0] >= first]
        assert kept + len(opened) <= size <= kept + len(behind) + (len(passing) if opened else 0)

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        # A closed segment may wait behind an open one.
        assert all(end > operator.progress() for _, end, _ in kept)


def cases() -> list[Case]:
    """The cases."""

    def surplus(n: int, m: int) -> int:
        return max(n - m, 0)

    def exclusive(n: int, m: int) -> int:
        return n * (m == 0)

    found: list[Case] = []
    for title, nullable, payloads in (("", "integer", FEW), (" with unknowns", "integer?", UNKNOWN)):
        left, right = source(0, nullable, nullable), source(1, nullable, nullable)
        for name, query, height, carrier, others_pass in (
            ("difference", left.difference(right), surplus, 0, False),
            ("strict-difference", left.strict_difference(right), exclusive, 0, False),
            ("intersection", left.intersection(right), min, 0, False),
            ("max-union", left.max_union(right), surplus, 1, True),
        ):
            found.append(
                MultisetsCase(
                    f"{name}{title}",
                    name,
                    query.plan(),
                    payloads,
                    is_eager=False,
                    height=height,
                    carrier=carrier,
                    others_pass=others_pass,
                )
            )
    return found
