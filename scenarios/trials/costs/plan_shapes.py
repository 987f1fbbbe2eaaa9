"""The shapes of the plans of the thesis' Table 24.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from midstream.plans.algebra.builder import Stream


class Parts(Protocol):
    """The parts that a plan of Table 24.1 consists of; streams have numbers from 0 on."""

    def window(self, stream: int) -> Stream:
        """ω(S): a time window over a stream."""
        ...

    def aggregate(self, stream: int) -> Stream:
        """α(Γ(ω(S))): a scalar aggregation over a granularity conversion over a time window."""
        ...

    def join(self, left: Stream, right: Stream) -> Stream:
        """A join of windows, or of joins of these."""
        ...

    def join_aggregate(self, aggregate: Stream, other: Stream) -> Stream:
        """A join of an aggregation with a window, or with another aggregation."""
        ...


@dataclass(frozen=True, slots=True)
class Shape:
    """A row of the table.

    percent    the share of the queries that have this shape
    streams    the number of streams
    build      makes the query from its parts
    """

    percent: int
    streams: int
    build: Callable[[Parts], Stream]


def _two(of: Parts) -> Stream:
    return of.join(of.window(0), of.window(1))


def _three(of: Parts) -> Stream:
    return of.join(_two(of), of.window(2))


TABLE_24_1: Mapping[str, Shape] = {
    "ω(S1) ⋈ ω(S2)": Shape(30, 2, _two),
    "(ω(S1) ⋈ ω(S2)) ⋈ ω(S3)": Shape(20, 3, _three),
    "((ω(S1) ⋈ ω(S2)) ⋈ ω(S3)) ⋈ ω(S4)": Shape(10, 4, lambda of: of.join(_three(of), of.window(3))),
    "(ω(S1) ⋈ ω(S2)) ⋈ (ω(S3) ⋈ ω(S4))": Shape(
        10, 4, lambda of: of.join(_two(of), of.join(of.window(2), of.window(3)))
    ),
    "α(Γ(ω(S)))": Shape(10, 1, lambda of: of.aggregate(0)),
    "α(Γ(ω(S1))) ⋈ ω(S2)": Shape(10, 2, lambda of: of.join_aggregate(of.aggregate(0), of.window(1))),
    "α(Γ(ω(S1))) ⋈ α(Γ(ω(S2)))": Shape(10, 2, lambda of: of.join_aggregate(of.aggregate(0), of.aggregate(1))),
}
"""The shapes by the names that the thesis writes, with S1 as stream 0."""
