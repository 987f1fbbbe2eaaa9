"""Operators over time, and arrangements of intervals."""

from __future__ import annotations

from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.implementations.obstacles import no_order_below, relation_below
from midstream.plans.algebra.operators import (
    Coalesce,
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    PartitionedWindow,
    Split,
    TimeWindow,
)

TIME_WINDOW = Implementation("time-window", TimeWindow, None, relation_below, needs_chronons=True)
COUNT_WINDOW = Implementation("count-window", CountWindow, None, no_order_below, needs_chronons=True)
PARTITIONED_WINDOW = Implementation(
    "partitioned-window", PartitionedWindow, None, no_order_below, needs_chronons=True
)
GRANULARITY = Implementation("granularity", Granularity, None, relation_below)
ISTREAM = Implementation("istream", Istream, None, relation_below)
DSTREAM = Implementation("dstream", Dstream, None, relation_below)
SPLIT = Implementation("split", Split, "split", relation_below)
COALESCE = Implementation("coalesce", Coalesce, "rearranged", relation_below)
