"""The least cost of all orders of a landscape's joins, computed apart from the optimizer to judge it.

Each input has one plan, and all joins are hash joins; so an order costs

    Σ  a (r(L) + r(R))  +  b r(S)        over its joins S of L and R

where r are rates, a is the cost of an element and b the cost of a result. The rate of a set of inputs follows
from their samples, and does not depend on the order. So the cheapest order of a set joins the cheapest orders
of two parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from midstream.benchmarks.landscapes import Topology, edges
from midstream.optimizer.cost.column_facts import agreement
from midstream.optimizer.search.join_costs import JoinCosts
from midstream.optimizer.search.join_problem import JoinProblem
from midstream.optimizer.statistics import Distribution


def least_cost(problem: JoinProblem, topology: Topology, one_key: bool) -> float:
    """The cost of the best order without products.

    Cost     O(3^inputs); for a star O(inputs · 2^inputs).
    """
    size = len(problem.inputs)
    rates = _rates(problem, topology, one_key)
    per_element, per_result = _step_costs(problem, rates)
    best_split = _split_of_star if topology == "star" and not one_key else _split_of_clique
    costs = [math.inf] * len(rates)
    for i in range(size):
        costs[1 << i] = per_element * rates[1 << i]
    for subset in range(1 << size):  # each after its subsets
        if subset & (subset - 1):
            costs[subset] = best_split(costs, subset) + (per_element + per_result) * rates[subset]
    return costs[-1] - per_element * rates[-1]


def _split_of_star(costs: Sequence[float], subset: int) -> float:
    """The least cost of the two parts of a star, of which one is a single input."""
    best, left = math.inf, subset & ~1 if subset & 1 else 0
    while left:
        one = left & -left
        left ^= one
        best = min(best, costs[subset ^ one] + costs[one])
    return best


def _split_of_clique(costs: Sequence[float], subset: int) -> float:
    best, rest = math.inf, subset & (subset - 1)
    one = rest
    while one:
        best = min(best, costs[one] + costs[subset ^ one])
        one = (one - 1) & rest
    return best


def _step_costs(problem: JoinProblem, rates: Sequence[float]) -> tuple[float, float]:
    """The costs of an input's element and of a result, from the prices of two joins.

    The first input is linked with the second one and with the last one in each landscape of three or more.
    """
    costs, last = JoinCosts(problem), len(problem.inputs) - 1
    equations = []
    for other in (1, last):
        (tree,) = costs.of((0, other))
        equations.append((rates[1] + rates[1 << other], rates[1 | 1 << other], tree.cost))
    (n, m, one), (k, o, two) = equations
    determinant = n * o - k * m
    return (one * o - two * m) / determinant, (n * two - k * one) / determinant


def _rates(problem: JoinProblem, topology: Topology, one_key: bool) -> list[float]:
    """Rates by set of inputs (22.4): valid rows times the sum of the inputs' rates / their valid rows."""
    estimates = [plans[0].estimate for plans in problem.inputs]
    shares = _shares_of_one_key(problem) if one_key else _shares_of_pairs(problem, topology)
    valid, relative = [1.0], [0.0]
    for subset in range(1, 1 << len(estimates)):
        lowest = subset & -subset
        estimate = estimates[lowest.bit_length() - 1]
        valid.append(valid[subset ^ lowest] * estimate.valid)
        own, others = estimate.rate / estimate.valid, relative[subset ^ lowest]
        relative.append(own + others - own * others)
    return [rows * share * each for rows, share, each in zip(valid, shares, relative, strict=True)]


def _shares_of_pairs(problem: JoinProblem, topology: Topology) -> list[float]:
    """Shares of row combinations that are joined, by set of inputs, with keys for each pair."""
    linked: dict[int, list[tuple[int, float]]] = {}
    for i, j in edges(topology, len(problem.inputs)):
        share, _ = agreement(_values(problem, i, f"s{i}_to{j}"), _values(problem, j, f"s{j}_to{i}"))
        linked.setdefault(1 << min(i, j), []).append((1 << max(i, j), share))
    shares = [1.0]
    for subset in range(1, 1 << len(problem.inputs)):
        lowest = subset & -subset
        here = (share for other, share in linked.get(lowest, []) if other & subset)
        shares.append(shares[subset ^ lowest] * math.prod(here))
    return shares


def _shares_of_one_key(problem: JoinProblem) -> list[float]:
    """Shares of row combinations that one key joins, by set of inputs: Σ p₁(v) p₂(v) … over its values v."""
    agreeing: list[Distribution | None] = [None]
    for subset in range(1, 1 << len(problem.inputs)):
        lowest = subset & -subset
        own = _values(problem, lowest.bit_length() - 1, f"s{lowest.bit_length() - 1}_k")
        rest = agreeing[subset ^ lowest]
        agreeing.append(own if rest is None else {v: p * own[v] for v, p in rest.items() if v in own})
    return [1.0 if values is None else math.fsum(values.values()) for values in agreeing]


def _values(problem: JoinProblem, i: int, column: str) -> Distribution:
    return problem.facts(i, frozenset({column}))[column].distribution
