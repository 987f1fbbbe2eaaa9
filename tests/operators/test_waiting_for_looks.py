"""Elements that wait for a look: no result is late, and what has run at a look does not depend on batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream import testing
from midstream.plans.values.streams import Batch, Element, Time

WINDOW = 40
A = ms.stream("a", ax="integer").window(WINDOW)
B = ms.stream("b", bx="integer", by="integer").window(WINDOW)
C = ms.stream("c", cy="integer").window(WINDOW)
TWO = A.join(B, on=[("ax", "bx")]).plan()
THREE = A.join(B, on=[("ax", "bx")]).join(C, on=[("by", "cy")]).plan()


class Looking:
    """Keeps what an engine has counted, and the largest ends in its windows, at each look."""

    def __init__(self, engine: ms.Engine) -> None:
        self.engine = engine
        self.seen: list[tuple[int, Any]] = []
        self.told: dict[str, list[Element]] = {}

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        self.told.setdefault(stream, []).extend(batch)

    def look(self, now: int) -> None:
        counted = {str(node): number for node, number in self.engine.counters().emitted.items()}
        self.seen.append((now, (counted, {str(node): end for node, end in self.engine.max_ends().items()})))


@given(data=st.data(), workload=testing.workloads(testing.plans(windows=True)))
def test_no_result_comes_later_than_without_watchers(data: st.DataObject, workload: testing.Workload) -> None:
    """Behind each event there are as many as without, also of another query over some of the inputs.

    Watches of any streams, those of no query among them, begin and end in the middle.
    """
    names = [source.stream for source in workload.plan.sources]
    part = data.draw(st.sampled_from([workload.plan, *_parts(workload.plan)]))
    instants = st.integers(0, len(workload.events))
    watches = data.draw(
        st.lists(
            st.tuples(
                st.lists(st.sampled_from(names), unique=True, min_size=1),
                st.integers(1, 12),
                instants,
                instants,
            ),
            min_size=1,
            max_size=3,
        )
    )
    engines, results = [], []
    for _ in range(2):
        found: list[list[Element]] = [[], []]
        engine = ms.Engine(workload.plan, found[0].extend)
        engine.add(part, found[1].extend, "part")
        engines.append(engine)
        results.append(found)
    looking = engines[1]
    leave: dict[int, Callable[[], None]] = {}
    heard: dict[int, dict[str, list[Element]]] = {}
    for at, event in enumerate(workload.events):
        for number, (watched, step, begin, end) in enumerate(watches):
            if at == begin:
                watcher = Looking(looking)
                leave[number] = looking.watch_streams(watcher, step, watched)
                heard[number] = watcher.told
            if at == end and number in leave:
                leave.pop(number)()
                del heard[number]
        for engine in engines:
            testing.drive(engine, [event])
        assert [len(some) for some in results[0]] == [len(some) for some in results[1]], event
    for engine in engines:
        engine.close()
    for one, other in zip(*results, strict=True):
        assert ms.equivalent(one, other)
    for number, told in heard.items():
        watched, _, begin, _ = watches[number]
        for name in watched:
            pushed = [
                one
                for kind, stream, what in workload.events[begin:]
                if kind == "push" and stream == name
                for one in what
            ]
            assert told.get(name, [])[-len(pushed) :] == pushed or not pushed


def _parts(plan: ms.Plan) -> Iterator[ms.Plan]:
    """Queries over some of the inputs of a plan."""
    return (below for node in plan.nodes if (below := ms.Plan(node)).sources)


@given(
    seed=st.integers(0, 10**6),
    ahead=st.integers(0, 3),
    step=st.sampled_from([7, 10, WINDOW, 3 * WINDOW]),
    gap=st.sampled_from([0, 100, 5000]),
)
def test_what_has_run_at_a_look_does_not_depend_on_batches(
    seed: int, ahead: int, step: int, gap: int
) -> None:
    """Nor on which stream comes first at the beginning, and behind a silence."""
    chance = Random(seed)
    streams = {name: list(_elements(chance, name, gap)) for name in "abc"}
    expected = looks(streams, step, [(name, [one]) for one, name in _in_order(streams)])
    assert len(expected) >= 100 // step
    assert looks(streams, step, _in_batches(streams, chance, ahead)) == expected


def test_a_stream_does_not_wait_where_another_query_reads_less() -> None:
    results: list[Element] = []
    engine = ms.Engine(THREE)
    engine.add(TWO, results.extend, "two")
    engine.watch_streams(Looking(engine), 10)
    engine.push("a", [(0, 1, (1,)), (50, 51, (1,))])
    engine.push("b", [(0, 1, (1, 1)), (50, 51, (1, 1))])
    engine.advance("a", 51)
    engine.advance("b", 51)
    assert len(results) == 2  # c is silent


def test_a_stream_does_not_wait_below_a_window_of_rows() -> None:
    """The next row tells where the last one ends, whose result starts earlier."""
    lasting = ms.stream("a", ax="integer").window(None)
    rows = ms.stream("b", bx="integer", by="integer").last(1)
    results: list[Element] = []
    engine = ms.Engine(lasting.join(rows, on=[("ax", "bx")]), results.extend)
    engine.watch_streams(Looking(engine), 10)
    engine.push("a", [(0, 1, (1,))])
    engine.push("b", [(0, 1, (1, 1)), (15, 16, (2, 2))])
    assert results == [(0, 15, (1, 1, 1))]


@pytest.mark.parametrize("step", [4, 10])
def test_nobody_waits_for_a_stream_whose_time_a_window_moves_on(step: int) -> None:
    """A window that slides by 10 has come to 19 when its stream has come to 10."""
    sliding = ms.stream("b", bx="integer", by="integer").window(30, slide=10)
    results: list[Element] = []
    engine = ms.Engine(A.join(sliding, on=[("ax", "bx")]), results.extend)
    engine.watch_streams(Looking(engine), step)
    engine.push("b", [(10, 11, (1, 1))])
    engine.push("a", [(10, 11, (1,)), (19, 20, (1,))])
    assert len(results) == 2


def test_streams_do_not_wait_for_each_other_by_two_watches() -> None:
    """A query over one stream goes on where another watch of it waits for a stream that waits itself."""
    engine = ms.Engine(THREE)
    alone: list[Element] = []
    engine.add(A, alone.extend, "alone")
    engine.watch_streams(Looking(engine), 10)
    engine.push("c", [(0, 1, (1,))])
    engine.push("b", [(0, 1, (1, 1)), (264, 265, (1, 1))])
    engine.watch_streams(Looking(engine), 1, ["a", "b"])
    engine.push("a", [(time, time + 1, (1,)) for time in range(50)])
    assert len(alone) == 50


def test_a_watch_that_ends_lets_all_elements_run() -> None:
    engine = ms.Engine(THREE)
    leave = engine.watch_streams(Looking(engine), 10)
    engine.push("a", [(time, time + 1, (1,)) for time in range(50)])
    assert engine.counters().elements == 0  # an element of b or c may still call for an earlier look
    for name in "bc":
        engine.advance(name, 5)
    assert engine.counters().elements == 10
    leave()
    assert engine.counters().elements == 50


def test_a_query_that_comes_sees_no_element_that_was_pushed_before() -> None:
    engine = ms.Engine(THREE)
    engine.watch_streams(Looking(engine), 10)
    engine.push("b", [(time, time + 1, (1, 1)) for time in range(50)])
    results: list[Element] = []
    engine.add(B.plan(), results.extend, "later")
    engine.push("b", [(50, 51, (2, 2))])
    assert [row for _, _, row in results] == [(2, 2)]


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_nobody_looks_once_all_streams_have_ended(order: Sequence[str]) -> None:
    """Before, looks come where all streams have come to, and those that have ended hold up none."""
    engine = ms.Engine(THREE)
    looking, beside = Looking(engine), Looking(engine)
    engine.watch_streams(looking, 10)
    engine.watch_streams(beside, 7)
    engine.push("a", [(0, 1, (1,)), (25, 26, (1,)), (26, 27, (1,))])
    engine.push("b", [(0, 1, (1, 1))])
    engine.push("c", [(0, 1, (1,))])
    for stream in order:
        engine.end(stream)
    instants = [now for now, _ in looking.seen], [now for now, _ in beside.seen]
    assert instants == (([10, 20], [7, 14, 21]) if order[-1] == "a" else ([], []))
    assert engine.counters().elements == 5


def looks(
    streams: Mapping[str, Sequence[Element]], step: int, batches: Sequence[tuple[str, list[Element]]]
) -> list[Any]:
    """What is seen at each look, where batches arrive in turn."""
    engine = ms.Engine(THREE)
    looking = Looking(engine)
    engine.watch_streams(looking, step, idle=3)
    for name, batch in batches:
        engine.push(name, batch)
    engine.close()
    return looking.seen


def _elements(chance: Random, name: str, gap: int) -> Iterator[Element]:
    """Each stream begins at a time of its own, and half-way is silent for a gap or somewhat longer."""
    first, longer = chance.randrange(60), chance.randrange(60)
    for time in range(first, 240):
        if chance.random() < 0.5 and not (gap and 120 <= time < 120 + longer):
            row = (chance.randrange(3),) * (2 if name == "b" else 1)
            at = time + gap if time >= 120 else time
            yield at, at + 1, row


def _in_order(streams: Mapping[str, Sequence[Element]]) -> list[tuple[Element, str]]:
    return sorted(
        ((one, name) for name, some in streams.items() for one in some), key=lambda of: (of[0][0], of[1])
    )


def _in_batches(
    streams: Mapping[str, Sequence[Element]], chance: Random, ahead: int
) -> Iterator[tuple[str, list[Element]]]:
    """Batches of many lengths, of the stream that is behind or of one that is ahead of it."""
    at = dict.fromkeys(streams, 0)
    while left := [name for name in streams if at[name] < len(streams[name])]:
        left.sort(key=lambda name: streams[name][at[name]][0])
        name = left[min(len(left) - 1, chance.randrange(ahead + 1))]
        size = chance.choice((1, 2, 9, 60))
        yield name, list(streams[name][at[name] : at[name] + size])
        at[name] += size
