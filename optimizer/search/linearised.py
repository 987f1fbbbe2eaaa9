"""The cheapest join order in which every join is of neighbours in a sequence of the inputs.

Source   T. Neumann, B. Radke, Adaptive Optimization of Very Large Join Queries, SIGMOD 2018
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence

from midstream.optimizer.search.connected_pairs import Table
from midstream.optimizer.search.join_costs import JoinCosts, JoinTree, undominated
from midstream.optimizer.search.join_graph import JoinGraph


def cheapest_in_sequence(
    costs: JoinCosts, graph: JoinGraph, sequence: Sequence[int]
) -> Generator[None, None, Table]:
    """Join neighbours, the shortest stretches first; pauses after each pair.

    A tree whose leaves are in this sequence is among the orders, so the result costs no more than it.

    Cost     O(inputs³) pairs.
    """
    table: Table = {1 << i: costs.leaves[i] for i in sequence}
    stretches = {(i, i + 1): 1 << number for i, number in enumerate(sequence)}
    for length in range(2, len(sequence) + 1):
        for start in range(len(sequence) - length + 1):
            end = start + length
            found: list[JoinTree] = []
            for middle in range(start + 1, end):
                left, right = stretches[start, middle], stretches[middle, end]
                if left in table and right in table and graph.may_join(left, right):
                    found += costs.all_joined(table[left], table[right])
                    yield
            both = stretches[start, end] = stretches[start, end - 1] | stretches[end - 1, end]
            if found:
                table[both] = undominated(found)
    return table


def leaves(tree: JoinTree) -> list[int]:
    """The inputs of a tree from left to right."""
    if tree.sides is None:
        return [tree.inputs.bit_length() - 1]
    return [number for side in tree.sides for number in leaves(side)]


def turned(tree: JoinTree, rng: random.Random) -> list[int]:
    """The inputs of a tree, with the sides of each join in a random order.

    Every such sequence has the tree among its orders, and others as well.
    """
    if tree.sides is None:
        return [tree.inputs.bit_length() - 1]
    left, right = tree.sides if rng.random() < 0.5 else reversed(tree.sides)
    return [*turned(left, rng), *turned(right, rng)]


def moved(sequence: list[int], rng: random.Random) -> list[int]:
    """A sequence with a random stretch moved to another place."""
    start = rng.randrange(len(sequence))
    stretch = sequence[start : start + rng.randint(1, max(1, len(sequence) // 3))]
    rest = [number for number in sequence if number not in stretch]
    place = rng.randint(0, len(rest))
    return [*rest[:place], *stretch, *rest[place:]]
