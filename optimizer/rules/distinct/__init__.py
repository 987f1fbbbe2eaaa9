"""Rules about duplicate elimination."""

from midstream.optimizer.rules.distinct.distinct_as_grouping import DISTINCT_AS_GROUPING, GROUPING_AS_DISTINCT
from midstream.optimizer.rules.distinct.distinct_below_distinct import (
    INNER_DISTINCT_ADDED,
    LEFT_DISTINCT_DROPPED,
    RIGHT_DISTINCT_DROPPED,
)
from midstream.optimizer.rules.distinct.distinct_below_grouping import (
    GROUPED_DISTINCT_ADDED,
    GROUPED_DISTINCT_DROPPED,
)
from midstream.optimizer.rules.distinct.distinct_below_intersection import (
    DISTINCT_ABOVE_INTERSECTION,
    DISTINCT_BELOW_INTERSECTION,
)
from midstream.optimizer.rules.distinct.distinct_below_join import DISTINCT_ABOVE_JOIN, DISTINCT_BELOW_JOIN
from midstream.optimizer.rules.distinct.distinct_below_matching import (
    DISTINCT_ABOVE_MATCHING,
    DISTINCT_BELOW_MATCHING,
)
from midstream.optimizer.rules.distinct.distinct_below_projection import (
    DISTINCT_ABOVE_PROJECTION,
    DISTINCT_BELOW_PROJECTION,
)
from midstream.optimizer.rules.distinct.distinct_in_matching import (
    MATCHED_DISTINCT_ADDED,
    MATCHED_DISTINCT_DROPPED,
)
from midstream.optimizer.rules.distinct.distinct_of_union import DISTINCT_AS_MAX_UNION, MAX_UNION_AS_DISTINCT
from midstream.optimizer.rules.distinct.distinct_removal import DISTINCT_REMOVAL
from midstream.optimizer.rules.rule import Rule

SIMPLIFYING: tuple[Rule, ...] = (DISTINCT_REMOVAL,)
"""Rules that drop duplicate eliminations."""

EXPLORING: tuple[Rule, ...] = (
    DISTINCT_BELOW_JOIN,
    DISTINCT_ABOVE_JOIN,
)
"""Rules that move duplicate eliminations across joins."""

BAGS: tuple[Rule, ...] = (
    INNER_DISTINCT_ADDED,
    LEFT_DISTINCT_DROPPED,
    RIGHT_DISTINCT_DROPPED,
    MATCHED_DISTINCT_ADDED,
    MATCHED_DISTINCT_DROPPED,
    DISTINCT_BELOW_MATCHING,
    DISTINCT_ABOVE_MATCHING,
    DISTINCT_BELOW_INTERSECTION,
    DISTINCT_ABOVE_INTERSECTION,
    DISTINCT_AS_MAX_UNION,
    MAX_UNION_AS_DISTINCT,
    DISTINCT_BELOW_PROJECTION,
    DISTINCT_ABOVE_PROJECTION,
    DISTINCT_AS_GROUPING,
    GROUPING_AS_DISTINCT,
    GROUPED_DISTINCT_ADDED,
    GROUPED_DISTINCT_DROPPED,
)
"""Rules that move duplicate eliminations elsewhere, and turn them into other operators."""

__all__ = ["BAGS", "EXPLORING", "SIMPLIFYING"]
