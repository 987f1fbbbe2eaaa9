"""How the logical operators can be run: facts that the planner and the optimizer read alike."""

from collections.abc import Iterable

from midstream.plans.algebra.implementations import aggregation, joins, rows, signs, windows
from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import PlanError

__all__ = ["IMPLEMENTATIONS", "Implementation", "expected_implementation", "implementation_of"]


def _by_operator(facts: Iterable[Implementation]) -> dict[type[Logical], tuple[Implementation, ...]]:
    found: dict[type[Logical], tuple[Implementation, ...]] = {}
    for fact in facts:
        found[fact.implements] = (*found.get(fact.implements, ()), fact)
    return found


IMPLEMENTATIONS = _by_operator(
    (
        rows.FILTER,
        rows.MAP,
        windows.TIME_WINDOW,
        windows.COUNT_WINDOW,
        windows.PARTITIONED_WINDOW,
        windows.GRANULARITY,
        windows.ISTREAM,
        windows.DSTREAM,
        windows.SPLIT,
        windows.COALESCE,
        rows.UNION,
        joins.HASH_JOIN,
        joins.BAND_JOIN,
        joins.NESTED_LOOPS_JOIN,
        joins.HASH_LIST_JOIN,
        joins.LIST_HASH_JOIN,
        joins.HASH_JOIN_QUEUED,
        joins.NESTED_LOOPS_JOIN_QUEUED,
        rows.DIFFERENCE,
        rows.STRICT_DIFFERENCE,
        rows.INTERSECTION,
        rows.MAX_UNION,
        joins.HASH_SEMI_JOIN,
        joins.NESTED_LOOPS_SEMI_JOIN,
        joins.HASH_ANTI_JOIN,
        joins.NESTED_LOOPS_ANTI_JOIN,
        rows.DISTINCT,
        aggregation.AGGREGATE,
        signs.SIGNED_FILTER,
        signs.SIGNED_MAP,
        signs.SIGNED_TIME_WINDOW,
        signs.SIGNED_COUNT_WINDOW,
        signs.SIGNED_PARTITIONED_WINDOW,
        signs.SIGNED_UNION,
        signs.SIGNED_HASH_JOIN,
        signs.SIGNED_NESTED_LOOPS_JOIN,
        signs.SIGNED_DIFFERENCE,
        signs.SIGNED_STRICT_DIFFERENCE,
        signs.SIGNED_INTERSECTION,
        signs.SIGNED_MAX_UNION,
        signs.SIGNED_SEMI_JOIN,
        signs.SIGNED_ANTI_JOIN,
        signs.SIGNED_DISTINCT,
        signs.SIGNED_AGGREGATE,
        signs.INTERVALS_TO_SIGNS,
        signs.SIGNS_TO_INTERVALS,
    )
)
"""All implementations of each logical operator, the preferred one first: the planner takes the first that
nothing stands in the way of."""


def implementation_of(node: Node) -> Implementation:
    """The implementation that a node of a physical plan names. Raises PlanError where there is none."""
    assert isinstance(node.operator, Physical)
    candidates = IMPLEMENTATIONS.get(type(node.operator.logical), ())
    for candidate in candidates:
        if candidate.name == node.operator.implementation:
            return candidate
    known = "one of " + ", ".join(candidate.name for candidate in candidates) if candidates else "none"
    raise PlanError(
        f"found implementation {node.operator.implementation!r} for {node.operator.logical}, expected {known}"
    )


def expected_implementation(node: Node) -> Implementation:
    """The same; of a node of a logical plan, the one that the planner would choose."""
    if isinstance(node.operator, Physical):
        return implementation_of(node)
    candidates = IMPLEMENTATIONS[type(logical(node))]
    return next((one for one in candidates if one.obstacle(node) is None), candidates[0])
