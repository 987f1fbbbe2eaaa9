"""Transformation rules, one equation a file. All of them hold snapshot by snapshot, for bags and for unknown
values."""

from midstream.optimizer.rules.distinct.distinct_below_join import DISTINCT_ABOVE_JOIN, DISTINCT_BELOW_JOIN
from midstream.optimizer.rules.filters.filter_below_join import FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT
from midstream.optimizer.rules.filters.filter_below_union import FILTER_BELOW_UNION
from midstream.optimizer.rules.filters.filter_into_join import FILTER_INTO_JOIN
from midstream.optimizer.rules.filters.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.rule import ANY, Rule, Shape, Stage, apply, flat

JOIN_ORDERS: tuple[Rule, ...] = (JOIN_COMMUTATIVITY, JOIN_ASSOCIATIVITY)
"""What leads from one order of joins to every other."""

RULES: tuple[Stage, ...] = (
    Stage("merging conditions", (FILTER_MERGING, FILTER_INTO_JOIN)),
    Stage(
        "exploring",
        (
            FILTER_BELOW_LEFT,
            FILTER_BELOW_RIGHT,
            FILTER_BELOW_UNION,
            DISTINCT_BELOW_JOIN,
            DISTINCT_ABOVE_JOIN,
            *JOIN_ORDERS,
        ),
    ),
)
"""All rules, in the stages in which they are tried: first those that simplify, then those that explore."""

ALL_RULES: tuple[Rule, ...] = flat(RULES)

__all__ = ["ALL_RULES", "ANY", "JOIN_ORDERS", "RULES", "Rule", "Shape", "Stage", "apply", "flat"]
