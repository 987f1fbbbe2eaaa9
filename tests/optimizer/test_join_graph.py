"""Pairs of connected sets: each once, in an order that dynamic programming can follow; how many trees they
make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import factorial

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from midstream.benchmarks.landscapes import Topology, edges
from midstream.optimizer.search.join_graph import FEW, JoinGraph, members, subsets

SIZES = range(3, 8)
TREES: dict[Topology, list[int]] = {
    "chain": [8, 40, 224, 1344, 8448],
    "clique": [12, 120, 1680, 30240, 665280],
    "star": [factorial(n - 1) * 2 ** (n - 1) for n in SIZES],
    "cycle": [12, 80, 560, 4032, 29568],
}


def masks(topology: Topology, size: int) -> list[int]:
    return [1 << i | 1 << j for i, j in edges(topology, size)]


def with_products(size: int) -> int:
    return factorial(2 * size - 2) // factorial(size - 1)


def ordered_trees(graph: JoinGraph) -> int:
    """How many join trees there are, told apart by which side is which: from the number of those of the sides
    of each pair, without listing any."""
    trees = {1 << i: 1 for i in range(len(graph.neighbours))}
    for one, other in graph.pairs():
        both = one | other
        trees[both] = trees.get(both, 0) + 2 * trees[one] * trees[other]
    return trees[graph.every]


@pytest.mark.parametrize("topology", TREES)
def test_ordered_join_trees_without_products(topology: Topology) -> None:
    counted = [ordered_trees(JoinGraph.of(n, masks(topology, n), "needed")) for n in SIZES]
    assert counted == TREES[topology]


@pytest.mark.parametrize("topology", TREES)
def test_ordered_join_trees_with_products(topology: Topology) -> None:
    for n in SIZES:
        assert ordered_trees(JoinGraph.of(n, masks(topology, n), "all")) == with_products(n)


def test_products_are_considered_where_few_inputs_meet() -> None:
    few, many = (JoinGraph.of(n, masks("chain", n)) for n in (FEW, FEW + 1))
    assert ordered_trees(few) == with_products(FEW)
    assert many == JoinGraph.of(FEW + 1, masks("chain", FEW + 1), "needed")


def test_components_are_joined_when_they_are_whole() -> None:
    """Two chains of two and three, and an input by itself: 2 · 8 trees of these, in 12 orders."""
    apart = JoinGraph.of(6, [0b11, 0b1100, 0b11000], "needed")
    assert apart.components == (0b11, 0b11100, 0b100000)
    assert ordered_trees(apart) == 2 * 8 * 12
    assert apart.may_join(0b11, 0b100000)
    assert not apart.may_join(0b1, 0b100000)
    assert not apart.may_join(0b11, 0b100)


@st.composite
def graphs(draw: st.DrawFn) -> JoinGraph:
    size = draw(st.integers(1, 7))
    edges = draw(st.lists(st.integers(0, 2**size - 1), max_size=8))
    graph = JoinGraph.of(size, edges, "needed")
    event(f"components: {len(graph.components)}")
    return graph


def connected_splits(graph: JoinGraph, whole: int) -> Iterator[frozenset[int]]:
    """By definition: the ways to split a set into two that can each be made, and that may be joined."""
    for one in subsets(whole):
        other = whole & ~one
        if other and can_be_made(graph, one) and can_be_made(graph, other) and graph.may_join(one, other):
            yield frozenset((one, other))


def can_be_made(graph: JoinGraph, whole: int) -> bool:
    return whole.bit_count() == 1 or any(True for _ in connected_splits(graph, whole))


@given(graphs())
def test_each_pair_comes_once_and_after_what_makes_its_sides(graph: JoinGraph) -> None:
    made = {1 << i for i in members(graph.every)}
    used: set[int] = set()
    seen: set[frozenset[int]] = set()
    for one, other in graph.pairs():
        assert {one, other} <= made
        assert frozenset((one, other)) not in seen
        assert one | other not in used, "a set was used before all pairs that make it came"
        made.add(one | other)
        used |= {one, other}
        seen.add(frozenset((one, other)))
    assert seen == {pair for whole in subsets(graph.every) for pair in connected_splits(graph, whole)}


@given(graphs())
def test_components_are_the_largest_connected_sets(graph: JoinGraph) -> None:
    assert sum(graph.components) == graph.every
    assert all(not graph.around(component) for component in graph.components)
    assert all(can_be_made(graph, component) for component in graph.components)


@given(st.integers(0, 2**10))
def test_subsets_come_after_their_own(mask: int) -> None:
    found = list(subsets(mask))
    assert len(found) == len(set(found)) == 2 ** mask.bit_count() - 1
    assert all(subset and not subset & ~mask for subset in found)
    assert found == sorted(found)


def test_the_pairs_of_a_large_star_come_one_by_one() -> None:
    """Its middle is connected with 2^39 sets, which nobody may list."""
    first = list(islice(JoinGraph.of(40, masks("star", 40), "needed").pairs(), 1000))
    assert len(set(first)) == 1000
