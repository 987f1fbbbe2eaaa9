"""The cost model: the cost of a plan.

Each operator's output is estimated bottom up: its content, which is true snapshot by snapshot, and the cut of
its validity into elements. The estimates of the inputs determine the operator's processing cost per chronon
and its state. A plan costs the sum of its operators above its inputs. Windows and everything below them are
the same in every plan that it is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from midstream.optimizer.cost.bytes import kept_bytes
from midstream.optimizer.cost.column_facts import input_facts
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate, inverse, times
from midstream.optimizer.cost.outputs import OUTPUTS
from midstream.optimizer.cost.selectivity import Selectivity
from midstream.optimizer.cost.timing import lag_and_delay
from midstream.optimizer.cost.units import UnitCosts, units_in_use
from midstream.optimizer.cost.work import WORK
from midstream.optimizer.statistics import Statistics, statistics_of
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.implementations import Implementation, expected_implementation
from midstream.plans.algebra.operators import Logical, OverTime, SnapshotReducible
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_node, makers, makes_results
from midstream.plans.values.arguments import require


@dataclass(frozen=True)
class PlanCost:
    """The cost of a plan, in total and by operator."""

    operators: Mapping[Node, Estimate]

    @cached_property
    def outputs(self) -> tuple[Node, ...]:
        """The operators that no other operator reads."""
        read = {child for node in self.operators for child in node.inputs}
        return tuple(node for node in self.operators if node not in read)

    @cached_property
    def final_results(self) -> float:
        """Results per chronon of the operators that make the plan's own results."""
        return math.fsum(self.operators[node].made for node in makers(self.operators))

    @cached_property
    def total(self) -> float:
        """Microseconds of processing per chronon."""
        return math.fsum(estimate.cost for estimate in self.operators.values())

    @cached_property
    def state(self) -> float:
        """Elements in the state of all operators."""
        return math.fsum(estimate.state for estimate in self.operators.values())

    @cached_property
    def memory(self) -> float:
        """Bytes of the state of all operators."""
        return math.fsum(estimate.bytes for estimate in self.operators.values())


class CostModel:
    """Prices plans over the same inputs; the costs of equal subplans are computed once.

    `counted` holds measured results per chronon by logical node. They replace estimates, so the model then
    prices what has happened. Operators that emit positive and negative elements stay estimated, as their
    number of elements is not their number of results.
    """

    def __init__(
        self,
        statistics: Statistics,
        units: UnitCosts | None = None,
        counted: Mapping[Node, float] = MappingProxyType({}),
        selectivity: Selectivity | None = None,
    ) -> None:
        """Models may share one `selectivity`, so that selectivities over equal values are computed once."""
        require("statistics", statistics, Statistics, "statistics, such as engine.statistics()")
        self._counted = counted
        self._statistics = statistics
        self.units = units or units_in_use()
        self.selectivity = selectivity or Selectivity(statistics.selectivities)
        self._known: dict[Node, Estimate] = {}
        self._costings: dict[Node, Costing] = {}
        self._is_priced: dict[Node, bool] = {}

    def price(self, plan: Plan) -> PlanCost:
        """The cost of a plan; raises StatisticsError if an input is unknown."""
        for root in plan.outputs.values():
            self.estimate(root)
        return PlanCost({node: self.estimate(node) for node in self.priced(plan)})

    def priced(self, plan: Plan) -> Collection[Node]:
        """The operators of a plan that are priced, down to its inputs; inputs before consumers."""
        found: dict[Node, None] = {}
        for root in plan.outputs.values():
            self._find(root, found)
        return found.keys()

    def _find(self, node: Node, found: dict[Node, None]) -> None:
        if node not in found and self.is_priced(node):
            for child in node.inputs:
                self._find(child, found)
            found[node] = None

    def estimate(self, node: Node) -> Estimate:
        """The estimate of a subplan's output and of its operator.

        Raises   StatisticsError if an input is unknown.
        """
        if node not in self._known:
            if self.is_priced(node):
                inputs = [self.estimate(child) for child in node.inputs]
                costing = Costing(node, inputs, self.units, self.selectivity, expected_implementation(node))
                self._costings[node] = costing
                self._known[node] = self._as_observed(node, self.operator(costing))
            else:
                self._known[node] = self._input(node)
        return self._known[node]

    def estimate_over(self, node: Node, inputs: Sequence[Estimate], adjusted: Logical | None) -> Estimate:
        """The estimate of a priced operator over other estimates of its inputs, and with another setting.

        It presumes that values in columns have the same distributions as in `estimate`, and costs a fraction
        of that.
        """
        return self.operator(self._costings[node].over(inputs, adjusted))

    def costing(self, node: Node) -> Costing:
        """A priced operator over the estimates of its inputs."""
        return self._costings[node]

    def is_priced(self, node: Node) -> bool:
        """True if a node is an operator to be priced.

        It is not if only its own statistics are known, as of a window without statistics of its inputs.
        """
        if node not in self._is_priced:
            self._is_priced[node] = self._can_be_estimated(node)
        return self._is_priced[node]

    def _can_be_estimated(self, node: Node) -> bool:
        if not node.inputs:
            return False
        if logical(node).is_snapshot_reducible:
            return True
        statistics, measured = self._statistics, logical_node(node)
        return not statistics.knows(measured) or statistics.knows_below(measured)

    def _as_observed(self, node: Node, expected: Estimate) -> Estimate:
        """An estimate of a window, in which observed statistics replace the expected ones."""
        if logical(node).is_snapshot_reducible or not self._statistics.knows(logical_node(node)):
            return expected
        seen = self._input(node)
        return replace(expected, content=seen.content, cut=seen.cut)

    def operator(self, costing: Costing) -> Estimate:
        """The estimate of an operator, by its own formulas and those of its expected implementation."""
        operator = costing.operator
        if not isinstance(operator, SnapshotReducible | OverTime):
            raise TypeError(f"no cost formula for {operator}")
        formulas = OUTPUTS[operator.formulas]
        content = formulas.content(costing)
        implementation = costing.implementation
        cut = formulas.net_cut if implementation.gives == "signs" and formulas.net_cut else formulas.cut
        output = self._as_counted(costing.node, Estimate(content, cut(costing, content)), implementation)
        work = WORK[implementation.formula](costing, output)
        rate, inputs = output.rate, costing.inputs
        return Estimate(
            output.content,
            output.cut,
            work,
            *lag_and_delay(rate, work, inputs),
            kept_bytes(costing, work, output.facts),
            tuple([s.rate for s in inputs]),
            rate if makes_results(costing.node) else 0.0,
        )

    def _as_counted(self, node: Node, expected: Estimate, implementation: Implementation) -> Estimate:
        """An estimate with the measured results per chronon, if any; their lengths stay as estimated."""
        rate = self._counted.get(logical_node(node)) if self._counted else None
        if rate is None or implementation.gives == "signs":
            return expected
        content, cut = expected.content, expected.cut
        valid = times(rate, cut.l) + content.always
        return replace(expected, content=replace(content, valid=valid), cut=replace(cut, d=inverse(rate)))

    def _input(self, node: Node) -> Estimate:
        stream = self._statistics.stream(logical_node(node))
        known = {**self._statistics.distributions, **stream.distributions}
        facts = input_facts(node.schema, stream.sample, known)
        cut = Cut(stream.d, stream.l, stream.even)
        valid = times(cut.rate, cut.l) + stream.always
        # The average age of the last of some random instants is their distance, of equally spaced instants
        # half of it. A silent input is presumed to announce the time by heartbeats.
        lag = (cut.d / 2 if cut.even else cut.d) if cut.d < math.inf else 0.0
        return Estimate(Content(valid, facts, stream.g, stream.always), cut, lag=lag)


def price(plan: AnyPlan, statistics: Statistics | None = None, units: UnitCosts | None = None) -> PlanCost:
    """The cost of a plan with given statistics.

    Raises   ArgumentError where there are no statistics, or not yet a plan.

    >>> from midstream.optimizer.statistics import StreamStatistics
    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer").window(60)
    >>> few = Statistics({s.node: StreamStatistics(d=5.0, l=60.0)}, {s["x"] > 7: 0.1})
    >>> cost = price(s.filter(s["x"] > 7).distinct().plan(), few)
    >>> [round(operator.rate, 3) for operator in cost.operators.values()]
    [0.02, 0.02]
    """
    plan = plan_of("price", plan)
    return CostModel(statistics_of("price", plan, statistics), units).price(plan)
