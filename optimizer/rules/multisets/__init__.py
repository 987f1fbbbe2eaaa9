"""Rules of differences, intersections and max-unions."""

from midstream.optimizer.rules.multisets.absorption import INTERSECTION_WITH_PART, MAX_UNION_WITH_PART
from midstream.optimizer.rules.multisets.compared_with_itself import DIFFERENCE_FROM_ITSELF, SAME_AS_ITSELF
from midstream.optimizer.rules.multisets.comparing_orders import (
    COMPARING_ASSOCIATIVITY,
    COMPARING_COMMUTATIVITY,
)
from midstream.optimizer.rules.multisets.difference_as_strict import (
    DIFFERENCE_AS_STRICT,
    STRICT_AS_DIFFERENCE,
)
from midstream.optimizer.rules.multisets.difference_below import DIFFERENCE_ABOVE, DIFFERENCE_BELOW
from midstream.optimizer.rules.multisets.difference_from_matching import DIFFERENCE_FROM_MATCHING
from midstream.optimizer.rules.multisets.difference_of_max_union import DIFFERENCE_OF_MAX_UNION
from midstream.optimizer.rules.multisets.difference_of_union import DIFFERENCE_OF_UNION, DIFFERENCE_OF_UNIONS
from midstream.optimizer.rules.multisets.differences_merging import DIFFERENCES_MERGING, DIFFERENCES_SPLITTING
from midstream.optimizer.rules.multisets.intersection_as_semi_join import (
    INTERSECTION_AS_SEMI_JOIN,
    SEMI_JOIN_AS_INTERSECTION,
)
from midstream.optimizer.rules.multisets.intersection_from_differences import INTERSECTION_FROM_DIFFERENCES
from midstream.optimizer.rules.multisets.strict_difference_as_anti_join import (
    ANTI_JOIN_AS_STRICT,
    STRICT_AS_ANTI_JOIN,
)
from midstream.optimizer.rules.multisets.union_of_parts import (
    UNION_OF_DIFFERENCE,
    UNION_OF_LEFT_AND_TAKEN,
    UNION_OF_LESS_AND_MORE,
    UNION_OF_MATCHED_AND_NOT,
    UNION_OF_MORE_AND_LESS,
    UNION_OF_NOT_AND_MATCHED,
    UNION_OF_TAKEN_AND_LEFT,
    UNION_WITH_DIFFERENCE,
)
from midstream.optimizer.rules.rule import Rule

SIMPLIFYING: tuple[Rule, ...] = (
    INTERSECTION_FROM_DIFFERENCES,
    SAME_AS_ITSELF,
    DIFFERENCE_FROM_ITSELF,
    UNION_OF_DIFFERENCE,
    UNION_WITH_DIFFERENCE,
    UNION_OF_LESS_AND_MORE,
    UNION_OF_MORE_AND_LESS,
    INTERSECTION_WITH_PART,
    DIFFERENCE_OF_MAX_UNION,
    DIFFERENCE_FROM_MATCHING,
)
"""Rules that need fewer operators."""

FEWER_INPUTS: tuple[Rule, ...] = (
    DIFFERENCE_OF_UNION,
    DIFFERENCE_OF_UNIONS,
    UNION_OF_TAKEN_AND_LEFT,
    UNION_OF_LEFT_AND_TAKEN,
    UNION_OF_MATCHED_AND_NOT,
    UNION_OF_NOT_AND_MATCHED,
    MAX_UNION_WITH_PART,
)
"""Rules that may leave out an input."""

BAGS: tuple[Rule, ...] = (
    DIFFERENCE_AS_STRICT,
    STRICT_AS_DIFFERENCE,
    DIFFERENCES_MERGING,
    DIFFERENCES_SPLITTING,
    DIFFERENCE_BELOW,
    DIFFERENCE_ABOVE,
    COMPARING_COMMUTATIVITY,
    COMPARING_ASSOCIATIVITY,
    STRICT_AS_ANTI_JOIN,
    ANTI_JOIN_AS_STRICT,
    INTERSECTION_AS_SEMI_JOIN,
    SEMI_JOIN_AS_INTERSECTION,
)
"""Rules that reorder these operators, and turn them into each other or into joins."""

__all__ = ["BAGS", "FEWER_INPUTS", "SIMPLIFYING"]
