"""The items of the benchmark, each with its streams, its plan, and its work written by hand."""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from midstream.benchmarks.aggregates import (
    MaxAvgState,
    group_count_batches,
    group_count_elements,
    max_avg_batches,
    max_avg_elements,
)
from midstream.benchmarks.item import Item
from midstream.benchmarks.joins import (
    four_way_batches,
    four_way_elements,
    join_batches,
    join_elements,
)
from midstream.benchmarks.keyed import (
    CountState,
    DifferenceState,
    DistinctState,
    FourWayState,
    JoinState,
    StatelessState,
)
from midstream.benchmarks.multisets import (
    difference_batches,
    difference_elements,
    distinct_batches,
    distinct_elements,
)
from midstream.benchmarks.stateless import filter_map_batches, filter_map_elements
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import avg, count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Payload

GROUPS = 1000
"""The number of groups of the grouped count."""


def first(row: Payload) -> Hashable:
    """The first value: rows that agree on it belong together."""
    return row[0]  # type: ignore[no-any-return]


def alike(row: Payload) -> Hashable:
    """One key for all rows."""
    return "all"


def _keyed(name: str, window: int) -> Stream:
    """A windowed stream of keys and values, with names of its own, so that joins rename no column."""
    return stream(name, {f"{name}_key": "integer", f"{name}_value": "integer"}).window(window)


def two_way(window: int) -> Plan:
    """Pairs of equal keys."""
    return _keyed("l", window).join(_keyed("r", window), on=[("l_key", "r_key")]).plan()


def four_way(window: int) -> Plan:
    """Quadruples of equal keys."""
    joined = _keyed("a", window)
    for name in "bcd":
        joined = joined.join(_keyed(name, window), on=[("a_key", f"{name}_key")])
    return joined.plan()


def _max_avg(window: int) -> Plan:
    values = stream("s", value="integer").window(window)
    return values.aggregate(top=max_("value"), mean=avg("value")).plan()


def group_count(window: int) -> Plan:
    """The number of elements of each key."""
    return _keyed("s", window).group_by("s_key").aggregate(rows=count()).plan()


def filter_map(window: int) -> Plan:
    """Keep even values and double them."""
    rows = stream("s", key="integer", value="integer")
    return rows.filter(col("value") % 2 == 0).select("key", value=col("value") * 2).plan()


def _difference(window: int) -> Plan:
    left, right = (stream(name, key="integer").window(window) for name in "lr")
    return left.difference(right).plan()


def _distinct(window: int) -> Plan:
    return stream("s", key="integer").window(window).distinct().plan()


def _keys(per_window: float) -> Any:
    """Rows of a key and a number, with `per_window` keys for each element of a window."""

    def row(draw: random.Random, window: int, i: int) -> Payload:
        return draw.randrange(max(1, round(per_window * window))), i

    return row


_JOIN = Item(
    name="join",
    title="windowed join, selective: half a result an element",
    streams=("l", "r"),
    window=5_000,
    period=1,
    row=_keys(2),
    plan=two_way,
    batch_loop=join_batches,
    element_loop=join_elements,
    key=first,
    state=JoinState,
)

ITEMS: tuple[Item, ...] = (
    _JOIN,
    replace(
        _JOIN,
        name="expansive-join",
        title="windowed join, expansive: five results an element",
        row=_keys(0.2),
    ),
    Item(
        name="four-way-join",
        title="windowed join of four streams on one key: half a result an element",
        streams=("a", "b", "c", "d"),
        window=5_000,
        period=1,
        row=_keys(1.25),
        plan=four_way,
        batch_loop=four_way_batches,
        element_loop=four_way_elements,
        key=first,
        state=FourWayState,
    ),
    Item(
        name="max-avg",
        title="sliding maximum and mean",
        streams=("s",),
        window=20_000,
        period=30,
        row=lambda draw, window, i: (draw.randrange(1_000_000),),
        plan=_max_avg,
        batch_loop=max_avg_batches,
        element_loop=max_avg_elements,
        key=alike,
        state=MaxAvgState,
    ),
    Item(
        name="group-count",
        title=f"sliding count by key, {GROUPS:,} keys",
        streams=("s",),
        window=20_000,
        period=30,
        row=lambda draw, window, i: (draw.randrange(GROUPS), i),
        plan=group_count,
        batch_loop=group_count_batches,
        element_loop=group_count_elements,
        key=first,
        state=CountState,
    ),
    Item(
        name="filter-map",
        title="filter and map, without a window",
        streams=("s",),
        window=None,
        period=10,
        row=lambda draw, window, i: (i, draw.randrange(1_000_000)),
        plan=filter_map,
        batch_loop=filter_map_batches,
        element_loop=filter_map_elements,
        key=alike,
        state=StatelessState,
    ),
    Item(
        name="difference",
        title="windowed difference that counts duplicates",
        streams=("l", "r"),
        window=5_000,
        period=1,
        row=lambda draw, window, i: (draw.randrange(max(1, window // 5)),),
        plan=_difference,
        batch_loop=difference_batches,
        element_loop=difference_elements,
        key=first,
        state=DifferenceState,
    ),
    Item(
        name="distinct",
        title="windowed duplicate elimination",
        streams=("s",),
        window=5_000,
        period=1,
        row=lambda draw, window, i: (draw.randrange(window),),
        plan=_distinct,
        batch_loop=distinct_batches,
        element_loop=distinct_elements,
        key=first,
        state=DistinctState,
    ),
)
