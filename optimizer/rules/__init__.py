"""Transformation rules, one equation a file; they hold snapshot by snapshot, for bags and unknown values.

Each family of rules has a folder, which exports its rules in tuples. The stages below put them in order.
"""

from midstream.optimizer.rules import (
    distinct,
    filters,
    groupings,
    joins,
    matching,
    multisets,
    physical,
    projections,
    sharing,
    windows,
)
from midstream.optimizer.rules.rule import ANY, Rule, Shape, Stage, apply, flat

JOIN_ORDERS: tuple[Rule, ...] = joins.ORDERS
"""Rules that lead from one order of joins to every other."""

RULES: tuple[Stage, ...] = (
    Stage("filters down, projections up", (*filters.SIMPLIFYING, *projections.SIMPLIFYING)),
    Stage("fewer operators", (*distinct.SIMPLIFYING, *groupings.SIMPLIFYING, *multisets.SIMPLIFYING)),
    Stage(
        "exploring",
        (
            *filters.EXPLORING,
            *projections.EXPLORING,
            *distinct.EXPLORING,
            *matching.EXPLORING,
            *joins.ORDERS,
        ),
    ),
)
"""The default rules, in the order of their stages: first those that simplify, then those that explore."""

WINDOWS: tuple[Stage, ...] = (
    Stage("fewer windows", windows.SIMPLIFYING),
    Stage("moving windows", windows.MOVING),
)
"""Rules that change the inputs of windows.

They are for plans that do not run yet, or whose fixed parts may be replaced.
"""

BAGS: tuple[Stage, ...] = (
    Stage("fewer inputs", (*multisets.FEWER_INPUTS, *matching.FEWER_INPUTS)),
    Stage("moving duplicate eliminations", distinct.BAGS),
    Stage("moving differences", multisets.BAGS),
    Stage("moving semi-joins and anti-joins", matching.BAGS),
    Stage("moving groupings", groupings.BAGS),
)
"""Rules about multiplicities: duplicates, differences and similar operators, semi-joins, groupings.

They serve proofs, and searches in a memo; the plans are too many to list. The rules with fewer inputs may
leave a stream out, so they are for plans that do not run yet.
"""

JOINS: tuple[Stage, ...] = (
    Stage("fewer inputs", (*joins.FEWER_INPUTS, *filters.FEWER_INPUTS)),
    Stage("conditions on both sides", filters.BOTH_SIDES),
    Stage("joins as other joins", joins.OTHER_JOINS),
)
"""Rules about joins that are not tried by default.

Some lead to many more plans. Some lead to plans that read fewer streams, to which no running plan can
migrate. Some add conditions whose selectivity must be known: a default selectivity makes results seem fewer
than they are.
"""

PRUNING: tuple[Stage, ...] = (Stage("fewer columns", projections.FEWER_COLUMNS),)
"""Rules that drop columns from a chosen plan: they save memory, and cost projections."""

SHARING: tuple[Stage, ...] = (Stage("bringing out what is common", (*sharing.FILTERS, *sharing.COLUMNS)),)
"""Rules that make plans of several queries alike, so that these can share operators.

Most of them gain nothing in a single plan.
"""

PHYSICAL: tuple[Stage, ...] = (Stage("implementations", physical.IMPLEMENTATIONS),)
"""Rules that choose implementations, for a search that writes them into the plan."""

ALL_STAGES: tuple[Stage, ...] = (*RULES, *WINDOWS, *BAGS, *JOINS, *PRUNING, *SHARING, *PHYSICAL)
"""All existing rules; proofs may use each of them, and each of them is tested."""

ALL_RULES: tuple[Rule, ...] = flat(RULES)
"""The default rules without their stages."""

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
