"""Drawn values of a generated stream's columns."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Any, assert_never

from midstream.scenarios.streams.stream_spec import (
    Choice,
    Constant,
    Normal,
    Recorded,
    Sequence,
    Uniform,
    Values,
    Zipf,
    number_at,
)

Draw = Callable[[int], Any]
"""Draws the next value of a column, for an element that starts at an instant."""


def drawing(values: Values, random: Random) -> Draw:
    """Begin a column of drawn values.

    Cost     O(1) a value; O(log n) for Zipf, and O(n) whenever its exponent has changed by a hundredth.

    >>> draw = drawing(Uniform(values="uniform", low=0, high=9), Random("1/bids"))
    >>> [draw(0) for _ in range(8)]
    [4, 4, 9, 8, 9, 8, 3, 3]
    """
    match values:
        case Uniform(low=low, high=high):
            if values.type == "float":
                return lambda time: random.uniform(number_at(low, time), number_at(high, time))
            return lambda time: random.randint(round(number_at(low, time)), round(number_at(high, time)))
        case Zipf():
            return _zipf(values, random)
        case Normal():
            return _normal(values, random)
        case Choice(of=weights):
            texts, courses = list(weights), list(weights.values())
            return lambda time: random.choices(texts, [number_at(one, time) for one in courses])[0]
        case Constant(value=str() | bool() as value):
            return lambda time: value
        case Constant(value=value):
            convert = float if values.type == "float" else int
            return lambda time: convert(number_at(value, time))
        case Sequence():
            return _sequence(values)
        case Recorded():
            raise AssertionError("recorded values are read, not drawn")
        case _:
            assert_never(values)


def _zipf(values: Zipf, random: Random) -> Draw:
    n, first, exponent, shift = values.n, values.first, values.exponent, values.shift

    def draw(time: int) -> int:
        weights = zipf_weights(n, round(number_at(exponent, time), 2))
        rank = min(bisect(weights, random.random() * weights[-1]), n - 1)
        return first + (rank + round(number_at(shift, time))) % n

    return draw


@lru_cache(maxsize=64)
def zipf_weights(n: int, exponent: float) -> list[float]:
    """The cumulative weights of ranks, from the first to the last."""
    return list(accumulate(rank**-exponent for rank in range(1, n + 1)))


def _normal(values: Normal, random: Random) -> Draw:
    def draw(time: int) -> float:
        return random.gauss(number_at(values.mean, time), number_at(values.deviation, time))

    return draw if values.type == "float" else lambda time: round(draw(time))


def _sequence(values: Sequence) -> Draw:
    drawn = 0

    def draw(time: int) -> int:
        nonlocal drawn
        value = values.first + values.step * drawn
        drawn = drawn + 1 if values.length is None else (drawn + 1) % values.length
        return value

    return draw
