"""The cheapest of all join orders, by dynamic programming over connected pairs of sets of inputs.

Source   G. Moerkotte, T. Neumann, Analysis of Two Existing and One New Dynamic Programming Algorithm for the
         Generation of Optimal Bushy Join Trees without Cross Products, VLDB 2006 (DPccp)
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from itertools import islice

from midstream.optimizer.search.join_costs import JoinCosts, JoinTree, undominated
from midstream.optimizer.search.join_graph import JoinGraph

AT_ONCE = 50
"""So many pairs are listed in the time in which one is priced."""

Table = dict[int, list[JoinTree]]
"""For sets of inputs, the plans that no other one beats."""


Pairs = list[tuple[int, int]]


def pairs_within(graph: JoinGraph, limit: int) -> Generator[None, None, Pairs | None]:
    """All pairs of a graph, or None where there are more; pauses now and then."""
    pairs: Pairs = []
    every = graph.pairs()
    while len(pairs) <= limit:
        some = list(islice(every, AT_ONCE))
        if not some:
            return pairs
        pairs += some
        yield
    return None


def cheapest_by_pairs(
    costs: JoinCosts, pairs: Iterable[tuple[int, int]], bound: float = math.inf, most: float = math.inf
) -> Generator[None, None, Table | None]:
    """Price pairs in their order; pauses after each. Plans of all inputs are missing where none costs less
    than a bound; there is no table where more pairs were to be priced than some number.

    Where all plans of the same inputs have one rate, a pair is not priced if its sides together cost as much
    as a plan of the whole, or as the cheapest of their join so far.
    """
    most += costs.priced
    table: Table = {1 << i: leaves for i, leaves in enumerate(costs.leaves)}
    for one, other in pairs:
        if costs.priced > most:
            return None
        yield
        both = one | other
        if one not in table or other not in table:
            continue
        known = table.get(both)
        if costs.have_one_rate:
            (left,), (right,) = table[one], table[other]
            least = left.cost + right.cost
            if least >= bound or (known is not None and least >= known[0].cost):
                continue
        joined = costs.all_joined(table[one], table[other])
        table[both] = joined if known is None else undominated([*known, *joined])
    return table
