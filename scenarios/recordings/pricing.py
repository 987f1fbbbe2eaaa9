"""The costs of plans under the statistics of one time bucket, and of keeping one of them.

Nothing here knows Spark: executors call it bucket by bucket.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from midstream.optimizer import CostModel, Objective, Sample, Statistics, StreamStatistics
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Payload

TIE = 1e-9
"""The share of the lower of two costs up to which they are equal: smaller differences are rounding."""


@dataclass(frozen=True)
class InputFacts:
    """The counts of an input's elements and values in one bucket.

    count        elements that start in the bucket
    frequencies  by column, how many of these have each known value; where there are too many to keep, some
                 stand for others
    rows         some of the elements' payloads, or none
    distinct     by column, how many different values are known
    retained     by column, those that are kept, with their own counts
    """

    count: int
    frequencies: Mapping[str, Mapping[Any, float]]
    rows: Sequence[Payload] = ()
    distinct: Mapping[str, int] = field(default_factory=dict)
    retained: Mapping[str, Mapping[Any, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BucketCost:
    """The cost of one plan in one bucket, by an objective.

    cost       per chronon; of a level, such as memory, the level
    spent      in the whole bucket; of a level, the level
    regret     how much of that the best plan would have saved
    is_best    true if no plan costs less
    is_choice  true for the first of the best
    """

    cost: float
    spent: float
    regret: float
    is_best: bool
    is_choice: bool


def bucket_statistics(
    inputs: Mapping[Node, InputFacts], lengths: Mapping[Node, int], granules: Mapping[Node, int], bucket: int
) -> Statistics:
    """Statistics of a plan's inputs during a bucket of some chronons.

    d is the bucket's length divided by the elements that start in it, so it is infinite for a silent input.

    >>> from midstream.plans.algebra.builder import stream
    >>> node = stream("s", x="integer").window(60).node
    >>> known = bucket_statistics({node: InputFacts(4, {"x": {7: 3}})}, {node: 60}, {node: 1}, 100)
    >>> known.stream(node).d, known.stream(node).l, known.stream(node).distributions
    (25.0, 60.0, {'x': {7: 0.75}})
    """
    streams = {}
    for node, facts in inputs.items():
        streams[node] = StreamStatistics(
            d=bucket / facts.count if facts.count else math.inf,
            l=float(lengths[node]),
            g=granules[node],
            sample=Sample(node.schema, facts.rows) if facts.rows else None,
            # Unknown values equal nothing, so the shares are of all elements and may add up to less than 1.
            distributions={
                column: {value: n / facts.count for value, n in counts.items()}
                for column, counts in facts.frequencies.items()
            },
        )
    return Statistics(streams)


def price_bucket(
    plans: Sequence[Plan],
    statistics: Statistics,
    objectives: Sequence[Objective],
    units: UnitCosts | None = None,
    counted: Mapping[Node, float] | None = None,
) -> list[list[float]]:
    """The cost of each plan in a bucket per chronon, by objective.

    counted    by logical node, the results per chronon that were counted; the others are estimated

    Cost     O(plans × operators × values of a joined column)
    """
    model = CostModel(statistics, units, counted or {})
    costs = [model.price(plan) for plan in plans]
    return [[objective.of(cost) for cost in costs] for objective in objectives]


def compare(costs: Sequence[float], scale: int) -> list[BucketCost]:
    """The costs of all plans in one bucket of `scale` chronons, each beside the lowest.

    regret  =  scale × (cost of the plan − cost of the best plan)

    Where a cost is infinite, plans cannot be compared, and all count as costing nothing.
    """
    if not all(map(math.isfinite, costs)):
        return [BucketCost(cost, 0.0, 0.0, True, not i) for i, cost in enumerate(costs)]
    lowest = min(costs)
    best = [cost <= lowest * (1 + TIE) for cost in costs]
    choice = best.index(True)
    return [
        BucketCost(
            cost=cost,
            spent=scale * cost,
            regret=0.0 if is_best else scale * (cost - lowest),
            is_best=is_best,
            is_choice=i == choice,
        )
        for i, (cost, is_best) in enumerate(zip(costs, best, strict=True))
    ]


def relative(regret: float, least: float) -> float:
    """A regret as a share of the costs of the best plans of all buckets; 0 where these are 0."""
    return regret / least if least else 0.0


def show_cost(cost: float) -> str:
    """A cost as text.

    >>> show_cost(30854.41), show_cost(9.96), show_cost(0.0)
    ('30,854', '9.96', '0')
    """
    return f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"
