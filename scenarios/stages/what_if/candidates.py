"""The plans that a study compares: all plans that the rules make of a query, or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.values.errors import EnumerationLimit

LIMIT = 2000
"""The default for the most plans that are priced."""


@dataclass(frozen=True)
class Candidates:
    """Equivalent plans to be priced, the given one first.

    is_complete   true if these are all plans that the rules make of it
    searched      the number of buckets in which plans were searched; 0 where they are complete
    """

    plans: tuple[Plan, ...]
    is_complete: bool = True
    searched: int = 0


def all_plans(query: Plan, limit: int = LIMIT) -> Candidates | None:
    """All plans that the rules make of a query; None where there are more than the limit."""
    try:
        return Candidates(tuple(enumerate_plans(query, limit=limit)))
    except EnumerationLimit:
        return None


def pack(plans: Sequence[Plan]) -> str:
    """Pack plans as one JSON text, in which shared parts stand once."""
    return dumps(
        Plan({f"{i}/{name}": root for i, plan in enumerate(plans) for name, root in plan.outputs.items()})
    )


@lru_cache(maxsize=2)
def unpack(text: str) -> tuple[Plan, ...]:
    """Read back the plans that `pack` wrote; an executor does it once, for all tasks."""
    outputs: dict[int, dict[str, Node]] = {}
    for key, root in loads(text).outputs.items():
        number, _, name = key.partition("/")
        outputs.setdefault(int(number), {})[name] = root
    return tuple(Plan(outputs[number]) for number in sorted(outputs))
