"""Layered layout of a drawing: boxes in layers, with wires that flow up.

    layers      the longest path from a source; a wire that passes a layer gets a place of its own in it
    order       barycentres of neighbours, swept down and up; the order with the fewest crossings is kept
    positions   least squares to the neighbours, with exact minimum distances in each layer

A wire is straight within a layer and bends between layers only, so that it never crosses a box.

Source   Sugiyama, Tagawa, Toda, Methods for visual understanding of hierarchical system structures, 1981;
         the positions by pooling adjacent violators, Best, Chakravarti, 1990
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import networkx as nx

MARGIN = 20.0
"""The space around the drawing, in pixels, as all lengths here."""
APART = 28.0
"""The minimum distance between neighbouring boxes."""
BETWEEN = 48.0
"""The distance between layers, where wires bend."""
SWEEPS = 12
PASSES = 40

V = TypeVar("V", bound=Hashable)
Point = tuple[float, float]


class Size(NamedTuple):
    """The width and height of a box."""

    width: float
    height: float


class Box(NamedTuple):
    """The position and size of a box; y grows downwards."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The horizontal centre."""
        return self.left + self.width / 2


class Edge(NamedTuple, Generic[V]):
    """An edge from a vertex to a port of another."""

    source: V
    target: V
    port: int = 0


@dataclass(frozen=True, slots=True)
class Wire(Generic[V]):
    """An edge as drawn, from the top of one box to the bottom of another.

    Between successive points, straight vertical pieces and bent pieces alternate; the first and the last
    piece are straight.
    """

    edge: Edge[V]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout(Generic[V]):
    """A finished layout."""

    boxes: Mapping[V, Box]
    wires: tuple[Wire[V], ...]
    size: Size


def layered(sizes: Mapping[V, Size], edges: Sequence[Edge[V]]) -> Layout[V]:
    """Lay out a directed acyclic graph, sources at the bottom, with the ports of a box from left to right.

    Cost: O(sweeps × wires per layer²), where a wire counts in every layer that it passes.

    >>> layout = layered({"s": Size(50, 20), "f": Size(80, 30)}, [Edge("s", "f")])
    >>> layout.boxes["f"], layout.boxes["s"].top - layout.boxes["f"].bottom
    (Box(left=20.0, top=20.0, width=80, height=30), 48.0)
    """
    sketch = _Sketch(sizes, edges)
    sketch.order()
    return sketch.placed()


class _Link(NamedTuple):
    """A piece of a wire between neighbouring layers.

    `port` is the position at which it enters the upper vertex: its distance from the middle relative to the
    width.
    """

    lower: int
    upper: int
    port: float


class _Sketch(Generic[V]):
    """A layout under construction.

    Vertices are numbers: first those of the graph, then the places where wires pass a layer.
    """

    def __init__(self, sizes: Mapping[V, Size], edges: Sequence[Edge[V]]) -> None:
        self._names = list(sizes)
        self._sizes = list(sizes.values())
        self._edges = edges
        numbers = {name: i for i, name in enumerate(self._names)}
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self._names)))
        graph.add_edges_from((numbers[edge.source], numbers[edge.target]) for edge in edges)
        self._level = [0] * len(self._names)
        for level, layer in enumerate(nx.topological_generations(graph)):
            for vertex in layer:
                self._level[vertex] = level
        ports: dict[int, int] = {}
        for edge in edges:
            target = numbers[edge.target]
            ports[target] = max(ports.get(target, 0), edge.port + 1)
        self._chains: list[list[int]] = []
        self._links: list[_Link] = []
        for edge in edges:
            source, target = numbers[edge.source], numbers[edge.target]
            self._chain(source, target, (edge.port + 1) / (ports[target] + 1) - 0.5)
        self._below: list[list[_Link]] = [[] for _ in self._level]
        self._above: list[list[_Link]] = [[] for _ in self._level]
        for link in sorted(self._links, key=lambda link: link.port):
            self._below[link.upper].append(link)
            self._above[link.lower].append(link)
        self._rows = self._first_rows()

    def _chain(self, source: int, target: int, port: float) -> None:
        """Add the vertices and links of a wire."""
        chain = [source]
        for level in range(self._level[source] + 1, self._level[target]):
            chain.append(len(self._level))
            self._level.append(level)
            self._sizes.append(Size(0.0, 0.0))
        chain.append(target)
        self._chains.append(chain)
        for lower, upper in pairwise(chain):
            self._links.append(_Link(lower, upper, port if upper == target else 0.0))

    def _first_rows(self) -> list[list[int]]:
        """The layers in the order of a walk from the outputs, in which a tree has no crossings."""
        rows: list[list[int]] = [[] for _ in range(max(self._level) + 1)]
        seen: set[int] = set()
        stack = [vertex for vertex in reversed(range(len(self._level))) if not self._above[vertex]]
        while stack:
            vertex = stack.pop()
            if vertex not in seen:
                seen.add(vertex)
                rows[self._level[vertex]].append(vertex)
                stack.extend(link.lower for link in reversed(self._below[vertex]))
        return rows

    # Order

    def order(self) -> None:
        """Sort the layers so that few wires cross."""
        best, fewest = self._rows, self._crossings(self._rows)
        rows = self._rows
        for sweep in range(SWEEPS):
            if not fewest:
                break
            rows = self._swept(rows, is_down=sweep % 2 == 0)
            crossings = self._crossings(rows)
            if crossings < fewest:
                best, fewest = rows, crossings
        self._rows = best

    def _swept(self, rows: list[list[int]], is_down: bool) -> list[list[int]]:
        """Sort each layer by the mean place of its neighbours in the layer that was sorted before."""
        place = {vertex: float(i) for row in rows for i, vertex in enumerate(row)}

        def barycentre(vertex: int) -> float:
            if is_down:
                places = [place[link.upper] + link.port for link in self._above[vertex]]
            else:
                places = [place[link.lower] - link.port for link in self._below[vertex]]
            return sum(places) / len(places) if places else place[vertex]

        result = [list(row) for row in rows]
        for row in reversed(result) if is_down else result:
            row.sort(key=barycentre)
            place.update((vertex, float(i)) for i, vertex in enumerate(row))
        return result

    def _crossings(self, rows: list[list[int]]) -> int:
        place = {vertex: i for row in rows for i, vertex in enumerate(row)}
        crossings = 0
        for row in rows:
            met: list[float] = []
            for vertex in row:
                ends = sorted(place[link.upper] + link.port for link in self._above[vertex])
                crossings += sum(len(met) - bisect_right(met, end) for end in ends)
                for end in ends:
                    insort(met, end)
        return crossings

    # Positions

    def placed(self) -> Layout[V]:
        """The layout, with the layers in their current order."""
        middles = self._middles()
        left = min(middles[i] - size.width / 2 for i, size in enumerate(self._sizes))
        heights = [max(self._sizes[vertex].height for vertex in row) for row in self._rows]
        tops: list[float] = [MARGIN] * len(heights)
        for level in reversed(range(len(heights) - 1)):
            tops[level] = tops[level + 1] + heights[level + 1] + BETWEEN
        boxes: list[Box] = []
        for i, (width, height) in enumerate(self._sizes):
            level = self._level[i]
            top = tops[level] + (heights[level] - height) / 2
            boxes.append(Box(round(middles[i] - width / 2 - left + MARGIN, 1), round(top, 1), width, height))
        rows = [(top, top + height) for top, height in zip(tops, heights, strict=True)]
        wires = tuple(self._wires(boxes, rows))
        size = Size(max(box.right for box in boxes) + MARGIN, tops[0] + heights[0] + MARGIN)
        return Layout(dict(zip(self._names, boxes, strict=False)), wires, size)

    def _middles(self) -> list[float]:
        middles = [0.0] * len(self._sizes)
        gaps = [
            [(self._sizes[a].width + self._sizes[b].width) / 2 + APART for a, b in pairwise(row)]
            for row in self._rows
        ]
        for done in range(PASSES):
            levels = range(len(self._rows))
            for level in reversed(levels) if done % 2 == 0 else levels:
                row = self._rows[level]
                # The first pass goes down: vertices below have no place yet.
                wanted = [self._wanted(vertex, middles, is_first=not done) for vertex in row]
                for vertex, middle in zip(row, spaced(wanted, gaps[level]), strict=True):
                    middles[vertex] = middle
        self._straighten(middles, gaps)
        return middles

    def _straighten(self, middles: list[float], gaps: list[list[float]]) -> None:
        """Align the places of a wire vertically, if the boxes beside them leave room."""
        for chain in self._chains:
            bends = chain[1:-1]
            lowest, highest = -math.inf, math.inf
            for vertex in bends:
                row, between = self._rows[self._level[vertex]], gaps[self._level[vertex]]
                i = row.index(vertex)
                if i > 0:
                    lowest = max(lowest, middles[row[i - 1]] + between[i - 1])
                if i < len(row) - 1:
                    highest = min(highest, middles[row[i + 1]] - between[i])
            # With boxes close on both sides, rounding may leave no room.
            if bends and lowest <= highest + 0.01:
                mean = sum(middles[vertex] for vertex in bends) / len(bends)
                for vertex in bends:
                    middles[vertex] = min(max(mean, lowest), highest)

    def _wanted(self, vertex: int, middles: list[float], is_first: bool) -> tuple[float, float]:
        """The position at which a vertex has straight wires, with its weight."""
        total = weight = 0.0
        for link in self._above[vertex]:
            pull = self._pull(link)
            total += pull * (middles[link.upper] + link.port * self._sizes[link.upper].width)
            weight += pull
        for link in () if is_first else self._below[vertex]:
            pull = self._pull(link)
            total += pull * (middles[link.lower] - link.port * self._sizes[vertex].width)
            weight += pull
        return (total / weight, weight) if weight else (middles[vertex], 1.0)

    def _pull(self, link: _Link) -> float:
        """The weight of a piece of a wire: in longer wires, bends are more visible."""
        passing = sum(vertex >= len(self._names) for vertex in (link.lower, link.upper))
        return (1.0, 2.0, 8.0)[passing]

    def _wires(self, boxes: list[Box], rows: list[tuple[float, float]]) -> list[Wire[V]]:
        """Each edge through the places of its chain; wires that leave one box spread along its top."""
        entries = {
            (i, link.upper): boxes[link.upper].middle + link.port * boxes[link.upper].width
            for i, link in enumerate(self._links)
        }
        wires: list[Wire[V]] = []
        first = 0
        leaving: dict[int, list[tuple[float, int]]] = {}
        for number, chain in enumerate(self._chains):
            leaving.setdefault(chain[0], []).append((entries[first, chain[1]], number))
            first += len(chain) - 1
        starts: dict[int, float] = {}
        for vertex, ends in leaving.items():
            for place, (_, number) in enumerate(sorted(ends), start=1):
                starts[number] = boxes[vertex].left + boxes[vertex].width * place / (len(ends) + 1)
        first = 0
        for number, chain in enumerate(self._chains):
            x = starts[number]
            points: list[Point] = [(x, boxes[chain[0]].top)]
            for lower, upper in pairwise(chain):
                points.append((x, rows[self._level[lower]][0]))
                x = entries[first, upper]
                points.append((x, rows[self._level[upper]][1]))
                first += 1
            points.append((x, boxes[chain[-1]].bottom))
            wires.append(Wire(self._edges[number], tuple(points)))
        return wires


def spaced(wanted: Sequence[tuple[float, float]], gaps: Sequence[float]) -> list[float]:
    """The positions nearest to the wanted ones that keep their order and minimum distances.

    Nearest means least squares by weight.

    Cost: O(n).

    >>> spaced([(0, 1), (1, 1), (50, 1)], [10, 10])
    [-4.5, 5.5, 50.0]
    """
    pools: list[tuple[float, float, int]] = []
    shifts = [0.0]
    for gap in gaps:
        shifts.append(shifts[-1] + gap)
    for (position, weight), shift in zip(wanted, shifts, strict=False):
        mean, total, members = position - shift, weight, 1
        while pools and pools[-1][0] > mean:
            other, others, before = pools.pop()
            mean = (mean * total + other * others) / (total + others)
            total, members = total + others, members + before
        pools.append((mean, total, members))
    means = [mean for mean, _, members in pools for _ in range(members)]
    return [mean + shift for mean, shift in zip(means, shifts, strict=False)]
