"""The statistics of streams known before a bucket begins: those of the buckets before it, as they decay.

A bucket c of the past weighs e^(−a (T − m(c))) at the instant T, where m(c) is its middle and a is ln 2 by
the half-life: as cells do in `DecayedStatistics`, by which the autopilot decides. What weighs less than
1/256 is forgotten, so that the number of buckets to be looked at is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from midstream.optimizer.online.decayed_statistics import NOTHING
from midstream.optimizer.online.merging import averaged
from midstream.optimizer.statistics import Statistics
from midstream.plans.values.errors import ArgumentError

MOST_BUCKETS = 64
"""The most buckets before one that count."""

HALF_LIFE = 2
"""The default half-life in windows: that of the autopilot's settings."""


def remembered(half_life: int, bucket: int) -> int:
    """The number of buckets that are not forgotten.

    Raises   ArgumentError where these are too many.

    >>> remembered(half_life=7200, bucket=10800)
    6
    """
    number = max(1, math.ceil(half_life * -math.log2(NOTHING) / bucket))
    if half_life < 1 or number > MOST_BUCKETS:
        longest = MOST_BUCKETS * bucket / -math.log2(NOTHING)
        raise ArgumentError(
            f"what-if: found a half-life of {half_life:,} chronons, expected 1 to {longest:,.0f}, or longer "
            f"buckets: {MOST_BUCKETS} buckets of {bucket:,} chronons are remembered at most"
        )
    return number


def past_statistics(earlier: Sequence[Statistics], half_life: float, bucket: int) -> Statistics:
    """The statistics of some successive buckets, at the instant at which the last one ends.

    Cost     O(size of all these statistics).

    >>> from midstream.optimizer import StreamStatistics
    >>> from midstream.plans.algebra.builder import stream
    >>> node = stream("s", x="integer").node
    >>> slow, fast = (Statistics({node: StreamStatistics(d=d, l=1.0)}) for d in (10.0, 2.5))
    >>> past_statistics([slow, fast], half_life=100, bucket=100).streams[node].rate  # (0.1 + 2 · 0.4) / 3
    0.3
    """
    ages = (len(earlier) - position for position in range(len(earlier)))
    return averaged(earlier, [2 ** (-(age - 0.5) * bucket / half_life) for age in ages])
