"""The cheapest of all join orders, by dynamic programming over connected pairs of sets of inputs.

Source   G. Moerkotte, T. Neumann, Analysis of Two Existing and One New Dynamic Programming Algorithm for the
         Generation of Optimal Bushy Join Trees without Cross Products, VLDB 2006 (DPccp)
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import islice

from midstream.optimizer.search.join_costs import JoinCosts, JoinTree, undominated
from midstream.optimizer.search.join_graph import JoinGraph

Table = dict[int, list[JoinTree]]
"""For sets of inputs, the plans that no other one beats."""


def pairs_within(graph: JoinGraph, limit: int) -> list[tuple[int, int]] | None:
    """All pairs of a graph, or None where there are more."""
    pairs = list(islice(graph.pairs(), limit + 1))
    return pairs if len(pairs) <= limit else None


def cheapest_by_pairs(costs: JoinCosts, pairs: Iterable[tuple[int, int]]) -> Generator[None, None, Table]:
    """Price pairs in their order; pauses after each."""
    table: Table = {1 << i: leaves for i, leaves in enumerate(costs.leaves)}
    for one, other in pairs:
        joined = costs.all_joined(table[one], table[other])
        both = one | other
        table[both] = undominated([*table[both], *joined]) if both in table else joined
        yield
    return table
