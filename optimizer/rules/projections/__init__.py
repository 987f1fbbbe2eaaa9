"""Rules about projections."""

from midstream.optimizer.rules.projections.identity_projection import IDENTITY_PROJECTION
from midstream.optimizer.rules.projections.matched_projection import MATCHED_PROJECTION_DROPPED
from midstream.optimizer.rules.projections.projection_above_join import (
    PROJECTION_ABOVE_LEFT,
    PROJECTION_ABOVE_RIGHT,
)
from midstream.optimizer.rules.projections.projection_and_matching import (
    PROJECTION_ABOVE_MATCHING,
    PROJECTION_BELOW_MATCHING,
)
from midstream.optimizer.rules.projections.projection_below_distinct import PROJECTION_BELOW_DISTINCT
from midstream.optimizer.rules.projections.projection_below_union import PROJECTION_BELOW_UNION
from midstream.optimizer.rules.projections.projection_into_grouping import PROJECTION_INTO_GROUPING
from midstream.optimizer.rules.projections.projections_merging import PROJECTIONS_MERGING
from midstream.optimizer.rules.projections.unread_below_projection import UNREAD_BELOW_PROJECTION
from midstream.optimizer.rules.projections.unread_columns import UNREAD_COLUMNS
from midstream.optimizer.rules.rule import Rule

SIMPLIFYING: tuple[Rule, ...] = (
    IDENTITY_PROJECTION,
    PROJECTIONS_MERGING,
    PROJECTION_ABOVE_LEFT,
    PROJECTION_ABOVE_RIGHT,
    PROJECTION_BELOW_UNION,
    PROJECTION_BELOW_DISTINCT,
)
"""Rules that bring projections together, and drop them."""

EXPLORING: tuple[Rule, ...] = (
    PROJECTION_INTO_GROUPING,
    PROJECTION_ABOVE_MATCHING,
    PROJECTION_BELOW_MATCHING,
    MATCHED_PROJECTION_DROPPED,
)
"""Rules that move projections across groupings, semi-joins and anti-joins."""

FEWER_COLUMNS: tuple[Rule, ...] = (
    UNREAD_BELOW_PROJECTION,
    UNREAD_COLUMNS,
)
"""Rules that drop columns that nobody reads."""

__all__ = ["EXPLORING", "FEWER_COLUMNS", "SIMPLIFYING"]
