"""The costs and the precision of queries at several settings of their levers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Generic, NamedTuple, TypeVar

from networkx.utils import UnionFind

from midstream.optimizer.allocation.precision import EXACT, FORMULAS, Point, Precision
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.cost.model import CostModel
from midstream.plans.algebra.operators import Adjustable, Granularity, Logical, OverTime, SnapshotReducible
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, levers_of, logical
from midstream.plans.values.errors import PlanError

Q = TypeVar("Q", bound=Hashable)

FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The fractions of the bounds at which costs are estimated; in between they are interpolated."""


class Use(NamedTuple):
    """The use of resources.

    memory      bytes of elements
    processor   microseconds per chronon
    elements    elements in the state
    """

    memory: float = 0.0
    processor: float = 0.0
    elements: float = 0.0

    def plus(self, other: Use) -> Use:
        """Both together."""
        return Use(*(one + two for one, two in zip(self, other, strict=True)))

    def corrected(self, state: float, time: float) -> Use:
        """A use with a multiple of the state, and a multiple of the time."""
        return Use(self.memory * state, self.processor * time, self.elements * state)


@dataclass(frozen=True, slots=True)
class Curve:
    """The use of some queries, and the sum of their weighted precisions, at each of `FRACTIONS`."""

    uses: Sequence[Use]
    precision: Sequence[float]


@dataclass(frozen=True, slots=True)
class LeverGroup(Generic[Q]):
    """Queries that share levers, so that one fraction holds for all of them."""

    queries: tuple[Q, ...]
    plans: tuple[Plan, ...]
    levers: tuple[Node, ...]


def groups(plans: Mapping[Q, Plan]) -> list[LeverGroup[Q]]:
    """The queries with levers, grouped by the levers that they share; each query without one is a group."""
    levers = {query: levers_of(plan) for query, plan in plans.items()}
    together: UnionFind[Q] = UnionFind(levers)
    first: dict[Node, Q] = {}
    for query, mine in levers.items():
        for lever in mine:
            together.union(query, first.setdefault(_form(lever), query))
    parts: dict[Q, list[Q]] = {}
    for query in plans:
        parts.setdefault(together[query], []).append(query)
    return [
        LeverGroup(
            tuple(part),
            tuple(plans[query] for query in part),
            tuple(dict.fromkeys(lever for query in part for lever in levers[query])),
        )
        for part in parts.values()
    ]


def _form(lever: Node) -> Node:
    """One form of a lever for all, as with and without weights it is one sample."""
    return Node(min(lever_of(lever).forms, key=repr), lever.inputs)


At = tuple[Use, list[float]]
"""The use of a group, and the precision of each of its queries."""


class GroupCosts(Generic[Q]):
    """Estimates of a group by a cost model; what was estimated before is not estimated again.

    Cost     O(operators of the group) for each new setting
    Raises   StatisticsError where there are no statistics of a stream.
    """

    def __init__(self, group: LeverGroup[Q], model: CostModel) -> None:
        self.group = group
        self.state = self.time = 1.0
        """The state and the time that were seen, as multiples of the estimated ones; uses include them."""
        self.estimated = 0
        """The number of operators that were estimated so far, each time that they were."""
        self._best = settings_at(group, 1.0)
        self._settings: dict[float, Mapping[Node, Adjustable]] = {}
        """The settings at each of `FRACTIONS`."""
        self.reprice(model)

    def reprice(self, model: CostModel) -> None:
        """Estimate by another model from now on."""
        self._model = model
        self._nodes: list[Node] = []
        self._at_fractions: dict[float, At] = {}
        self._last: tuple[Mapping[Node, Adjustable], At] | None = None

    def settings(self, fraction: float) -> Mapping[Node, Adjustable]:
        """The levers, each with its operator at a fraction of its bounds."""
        if fraction not in FRACTIONS:
            return settings_at(self.group, fraction)
        if fraction not in self._settings:
            self._settings[fraction] = settings_at(self.group, fraction)
        return self._settings[fraction]

    def at_fraction(self, fraction: float) -> At:
        """The use and the precisions at a fraction of the bounds."""
        if fraction not in FRACTIONS:
            return self.at(self.settings(fraction))
        if fraction not in self._at_fractions:
            self._at_fractions[fraction] = self._estimate(self.settings(fraction))
        return self._corrected(self._at_fractions[fraction])

    def at(self, settings: Mapping[Node, Adjustable]) -> At:
        """The use and the precisions with other settings of the levers; equal subplans count once."""
        for fraction, at in self._at_fractions.items():
            if self._settings[fraction] == settings:
                return self._corrected(at)
        if self._last is None or self._last[0] != settings:
            self._last = settings, self._estimate(settings)
        return self._corrected(self._last[1])

    def _corrected(self, at: At) -> At:
        use, shares = at
        return use.corrected(self.state, self.time), shares

    def _estimate(self, settings: Mapping[Node, Adjustable]) -> At:
        if not self._nodes:
            self._nodes = self._priced()
        model = self._model
        changed: dict[Node, Estimate] = {}
        errors: dict[Node, Precision] = {}
        used = []
        for node in self._nodes:
            setting = settings.get(node)
            if setting is None and not any(child in changed for child in node.inputs):
                output = model.estimate(node)
            else:
                inputs = [changed.get(child) or model.estimate(child) for child in node.inputs]
                output = changed[node] = model.estimate_over(node, inputs, setting)
                operator, mine = logical(node), [errors.get(child, EXACT) for child in node.inputs]
                assert isinstance(operator, SnapshotReducible | OverTime)
                costing = model.costing(node)
                at = Point(setting or operator, self._best.get(node, operator), mine, inputs, output, costing)
                errors[node] = FORMULAS[operator.formulas](at)
            used.append(Use(output.bytes, output.cost, output.state))
        self.estimated += len(used)
        return total(used), [_share(plan, errors) for plan in self.group.plans]

    def _priced(self) -> list[Node]:
        """The operators of all plans, inputs before consumers."""
        found: dict[Node, None] = {}
        for plan in self.group.plans:
            for root in plan.outputs.values():
                self._model.estimate(root)
            found |= dict.fromkeys(self._model.priced(plan))
        return list(found)


def settings_at(group: LeverGroup[Q], fraction: float) -> dict[Node, Adjustable]:
    """The levers of a group, each with its operator at a fraction of its bounds.

    Where granules do not fit what is above them, they stay as they are.
    """
    try:
        return _settings_at(group, fraction, moves_granules=True)
    except PlanError:
        return _settings_at(group, fraction, moves_granules=False)


def _settings_at(group: LeverGroup[Q], fraction: float, *, moves_granules: bool) -> dict[Node, Adjustable]:
    levers = {lever: lever_of(lever) for lever in group.levers}
    settings: dict[Node, Adjustable] = {}
    granules: dict[Node, int] = {}
    nodes = dict.fromkeys(node for plan in group.plans for node in plan.nodes)
    if not any(isinstance(lever, Granularity) for lever in levers.values()):
        nodes, granules = dict.fromkeys(levers), _Granules()
    for node in nodes:
        below = lcm(*(granules[child] for child in node.inputs))
        operator, lever = logical(node), levers.get(node)
        if lever is not None and (moves_granules or not isinstance(lever, Granularity)):
            operator = settings[node] = lever.with_setting(lever.at_fraction(fraction, below))
        granules[node] = operator.granule_above(below)
    return settings


def with_operators(
    plan: Plan, operators: Mapping[Node, Logical], shared: dict[Node, Node] | None = None
) -> dict[Node, Node]:
    """By node of a plan, the node with other operators in place of some, there and below.

    Equal nodes are one object, that of the table `shared`.
    """
    table = {} if shared is None else shared
    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        inputs = tuple(changed[child] for child in node.inputs)
        new = Node(operators[node], inputs) if node in operators else node.with_inputs(inputs)
        changed[node] = table.setdefault(new, new)
    return changed


def at_best(plan: Plan) -> Plan:
    """A logical plan with the best setting of each lever; it is the same for all settings.

    >>> from midstream.plans.algebra.builder import stream
    >>> str(at_best(stream("s", x="integer").window(5, bounds=(1, 9)).plan()).root.operator)
    'window 9 (from 1 to 9)'
    """
    best = best_nodes(plan)
    return Plan({name: best[root] for name, root in plan.outputs.items()})


def best_nodes(plan: Plan, shared: dict[Node, Node] | None = None) -> dict[Node, Node]:
    """By node of a logical plan, the node with the best setting of each lever, there and below.

    Equal nodes are one object, that of the table `shared`.
    """
    group = LeverGroup((None,), (plan,), levers_of(plan))
    return with_operators(plan, settings_at(group, 1.0), shared)


class _Granules(dict[Node, int]):
    """The granules of nodes in whose plans no granule can change."""

    def __missing__(self, node: Node) -> int:
        return node.granule


def _share(plan: Plan, errors: Mapping[Node, Precision]) -> float:
    shares = [errors.get(root, EXACT).share for root in plan.outputs.values()]
    return math.fsum(shares) / len(shares)


def total(uses: Iterable[Use]) -> Use:
    """The sum of uses."""
    columns = list(zip(*uses, strict=True))
    return Use(*map(math.fsum, columns)) if columns else Use()
