"""Rules of semi-joins and anti-joins."""

from midstream.optimizer.rules.matching.anti_joins_merging import ANTI_JOINS_MERGING, ANTI_JOINS_SPLITTING
from midstream.optimizer.rules.matching.matching_below_grouping import (
    MATCHING_ABOVE_GROUPING,
    MATCHING_BELOW_GROUPING,
)
from midstream.optimizer.rules.matching.matching_below_join import (
    MATCHING_ABOVE_LEFT,
    MATCHING_ABOVE_RIGHT,
    MATCHING_BELOW_LEFT,
    MATCHING_BELOW_RIGHT,
)
from midstream.optimizer.rules.matching.matching_below_multisets import (
    MATCHING_ABOVE_EACH,
    MATCHING_ABOVE_FIRST,
    MATCHING_BELOW_EACH,
    MATCHING_BELOW_FIRST,
)
from midstream.optimizer.rules.matching.matching_commutativity import MATCHING_COMMUTATIVITY
from midstream.optimizer.rules.matching.matching_twice import MATCHING_TWICE
from midstream.optimizer.rules.rule import Rule

EXPLORING: tuple[Rule, ...] = (
    MATCHING_COMMUTATIVITY,
    MATCHING_BELOW_LEFT,
    MATCHING_BELOW_RIGHT,
    MATCHING_ABOVE_LEFT,
    MATCHING_ABOVE_RIGHT,
    MATCHING_BELOW_GROUPING,
    MATCHING_ABOVE_GROUPING,
)
"""Rules that move them across joins, groupings and each other."""

FEWER_INPUTS: tuple[Rule, ...] = (MATCHING_TWICE,)
"""Rules that may leave out an input."""

BAGS: tuple[Rule, ...] = (
    MATCHING_BELOW_EACH,
    MATCHING_ABOVE_EACH,
    MATCHING_BELOW_FIRST,
    MATCHING_ABOVE_FIRST,
    ANTI_JOINS_MERGING,
    ANTI_JOINS_SPLITTING,
)
"""Rules that move them across unions and differences, and merge them."""

__all__ = ["BAGS", "EXPLORING", "FEWER_INPUTS"]
