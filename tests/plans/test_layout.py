"""Boxes never overlap, wires never run over boxes, and everything flows up."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.pictures.layout import APART, BETWEEN, MARGIN, Box, Edge, Layout, Size, layered, spaced

SIDE = st.integers(1, 300).map(float)
SIZE = st.builds(Size, SIDE, SIDE)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, Size], list[Edge[int]]]:
    """Directed acyclic graphs, also with several parts and with wires side by side."""
    sizes = dict(enumerate(draw(st.lists(SIZE, min_size=1, max_size=14))))
    edges: list[Edge[int]] = []
    for target in range(1, len(sizes)):
        inputs = draw(st.lists(st.integers(0, target - 1), max_size=3))
        edges.extend(Edge(source, target, port) for port, source in enumerate(inputs))
    return sizes, edges


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have more than an edge in common."""
    return (
        one.left < other.right
        and other.left < one.right
        and one.top < other.bottom
        and other.top < one.bottom
    )


def check(layout: Layout[int], edges: list[Edge[int]]) -> None:
    """What every drawing keeps."""
    boxes = layout.boxes
    for one, other in combinations(boxes.values(), 2):
        assert not overlap(one, other)
    for box in boxes.values():
        assert box.left >= MARGIN and box.top >= MARGIN
        assert box.right + MARGIN <= layout.size.width + 1e-6
        assert box.bottom + MARGIN <= layout.size.height + 1e-6
    assert [wire.edge for wire in layout.wires] == edges
    for wire in layout.wires:
        source, target = boxes[wire.edge.source], boxes[wire.edge.target]
        (start_x, start_y), (end_x, end_y) = wire.points[0], wire.points[-1]
        assert source.left < start_x < source.right and start_y == source.top
        assert target.left < end_x < target.right and end_y == target.bottom
        assert target.bottom + BETWEEN <= source.top + 0.1
        for (x, y), (to_x, to_y) in pairwise(wire.points):
            assert to_y <= y
            # A piece that bends stays between its ends' coordinates.
            piece = Box(min(x, to_x), to_y, abs(to_x - x), y - to_y)
            assert not any(overlap(piece, box) for box in boxes.values())
        for (x, _), (to_x, _) in list(pairwise(wire.points))[::2]:
            assert x == to_x


@given(graphs())
def test_boxes_are_apart_and_wires_run_between_them(graph: tuple[dict[int, Size], list[Edge[int]]]) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    assert list(layout.boxes) == list(sizes)
    assert all((box.width, box.height) == sizes[name] for name, box in layout.boxes.items())
    check(layout, edges)


@given(graphs())
def test_boxes_of_a_layer_keep_their_distance(graph: tuple[dict[int, Size], list[Edge[int]]]) -> None:
    layout = layered(*graph)
    for one, other in combinations(layout.boxes.values(), 2):
        if one.top < other.bottom and other.top < one.bottom:
            assert max(one.left, other.left) - min(one.right, other.right) >= APART - 0.2


def test_inputs_run_from_left_to_right() -> None:
    box = Size(50, 20)
    edges = [Edge("a", "join", 0), Edge("b", "join", 1)]
    for order in ("a", "b", "join"), ("b", "a", "join"):
        boxes = layered(dict.fromkeys(order, box), edges).boxes
        assert boxes["a"].right < boxes["b"].left
        assert boxes["join"].middle == pytest.approx((boxes["a"].middle + boxes["b"].middle) / 2, abs=0.2)


def test_a_chain_is_straight() -> None:
    names = "abcd"
    sizes = {name: Size(40.0 + 20 * i, 20) for i, name in enumerate(names)}
    layout = layered(sizes, [Edge(a, b) for a, b in pairwise(names)])
    assert len({round(x, 1) for wire in layout.wires for x, _ in wire.points}) == 1


def test_a_long_wire_runs_straight_through_the_layers_that_it_passes() -> None:
    sizes = dict.fromkeys("abcdef", Size(60, 30))
    edges = [Edge(a, b) for a, b in pairwise("abcde")] + [Edge("f", "e", 1)]
    layout = layered(sizes, edges)
    (long,) = (wire for wire in layout.wires if wire.edge.source == "f")
    assert len({x for x, _ in long.points[2:-2]}) == 1
    assert layout.boxes["f"].top == layout.boxes["a"].top


def crossings(layout: Layout[str]) -> int:
    """How often wires between the same two layers cross."""
    ends = [(wire.points[0][0], wire.points[-1][0]) for wire in layout.wires]
    return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))


def test_a_tree_has_no_crossings_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midstream.plans.pictures.layout.SWEEPS", 0)
    sizes = dict.fromkeys(["x1", "x2", "x3", "y1", "y2", "y3"], Size(40, 20))
    ladder = [Edge("x1", "y3"), Edge("x2", "y2"), Edge("x3", "y1")]
    assert crossings(layered(sizes, ladder)) == 0
    tree = [Edge("x3", "y1", 0), Edge("x1", "y1", 1), Edge("x2", "y1", 2)]
    assert crossings(layered(sizes, tree)) == 0


def test_crossings_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What feeds the outer two of three has them side by side in the end."""
    sizes = dict.fromkeys(["x1", "x2", "y1", "y2", "y3"], Size(40, 20))
    edges = [Edge("x1", "y1"), Edge("x2", "y2"), Edge("x1", "y3")]
    assert crossings(layered(sizes, edges)) == 0
    monkeypatch.setattr("midstream.plans.pictures.layout.SWEEPS", 0)
    assert crossings(layered(sizes, edges)) == 1


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.5, 9)), min_size=1, max_size=9), st.data())
def test_what_is_spaced_keeps_order_and_gaps_and_is_nearest(
    wanted: list[tuple[float, float]], data: st.DataObject
) -> None:
    gaps = data.draw(st.lists(st.floats(0, 100), min_size=len(wanted) - 1, max_size=len(wanted) - 1))
    found = spaced(wanted, gaps)

    def error(positions: list[float]) -> float:
        return sum(w * (x - p) ** 2 for x, (p, w) in zip(positions, wanted, strict=True))

    assert all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(found), gaps, strict=True))
    # No permitted neighbour is better: moving all from one on, or one group, by a little.
    for first in range(len(found)):
        for last in range(first + 1, len(found) + 1):
            for step in (-0.01, 0.01):
                moved = [x + step * (first <= i < last) for i, x in enumerate(found)]
                if all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(moved), gaps, strict=True)):
                    assert error(moved) >= error(found) - 1e-6
