"""Operators over time, and arrangements of intervals."""

from __future__ import annotations

from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.implementations.obstacles import no_order_below, no_stream_below, relation_below
from midstream.plans.algebra.operators import (
    Coalesce,
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    PartitionedWindow,
    Sample,
    Split,
    TimeWindow,
)

TIME_WINDOW = Implementation("time-window", TimeWindow, "time_window", relation_below, needs_chronons=True)
COUNT_WINDOW = Implementation(
    "count-window", CountWindow, "count_window", no_order_below, needs_chronons=True
)
PARTITIONED_WINDOW = Implementation(
    "partitioned-window", PartitionedWindow, "partitioned_window", no_order_below, needs_chronons=True
)
GRANULARITY = Implementation("granularity", Granularity, "granularity", relation_below)
SAMPLE = Implementation("sample", Sample, "sample", no_stream_below)
ISTREAM = Implementation("istream", Istream, "istream", relation_below)
DSTREAM = Implementation("dstream", Dstream, "dstream", relation_below)
SPLIT = Implementation("split", Split, "split", relation_below)
COALESCE = Implementation("coalesce", Coalesce, "coalesce", relation_below)
