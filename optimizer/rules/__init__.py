"""Transformation rules, one equation a file; they hold snapshot by snapshot, for bags and unknown values."""

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
from midstream.optimizer.rules.filters.contradiction import CONTRADICTION
from midstream.optimizer.rules.filters.filter_across import FILTER_ACROSS
from midstream.optimizer.rules.filters.filter_below_distinct import FILTER_BELOW_DISTINCT
from midstream.optimizer.rules.filters.filter_below_grouping import FILTER_BELOW_GROUPING
from midstream.optimizer.rules.filters.filter_below_join import FILTER_BELOW_LEFT, FILTER_BELOW_RIGHT
from midstream.optimizer.rules.filters.filter_below_matching import FILTER_BELOW_MATCHING
from midstream.optimizer.rules.filters.filter_below_multisets import FILTER_BELOW_MULTISETS
from midstream.optimizer.rules.filters.filter_below_projection import FILTER_BELOW_PROJECTION
from midstream.optimizer.rules.filters.filter_below_union import FILTER_BELOW_UNION
from midstream.optimizer.rules.filters.filter_into_join import FILTER_INTO_JOIN
from midstream.optimizer.rules.filters.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.filters.implied_condition import IMPLIED_CONDITION
from midstream.optimizer.rules.filters.negation_inwards import NEGATION_INWARDS
from midstream.optimizer.rules.filters.nothing import NOTHING_COMBINED, NOTHING_WANTED
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
from midstream.optimizer.rules.joins.join_and_union import JOIN_ABOVE_UNION, JOIN_BELOW_UNION
from midstream.optimizer.rules.joins.join_as_semi_join import JOIN_AS_SEMI_JOIN, SEMI_JOIN_AS_JOIN
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.joins.join_elimination import LEFT_JOIN_ELIMINATION, RIGHT_JOIN_ELIMINATION
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
from midstream.optimizer.rules.physical.implementation import IMPLEMENTATION
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
from midstream.optimizer.rules.rule import ANY, Rule, Shape, Stage, apply, flat
from midstream.optimizer.rules.sharing.columns_below_join import COLUMNS_BELOW_LEFT, COLUMNS_BELOW_RIGHT
from midstream.optimizer.rules.sharing.filter_above_join import FILTER_ABOVE_LEFT, FILTER_ABOVE_RIGHT
from midstream.optimizer.rules.sharing.filter_out_of_join import FILTER_OUT_OF_JOIN
from midstream.optimizer.rules.sharing.filter_splitting import FILTER_SPLITTING
from midstream.optimizer.rules.sharing.join_columns import JOIN_COLUMNS, PROJECTION_INTO_JOIN
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

JOIN_ORDERS: tuple[Rule, ...] = (JOIN_COMMUTATIVITY, JOIN_ASSOCIATIVITY)
"""Rules that lead from one order of joins to every other."""

RULES: tuple[Stage, ...] = (
    Stage(
        "filters down, projections up",
        (
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
            IDENTITY_PROJECTION,
            PROJECTIONS_MERGING,
            PROJECTION_ABOVE_LEFT,
            PROJECTION_ABOVE_RIGHT,
            PROJECTION_BELOW_UNION,
            PROJECTION_BELOW_DISTINCT,
        ),
    ),
    Stage(
        "fewer operators",
        (
            DISTINCT_REMOVAL,
            GROUPINGS_MERGING,
            GROUPING_OVER_KEY,
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
        ),
    ),
    Stage(
        "exploring",
        (
            FILTER_BELOW_LEFT,
            FILTER_BELOW_RIGHT,
            FILTER_BELOW_UNION,
            PROJECTION_INTO_GROUPING,
            PROJECTION_ABOVE_MATCHING,
            PROJECTION_BELOW_MATCHING,
            MATCHED_PROJECTION_DROPPED,
            DISTINCT_BELOW_JOIN,
            DISTINCT_ABOVE_JOIN,
            MATCHING_COMMUTATIVITY,
            MATCHING_BELOW_LEFT,
            MATCHING_BELOW_RIGHT,
            MATCHING_ABOVE_LEFT,
            MATCHING_ABOVE_RIGHT,
            MATCHING_BELOW_GROUPING,
            MATCHING_ABOVE_GROUPING,
            *JOIN_ORDERS,
        ),
    ),
)
"""The default rules, in the order of their stages: first those that simplify, then those that explore."""

WINDOWS: tuple[Stage, ...] = (
    Stage("fewer windows", (NOW_WINDOW, WINDOWS_MERGING, GRANULARITIES_MERGING, ISTREAM_OF_UNBOUNDED)),
    Stage(
        "moving windows",
        (
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
        ),
    ),
)
"""Rules that change the inputs of windows.

They are for plans that do not run yet, or whose fixed parts may be replaced.
"""

BAGS: tuple[Stage, ...] = (
    Stage(
        "fewer inputs",
        (
            DIFFERENCE_OF_UNION,
            DIFFERENCE_OF_UNIONS,
            UNION_OF_TAKEN_AND_LEFT,
            UNION_OF_LEFT_AND_TAKEN,
            UNION_OF_MATCHED_AND_NOT,
            UNION_OF_NOT_AND_MATCHED,
            MAX_UNION_WITH_PART,
            MATCHING_TWICE,
        ),
    ),
    Stage(
        "moving duplicate eliminations",
        (
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
        ),
    ),
    Stage(
        "moving differences",
        (
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
        ),
    ),
    Stage(
        "moving semi-joins and anti-joins",
        (
            MATCHING_BELOW_EACH,
            MATCHING_ABOVE_EACH,
            MATCHING_BELOW_FIRST,
            MATCHING_ABOVE_FIRST,
            ANTI_JOINS_MERGING,
            ANTI_JOINS_SPLITTING,
        ),
    ),
    Stage(
        "moving groupings",
        (
            GROUPING_BELOW_UNION,
            EAGER_GROUPING,
            EAGER_COUNT,
            FEWER_KEYS,
            DIFFERENT_VALUES_AS_DISTINCT,
            DISTINCT_AS_DIFFERENT_VALUES,
        ),
    ),
)
"""Rules about multiplicities: duplicates, differences and similar operators, semi-joins, groupings.

They serve proofs, and searches in a memo; the plans are too many to list. The rules with fewer inputs may
leave a stream out, so they are for plans that do not run yet.
"""

SHARING: tuple[Stage, ...] = (
    Stage(
        "bringing out what is common",
        (
            FILTER_SPLITTING,
            FILTER_OUT_OF_JOIN,
            FILTER_ABOVE_LEFT,
            FILTER_ABOVE_RIGHT,
            JOIN_COLUMNS,
            PROJECTION_INTO_JOIN,
            COLUMNS_BELOW_LEFT,
            COLUMNS_BELOW_RIGHT,
        ),
    ),
)
"""Rules that make plans of several queries alike, so that these can share operators.

Most of them gain nothing in a single plan.
"""

JOINS: tuple[Stage, ...] = (
    Stage(
        "fewer inputs",
        (LEFT_JOIN_ELIMINATION, RIGHT_JOIN_ELIMINATION, NOTHING_COMBINED, NOTHING_WANTED),
    ),
    Stage("conditions on both sides", (FILTER_ACROSS,)),
    Stage(
        "joins as other joins",
        (JOIN_AS_SEMI_JOIN, SEMI_JOIN_AS_JOIN, JOIN_BELOW_UNION, JOIN_ABOVE_UNION),
    ),
)
"""Rules about joins that are not tried by default.

Some lead to many more plans. Some lead to plans that read fewer streams, to which no running plan can
migrate. Some add conditions whose selectivity must be known: a default selectivity makes results seem fewer
than they are.
"""

PHYSICAL: tuple[Stage, ...] = (Stage("implementations", (IMPLEMENTATION,)),)
"""Rules that choose implementations, for a search that writes them into the plan."""

PRUNING: tuple[Stage, ...] = (Stage("fewer columns", (UNREAD_BELOW_PROJECTION, UNREAD_COLUMNS)),)
"""Rules that drop columns from a chosen plan: they save memory, and cost projections."""

ALL_STAGES: tuple[Stage, ...] = (*RULES, *WINDOWS, *BAGS, *JOINS, *PRUNING, *SHARING, *PHYSICAL)
"""All existing rules; proofs may use each of them, and each of them is tested."""

ALL_RULES: tuple[Rule, ...] = flat(RULES)

__all__ = [
    "ALL_RULES",
    "ALL_STAGES",
    "ANY",
    "BAGS",
    "JOINS",
    "JOIN_ORDERS",
    "PHYSICAL",
    "PRUNING",
    "RULES",
    "SHARING",
    "WINDOWS",
    "Rule",
    "Shape",
    "Stage",
    "apply",
    "flat",
]
