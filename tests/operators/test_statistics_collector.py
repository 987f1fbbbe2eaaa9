"""What a collector tells of streams depends on their elements only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import objects

import midstream as ms
from midstream.operators.compile.inlets import FULL
from midstream.operators.engine.measuring.statistics_collector import LONG, Collector
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.observations import GROUPS, Cell
from midstream.plans.values.streams import Element

S = ms.stream("s", x="integer", y="string")
INTERVALS = ms.stream("i", x="integer", intervals=True)
STEP, MOST = 10, 8

starts = st.lists(st.integers(-25, 60), max_size=60).map(sorted)
cuts = st.lists(st.integers(0, 60), max_size=6).map(sorted)


def collector(most: int = MOST) -> Collector:
    sources = [source for plan in (S.plan(), INTERVALS.plan()) for source in plan.sources]
    return Collector(sources, {"s": ["x", "y"]}, STEP, most)


def elements_of(times: Sequence[int]) -> list[Element]:
    return [(t, t + 1, (i % 3 or None, "ab"[t % 2])) for i, t in enumerate(times)]


def cells_of(elements: Sequence[Element], cut: Sequence[int], **options: int) -> list[Cell]:
    found = collector(**options)
    bounds = [0, *(place for place in cut if place < len(elements)), len(elements)]
    for i, j in pairwise(bounds):
        found.take("s", list(elements[i:j]), elements[j][0] if j < len(elements) else math.inf)
    return found.cells(math.inf)


@given(starts, cuts, cuts)
def test_summaries_do_not_depend_on_batches(
    times: Sequence[int], one: Sequence[int], other: Sequence[int]
) -> None:
    elements = elements_of(times)
    assert cells_of(elements, one) == cells_of(elements, other)


@given(starts, cuts, st.integers(-30, 70))
def test_summaries_do_not_depend_on_when_they_are_asked_for(
    times: Sequence[int], cut: Sequence[int], until: int
) -> None:
    elements, found = elements_of(times), collector()
    found.take("s", elements, math.inf)
    early = found.cells(until)
    assert all(cell.end <= until for cell in early)
    assert early + found.cells(math.inf) == cells_of(elements, cut)


@given(starts)
def test_a_summary_tells_what_came_in_its_cell(times: Sequence[int]) -> None:
    elements = elements_of(times)
    cells = cells_of(elements, [])
    assert [cell.start for cell in cells] == sorted({t - t % STEP for t in times})
    for cell in cells:
        inside = [element for element in elements if cell.start <= element[0] < cell.end]
        rows = list(cell.rows)
        assert (cell.elements, cell.first) == (len(inside), inside[0][0])
        assert len(rows) == min(MOST, len(inside)) and not Counter(rows) - Counter(e[2] for e in inside)
        assert cell.weight == len(inside) / len(rows)
        for i, column in enumerate(["x", "y"]):
            assert cell.keys[column] == Counter(row[i] for row in rows if row[i] is not None)
        assert len(cell.groups) == len(rows) and set(cell.groups) <= set(range(GROUPS))
        if len(inside) <= MOST:
            assert Counter(rows) == Counter(e[2] for e in inside)
            assert cell.granule == math.gcd(*(e[0] for e in inside))


@pytest.mark.parametrize("period", [2, 3, 4, 7, 8, 10, 16, 64])
def test_all_elements_are_as_likely_in_the_sample(period: int) -> None:
    """Also where values come in turn."""
    elements = [(t // 100, t // 100 + 1, (t % period, "")) for t in range(32_000)]
    cells = cells_of(elements, [], most=16)
    found = Counter({value: 0 for value in range(period)})
    for cell in cells:
        found += Counter(row[0] for row in cell.rows)
    expected = 16 * 32 / period
    deviation = sum((count - expected) ** 2 / expected for count in found.values())
    assert deviation < period + 5 * math.sqrt(2 * period)


def test_rows_are_in_groups_at_random() -> None:
    elements = [(t, t + 1, (t, "")) for t in range(8000)]
    sizes = Counter({g: 0 for g in range(GROUPS)})
    for cell in cells_of(elements, []):
        sizes += Counter(cell.groups)
    assert all(700 < size < 900 for size in sizes.values())
    assert len(set(sizes.values())) > 1  # not in turn: that would tell nothing of how much a number varies


def test_lengths_of_validity() -> None:
    found = collector(most=100)
    found.take("i", [(0, 6, (1,)), (1, 3, (1,)), (2, math.inf, (1,)), (2, math.inf, (1,))], 9)
    (cell,) = found.cells(13)
    assert (cell.length, cell.endless) == (4.0, 0.5)


def test_a_cell_is_over_when_it_is_asked_for() -> None:
    """Whoever asks knows that the stream has come so far, though no batch has told."""
    found = collector()
    found.take("s", elements_of([4, 5]), 5)
    assert [(cell.start, cell.end, cell.elements) for cell in found.cells(10)] == [(0, 10, 2)]
    assert found.cells(math.inf) == []


def test_a_batch_may_be_used_again() -> None:
    found, batch = collector(), elements_of([8, 9, 10])
    found.take("s", batch, 10)
    batch.clear()
    found.take("s", batch, 50)
    assert [cell.elements for cell in found.cells(50)] == [2, 1]


def test_only_a_sample_of_the_last_cell_is_kept() -> None:
    found, before = collector(), objects()
    for t in range(10 * FULL):
        found.take("s", [(9, 10, (t, ""))], 9)
    assert objects() - before < 3 * MOST + 2 * FULL + 20


def test_other_streams_are_ignored() -> None:
    found = collector()
    found.take("z", [(0, 1, ())], 1)
    assert found.cells(math.inf) == []


@pytest.mark.parametrize("options", [{"step": 0}, {"step": 1, "most": 0}, {"step": "1"}])
def test_bad_arguments(options: dict[str, int]) -> None:
    with pytest.raises(ArgumentError):
        Collector(S.plan().sources, {}, **options)


@given(starts.filter(bool), st.integers(1, 20))
def test_a_long_cell_has_a_larger_sample(times: Sequence[int], steps: int) -> None:
    found, elements = collector(), elements_of(times)
    start = times[0] // STEP * STEP
    end = max(start + steps * STEP, times[-1] // STEP * STEP + STEP)
    found.take_cell("s", elements, start, end)
    (cell,) = found.cells(end)
    assert (cell.start, cell.end, cell.elements, cell.first) == (start, end, len(times), times[0])
    assert len(cell.rows) == min(len(times), MOST * min(LONG, (end - start) // STEP))
    assert not Counter(cell.rows) - Counter(element[2] for element in elements)
