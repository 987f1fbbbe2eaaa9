"""Decision trees in place of grids: they say what the optimizer said, and come nearer to it elsewhere."""

from __future__ import annotations

import json
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.charts.chart import ChartError, Dimension
from midstream.optimizer.charts.fidelity import follow
from midstream.optimizer.charts.learning import divided, halton, learn_tree, make_tree
from midstream.optimizer.charts.tree import ChartTree, Leaf, Split, feature
from midstream.plans.algebra.builder import stream
from midstream.scenarios.trials.fidelity.experiments import three_orders, two_filters
from midstream.scenarios.trials.fidelity.running import compare_with_grid

S = stream("s", x="integer")
PLANS = tuple(S.filter(S["x"] > i).plan() for i in range(4))
UNIT = [Dimension(name, 0.0, 1.0, 1) for name in "xyz"]


@given(st.data())
def test_a_tree_says_what_was_answered(data: st.DataObject) -> None:
    """Whatever the answers are, also where points share all values but one."""
    dimensions = data.draw(st.integers(1, 3))
    values = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])
    points = data.draw(st.lists(st.tuples(*[values] * dimensions), min_size=1, max_size=25, unique=True))
    numbers = data.draw(st.lists(st.integers(0, 3), min_size=len(points), max_size=len(points)))
    answers = list(zip(points, numbers, strict=True))
    names = tuple("xyz"[:dimensions])
    tree = ChartTree(names, PLANS, tuple(divided(answers)))
    for point, number in answers:
        assert tree.number_at(tree.place(point)) == number
        assert tree.plan(point) is PLANS[number]
    assert ChartTree.loads(tree.dumps()) == tree
    assert 1 <= tree.leaves <= len(points)


@given(st.integers(1, 60), st.integers(1, 3), st.integers(0, 9))
def test_as_many_questions_as_asked_for(questions: int, dimensions: int, seed: int) -> None:
    random, asked = Random(seed), list[tuple[float, ...]]()

    def ask(point: tuple[float, ...]) -> int:
        asked.append(point)
        return random.randrange(4)

    tree = learn_tree(PLANS, UNIT[:dimensions], ask, questions)
    assert len(asked) == len(set(asked)) == questions
    assert all(0 < value < 1 for point in asked for value in point)
    assert tree.names == tuple("xyz"[:dimensions])


def test_a_ratio_divides_once() -> None:
    """Where a grid needs stairs."""
    tree = learn_tree(PLANS, UNIT[:2], lambda point: int(point[0] < point[1]), 200)
    assert tree.leaves == 2
    assert isinstance(tree.nodes[0], Split) and tree.nodes[0].by == (0, 1)
    assert tree.nodes[0].bound == pytest.approx(1.0, rel=0.05)


def test_one_answer_is_one_leaf() -> None:
    assert learn_tree(PLANS, UNIT, lambda _: 2, 9).nodes == (Leaf(2),)
    assert learn_tree(PLANS, UNIT, lambda _: 1, 1).nodes == (Leaf(1),)


def test_points_are_spread_evenly() -> None:
    """Of 64, each half, quarter and so on of the first two dimensions has its share."""
    points = list(islice(halton(2), 64))
    for parts in (2, 4, 8):
        counts = [sum(int(x * parts) == i for x, _ in points) for i in range(parts)]
        assert max(counts) - min(counts) <= 1
    thirds = [sum(int(y * 3) == i for _, y in points) for i in range(3)]
    assert max(thirds) - min(thirds) <= 1


def test_nothing_by_nothing() -> None:
    assert [feature((0.0, 0.0), (0, 1)), feature((2.0, 0.0), (0, 1)), feature((2.0, 4.0), (0, 1))] == [
        1.0,
        float("inf"),
        0.5,
    ]


@pytest.mark.parametrize(("streams", "parts"), [(3, 4), pytest.param(4, 3, marks=pytest.mark.slow)])
def test_a_tree_is_nearer_than_a_grid_of_as_many_questions(streams: int, parts: int) -> None:
    experiment = three_orders(streams)
    compared = compare_with_grid(experiment, parts, points=200)
    assert compared.questions == parts**streams
    assert compared.of_tree > compared.of_grid + 0.08


def test_a_tree_follows_rounds_as_a_chart_does() -> None:
    experiment = two_filters()
    dimensions = [Dimension(name, 0.0, 1.0, 1) for name in experiment.names]
    changing = list(zip(dimensions, experiment.measures, strict=True))
    tree = make_tree(experiment.plans, experiment.statistics, changing, 64)
    points = [(0.1, 0.9), (0.2, 0.9), (0.9, 0.1)]
    found = follow(tree, [(point, experiment.best(point)) for point in points])
    assert (found.hits, found.moves, found.switches) == (3, 1, 1)


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([], "found no node"),
        ([9], "found plan 9, expected one of 4"),
        ([[[0], 0.5, 1, 5], 0], "expected children with later positions"),
        ([[[0], 0.5, 0, 1], 0], "expected children with later positions"),
        ([[[7], 0.5, 1, 2], 0, 1], "expected one or two of 1 dimensions"),
        ([[0, 0.5, 1, 2], 0, 1], r"nodes\[0\]\[0\]: found 0, expected a list"),
        ("x", "nodes: found 'x', expected a list"),
    ],
)
def test_bad_trees_are_told(nodes: object, told: str) -> None:
    data = json.loads(ChartTree(("x",), PLANS, (Leaf(0),)).dumps())
    with pytest.raises(ChartError, match=told):
        ChartTree.loads(json.dumps({**data, "nodes": nodes}))


def test_bad_questions_are_told() -> None:
    tree = ChartTree(("x",), PLANS, (Split((0,), 0.5, 1, 2), Leaf(0), Leaf(1)))
    with pytest.raises(ChartError, match="found 2 values, expected 1"):
        tree.place((0.1, 0.2))
    with pytest.raises(ChartError, match="expected a leaf"):
        tree.number_at(0)
    with pytest.raises(ChartError, match="found 0 questions"):
        learn_tree(PLANS, UNIT, lambda _: 0, 0)
    with pytest.raises(ChartError, match="found no plan"):
        make_tree([], two_filters().statistics, [], 9)
    with pytest.raises(ChartError, match="found 9 dimensions, expected 8 at most"):
        next(halton(9))
    with pytest.raises(ChartError, match=r"found .*'midstream-chart', 'version': 1"):
        ChartTree.loads('{"format": "midstream-chart", "version": 1}')
