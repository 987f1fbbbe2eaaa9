"""Rules that move windows, granularities and the streams of changes, and merge them."""

from midstream.optimizer.rules.rule import Rule
from midstream.optimizer.rules.windows.filter_and_partitioned_window import (
    FILTER_ABOVE_PARTITIONED_WINDOW,
    FILTER_BELOW_PARTITIONED_WINDOW,
)
from midstream.optimizer.rules.windows.granularities_merging import GRANULARITIES_MERGING
from midstream.optimizer.rules.windows.granularity_and_reducible import (
    GRANULARITY_ABOVE_REDUCIBLE,
    GRANULARITY_BELOW_REDUCIBLE,
)
from midstream.optimizer.rules.windows.istream_of_unbounded import ISTREAM_OF_UNBOUNDED
from midstream.optimizer.rules.windows.now_window import NOW_WINDOW
from midstream.optimizer.rules.windows.projection_and_count_window import (
    PROJECTION_ABOVE_COUNT_WINDOW,
    PROJECTION_BELOW_COUNT_WINDOW,
)
from midstream.optimizer.rules.windows.projection_and_partitioned_window import (
    PROJECTION_ABOVE_PARTITIONED_WINDOW,
    PROJECTION_BELOW_PARTITIONED_WINDOW,
)
from midstream.optimizer.rules.windows.rows_and_time_window import (
    ROWS_ABOVE_TIME_WINDOW,
    ROWS_BELOW_TIME_WINDOW,
)
from midstream.optimizer.rules.windows.union_and_time_window import (
    TIME_WINDOW_ABOVE_UNION,
    TIME_WINDOW_BELOW_UNION,
)
from midstream.optimizer.rules.windows.windows_merging import WINDOWS_MERGING

SIMPLIFYING: tuple[Rule, ...] = (
    NOW_WINDOW,
    WINDOWS_MERGING,
    GRANULARITIES_MERGING,
    ISTREAM_OF_UNBOUNDED,
)
"""Rules that drop windows."""

MOVING: tuple[Rule, ...] = (
    ROWS_BELOW_TIME_WINDOW,
    ROWS_ABOVE_TIME_WINDOW,
    FILTER_BELOW_PARTITIONED_WINDOW,
    FILTER_ABOVE_PARTITIONED_WINDOW,
    PROJECTION_BELOW_COUNT_WINDOW,
    PROJECTION_ABOVE_COUNT_WINDOW,
    PROJECTION_BELOW_PARTITIONED_WINDOW,
    PROJECTION_ABOVE_PARTITIONED_WINDOW,
    TIME_WINDOW_ABOVE_UNION,
    TIME_WINDOW_BELOW_UNION,
    GRANULARITY_BELOW_REDUCIBLE,
    GRANULARITY_ABOVE_REDUCIBLE,
)
"""Rules that move windows across other operators."""

__all__ = ["MOVING", "SIMPLIFYING"]
