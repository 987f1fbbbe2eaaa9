"""The work of each item means what it should, in all the forms in which it is measured."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from midstream.benchmarks.aggregates import MaxAvgState
from midstream.benchmarks.contenders import BY_HAND, MIDSTREAM, contenders
from midstream.benchmarks.item import Item, State, Tagged, Workload, chunks, feed, workload
from midstream.benchmarks.items import ITEMS
from midstream.engine import Engine
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.specification import specified
from midstream.plans.values.snapshots import compare, equivalent, normal_form
from midstream.plans.values.streams import Element

NAMES = (
    "join",
    "expansive-join",
    "four-way-join",
    "max-avg",
    "group-count",
    "filter-map",
    "difference",
    "distinct",
)


@pytest.fixture(params=ITEMS, ids=lambda item: item.name)
def item(request: pytest.FixtureRequest) -> Item:
    """Each item of the benchmark."""
    chosen: Item = request.param
    return chosen


def tiny(item: Item, seed: int) -> Workload:
    """A workload small enough for the specification, with many ties, gaps and meetings."""
    return workload(item, elements=24, seed=seed, window=3)


def by_batches(work: Workload, size: int) -> list[Element]:
    results: list[Element] = []
    cut = chunks(feed(work.streams), len(work.streams), size)
    work.item.batch_loop(cut, work.span, results.extend)
    return results


def by_elements(work: Workload) -> list[Element]:
    results: list[Element] = []
    work.item.element_loop(feed(work.streams), work.span, results.append)
    return results


def by_key(work: Workload) -> list[Element]:
    states: dict[object, State] = {}
    results: list[Element] = []
    for tagged in feed(work.streams):
        key = work.item.key(tagged[1][2])
        if key not in states:
            states[key] = work.item.state(work.span)
        results += states[key].push([tagged])
    for state in states.values():
        results += state.finish()
    return results


def is_ordered(results: Sequence[Element]) -> bool:
    return all(before[0] <= after[0] for before, after in pairwise(results))


def test_the_items_are_those_of_the_list() -> None:
    assert tuple(item.name for item in ITEMS) == NAMES


@pytest.mark.parametrize("seed", range(4))
def test_every_form_means_what_is_specified(item: Item, seed: int) -> None:
    work = tiny(item, seed)
    meaning = specified(item.plan(work.span), work.streams)
    for results in (by_elements(work), by_batches(work, 1), by_batches(work, 5), by_key(work)):
        verdict = compare(meaning, normal_form(results))
        assert verdict, str(verdict)
        assert all(start < end for start, end, _ in results)


@pytest.mark.parametrize("window", [20, 200, 2000])
def test_every_form_gives_the_same_elements(item: Item, window: int) -> None:
    work = workload(item, elements=1500, seed=window, window=window)
    by_element = by_elements(work)
    assert by_element
    assert is_ordered(by_element)
    for size in (1, 64, 1024):
        results = by_batches(work, size)
        assert is_ordered(results)
        assert sorted(results) == sorted(by_element)
    assert sorted(by_key(work)) == sorted(by_element)


def test_midstream_gives_the_same(item: Item) -> None:
    work = workload(item, elements=1000, seed=7, window=100)
    by_hand = by_elements(work)
    ours = [one for one in contenders(work, (1, 64, 1024), ()) if one.name == MIDSTREAM]
    assert [one.batch_size for one in ours] == [1, 64, 1024]
    for one in ours:
        results = one.run()
        verdict = equivalent(by_hand, results)
        assert verdict, str(verdict)
        assert is_ordered(results)


def test_a_result_is_handed_on_as_soon_as_it_is_ready(item: Item) -> None:
    """The loop over single elements is never behind Midstream."""
    work = workload(item, elements=400, seed=3, window=20)
    by_hand: list[Element] = []
    ours: list[Element] = []
    engine = Engine(item.plan(work.span), ours.extend)
    compared = 0

    def in_step() -> Iterator[Tagged]:
        nonlocal compared
        for port, element in feed(work.streams):
            yield port, element
            engine.push(item.streams[port], [element])
            assert len(by_hand) >= len(ours)
            compared += bool(ours)

    item.element_loop(in_step(), work.span, by_hand.append)
    assert compared > 100


def test_streams_depend_on_the_seed_alone(item: Item) -> None:
    first, again, other = (workload(item, 300, seed, 50) for seed in (1, 1, 2))
    assert first.streams == again.streams
    assert first.streams != other.streams


def test_streams_are_what_they_are_said_to_be(item: Item) -> None:
    work = workload(item, elements=4000, seed=1)
    sources = [node.operator for node in item.plan(work.span).nodes if isinstance(node.operator, Source)]
    assert {source.stream for source in sources} == set(work.streams) == set(item.streams)
    assert work.elements == 4000
    for stream in work.streams.values():
        assert is_ordered(stream)
        distance = (stream[-1][0] - stream[0][0]) / (len(stream) - 1)
        assert distance == pytest.approx(item.period, rel=0.1)
        gaps = {after[0] - before[0] for before, after in pairwise(stream)}
        assert {0, 2 * item.period} <= gaps


@pytest.mark.parametrize(("name", "expected"), [("join", 0.5), ("expansive-join", 5), ("four-way-join", 0.5)])
@pytest.mark.parametrize("window", [100, 1000])
def test_joins_give_as_much_whatever_the_window(name: str, expected: float, window: int) -> None:
    (item,) = (item for item in ITEMS if item.name == name)
    work = workload(item, elements=20 * window * len(item.streams), seed=1, window=window)
    assert len(by_elements(work)) / work.elements == pytest.approx(expected, rel=0.2)


def test_a_feed_is_in_order_and_chunks_lose_nothing(item: Item) -> None:
    work = workload(item, elements=500, seed=1)
    tagged = feed(work.streams)
    assert is_ordered([element for _, element in tagged])
    cut = chunks(tagged, len(work.streams), 64)
    for port, stream in enumerate(work.streams.values()):
        assert [element for chunk in cut for element in chunk[port]] == stream
    assert all(sum(map(len, chunk)) == 64 * len(work.streams) for chunk in cut[:-1])


def test_hand_written_loops_come_first_of_each_size(item: Item) -> None:
    found = contenders(tiny(item, 1), (1, 64), ())
    assert [(one.name, one.batch_size) for one in found] == [
        (BY_HAND, 1),
        (MIDSTREAM, 1),
        (BY_HAND, 64),
        (MIDSTREAM, 64),
    ]


@pytest.mark.parametrize("form", ["batches", "elements"])
def test_state_is_purged(item: Item, form: str) -> None:
    """What a loop keeps after many windows is no more than after few."""
    if item.window is None:
        pytest.skip("nothing is kept")

    def kept(elements: int) -> int:
        work = workload(item, elements, seed=1, window=20)
        tagged = feed(work.streams)
        sizes: list[int] = []

        def watched(arriving: Iterable[Any]) -> Iterator[Any]:
            yield from arriving
            sizes.append(size_of_loop_state(form))

        if form == "batches":
            arriving = watched(chunks(tagged, len(work.streams), 4))
            item.batch_loop(arriving, work.span, lambda results: None)
        else:
            item.element_loop(watched(tagged), work.span, lambda result: None)
        return sizes[0]

    few, many = kept(400), kept(4000)
    assert few > 0
    assert many < 3 * few


def size_of_loop_state(form: str) -> int:
    """The number of entries in the containers of the loop that is running."""
    frame = inspect.currentframe()
    while frame is not None and not frame.f_code.co_name.endswith(f"_{form}"):
        frame = frame.f_back
    assert frame is not None
    return sum(_entries(value) for name, value in frame.f_locals.items() if name not in {"feed", "chunks"})


def _entries(value: object) -> int:
    if isinstance(value, dict):
        return sum(len(kept) if isinstance(kept, list) else 1 for kept in value.values())
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (dict, tuple)):
        return sum(map(_entries, value))
    if isinstance(value, MaxAvgState):
        return sum(map(_entries, vars(value).values()))
    return len(value) if isinstance(value, deque) else 0
