"""Costs of joins of sets of inputs: the prices of a cost model, by arithmetic alone.

The output of a set of inputs, snapshot by snapshot, does not depend on the order of the joins; it is computed
once. Nor does its rate, if each input has one plan and all have one granule: by (22.4), of the rates r and
the numbers of valid rows v,

    g r / v  =  1 - (1 - g r₁ / v₁) (1 - g r₂ / v₂) …

So the estimates of most pairs are known already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from midstream.optimizer.cost.estimate import Content, Estimate, times
from midstream.optimizer.cost.outputs import overlapping, pairs_cut
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.cost.work import JOINS, PairFormula
from midstream.optimizer.search.join_graph import members
from midstream.optimizer.search.join_problem import JoinProblem, Shape
from midstream.optimizer.search.join_shares import JoinShares
from midstream.plans.algebra.implementations import expected_implementation
from midstream.plans.algebra.plan import Node

ALIKE = 1 + 1e-9
"""Tolerance for rounding between orders of the same joins."""

MOST_PAIRS = 50_000
"""Greatest number of pairs in the cache, some 50 MB; it limits the memory of a long search."""


@dataclass(slots=True, eq=False)
class JoinTree:
    """A plan of a set of inputs: an order of their joins, with alternatives of the inputs as its leaves.

    `cost` is that of all operators; leaves have a `node`. Never changed, but not frozen, since frozen
    instances take longer to make.
    """

    inputs: int
    estimate: Estimate
    cost: float
    sides: tuple[JoinTree, JoinTree] | None = None
    node: Node | None = None

    @property
    def rate(self) -> float:
        """Results per chronon."""
        return self.estimate.cut.rate

    @property
    def shape(self) -> Shape:
        """The join order without estimates."""
        if self.sides is None:
            return self.inputs.bit_length() - 1
        left, right = self.sides
        return left.shape, right.shape


@dataclass(slots=True)
class _Pair:
    """Two sets of inputs: everything that does not depend on their cuts, and the prices computed so far."""

    inputs: int
    share: float
    key_share: float
    content: Content
    formula: PairFormula
    band: tuple[JoinShares, int, int]
    priced: dict[tuple[int, int], tuple[Estimate, float]] = field(default_factory=dict)


class _Sides:
    """Two inputs in the form that the formulas of joins expect."""

    def __init__(self, pair: _Pair, inputs: Sequence[Estimate], units: UnitCosts) -> None:
        self.inputs = inputs
        self.units = units
        self.key_share = pair.key_share
        self._band = pair.band

    @cached_property
    def range_share(self) -> float:
        """The share of pairs whose keys are in range."""
        shares, left, right = self._band
        return shares.of_range(left, right)


class JoinCosts:
    """Prices joins of a problem, and caches the estimates of each set of inputs."""

    def __init__(self, problem: JoinProblem) -> None:
        self.problem = problem
        self.priced = 0
        """Number of priced pairs."""
        self._shares = JoinShares(problem)
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._contents: dict[int, Content] = {}
        self._estimates: dict[int, list[Estimate]] = {}
        self._formulas: dict[object, PairFormula] = {}
        self._linked_with: dict[int, int] = {}
        for i, alternatives in enumerate(problem.inputs):
            self._contents[1 << i] = alternatives[0].estimate.content

    @cached_property
    def leaves(self) -> tuple[list[JoinTree], ...]:
        """The undominated plans of each input."""
        return tuple(
            undominated([JoinTree(1 << i, one.estimate, one.cost, None, one.node) for one in alternatives])
            for i, alternatives in enumerate(self.problem.inputs)
        )

    @cached_property
    def have_one_rate(self) -> bool:
        """True if all plans of the same inputs have the same rate."""
        if self.problem.value is not None:
            return False  # state also depends on the lag of progress, which rates do not tell
        granules = {alternatives[0].estimate.g for alternatives in self.problem.inputs}
        return len(granules) == 1 and all(len(leaves) == 1 for leaves in self.leaves)

    def joined(self, left: JoinTree, right: JoinTree) -> JoinTree:
        """The join of two plans."""
        self.priced += 1
        if self.problem.value is not None:
            return self._valued(left, right, self.problem.value)
        pair = self._pair(left.inputs, right.inputs)
        s, t = left.estimate, right.estimate
        known = pair.priced.get((id(s), id(t)))
        if known is None:
            known = pair.priced[id(s), id(t)] = self._price(pair, s, t)
        estimate, cost = known
        return JoinTree(pair.inputs, estimate, left.cost + right.cost + cost, (left, right))

    def all_joined(self, some: Sequence[JoinTree], others: Sequence[JoinTree]) -> list[JoinTree]:
        """The undominated joins of the plans of two sets of inputs."""
        return undominated([self.joined(left, right) for left in some for right in others])

    def of(self, shape: Shape) -> list[JoinTree]:
        """The undominated plans of one order."""
        if isinstance(shape, int):
            return self.leaves[shape]
        left, right = shape
        return self.all_joined(self.of(left), self.of(right))

    def node(self, tree: JoinTree) -> Node:
        """A plan as a subplan of nodes."""
        if tree.node is not None:
            return tree.node
        assert tree.sides is not None
        left, right = tree.sides
        return self.problem.join(left.inputs, right.inputs, self.node(left), self.node(right))

    def _valued(self, left: JoinTree, right: JoinTree, value: Callable[[Estimate], float]) -> JoinTree:
        """The join of two plans, priced by the cost model and `value`."""
        node = self.problem.join(left.inputs, right.inputs, self.node(left), self.node(right))
        estimate = self.problem.model.estimate(node)
        cost = left.cost + right.cost + value(estimate)
        return JoinTree(left.inputs | right.inputs, estimate, cost, (left, right), node)

    def _price(self, pair: _Pair, s: Estimate, t: Estimate) -> tuple[Estimate, float]:
        output = self._output(pair, s, t)
        return output, pair.formula(_Sides(pair, (s, t), self.problem.model.units), output).cost

    def _output(self, pair: _Pair, s: Estimate, t: Estimate) -> Estimate:
        """The output of a join; an earlier estimate is reused if it differs only by rounding."""
        rate = times(pair.share, overlapping(s, t))
        estimates = self._estimates.setdefault(pair.inputs, [])
        for one in estimates:
            if rate <= one.rate * ALIKE and one.rate <= rate * ALIKE:
                return one
        estimates.append(Estimate(pair.content, pairs_cut(pair.share, s, t, pair.content)))
        return estimates[-1]

    def _pair(self, left: int, right: int) -> _Pair:
        key = left, right
        if key not in self._pairs:
            if len(self._pairs) >= MOST_PAIRS:
                self._pairs.clear()
            share = self._shares.of(left, right)
            self._pairs[key] = _Pair(
                left | right,
                share,
                self._shares.of_keys(left, right, share),
                self._content(left, right, share),
                self._formula(left, right),
                (self._shares, left, right),
            )
        return self._pairs[key]

    def _content(self, left: int, right: int, share: float) -> Content:
        both = left | right
        if both not in self._contents:
            s, t = self._contents[left], self._contents[right]
            self._contents[both] = Content(
                times(share, s.valid, t.valid), {}, gcd(s.g, t.g), times(share, s.always, t.always)
            )
        return self._contents[both]

    def _formula(self, left: int, right: int) -> PairFormula:
        """The formula of the expected implementation.

        It depends on the condition alone: on whether it equates columns, and on what else it checks.
        """
        is_linked = bool(self._linked(left) & right)
        kind = is_linked, tuple((each, each.inputs & left) for each in self.problem.checked_by(left, right))
        if kind not in self._formulas:
            node = self.problem.join(left, right, self._some_node(left), self._some_node(right))
            formula = expected_implementation(node).formula
            assert formula is not None
            self._formulas[kind] = JOINS[formula]
        return self._formulas[kind]

    def _linked(self, inputs: int) -> int:
        """All inputs of the links that have some of the given inputs."""
        if inputs not in self._linked_with:
            found = 0
            for each in self.problem.links:
                found |= each.inputs if each.inputs & inputs else 0
            self._linked_with[inputs] = found
        return self._linked_with[inputs]

    def _some_node(self, inputs: int) -> Node:
        """A subplan of some inputs, in any order."""
        first, *rest = members(inputs)
        joined, node = 1 << first, self.problem.nodes[first]
        for i in rest:
            node = self.problem.join(joined, 1 << i, node, self.problem.nodes[i])
            joined |= 1 << i
        return node


def undominated(trees: Sequence[JoinTree]) -> list[JoinTree]:
    """The undominated among plans of the same inputs, the cheapest first; dearer ones have fewer results."""
    if len(trees) == 1:
        return list(trees)
    kept: list[JoinTree] = []
    for tree in sorted(trees, key=_cost_and_rate):
        if not kept or tree.rate * ALIKE < kept[-1].rate:
            kept.append(tree)
    return kept


def _cost_and_rate(tree: JoinTree) -> tuple[float, float]:
    return tree.cost, tree.rate
