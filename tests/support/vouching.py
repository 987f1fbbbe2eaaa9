"""To migrate on the caller's word."""

from __future__ import annotations

from typing import Any

import midstream as ms
from midstream.plans.equivalence.comparison import equivalent


def vouched(
    engine: ms.Engine, plan: ms.Plan, strategy: str = "genmig", query: str | None = None, **how: Any
) -> ms.Transition:
    """Migrate at once to a plan of which the normal form does not see that it means the same, or that does
    not: where a test is about how plans are exchanged, not about which. No rules are tried to prove it, which
    would take longer than the migration."""
    proof = equivalent(engine.query(query).plan, plan, steps=0)
    return engine.migrate(plan, strategy, query, proof=proof, unproved="accept", **how)
