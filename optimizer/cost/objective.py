"""What is wanted of a plan: little processing, little memory, many results, low latency, or some of each."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from midstream.optimizer.cost.estimate import Estimate, inverse, times
from midstream.optimizer.cost.model import PlanCost
from midstream.plans.algebra.plan import Node
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.finite import LARGEST


@dataclass(frozen=True)
class Terms:
    """What is told of a plan, to be weighted.

    processing    microseconds per chronon
    memory        bytes of what operators keep
    state         elements of that
    rate          results per chronon that a processor can give; for each operator has one of its own
    buffers       elements in the input buffers and between operators, OM's C_m
    latency       microseconds from when a result could be known to when it comes
    intermediate  results per chronon of operators inside the plan, as joins below others
    """

    processing: float
    memory: float
    state: float
    rate: float
    buffers: float
    latency: float
    intermediate: float


@dataclass(frozen=True)
class Objective:
    """Weights of what a plan takes; the plan with the least sum is wanted.

    processing, memory, state, latency, intermediate    as in `Terms`
    slowness                                            of 1 / rate, OM's w_r
    buffers                                             of OM's C_m, its w_m

    A chronon lasts for so many microseconds; without this it is not known how long a result waits, nor how
    much a processor can do. A round of OM's, in which what has arrived is processed at once, takes so many
    chronons.

    It `is_additive` where a plan's is the sum of its operators', so that the best plan is made of the best
    parts: processing, memory, state, intermediate results, and mixtures of these. What comes out of the whole
    plan is no intermediate result; but parts are compared with it, as all plans have it in common.

    >>> MEMORY.is_additive, om(0.4, 0.6).is_additive
    (True, False)
    """

    processing: float = 0.0
    memory: float = 0.0
    state: float = 0.0
    latency: float = 0.0
    slowness: float = 0.0
    buffers: float = 0.0
    intermediate: float = 0.0
    chronon: float = 1000.0
    round: float = 1.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            weight = getattr(self, name)
            require(f"objective: {name}", weight, (int, float), "a number")
            if not 0 <= weight <= LARGEST or (name in ("chronon", "round") and not weight):
                raise StatisticsError(f"objective: found {name} = {weight}, expected a weight of 0 or more")

    @property
    def is_additive(self) -> bool:
        """Whether a plan's is the sum of its operators'."""
        return not (self.latency or self.slowness or self.buffers)

    def of_operator(self, estimate: Estimate) -> float:
        """What an operator adds, of what is additive."""
        return math.fsum(
            (
                times(self.processing, estimate.cost),
                times(self.memory, estimate.bytes),
                times(self.state, estimate.state),
                times(self.intermediate, estimate.made),
            )
        )

    def of(self, cost: PlanCost) -> float:
        """What a plan comes to. Less is better."""
        total = math.fsum(self.of_operator(estimate) for estimate in cost.operators.values())
        if self.intermediate:
            total -= times(self.intermediate, cost.given)
        if self.is_additive:
            return total
        found = self.terms(cost)
        return math.fsum(
            (
                total,
                times(self.latency, found.latency),
                times(self.slowness, inverse(found.rate)),
                times(self.buffers, found.buffers),
            )
        )

    def terms(self, cost: PlanCost) -> Terms:
        """All terms of a plan."""
        served = {node: self._served(node, cost) for node in cost.outputs}
        return Terms(
            processing=cost.total,
            memory=cost.memory,
            state=cost.state,
            rate=math.fsum(times(cost.operators[node].rate, share) for node, share in served.items()),
            buffers=self._buffers(cost),
            latency=max((self._latency(node, cost) for node in cost.outputs), default=0.0),
            intermediate=math.fsum(estimate.made for estimate in cost.operators.values()) - cost.given,
        )

    def _served(self, node: Node, cost: PlanCost) -> float:
        """The share of a node's results that come where every operator has a processor of its own, which
        takes so many of the elements that arrive as it can."""
        estimate = cost.operators[node]
        share, arriving = 1.0, 0.0
        for child, rate in zip(node.inputs, estimate.arriving, strict=True):
            of_input = self._served(child, cost) if child in cost.operators else 1.0
            share *= of_input
            arriving += times(rate, of_input)
        most = self._most(estimate)
        return share * min(1.0, most / arriving) if arriving else share

    def _most(self, estimate: Estimate) -> float:
        """How many elements an operator can process in a chronon, OM's tuple processing rate."""
        arriving = math.fsum(estimate.arriving)
        return times(arriving, self.chronon) / estimate.cost if estimate.cost else math.inf

    def _buffers(self, cost: PlanCost) -> float:
        """OM's C_m: what arrives while a round is processed, λ (λ W / tpr), but no more than has arrived in a
        round, λ W; and what operators give to queues, c_r W."""
        found = []
        for node, estimate in cost.operators.items():
            found.append(times(estimate.rate, self.round))
            for child, rate in zip(node.inputs, estimate.arriving, strict=True):
                if child not in cost.operators:
                    most = self._most(estimate)
                    busy = min(1.0, rate / most) if most else 1.0
                    found.append(times(rate, self.round, busy))
        return math.fsum(found)

    def _latency(self, node: Node, cost: PlanCost) -> float:
        """How long results wait, and how long an element is processed on the longest way to them."""
        return times(cost.operators[node].delay, self.chronon) + self._way(node, cost)

    def _way(self, node: Node, cost: PlanCost) -> float:
        if node not in cost.operators:
            return 0.0
        estimate = cost.operators[node]
        arriving = math.fsum(estimate.arriving)
        own = estimate.cost / arriving if 0 < arriving < math.inf else 0.0
        return own + max(self._way(child, cost) for child in node.inputs)


PROCESSING = Objective(processing=1.0)
MEMORY = Objective(memory=1.0)
LATENCY = Objective(latency=1.0)
OUTPUT_RATE = Objective(slowness=1.0)
INTERMEDIATE = Objective(intermediate=1.0)
OBJECTIVES = {
    "processing": PROCESSING,
    "memory": MEMORY,
    "latency": LATENCY,
    "rate": OUTPUT_RATE,
    "intermediate": INTERMEDIATE,
}
"""By the names that commands know them by."""
_NUMBER = r"(\d+(?:\.\d*)?(?:[eE]-?\d+)?)"
_UTILITY = re.compile(rf"\s*om\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)\s*", re.ASCII)
_TERM = re.compile(rf"\s*{_NUMBER}?\s*\*?\s*([a-z]+)\s*", re.ASCII)
WEIGHTS = {"processing": "processing", "memory": "memory", "state": "state", "latency": "latency"} | {
    "rate": "slowness",
    "buffers": "buffers",
    "intermediate": "intermediate",
}
"""By the words of a text, the weights that they stand for."""


def om(output_rate: float, memory: float, *, chronon: float = 1000.0, round: float = 1.0) -> Objective:
    """The utility of OM: w_r / C_r + w_m C_m (papers: Kulkarni and Ravishankar, 3.2 and 4.1).

    C_m is the input buffer and the queues between operators; what operators keep is `memory` in others. As
    OM's example has it, the input buffer is that of the streams, since what one operator puts into a queue is
    what the next one reads; and it holds what has arrived in a round at most.
    """
    return Objective(slowness=output_rate, buffers=memory, chronon=chronon, round=round)


def objective_of(text: str) -> Objective:
    """Read an objective: words with weights, 1 if there is none, or OM's utility.

    Raises   StatisticsError for anything else.

    >>> objective_of("processing + 0.001 memory") == Objective(processing=1.0, memory=0.001)
    True
    >>> objective_of("om(0.4, 0.6)") == om(0.4, 0.6)
    True
    """
    if found := _UTILITY.fullmatch(text):
        return om(float(found[1]), float(found[2]))
    weights: dict[str, float] = {}
    for part in text.split("+"):
        term = _TERM.fullmatch(part)
        if term is None or term[2] not in WEIGHTS or WEIGHTS[term[2]] in weights:
            raise StatisticsError(
                f"objective: found {part.strip()!r}, expected one or more of {', '.join(WEIGHTS)}, each "
                "once, as in 'processing + 0.001 memory', or om(0.4, 0.6)"
            )
        weights[WEIGHTS[term[2]]] = float(term[1] or 1)
    if not any(weights.values()):
        raise StatisticsError(f"objective: found {text!r}, which weighs nothing, expected a weight above 0")
    return Objective(**weights)
