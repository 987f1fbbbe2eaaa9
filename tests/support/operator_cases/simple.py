"""Filter, map, union and duplicate elimination."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.operators.rows.distinct import FifoDistinct
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Time
from operator_cases.base import PLAIN, UNKNOWN, Case, Histories, source, valid


class UnionCase(Case):
    """What starts after the least progress waits."""

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        assert size == sum(e[0] > min(reached) for history in histories for e in history)


class DistinctCase(Case):
    """A payload is kept while it is valid, and the parts that wait."""

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        kept = valid(histories[0], min(reached))
        assert size <= len({e[2] for e in kept}) + len({e[1:] for e in kept})


class FifoDistinctCase(DistinctCase):
    """The running operator for ordered ends, whatever the ends."""

    def operator(self) -> Operator:
        return FifoDistinct()


def cases() -> list[Case]:
    """The cases."""
    two, three = (source(0).union(*(source(i) for i in range(1, ports))).plan() for ports in (2, 3))
    maybe = source(0, "integer?", "integer?")
    computed = maybe.select("v", q=col("k") / col("v"), s=col("k") + 1).plan()
    unsure = maybe.filter((col("k") < 1) | ~(col("v") > 0)).plan()
    return [
        UnionCase("union of two", "union", two, PLAIN),
        UnionCase("union of three", "union", three, PLAIN),
        DistinctCase("distinct", "distinct", source(0).distinct().plan(), PLAIN),
        DistinctCase("distinct with unknowns", "distinct", maybe.distinct().plan(), UNKNOWN),
        FifoDistinctCase(
            "distinct, ends in order", "distinct", source(0).distinct().plan(), PLAIN, lengths=st.just(5)
        ),
        FifoDistinctCase("distinct, ends out of order", "distinct", source(0).distinct().plan(), PLAIN),
        Case("filter", "filter", source(0).filter(col("k") < col("v")).plan(), PLAIN),
        Case("filter that may be unknown", "filter", unsure, UNKNOWN),
        Case("map", "map", source(0).select(s=col("k") + col("v")).plan(), PLAIN),
        Case("map to unknowns", "map", computed, UNKNOWN),
        Case("map to no columns", "map", source(0).select().plan(), PLAIN),
    ]
