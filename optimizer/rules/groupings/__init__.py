"""Rules of aggregations."""

from midstream.optimizer.rules.groupings.distinct_values import (
    DIFFERENT_VALUES_AS_DISTINCT,
    DISTINCT_AS_DIFFERENT_VALUES,
)
from midstream.optimizer.rules.groupings.eager_count import EAGER_COUNT
from midstream.optimizer.rules.groupings.eager_grouping import EAGER_GROUPING
from midstream.optimizer.rules.groupings.fewer_keys import FEWER_KEYS
from midstream.optimizer.rules.groupings.grouping_below_union import GROUPING_BELOW_UNION
from midstream.optimizer.rules.groupings.grouping_over_key import GROUPING_OVER_KEY
from midstream.optimizer.rules.groupings.groupings_merging import GROUPINGS_MERGING
from midstream.optimizer.rules.rule import Rule

SIMPLIFYING: tuple[Rule, ...] = (
    GROUPINGS_MERGING,
    GROUPING_OVER_KEY,
)
"""Rules that drop groupings."""

BAGS: tuple[Rule, ...] = (
    GROUPING_BELOW_UNION,
    EAGER_GROUPING,
    EAGER_COUNT,
    FEWER_KEYS,
    DIFFERENT_VALUES_AS_DISTINCT,
    DISTINCT_AS_DIFFERENT_VALUES,
)
"""Rules that move groupings down, and change their keys."""

__all__ = ["BAGS", "SIMPLIFYING"]
