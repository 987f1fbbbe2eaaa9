"""The values of a column for all elements of a cell, distributed as the simulator draws them."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from midstream.scenarios.streams.distributions import zipf_weights
from midstream.scenarios.streams.stream_spec import (
    Changing,
    Choice,
    Constant,
    Course,
    Normal,
    Recorded,
    Sequence,
    Uniform,
    Values,
    Zipf,
)

Array = npt.NDArray[Any]


def values_of(values: Values, times: Array, first: int, random: np.random.Generator) -> Array | list[str]:
    """The values of elements that start at some times, and are numbered from `first` on.

    >>> values_of(Sequence(values="sequence", step=2, length=3), np.arange(4), 2, np.random.default_rng(1))
    array([4, 0, 2, 4])
    """
    match values:
        case Uniform(low=low, high=high):
            least, greatest = numbers_at(low, times), numbers_at(high, times)
            if values.type == "float":
                return random.uniform(least, greatest)
            return random.integers(_rounded(least), _rounded(greatest) + 1)
        case Zipf():
            return _zipf(values, times, random)
        case Normal(mean=mean, deviation=deviation):
            drawn = numbers_at(mean, times) + numbers_at(deviation, times) * random.standard_normal(
                len(times)
            )
            return drawn if values.type == "float" else _rounded(drawn)
        case Choice():
            return _choice(values, times, random)
        case Constant():
            return _constant(values, times)
        case Sequence(first=value, step=step, length=length):
            numbers = first + np.arange(len(times))
            return value + step * (numbers if length is None else numbers % length)
        case Recorded():
            raise AssertionError("recorded values are read, not drawn")
        case _:
            assert_never(values)


def numbers_at(number: Course, times: Array) -> Array:
    """The values of a number, constant or changing, at some instants.

    >>> numbers_at(Changing(linear={0: 10, 100: 20}), np.array([-5, 50, 99, 100])).tolist()
    [10.0, 15.0, 19.9, 20.0]
    """
    if not isinstance(number, Changing):
        return np.full(len(times), float(number))
    points = number.steps or number.linear
    at, numbers = np.array(list(points), np.float64), np.array(list(points.values()), np.float64)
    if number.linear:
        return np.interp(times, at, numbers)
    return numbers[np.clip(np.searchsorted(at, times, "right") - 1, 0, None)]


def _zipf(values: Zipf, times: Array, random: np.random.Generator) -> Array:
    drawn = random.random(len(times))
    ranks = np.empty(len(times), np.int64)
    exponents = np.round(numbers_at(values.exponent, times), 2)
    for exponent in np.unique(exponents):
        weights = np.array(zipf_weights(values.n, float(exponent)))
        here = exponents == exponent
        ranks[here] = np.searchsorted(weights, drawn[here] * weights[-1], "right")
    shift = _rounded(numbers_at(values.shift, times))
    return values.first + (np.minimum(ranks, values.n - 1) + shift) % values.n


def _choice(values: Choice, times: Array, random: np.random.Generator) -> list[str]:
    drawn = random.random(len(times))
    if any(isinstance(weight, Changing) for weight in values.of.values()):
        weights = np.cumsum([numbers_at(weight, times) for weight in values.of.values()], axis=0)
        places = (weights <= drawn * weights[-1]).sum(axis=0)
    else:  # A table of weights at all times would take time and space for every value of every element.
        weights = np.cumsum(np.array(list(values.of.values()), np.float64))
        places = np.searchsorted(weights, drawn * weights[-1], "right")
    texts = list(values.of)
    return [texts[place] for place in np.minimum(places, len(texts) - 1)]


def _constant(values: Constant, times: Array) -> Array | list[str]:
    value = values.value
    if isinstance(value, str):
        return [value] * len(times)
    if isinstance(value, bool):
        return np.full(len(times), value)
    if isinstance(value, int):
        return np.full(len(times), value, np.int64)
    found = numbers_at(value, times)
    return found if values.type == "float" else found.astype(np.int64)


def _rounded(numbers: Array) -> Array:
    return np.rint(numbers).astype(np.int64)
