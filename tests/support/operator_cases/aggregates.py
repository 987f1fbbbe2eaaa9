"""Aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.plans.expressions.aggregates import avg, count, max_, min_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from operator_cases.aggregate_functions import aggregate_cases, granule_cases
from operator_cases.base import PLAIN, SMALL, UNKNOWN, Case, Histories, source, valid

FLOATS = st.sampled_from([0.1, 0.2, -0.3, 1e16, -1e16, 5e-324, 1.7e308, -1.7e308])
MERGE = {"count", "sum", "avg", "min", "max", "var_pop", "var_samp", "stddev_pop", "stddev_samp"}
"""The functions for which rows that leave together are one."""


class AggregateCase(Case):
    """Results are segments that close when their end is reached; the first open one holds back the others."""

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        least = min(reached)
        return least if least == BEGINNING else min([least, *self.open_segments(histories[0], least)])

    def key(self, element: Element) -> tuple[Any, ...]:
        """The group of an element."""
        names = self.plan.root.inputs[0].schema.names
        return tuple(element[2][names.index(key)] for key in self.plan.root.operator.keys)

    def open_segments(self, history: Sequence[Element], now: Time) -> list[Time]:
        """Where the running segment of each group with valid rows began: at its last change."""
        groups: dict[Any, list[Element]] = {}
        for element in history:
            groups.setdefault(self.key(element), []).append(element)
        return [
            max(t for start, end, _ in group for t in (start, end) if t <= now)
            for group in groups.values()
            if any(end > now for _, end, _ in group)
        ]

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        parts = self.partial_aggregates(histories[0], min(reached))
        if not self.plan.root.operator.keys:
            assert size == parts + (parts > 0), "a partial aggregate for each end, and one segment"
            return
        since = self.progress(histories, reached)
        cuts = {t for e in histories[0] for t in e[:2] if t >= since}
        groups = {e[2] for e in histories[0]}
        assert size <= parts + len(valid(histories[0], min(reached))) * len(cuts) * len(groups)

    def partial_aggregates(self, history: Sequence[Element], now: Time) -> int:
        """The number of those that are valid: one for each end of a group's rows, if all functions merge.

        Rows out of the order of ends have their own.
        """
        calls = [call for _, call in self.plan.root.operator.calls]
        if not all(call.argument is None or (call.name in MERGE and not call.distinct) for call in calls):
            return len(valid(history, now))
        parts, last = set(), BEGINNING
        for element in history:
            parts.add((element[1], self.key(element), element[1] < last))
            last = max(last, element[1])
        return sum(end > now for end, _, _ in parts)

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
    return (
        [
            AggregateCase(f"aggregate {title}", "aggregate", query.plan(), payloads, is_eager=False)
            for title, (query, payloads) in plans.items()
        ]
        + [
            AggregateCase(f"aggregate {title}", "aggregate", plan, payloads, is_eager=False)
            for title, plan, payloads in aggregate_cases()
        ]
        + [
            AggregateCase(
                f"aggregate {title}, of granules and {ends}",
                "aggregate",
                plan,
                payloads,
                is_eager=False,
                gaps=st.sampled_from((0, 0, 0, 0, 3, 6)),
                lengths=lengths,
            )
            for title, plan, payloads in granule_cases()
            for ends, lengths in (
                ("one window", st.just(6)),
                ("several", st.sampled_from((3, 6, 6, FOREVER))),
            )
        ]
    )
