"""Random join problems: streams of various rates and lengths, linked in chains, stars, cycles and cliques."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Node, Plan

Topology = Literal["chain", "star", "cycle", "clique"]
"""The shape of the links between streams.

Each link has columns of its own, or all links have one key.
"""

DISTANCES, LENGTHS = [1.0, 2.0, 5.0, 20.0, 100.0], [100.0, 500.0, 1000.0, 3000.0]


def edges(topology: Topology, size: int) -> list[tuple[int, int]]:
    """The pairs of streams that are linked."""
    match topology:
        case "chain":
            return [(i, i + 1) for i in range(size - 1)]
        case "star":
            return [(0, i) for i in range(1, size)]
        case "cycle":
            return [(i, (i + 1) % size) for i in range(size)]
        case "clique":
            return [(i, j) for j in range(size) for i in range(j)]


def landscape(
    topology: Topology, size: int, seed: int, *, one_key: bool = False, rows: int = 1000
) -> tuple[Plan, Statistics]:
    """A join of streams in the order of their numbers, and their statistics, with samples of `rows` rows.

    Values are equally frequent, or have a Zipf distribution. With one key, all links are on one column of
    each stream, so that each stream is linked with each. There are so many values that joins of some of the
    streams give sometimes more rows than they get and sometimes fewer: orders differ by much, and those that
    look best at the beginning are often not.
    """
    rng = random.Random(seed)
    pairs = edges(topology, size)
    columns: list[list[str]] = [["k"] if one_key else [] for _ in range(size)]
    if not one_key:
        for i, j in pairs:
            columns[i].append(f"to{j}")
            columns[j].append(f"to{i}")
    streams = [_stream(i, names) for i, names in enumerate(columns)]
    query = streams[0]
    for j in range(1, size):
        earlier = sorted({min(i, other) for i, other in pairs if max(i, other) == j})
        links = [(f"s{i}_k", f"s{j}_k") if one_key else (f"s{i}_to{j}", f"s{j}_to{i}") for i in earlier]
        query = query.join(streams[j], on=links)
    return query.plan(), Statistics(_statistics(streams, pairs, one_key, rng, rows))


def _stream(number: int, columns: Sequence[str]) -> Stream:
    return stream(f"s{number}", {f"s{number}_{name}": "integer" for name in columns}).window(1000)


def _statistics(
    streams: Sequence[Stream], pairs: Sequence[tuple[int, int]], one_key: bool, rng: random.Random, rows: int
) -> dict[Node, StreamStatistics]:
    """Statistics of random streams, by node.

    A join with one more stream multiplies rows by about that stream's number of valid rows, and divides them
    by the numbers of values of the linked columns.
    """
    sizes = [StreamStatistics(rng.choice(DISTANCES), rng.choice(LENGTHS)) for _ in streams]
    links = 1 if one_key else len(pairs) / (len(streams) - 1)
    usual = math.exp(math.fsum(math.log(one.l / one.d) for one in sizes) / len(sizes) / links)
    values: dict[str, list[int]] = {}
    if one_key:
        kinds = round(usual) + 1
        values |= {s.schema.names[0]: _values(rng, kinds, rows) for s in streams}
    for i, j in () if one_key else pairs:
        kinds = round(usual * math.exp(rng.gauss(0, 1 / links))) + 1
        values |= {f"s{i}_to{j}": _values(rng, kinds, rows), f"s{j}_to{i}": _values(rng, kinds, rows)}
    return {
        s.node: replace(size, sample=Sample(s.schema, _rows(values, s)))
        for s, size in zip(streams, sizes, strict=True)
    }


def _rows(values: Mapping[str, Sequence[int]], s: Stream) -> list[tuple[int, ...]]:
    return list(zip(*(values[name] for name in s.schema.names), strict=True))


def _values(rng: random.Random, kinds: int, rows: int) -> list[int]:
    skew = rng.choice([0.0, 0.5, 1.0])
    values = rng.sample(range(kinds), kinds)
    return rng.choices(values, [1 / (rank + 1) ** skew for rank in range(kinds)], k=rows)
