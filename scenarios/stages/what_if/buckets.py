"""Statistics of the inputs of a plan in a bucket, from the facts that were counted in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.scenarios.recordings.facts import read_facts
from midstream.scenarios.recordings.pricing import bucket_statistics
from midstream.scenarios.streams.recorded.inputs import Group, value_groups


@dataclass(frozen=True)
class Buckets:
    """The facts of a plan's inputs that are equal in all buckets of some length, in chronons.

    lengths    by input, how long an element is valid
    granules   by input, the largest number of chronons that divides all starts and ends
    """

    length: int
    lengths: tuple[int, ...]
    granules: tuple[int, ...]

    def read(self, plan: Plan, facts: Sequence[dict[str, Any]] | None) -> tuple[int, Statistics]:
        """The number of elements in a bucket, and its statistics; None stands for an empty bucket."""
        nodes, groups = _inputs(plan)
        known = read_facts(facts, nodes, groups)
        lengths, granules = (dict(zip(nodes, of, strict=True)) for of in (self.lengths, self.granules))
        found = bucket_statistics(known, lengths, granules, self.length)
        return sum(one.count for one in known.values()), found


@lru_cache(maxsize=2)
def _inputs(plan: Plan) -> tuple[tuple[Node, ...], tuple[Group, ...]]:
    """The inputs of a plan and its groups of values, found once for all buckets."""
    return input_nodes(plan), value_groups(plan)
