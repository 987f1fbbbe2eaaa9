"""Rules that move, split and merge filters."""

from midstream.optimizer.rules.filters.contradiction import CONTRADICTION
from midstream.optimizer.rules.filters.filter_across import FILTER_ACROSS
from midstream.optimizer.rules.filters.filter_below_distinct import FILTER_BELOW_DISTINCT
from midstream.optimizer.rules.filters.filter_below_grouping import FILTER_BELOW_GROUPING
from midstream.optimizer.rules.filters.filter_below_join import (
    FILTER_BELOW_BOTH,
    FILTER_BELOW_LEFT,
    FILTER_BELOW_RIGHT,
)
from midstream.optimizer.rules.filters.filter_below_matching import FILTER_BELOW_MATCHING
from midstream.optimizer.rules.filters.filter_below_multisets import FILTER_BELOW_MULTISETS
from midstream.optimizer.rules.filters.filter_below_projection import FILTER_BELOW_PROJECTION
from midstream.optimizer.rules.filters.filter_below_union import FILTER_BELOW_UNION
from midstream.optimizer.rules.filters.filter_into_join import FILTER_INTO_JOIN
from midstream.optimizer.rules.filters.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.filters.implied_condition import IMPLIED_CONDITION
from midstream.optimizer.rules.filters.negation_inwards import NEGATION_INWARDS
from midstream.optimizer.rules.filters.nothing import NOTHING_COMBINED, NOTHING_WANTED
from midstream.optimizer.rules.rule import Rule

SIMPLIFYING: tuple[Rule, ...] = (
    FILTER_MERGING,
    FILTER_INTO_JOIN,
    FILTER_BELOW_PROJECTION,
    FILTER_BELOW_MATCHING,
    FILTER_BELOW_DISTINCT,
    FILTER_BELOW_MULTISETS,
    FILTER_BELOW_GROUPING,
    NEGATION_INWARDS,
    CONTRADICTION,
    IMPLIED_CONDITION,
)
"""Rules that move filters down, and drop them."""

EXPLORING: tuple[Rule, ...] = (
    FILTER_BELOW_LEFT,
    FILTER_BELOW_RIGHT,
    FILTER_BELOW_BOTH,
    FILTER_BELOW_UNION,
)
"""Rules that move filters below joins and unions, which does not always pay."""

FEWER_INPUTS: tuple[Rule, ...] = (
    NOTHING_COMBINED,
    NOTHING_WANTED,
)
"""Rules that drop inputs from which no row is needed."""

BOTH_SIDES: tuple[Rule, ...] = (FILTER_ACROSS,)
"""Rules that add the condition of one side of a join on the other side."""

__all__ = ["BOTH_SIDES", "EXPLORING", "FEWER_INPUTS", "SIMPLIFYING"]
