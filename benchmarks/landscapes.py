"""Join problems at random: streams of all rates and lengths, linked in chains, stars, cycles and cliques."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan

Topology = Literal["chain", "star", "cycle", "clique"]
"""Which streams are linked with which: each by columns of their own; or all by one."""


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


def masks(topology: Topology, size: int) -> list[int]:
    """The same as bit masks."""
    return [1 << i | 1 << j for i, j in edges(topology, size)]


def landscape(
    topology: Topology, size: int, seed: int, *, one_key: bool = False, rows: int = 1000
) -> tuple[Plan, Statistics]:
    """A join of streams in the order of their numbers, and statistics of them: samples of so many rows, with
    values that are equally frequent, or that have a Zipf distribution.

    With one key, all links are of one column of each stream, so that each is linked with each.
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
    return query.plan(), Statistics({s.node: _statistics(s, rng, rows) for s in streams})


def _stream(number: int, columns: Sequence[str]) -> Stream:
    return stream(f"s{number}", {f"s{number}_{name}": "integer" for name in columns}).window(1000)


def _statistics(s: Stream, rng: random.Random, rows: int) -> StreamStatistics:
    values = [_values(rng, rows) for _ in s.schema]
    sample = Sample(s.schema, list(zip(*values, strict=True)))
    distance, length = rng.choice([1.0, 2.0, 5.0, 20.0, 100.0]), rng.choice([100.0, 500.0, 1000.0, 3000.0])
    return StreamStatistics(distance, length, sample=sample)


def _values(rng: random.Random, rows: int) -> list[int]:
    kinds, skew = rng.choice([20, 100, 500, 2000]), rng.choice([0.0, 0.5, 1.0])
    values = rng.sample(range(kinds), kinds)
    return rng.choices(values, [1 / (rank + 1) ** skew for rank in range(kinds)], k=rows)
