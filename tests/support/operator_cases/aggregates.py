"""Aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.plans.expressions.aggregates import avg, count, max_, min_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import BEGINNING, Element, Time
from operator_cases.aggregate_functions import aggregate_cases
from operator_cases.base import PLAIN, SMALL, UNKNOWN, Case, Histories, source, valid

FLOATS = st.sampled_from([0.1, 0.2, -0.3, 1e16, -1e16, 5e-324, 1.7e308, -1.7e308])


class AggregateCase(Case):
    """Results are segments that close when their end is reached; the first open one holds back the others."""

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        least = min(reached)
        return least if least == BEGINNING else min([least, *self.open_segments(histories[0], least)])

    def open_segments(self, history: Sequence[Element], now: Time) -> list[Time]:
        """Where the running segment of each group with valid rows began: at its last change."""
        names = self.plan.root.inputs[0].schema.names
        keys = [names.index(key) for key in self.plan.root.operator.keys]
        groups: dict[Any, list[Element]] = {}
        for element in history:
            groups.setdefault(tuple(element[2][i] for i in keys), []).append(element)
        return [
            max(t for start, end, _ in group for t in (start, end) if t <= now)
            for group in groups.values()
            if any(end > now for _, end, _ in group)
        ]

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        since = self.progress(histories, reached)
        cuts = {t for e in histories[0] for t in e[:2] if t >= since}
        groups = {e[2] for e in histories[0]}
        assert size <= len(valid(histories[0], min(reached))) * (1 + len(cuts) * len(groups))

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        # A closed segment may wait behind an open one, which has no end yet.
        assert all(end >= operator.progress() for _, end, _ in kept)


def cases() -> list[Case]:
    """The cases."""
    small = st.sampled_from(SMALL)
    floats = st.tuples(small, st.one_of(st.none(), FLOATS, small))
    every = {"n": count(), "m": count("v"), "s": sum_("v"), "a": avg("v"), "l": min_("v"), "g": max_("v")}
    maybe = source(0, "integer?", "integer?")
    plans = {
        "over all": (source(0).aggregate(**every), PLAIN),
        "over all, of floats and unknowns": (source(0, "integer", "float?").aggregate(**every), floats),
        "per group": (source(0).group_by("k").aggregate(**every), PLAIN),
        "per group that may be unknown": (maybe.group_by("k").aggregate(**every), UNKNOWN),
        "per pair of keys, without functions": (source(0).group_by("v", "k").aggregate(), PLAIN),
        "of an expression": (
            source(0).group_by("k").aggregate(s=sum_(col("k") * 2 - col("v"))),
            PLAIN,
        ),
    }
    return [
        AggregateCase(f"aggregate {title}", "aggregate", query.plan(), payloads, is_eager=False)
        for title, (query, payloads) in plans.items()
    ] + [
        AggregateCase(f"aggregate {title}", "aggregate", plan, payloads, is_eager=False)
        for title, plan, payloads in aggregate_cases()
    ]
