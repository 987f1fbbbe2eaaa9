"""Predictions of the cost model beside measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from midstream.optimizer import Estimate, price
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Element
from midstream.scenarios.trials.costs.grid import Setting
from midstream.scenarios.trials.costs.measuring import LOOKS, Measured, measure
from midstream.scenarios.trials.costs.streams import source_statistics


@dataclass(frozen=True)
class CostComparison:
    """An operator at a point of the grid, with pairs of a predicted and a measured value.

    rate     results per chronon
    state    elements kept
    bytes    their size
    """

    name: str
    setting: Setting
    rate: tuple[float, float]
    state: tuple[float, float]
    bytes: tuple[float, float]


def error(pair: tuple[float, float]) -> float:
    """The error of a prediction as a share of the measured value; predicting less than 1 for 0 is right.

    >>> error((11.0, 10.0)), error((0.2, 0.0)), error((5.0, 0.0))
    (0.1, 0.0, inf)
    """
    predicted, measured = pair
    if measured:
        return round(abs(predicted / measured - 1), 12)
    return 0.0 if predicted < 1 else math.inf


def median_error(pairs: Iterable[tuple[float, float]]) -> float:
    """The median error of several predictions."""
    return median(map(error, pairs))


def elements_of(setting: Setting, plan: Plan) -> Mapping[str, Sequence[Element]]:
    """The streams that a plan reads at a point of the grid."""
    return {
        source.stream: setting.streams[source.stream].elements(source.stream, setting.until)
        for source in plan.sources
    }


def compare(name: str, setting: Setting, plan: Plan, looks: int = LOOKS) -> CostComparison:
    """Predict the outermost operator of a query from statistics of the sources alone, and measure it."""
    streams = elements_of(setting, plan)
    expected = price(plan, source_statistics(plan, streams, setting.until)).operators
    measured = measure(plan, streams, setting.since, setting.until, looks)
    node = outermost(plan)
    return _beside(name, setting, node, expected[node], measured[node])


def compare_whole(
    name: str, setting: Setting, plan: Plan, looks: int = LOOKS
) -> tuple[CostComparison, list[CostComparison]]:
    """Predict and measure all operators of a plan: their total, and each operator."""
    streams = elements_of(setting, plan)
    expected = price(plan, source_statistics(plan, streams, setting.until)).operators
    measured = measure(plan, streams, setting.since, setting.until, looks)
    each = [_beside(str(node.operator), setting, node, expected[node], measured[node]) for node in expected]
    whole = CostComparison(
        name,
        setting,
        each[-1].rate,
        (math.fsum(one.state[0] for one in each), math.fsum(one.state[1] for one in each)),
        (math.fsum(one.bytes[0] for one in each), math.fsum(one.bytes[1] for one in each)),
    )
    return whole, each


def outermost(plan: Plan) -> Node:
    """The operator nearest to the output that the planner did not add."""
    node = plan.root
    while isinstance(node.operator, Physical) and node.operator.logical.name == "convert":
        (node,) = node.inputs
    return node


def _beside(
    name: str, setting: Setting, node: Node, expected: Estimate, measured: Measured
) -> CostComparison:
    # In signed streams an interval is two elements.
    signs = (
        2 if isinstance(node.operator, Physical) and node.operator.implementation.startswith("signed") else 1
    )
    return CostComparison(
        name,
        setting,
        (signs * expected.rate, measured.rate),
        (expected.state, measured.state),
        (expected.bytes, measured.bytes),
    )
