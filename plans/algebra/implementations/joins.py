"""Joins, semi-joins and anti-joins."""

from __future__ import annotations

from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.operators import AntiJoin, Join, SemiJoin
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import expressions
from midstream.plans.expressions.expressions import join_keys
from midstream.plans.expressions.ranges import why_no_range


def no_equal_columns(node: Node) -> str | None:
    """The obstacle of hash joins."""
    (condition,) = expressions(node)
    keys, _ = join_keys(condition, node.inputs[0].schema, node.inputs[1].schema)
    return None if keys else "no column of the left side is to be equal to one of the right side"


def no_range(node: Node) -> str | None:
    """The obstacle of joins that keep their sides in order of a key."""
    (condition,) = expressions(node)
    return why_no_range(condition, *(child.schema for child in node.inputs))


HASH_JOIN = Implementation("hash-join", Join, "hash_join", no_equal_columns)
BAND_JOIN = Implementation("band-join", Join, "band_join", no_range)
NESTED_LOOPS_JOIN = Implementation("nested-loops-join", Join, "nested_loops_join")
# The planner never prefers the following ones: a plan has to name them.
HASH_LIST_JOIN = Implementation("hash-list-join", Join, "hash_list_join", no_equal_columns)
LIST_HASH_JOIN = Implementation("list-hash-join", Join, "list_hash_join", no_equal_columns)
HASH_JOIN_QUEUED = Implementation("hash-join-queued", Join, "hash_join_queued", no_equal_columns)
NESTED_LOOPS_JOIN_QUEUED = Implementation("nested-loops-join-queued", Join, "nested_loops_join_queued")

HASH_SEMI_JOIN = Implementation("hash-semi-join", SemiJoin, "hash_semi_join", no_equal_columns)
NESTED_LOOPS_SEMI_JOIN = Implementation("nested-loops-semi-join", SemiJoin, "nested_loops_semi_join")
HASH_ANTI_JOIN = Implementation("hash-anti-join", AntiJoin, "hash_anti_join", no_equal_columns)
NESTED_LOOPS_ANTI_JOIN = Implementation("nested-loops-anti-join", AntiJoin, "nested_loops_anti_join")
