"""What joins of sets of inputs cost: the prices of a cost model, by arithmetic alone.

What a set of inputs gives, snapshot by snapshot, does not depend on the order of the joins; it is worked out
once. Nor does its rate, where each input has one plan and all have one granule: by (22.4), of the rates r and
the numbers of valid rows v,

    g r / v  =  1 - (1 - g r₁ / v₁) (1 - g r₂ / v₂) …

So most pairs meet estimates that have been met before.
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
"""Rounding differs between orders of the same joins."""

MOST_PAIRS = 50_000
"""So many pairs are remembered at most, some 50 MB: a long search would take ever more memory."""


@dataclass(slots=True, eq=False)
class JoinTree:
    """A plan of a set of inputs: an order of their joins, with alternatives of the inputs as its leaves.

    `cost` is that of all operators; `node` is there for an input. Never changed: frozen ones take longer to
    make.
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
        """The order by itself."""
        if self.sides is None:
            return self.inputs.bit_length() - 1
        one, other = self.sides
        return one.shape, other.shape


@dataclass(slots=True)
class _Pair:
    """Two sets of inputs: all that does not depend on how they are cut, and the prices that were asked
    for."""

    inputs: int
    share: float
    key_share: float
    content: Content
    formula: PairFormula
    band: tuple[JoinShares, int, int]
    priced: dict[tuple[int, int], tuple[Estimate, float]] = field(default_factory=dict)


class _Sides:
    """Two inputs as the formulas of joins want them."""

    def __init__(self, pair: _Pair, inputs: Sequence[Estimate], units: UnitCosts) -> None:
        self.inputs = inputs
        self.units = units
        self.key_share = pair.key_share
        self._band = pair.band

    @cached_property
    def range_share(self) -> float:
        """The share of pairs whose keys are in range."""
        shares, one, other = self._band
        return shares.of_range(one, other)


class JoinCosts:
    """Prices joins of a problem, and keeps for each set of inputs what estimates were met."""

    def __init__(self, problem: JoinProblem) -> None:
        self.problem = problem
        self.priced = 0
        """How many pairs were priced."""
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
        """The plans of each input."""
        return tuple(
            undominated([JoinTree(1 << i, one.estimate, one.cost, None, one.node) for one in alternatives])
            for i, alternatives in enumerate(self.problem.inputs)
        )

    @cached_property
    def have_one_rate(self) -> bool:
        """Whether all plans of the same inputs have the same rate."""
        if self.problem.value is not None:
            return False  # state depends on how far progress is behind as well, which rates do not tell
        granules = {alternatives[0].estimate.g for alternatives in self.problem.inputs}
        return len(granules) == 1 and all(len(leaves) == 1 for leaves in self.leaves)

    def joined(self, one: JoinTree, other: JoinTree) -> JoinTree:
        """The join of two plans."""
        self.priced += 1
        if self.problem.value is not None:
            return self._valued(one, other, self.problem.value)
        pair = self._pair(one.inputs, other.inputs)
        s, t = one.estimate, other.estimate
        known = pair.priced.get((id(s), id(t)))
        if known is None:
            known = pair.priced[id(s), id(t)] = self._price(pair, s, t)
        estimate, cost = known
        return JoinTree(pair.inputs, estimate, one.cost + other.cost + cost, (one, other))

    def all_joined(self, some: Sequence[JoinTree], others: Sequence[JoinTree]) -> list[JoinTree]:
        """The joins of the plans of two sets of inputs, those that none of them beats."""
        return undominated([self.joined(one, other) for one in some for other in others])

    def of(self, shape: Shape) -> list[JoinTree]:
        """The plans of one order."""
        if isinstance(shape, int):
            return self.leaves[shape]
        one, other = shape
        return self.all_joined(self.of(one), self.of(other))

    def node(self, tree: JoinTree) -> Node:
        """A plan as a subplan."""
        if tree.node is not None:
            return tree.node
        assert tree.sides is not None
        one, other = tree.sides
        return self.problem.join(one.inputs, other.inputs, self.node(one), self.node(other))

    def _valued(self, one: JoinTree, other: JoinTree, value: Callable[[Estimate], float]) -> JoinTree:
        """As the cost model estimates the subplan."""
        node = self.problem.join(one.inputs, other.inputs, self.node(one), self.node(other))
        estimate = self.problem.model.estimate(node)
        cost = one.cost + other.cost + value(estimate)
        return JoinTree(one.inputs | other.inputs, estimate, cost, (one, other), node)

    def _price(self, pair: _Pair, s: Estimate, t: Estimate) -> tuple[Estimate, float]:
        output = self._output(pair, s, t)
        return output, pair.formula(_Sides(pair, (s, t), self.problem.model.units), output).cost

    def _output(self, pair: _Pair, s: Estimate, t: Estimate) -> Estimate:
        """What a join gives: an estimate that was met before, if it differs by no more than rounding."""
        rate = times(pair.share, overlapping(s, t))
        estimates = self._estimates.setdefault(pair.inputs, [])
        for one in estimates:
            if rate <= one.rate * ALIKE and one.rate <= rate * ALIKE:
                return one
        estimates.append(Estimate(pair.content, pairs_cut(pair.share, s, t, pair.content)))
        return estimates[-1]

    def _pair(self, one: int, other: int) -> _Pair:
        key = one, other
        if key not in self._pairs:
            if len(self._pairs) >= MOST_PAIRS:
                self._pairs.clear()
            share = self._shares.of(one, other)
            self._pairs[key] = _Pair(
                one | other,
                share,
                self._shares.of_keys(one, other, share),
                self._content(one, other, share),
                self._formula(one, other),
                (self._shares, one, other),
            )
        return self._pairs[key]

    def _content(self, one: int, other: int, share: float) -> Content:
        both = one | other
        if both not in self._contents:
            s, t = self._contents[one], self._contents[other]
            self._contents[both] = Content(
                times(share, s.valid, t.valid), {}, gcd(s.g, t.g), times(share, s.always, t.always)
            )
        return self._contents[both]

    def _formula(self, one: int, other: int) -> PairFormula:
        """That of the implementation which is to be expected. It is chosen by the condition alone: by whether
        columns are to be equal, and by what else is checked."""
        is_linked = bool(self._linked(one) & other)
        kind = is_linked, tuple((each, each.inputs & one) for each in self.problem.checked_by(one, other))
        if kind not in self._formulas:
            node = self.problem.join(one, other, self._some_node(one), self._some_node(other))
            formula = expected_implementation(node).formula
            assert formula is not None
            self._formulas[kind] = JOINS[formula]
        return self._formulas[kind]

    def _linked(self, inputs: int) -> int:
        """What is linked with some of the inputs."""
        if inputs not in self._linked_with:
            found = 0
            for each in self.problem.links:
                found |= each.inputs if each.inputs & inputs else 0
            self._linked_with[inputs] = found
        return self._linked_with[inputs]

    def _some_node(self, inputs: int) -> Node:
        """A subplan of some inputs, in whatever order."""
        first, *rest = members(inputs)
        joined, node = 1 << first, self.problem.nodes[first]
        for i in rest:
            node = self.problem.join(joined, 1 << i, node, self.problem.nodes[i])
            joined |= 1 << i
        return node


def undominated(trees: Sequence[JoinTree]) -> list[JoinTree]:
    """Of plans of the same inputs those that no other one beats, the cheapest first: what costs more has
    fewer results."""
    if len(trees) == 1:
        return list(trees)
    kept: list[JoinTree] = []
    for tree in sorted(trees, key=_cost_and_rate):
        if not kept or tree.rate * ALIKE < kept[-1].rate:
            kept.append(tree)
    return kept


def _cost_and_rate(tree: JoinTree) -> tuple[float, float]:
    return tree.cost, tree.rate
