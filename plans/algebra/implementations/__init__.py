"""The implementations of the logical operators, which the planner and the optimizer share."""

from types import ModuleType

from midstream.plans.algebra.implementations import aggregation, joins, rows, signs, windows
from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import PlanError

__all__ = ["IMPLEMENTATIONS", "Implementation", "expected_implementation", "implementation_of"]


def _by_operator(*modules: ModuleType) -> dict[type[Logical], tuple[Implementation, ...]]:
    by_operator: dict[type[Logical], tuple[Implementation, ...]] = {}
    for fact in (value for module in modules for value in vars(module).values()):
        if isinstance(fact, Implementation):
            by_operator[fact.implements] = (*by_operator.get(fact.implements, ()), fact)
    return by_operator


IMPLEMENTATIONS = _by_operator(rows, windows, joins, aggregation, signs)
"""All implementations of each logical operator, the preferred one first.

The order is that of the modules. The planner takes the first implementation without an obstacle.
"""


def implementation_of(node: Node) -> Implementation:
    """The implementation that a node of a physical plan names; raises PlanError if there is none."""
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
    """The implementation that a node names; of a logical node, the one that the planner would choose."""
    if isinstance(node.operator, Physical):
        return implementation_of(node)
    candidates = IMPLEMENTATIONS[type(logical(node))]
    return next((one for one in candidates if one.obstacle(node) is None), candidates[0])
