"""Istream and Dstream."""

from __future__ import annotations

from collections.abc import Sequence

from midstream.operators.base.operator import Operator
from midstream.plans.values.streams import FOREVER, Element, Time
from operator_cases.base import PLAIN, Case, Histories, source


class ChangesCase(Case):
    """What is kept are the ends that lie ahead."""

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        assert size == len({e[1:] for e in histories[0] if reached[0] <= e[1] != FOREVER})

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        # One that ends at the progress may still be replaced.
        assert all(end >= operator.reached[0] for _, end, _ in kept)


class DstreamCase(ChangesCase):
    """Where nothing ends at the progress, nothing can come that does."""

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        now = reached[0]
        return now if any(end == now for _, end, _ in histories[0]) else now + 1


def cases() -> list[Case]:
    """The cases."""
    return [
        ChangesCase("istream", "istream", source(0).istream().plan(), PLAIN),
        DstreamCase("dstream", "dstream", source(0).dstream().plan(), PLAIN, is_eager=False),
    ]
