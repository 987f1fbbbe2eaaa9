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
"""Number of pairs that can be listed in the time it takes to price one."""

Table = dict[int, list[JoinTree]]
"""The undominated plans of sets of inputs."""


Pairs = list[tuple[int, int]]


def pairs_within(graph: JoinGraph, limit: int) -> Generator[None, None, Pairs | None]:
    """All pairs of a graph, or None if there are more than `limit`; pauses now and then."""
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
    """Price pairs in their order; pauses after each.

    Plans of all inputs are missing if none costs less than `bound`. The result is None if more than `most`
    pairs had to be priced. If all plans of the same inputs have one rate, a pair is not priced if its sides
    together cost as much as `bound`, or as the cheapest known join of the same inputs.
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
