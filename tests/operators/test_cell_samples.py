"""A sample of a cell depends on its elements only, and is as large as it is asked to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.engine.measuring import sampling
from midstream.operators.engine.measuring.sampling import CELLS, Ahead, CellSample, StreamSampler
from midstream.plans.values.streams import Element

MOST, LENGTH = 8, 50

starts = st.lists(st.integers(-60, 300), min_size=1, max_size=400).map(sorted)
cuts = st.lists(st.integers(0, 400), max_size=8)


def elements_of(times: Sequence[int]) -> list[Element]:
    return [(t, t + 1, (i,)) for i, t in enumerate(times)]


def pieces(elements: list[Element], cut: Sequence[int]) -> list[list[Element]]:
    bounds = sorted({0, len(elements), *(place for place in cut if place < len(elements))})
    return [elements[i:j] for i, j in pairwise(bounds)]


def sampled(parts: Sequence[list[Element]], *, apart: Sequence[bool] = ()) -> CellSample:
    """The sample of parts; some are sampled apart, and merged."""
    sampler, sample = StreamSampler("s", LENGTH), CellSample(MOST)
    for i, part in enumerate(parts):
        if i < len(apart) and apart[i]:
            other = CellSample(MOST)
            sampler.add(part, other)
            sample.merge(other)
        else:
            sampler.add(part, sample)
    return sample


@pytest.fixture(autouse=True, params=[sampling.PLACES, 50], ids=["few ties", "many ties"])
def small_pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pieces end within the streams that are drawn, and numbers may be equal."""
    numbers, number_of = request.param, sampling.number_of
    monkeypatch.setattr(sampling, "MANY", 60)
    monkeypatch.setattr(sampling, "number_of", lambda place: number_of(place) % numbers)
    sampling._numbers.cache_clear()
    yield
    sampling._numbers.cache_clear()


@given(starts, cuts, st.lists(st.booleans(), max_size=9))
def test_a_sample_does_not_depend_on_how_elements_come(
    times: list[int], cut: list[int], apart: list[bool]
) -> None:
    elements = elements_of(times)
    whole, parts = sampled([elements]), sampled(pieces(elements, cut), apart=apart)
    assert (whole.count, whole.first) == (parts.count, parts.first) == (len(elements), times[0])
    for most in (1, 3, MOST):
        some = parts.elements(most)
        assert some == whole.elements(most) == sorted(some, key=lambda element: element[2])
        assert len(some) == min(most, len(elements)) and set(some) <= set(elements)
    assert set(whole.elements(3)) <= set(whole.elements(MOST))


def test_a_sample_is_bounded_and_repeats_the_shares_of_equal_rows() -> None:
    """An element of a thousand equal ones is as likely in it as one that is alone."""
    sampler, found = StreamSampler("s", LENGTH), 0
    for cell in range(200):
        sample = CellSample(MOST)
        for t in range(100):
            sampler.add([(cell * LENGTH, cell * LENGTH + 1, ("often" if t % 4 else t,))], sample)
            assert len(sample._picked) <= 2 * MOST
        found += sum(row == ("often",) for _, _, row in sample.elements(MOST))
    assert 0.70 < found / (200 * MOST) < 0.80


def test_rounds_of_a_long_block_have_other_numbers() -> None:
    sampler, samples = StreamSampler("s", 10), [CellSample(MOST) for _ in range(4)]
    for sample in samples:
        sampler.add([(1, 2, (i,)) for i in range(sampling.PLACES)], sample)
    assert len({tuple(sample.elements(MOST)) for sample in samples}) == 4


@given(st.lists(st.integers(0, 400), max_size=300).map(sorted), st.integers(0, 500))
def test_cells_ahead_are_few_and_lose_nothing(numbers: list[int], until: int) -> None:
    ahead: Ahead[list[int]] = Ahead(lambda one, other: one + other)
    for number in numbers:
        ahead.add(number, [number])
        assert len(ahead.cells) <= CELLS
    width = ahead._width
    taken = [number for cell in ahead.first(until) for number in cell]
    left = [number for cell in ahead.cells.values() for number in cell]
    assert taken + left == numbers
    assert all(number < until for number in taken) and all(number > until - width for number in left)
