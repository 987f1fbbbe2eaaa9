"""Operators on signed streams, and the converters between both forms (thesis, 14.1)."""

from __future__ import annotations

from collections.abc import Callable

from midstream.plans.algebra.implementations.base import Implementation, always
from midstream.plans.algebra.implementations.joins import no_equal_columns
from midstream.plans.algebra.implementations.obstacles import no_order_below, relation_below
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Convert,
    CountWindow,
    Difference,
    Distinct,
    Filter,
    Form,
    Intersection,
    Join,
    Logical,
    MaxUnion,
    PartitionedWindow,
    Project,
    SemiJoin,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical

Obstacle = Callable[[Node], str | None]


def _signed(
    name: str, implements: type[Logical], formula: str, obstacle: Obstacle = always
) -> Implementation:
    return Implementation(name, implements, formula, obstacle, takes="signs", gives="signs")


def _window(name: str, implements: type[Logical], formula: str, obstacle: Obstacle) -> Implementation:
    return Implementation(name, implements, formula, obstacle, needs_chronons=True, gives="signs")


def _gives(form: Form) -> Obstacle:
    def obstacle(node: Node) -> str | None:
        operator = logical(node)
        assert isinstance(operator, Convert)
        return None if operator.to == form else f"it gives {form}, not {operator.to}"

    return obstacle


SIGNED_FILTER = _signed("signed-filter", Filter, "signed_filter")
SIGNED_MAP = _signed("signed-map", Project, "signed_map")
SIGNED_TIME_WINDOW = _window("signed-time-window", TimeWindow, "signed_time_window", relation_below)
SIGNED_COUNT_WINDOW = _window("signed-count-window", CountWindow, "signed_count_window", no_order_below)
SIGNED_PARTITIONED_WINDOW = _window(
    "signed-partitioned-window", PartitionedWindow, "signed_count_window", no_order_below
)
SIGNED_UNION = _signed("signed-union", Union, "signed_union")
SIGNED_HASH_JOIN = _signed("signed-hash-join", Join, "signed_hash_join", no_equal_columns)
SIGNED_NESTED_LOOPS_JOIN = _signed("signed-nested-loops-join", Join, "signed_nested_loops_join")
SIGNED_DIFFERENCE = _signed("signed-difference", Difference, "signed_multisets")
SIGNED_STRICT_DIFFERENCE = _signed("signed-strict-difference", StrictDifference, "signed_multisets")
SIGNED_INTERSECTION = _signed("signed-intersection", Intersection, "signed_multisets")
SIGNED_MAX_UNION = _signed("signed-max-union", MaxUnion, "signed_multisets")
SIGNED_SEMI_JOIN = _signed("signed-semi-join", SemiJoin, "signed_matching")
SIGNED_ANTI_JOIN = _signed("signed-anti-join", AntiJoin, "signed_matching")
SIGNED_DISTINCT = _signed("signed-distinct", Distinct, "signed_distinct")
SIGNED_AGGREGATE = _signed("signed-aggregate", Aggregate, "signed_aggregate")
INTERVALS_TO_SIGNS = Implementation("intervals-to-signs", Convert, "to_signs", _gives("signs"), gives="signs")
SIGNS_TO_INTERVALS = Implementation(
    "signs-to-intervals", Convert, "to_intervals", _gives("intervals"), takes="signs"
)
