"""Transformation rules, one equation a file. All of them hold snapshot by snapshot, for bags and for unknown
values."""

from midstream.optimizer.rules.distinct_below_join import DISTINCT_ABOVE_JOIN, DISTINCT_BELOW_JOIN
from midstream.optimizer.rules.filter_below_join import FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT
from midstream.optimizer.rules.filter_below_union import FILTER_BELOW_UNION
from midstream.optimizer.rules.filter_into_join import FILTER_INTO_JOIN
from midstream.optimizer.rules.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.rule import Rule, apply

RULES: tuple[Rule, ...] = (
    FILTER_MERGING,
    FILTER_BELOW_LEFT,
    FILTER_BELOW_RIGHT,
    FILTER_INTO_JOIN,
    FILTER_BELOW_UNION,
    DISTINCT_BELOW_JOIN,
    DISTINCT_ABOVE_JOIN,
    JOIN_COMMUTATIVITY,
    JOIN_ASSOCIATIVITY,
)
"""All rules, in the order in which they are tried."""

__all__ = ["RULES", "Rule", "apply"]
