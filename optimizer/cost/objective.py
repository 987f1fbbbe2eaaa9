"""The objective of a search: little processing, little memory, many results, low latency, or a mixture."""

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
    """Quantities of a plan that an objective weights.

    processing    microseconds per chronon
    memory        bytes of the operators' state
    state         elements of the operators' state
    rate          results per chronon that come out if each operator has a processor of its own
    buffers       elements in the input buffers and between operators, OM's C_m
    latency       microseconds from when a result could be known to when it comes out
    intermediate  results per chronon of operators inside the plan, such as joins below others
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
    """Weights of a plan's quantities; the search looks for the plan with the least weighted sum.

    processing, memory, state, latency, intermediate    as in `Terms`
    slowness                                            of 1 / rate, OM's w_r
    buffers                                             of OM's C_m, its w_m

    `chronon` is the length of a chronon in microseconds. The time that a result waits, and the capacity of a
    processor in elements per chronon, follow from it. `round` is the length in chronons of a round of OM's,
    in which everything that has arrived is processed at once.

    An objective `is_additive` if a plan's value is the sum of its operators' values, so that the best plan
    is made of the best parts: processing, memory, state, intermediate results, and mixtures of these. The
    results of the whole plan are not intermediate results; they are the same for all plans, so the search
    may count them when it compares parts.

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
        """True if a plan's value is the sum of its operators' values."""
        return not (self.latency or self.slowness or self.buffers)

    def of_operator(self, estimate: Estimate) -> float:
        """The additive part of the value of one operator."""
        return math.fsum(
            (
                times(self.processing, estimate.cost),
                times(self.memory, estimate.bytes),
                times(self.state, estimate.state),
                times(self.intermediate, estimate.made),
            )
        )

    def of(self, cost: PlanCost) -> float:
        """The value of a plan; less is better."""
        total = math.fsum(self.of_operator(estimate) for estimate in cost.operators.values())
        if self.intermediate:
            total -= times(self.intermediate, cost.final_results)
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
        """All quantities of a plan."""
        served = {node: self._served(node, cost) for node in cost.outputs}
        return Terms(
            processing=cost.total,
            memory=cost.memory,
            state=cost.state,
            rate=math.fsum(times(cost.operators[node].rate, share) for node, share in served.items()),
            buffers=self._buffers(cost),
            latency=max((self._latency(node, cost) for node in cost.outputs), default=0.0),
            intermediate=math.fsum(estimate.made for estimate in cost.operators.values())
            - cost.final_results,
        )

    def _served(self, node: Node, cost: PlanCost) -> float:
        """The share of a node's results that come out if every operator has a processor of its own.

        An operator that cannot process all that arrives drops the rest.
        """
        estimate = cost.operators[node]
        share, arriving = 1.0, 0.0
        for child, rate in zip(node.inputs, estimate.arriving, strict=True):
            of_input = self._served(child, cost) if child in cost.operators else 1.0
            share *= of_input
            arriving += times(rate, of_input)
        most = self._most(estimate)
        return share * min(1.0, most / arriving) if arriving else share

    def _most(self, estimate: Estimate) -> float:
        """The number of elements an operator can process in a chronon, OM's tuple processing rate."""
        arriving = math.fsum(estimate.arriving)
        return times(arriving, self.chronon) / estimate.cost if estimate.cost else math.inf

    def _buffers(self, cost: PlanCost) -> float:
        """OM's C_m, in elements.

        An input buffer holds what arrives while a round is processed, λ (λ W / tpr), but at most what arrives
        in a round, λ W. Operators put c_r W elements into queues.
        """
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
        """Microseconds that results wait, and that an element is processed on the longest path to them."""
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
"""Objectives by the names that commands use."""
_NUMBER = r"(\d+(?:\.\d*)?(?:[eE]-?\d+)?)"
_UTILITY = re.compile(rf"\s*om\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)\s*", re.ASCII)
_TERM = re.compile(rf"\s*{_NUMBER}?\s*\*?\s*([a-z]+)\s*", re.ASCII)
WEIGHTS = {"processing": "processing", "memory": "memory", "state": "state", "latency": "latency"} | {
    "rate": "slowness",
    "buffers": "buffers",
    "intermediate": "intermediate",
}
"""By each word of a text, the name of its weight."""


def om(output_rate: float, memory: float, *, chronon: float = 1000.0, round: float = 1.0) -> Objective:
    """The utility of OM: w_r / C_r + w_m C_m (papers: Kulkarni and Ravishankar, 3.2 and 4.1).

    C_m counts the input buffer and the queues between operators; the state of operators is `memory` in other
    objectives. As in OM's example, the input buffer is that of the streams, since the queue behind one
    operator is the input of the next; and it holds at most the elements of one round.
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
