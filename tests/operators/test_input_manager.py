"""The input manager against a slow model: order, progress, what is late, and that nothing is lost."""

from __future__ import annotations

import math
import random
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.engine.input.input_manager import DeadLetter, DeadLetters, InputManager, dead_letter
from midstream.plans.values.errors import (
    EndedError,
    IntervalError,
    LateElementError,
    MidstreamError,
    SchemaError,
    StreamOrderError,
)
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import elements, is_ordered

SLACKS = st.one_of(st.none(), st.integers(0, 12), st.just(FOREVER))
Step = tuple[str, Any]


class Model:
    """Looks at one element at a time, and sorts all that was taken so far after each step."""

    def __init__(self, slack: Time | None, delay: int) -> None:
        self.slack, self.delay = slack or 0, delay
        self.progress: Time = BEGINNING
        self.taken: list[Element] = []
        self.late: list[tuple[Element, Time]] = []

    def do(self, kind: str, what: Any) -> None:
        if kind == "push":
            for element in what:
                if element[0] < self.progress:
                    self.late.append((element, self.progress))
                else:
                    self.taken.append(element)
                    self.progress = max(self.progress, element[0] - self.slack)
        else:
            self.progress = max(
                self.progress, {"advance": what, "tick": (what or 0) - self.delay, "end": FOREVER}[kind]
            )

    def output(self) -> list[Element]:
        return [e for e in sorted(self.taken, key=lambda e: e[0]) if e[0] <= self.progress]

    def waiting(self) -> list[Element]:
        return [e for e in self.taken if e[0] > self.progress]


def do(manager: InputManager, kind: str, what: Any) -> tuple[list[Element], Time]:
    return manager.end() if kind == "end" else getattr(manager, kind)(what)


def outcome(manager: InputManager, steps: list[Step]) -> list[Element]:
    """All that comes out."""
    return [element for kind, what in steps for element in do(manager, kind, what)[0]]


@st.composite
def arrivals(draw: st.DrawFn, beats: bool = True) -> list[Step]:
    """Batches in any order, with ties, between heartbeats and ticks; every payload is another number."""
    steps: list[Step] = []
    count = now = 0
    for size in draw(st.lists(st.sampled_from((0, 1, 1, 1, 2, 3, 8, 20)), min_size=1, max_size=12)):
        starts = draw(st.lists(st.integers(now - 6, now + 8), min_size=size, max_size=size))
        if draw(st.booleans()):
            starts.sort()
        batch = [(start, start + 1 + (count + i) % 5, count + i) for i, start in enumerate(starts)]
        steps.append(("push", batch))
        count += size
        now += draw(st.integers(0, 4))
        if beats and draw(st.integers(0, 3)) == 0:
            steps.append((draw(st.sampled_from(("advance", "tick"))), now - draw(st.integers(0, 9))))
    if draw(st.booleans()):
        steps.insert(draw(st.integers(len(steps) // 2, len(steps))), ("end", None))
    return steps


@given(arrivals(), SLACKS, st.integers(0, 6))
def test_it_does_what_the_model_does(steps: list[Step], slack: Time | None, delay: int) -> None:
    check_against_model(steps, slack, delay)


@pytest.mark.parametrize("slack", [5, 20, FOREVER])
@pytest.mark.parametrize("seed", range(4))
def test_it_does_what_the_model_does_for_long(seed: int, slack: Time) -> None:
    """Many ties wait at once, and elements move between the places where they wait."""
    rng = random.Random(seed)
    steps: list[Step] = []
    for number in range(0, 6000, 20):
        now = number // 100
        size = rng.choice((1, 1, 1, 1, 2, 3, 10))
        starts = [now + rng.randint(-10, 2) for _ in range(size)]
        steps.append(("push", [(t, t + rng.randint(1, 9), number + i) for i, t in enumerate(starts)]))
        if rng.random() < 0.1:
            steps.append(("advance", now - rng.randint(2, 12)))
    check_against_model(steps, slack, delay=0)


def check_against_model(steps: list[Step], slack: Time | None, delay: int) -> None:
    """After every step: what came out, what waits, what was late and behind which progress; in sum all that
    arrived. Progress never goes back, and nothing comes out behind it."""
    refused: list[DeadLetter] = []
    letters = DeadLetters(refused.extend)
    manager, model = InputManager("s", slack, delay, letters), Model(slack, delay)
    out: list[Element] = []
    arrived = 0
    for kind, what in [*steps, ("end", None)]:
        promised = manager.progress
        ready, progress = do(manager, kind, what)
        model.do(kind, what)
        assert promised <= progress == manager.progress == model.progress
        assert all(promised <= start <= progress for start, _, _ in ready)
        out += ready
        arrived += len(what) if kind == "push" else 0
        assert out == model.output()
        assert sorted(manager.state()) == sorted(model.waiting())
        assert [(letter.element, letter.progress) for letter in refused] == model.late
        assert arrived == len(out) + manager.size() + sum(letters.counters().values())
    assert manager.size() == 0
    late = sum(progress != FOREVER for _, progress in model.late)
    expected = {"late": late, "ended": len(model.late) - late}
    assert letters.counters() == {reason: count for reason, count in expected.items() if count}


@given(arrivals(), SLACKS, st.data())
def test_batch_boundaries_do_not_matter(steps: list[Step], slack: Time | None, data: st.DataObject) -> None:
    """Cut elsewhere, the same comes out, the same is late, and it comes out at the same heartbeat or end."""
    cut: list[Step] = []
    for kind, what in steps:
        rest = what
        while kind == "push" and len(rest) > 1:
            size = data.draw(st.integers(1, len(rest)))
            cut.append((kind, rest[:size]))
            rest = rest[size:]
        if kind != "push" or rest:
            cut.append((kind, rest))
    results = []
    for way in (steps, cut):
        refused: list[DeadLetter] = []
        manager = InputManager("s", slack, 2, DeadLetters(refused.extend))
        results.append((outcome(manager, way), manager.progress, sorted(manager.state()), refused))
    assert results[0] == results[1]


def disorder(arrived: list[Element]) -> int:
    """By how much an element starts before one that came earlier, at most."""
    starts = [start for start, _, _ in arrived]
    return max((top - start for top, start in zip(accumulate(starts, max), starts, strict=True)), default=0)


def in_batches(arrived: list[Element], size: int) -> list[Step]:
    return [("push", arrived[i : i + size]) for i in range(0, len(arrived), size)]


@given(elements(max_size=40), st.data())
def test_slack_restores_what_disorder_it_covers(stream: list[Element], data: st.DataObject) -> None:
    """With a slack that is just enough the logical stream is the same and in order; with one less an element
    is late."""
    arrived = data.draw(st.permutations(stream))
    size = data.draw(st.integers(1, 10))
    slack = disorder(arrived)
    out = outcome(InputManager("s", slack), [*in_batches(arrived, size), ("end", None)])
    assert is_ordered(out)
    assert normal_form(out) == normal_form(stream)
    if slack > 0:
        with pytest.raises(LateElementError):
            outcome(InputManager("s", slack - 1), in_batches(arrived, size))


@given(elements(max_size=30), st.integers(0, 5), st.data())
def test_a_shuffle_within_the_slack_is_undone(stream: list[Element], slack: int, data: st.DataObject) -> None:
    delays = data.draw(st.lists(st.integers(0, slack), min_size=len(stream), max_size=len(stream)))
    arrived = [
        element for _, element in sorted(zip(delays, stream, strict=True), key=lambda p: p[0] + p[1][0])
    ]
    manager = InputManager("s", slack)
    out: list[Element] = []
    for i, step in enumerate(in_batches(arrived, 1)):
        out += outcome(manager, [step])
        latest = max(start for start, _, _ in arrived[: i + 1])
        assert all(latest - slack < start <= latest for start, _, _ in manager.state())
    out += manager.end()[0]
    assert is_ordered(out)
    assert normal_form(out) == normal_form(stream)


@given(elements(max_size=30), st.data())
def test_heartbeats_alone_restore_any_order(stream: list[Element], data: st.DataObject) -> None:
    """A heartbeat lets out what it covers, all of it and nothing else."""
    arrived = data.draw(st.permutations(stream))
    manager = InputManager("s", slack=FOREVER)
    out: list[Element] = []
    while arrived:
        size = data.draw(st.integers(1, len(arrived)))
        ready, _ = manager.push(arrived[:size])
        assert all(start == manager.progress for start, _, _ in ready)
        out += ready
        arrived = arrived[size:]
        if arrived and data.draw(st.booleans()):
            time = min(start for start, _, _ in arrived)
            ready, progress = manager.advance(time)
            out += ready
            assert progress == time
            assert all(start > time for start, _, _ in manager.state())
    ready, progress = manager.end()
    assert progress == FOREVER
    assert is_ordered(out + ready)
    assert normal_form(out + ready) == normal_form(stream)


@given(elements(chronons=True, max_size=20), st.integers(0, 6), st.data())
def test_ticks_exclude_only_what_the_delay_excludes(
    stream: list[Element], delay: int, data: st.DataObject
) -> None:
    """Nothing is late that arrives within the delay, and as soon as the delay is over nothing waits."""
    lags = data.draw(st.lists(st.integers(0, delay), min_size=len(stream), max_size=len(stream)))
    due = [(int(element[0]) + lag, element) for lag, element in zip(lags, stream, strict=True)]
    manager = InputManager("s", slack=FOREVER, delay=delay)
    out: list[Element] = []
    for now in range(-1, 50):
        out += manager.tick(now)[0]
        assert manager.progress == now - delay
        out += manager.push([element for time, element in due if time == now])[0]
        assert sorted(out) == sorted(e for t, e in due if t <= now and e[0] <= now - delay)
        assert is_ordered(out)
    assert manager.size() == 0
    assert normal_form(out) == normal_form(stream)
    assert manager.tick(10) == ([], 49 - delay)


def test_an_element_is_late_one_chronon_beyond_the_delay() -> None:
    manager = InputManager("s", delay=4)
    manager.tick(30)
    assert manager.push([(26, 27, "a")]) == ([(26, 27, "a")], 26)
    with pytest.raises(LateElementError, match=r"starts at 25 after progress 26; declared: delay 4$"):
        manager.push([(25, 26, "b")])


@given(arrivals(), SLACKS, st.booleans())
def test_an_error_leaves_everything_as_it_was(steps: list[Step], slack: Time | None, sink: bool) -> None:
    """Nothing of the batch is taken; the rest goes on as if the batch had not been there."""

    def broken(letters: list[DeadLetter]) -> None:
        raise OSError

    letters = DeadLetters(broken) if sink else None
    manager, twin = InputManager("s", slack, 2, letters), InputManager("s", slack, 2)
    for kind, what in steps:
        before = manager.progress, sorted(manager.state())
        try:
            got = do(manager, kind, what)
        except (OSError, StreamOrderError, EndedError) as error:
            assert isinstance(error, OSError) is sink
            assert (manager.progress, sorted(manager.state())) == before
        else:
            assert got == do(twin, kind, what)
    assert manager.end() == twin.end()
    assert letters is None or letters.counters() == {}


@given(arrivals(beats=False), SLACKS)
def test_the_first_late_element_is_the_one_that_is_named(steps: list[Step], slack: Time | None) -> None:
    manager, model = InputManager("s", slack), Model(slack, 0)
    for kind, what in steps:
        model.do(kind, what)
        if not model.late:
            do(manager, kind, what)
            continue
        element, progress = model.late[0]
        expected = EndedError if progress == FOREVER else LateElementError
        if slack is None and progress != FOREVER:
            expected = StreamOrderError
        with pytest.raises(MidstreamError) as caught:
            do(manager, kind, what)
        assert type(caught.value) is expected
        if progress != FOREVER:
            assert (caught.value.element, caught.value.progress) == (element, progress)
        return


def test_a_source_in_order_is_refused_with_what_came_and_what_was_expected() -> None:
    bids = InputManager("bids")
    bids.push([(3, 4, "a")])
    with pytest.raises(StreamOrderError) as caught:
        bids.push([(5, 6, "b"), (4, 5, "c")])
    assert type(caught.value) is StreamOrderError
    assert str(caught.value) == "stream bids: element (4, 5, 'c') starts at 4 after progress 5"
    assert bids.progress == 3


def test_a_late_element_is_refused_with_what_was_declared() -> None:
    bids = InputManager("bids", slack=2, delay=9)
    bids.push([(8, 9, "a")])
    with pytest.raises(StreamOrderError) as caught:
        bids.push([(5, 6, "b")])
    error: Any = caught.value
    assert type(error) is LateElementError
    assert str(error).endswith("starts at 5 after progress 6; declared: slack 2, delay 9")
    assert (error.stream, error.element, error.progress) == ("bids", (5, 6, "b"), 6)
    assert (error.slack, error.delay) == (2, 9)


@pytest.mark.parametrize("slack", [None, 2, FOREVER])
def test_what_comes_after_the_end_is_refused(slack: Time | None) -> None:
    manager = InputManager("s", slack, delay=1)
    manager.push([(3, 4, "a")])
    assert manager.end()[1] == FOREVER
    assert manager.end() == manager.advance(99) == manager.tick(99) == manager.push([]) == ([], FOREVER)
    for batch in ([(100, 101, "b")], [(100, 101, "b"), (101, 102, "c")]):
        with pytest.raises(EndedError, match="stream s: an element arrived after the end"):
            manager.push(batch)


@pytest.mark.parametrize("slack", [None, 0, 3])
def test_an_element_that_is_late_is_not_cut_down(slack: Time | None) -> None:
    """Although it is valid for ever, no part of it comes out, and the letter holds it as it was."""
    refused: list[DeadLetter] = []
    manager = InputManager("bids", slack, letters=DeadLetters(refused.extend))
    out = manager.push([(20, 21, "a"), (10, FOREVER, "b"), (22, 23, "c")])[0] + manager.end()[0]
    progress = 20 - (slack or 0)
    assert out == [(20, 21, "a"), (22, 23, "c")]
    message = f"stream bids: element (10, inf, 'b') starts at 10 after progress {progress}"
    assert [letter.message.partition(";")[0] for letter in refused] == [message]
    assert (refused[0].stream, refused[0].element, refused[0].reason) == ("bids", (10, FOREVER, "b"), "late")


@pytest.mark.parametrize("size", [1, 2, 3, 12])
def test_ties_keep_the_order_of_arrival(size: int) -> None:
    """Also those that wait in different places: behind others, out of order, or just arrived."""
    starts = [5, 9, 7, 9, 7, 12, 9, 7, 12, 5, 9, 12]
    arrived: list[Element] = [(start, 100 - i, i) for i, start in enumerate(starts)]
    out = outcome(InputManager("s", slack=7), [*in_batches(arrived, size), ("end", None)])
    assert [i for _, _, i in out] == [0, 9, 2, 4, 7, 1, 3, 6, 10, 5, 8, 11]


def test_what_waits_in_different_places_comes_out_in_order() -> None:
    manager = InputManager("s", slack=5)
    outcome(manager, [("push", [(9, 10, "a")]), ("push", [(8, 9, "b")])])
    assert manager.advance(9) == ([(8, 9, "b"), (9, 10, "a")], 9)


def test_an_ordered_batch_is_not_copied() -> None:
    manager = InputManager("s")
    batch = [(1, 2, "a"), (1, 2, "b"), (4, 5, "a")]
    assert manager.push(batch)[0] is batch
    for tied in ([(4, 5, "b")], [(4, 5, "b"), (7, 8, "c")]):
        assert manager.push(tied)[0] is tied


@pytest.mark.parametrize("size", [1, 3])
def test_time_has_no_limits(size: int) -> None:
    """Integers too large for floats, before and behind FOREVER and BEGINNING."""
    huge = 10**400
    arrived: list[Element] = [(huge + 5, huge + 6, "a"), (-huge, huge, "b"), (huge, FOREVER, "c")]
    expected = [arrived[1], arrived[2], arrived[0]]
    for slack in (FOREVER, 3 * huge):
        manager = InputManager("s", slack, delay=huge)
        manager.tick(-huge)
        assert outcome(manager, [*in_batches(arrived, size), ("end", None)]) == expected


@pytest.mark.parametrize("bound", [-1, 2.5, 3.0, True, "3", -math.inf, math.nan])
def test_bounds_are_numbers_of_chronons(bound: Any) -> None:
    for name in ("slack", "delay"):
        with pytest.raises(IntervalError, match=f"stream bids: found {name} {bound!r}, expected an integer"):
            InputManager("bids", **{name: bound})


def test_an_unlimited_delay_promises_nothing() -> None:
    with pytest.raises(IntervalError, match="found delay inf"):
        InputManager("bids", delay=FOREVER)


@pytest.mark.parametrize("time", [3.5, 3.0, True, None, FOREVER])
def test_heartbeats_and_ticks_are_integers(time: Any) -> None:
    manager = InputManager("bids", slack=2, delay=2)
    manager.push([(1, 2, "a")])
    with pytest.raises(IntervalError, match="stream bids: found heartbeat"):
        manager.advance(time)
    with pytest.raises(IntervalError, match="stream bids: found time"):
        manager.tick(time)
    assert (manager.progress, manager.size()) == (-1, 1)


def test_a_tick_needs_a_declared_delay() -> None:
    with pytest.raises(IntervalError, match="found time 7, expected none where no delay is declared"):
        InputManager("bids").tick(7)


def test_letters_are_counted_by_reason() -> None:
    refused: list[DeadLetter] = []
    letters = DeadLetters(refused.extend)
    errors = [
        SchemaError("no row"),
        IntervalError("empty"),
        EndedError("over"),
        StreamOrderError("back"),
        LateElementError("late"),
    ]
    letters.take([dead_letter("bids", (1, 1, "a"), error, 7) for error in errors])
    letters.take([dead_letter("asks", "?", errors[0], BEGINNING)])
    assert letters.counters() == {"schema": 2, "interval": 1, "ended": 1, "late": 2}
    assert refused[1] == DeadLetter("bids", (1, 1, "a"), "interval", 7, "empty")
    assert refused[-1] == DeadLetter("asks", "?", "schema", BEGINNING, "no row")


def test_one_sink_serves_many_streams_and_hears_only_of_letters() -> None:
    calls: list[list[DeadLetter]] = []
    letters = DeadLetters(calls.append)
    letters.take([])
    for name in ("a", "b"):
        manager = InputManager(name, letters=letters)
        manager.push([(2, 3, "x"), (4, 5, "x")])
        manager.push([(1, 2, "x"), (5, 6, "x"), (0, 1, "x")])
    assert [[(letter.stream, letter.element[0]) for letter in call] for call in calls] == [
        [("a", 1), ("a", 0)],
        [("b", 1), ("b", 0)],
    ]
    assert letters.counters() == {"late": 4}


class Counted(int):
    """A start that counts how often it is compared."""

    comparisons = 0

    def _compare(name: str) -> Any:
        def compare(self: Counted, other: object) -> Any:
            Counted.comparisons += 1
            return getattr(int, name)(self, other)

        return compare

    __lt__, __le__, __gt__, __ge__, __eq__ = map(_compare, ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"))
    __hash__ = int.__hash__


@pytest.mark.parametrize("size", [16, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 1000))])
def test_the_cost_of_an_element_does_not_grow_with_what_waits(size: int) -> None:
    """Beyond a logarithm; counted in comparisons, for elements that jump about within the slack."""

    def comparisons(slack: int) -> float:
        rng = random.Random(1)
        moments = sorted((start + rng.randrange(slack), start) for start in range(3 * slack))
        arrived: list[Element] = [(Counted(start), start + 1, "x") for _, start in moments]
        manager = InputManager("s", slack)
        outcome(manager, in_batches(arrived[: 2 * slack], size))
        assert manager.size() > slack / 4
        Counted.comparisons = 0
        outcome(manager, in_batches(arrived[2 * slack :], size))
        return Counted.comparisons / (len(arrived) - 2 * slack)

    few, many = comparisons(500), comparisons(16_000)
    assert many < few * 1.2 * math.log(16_000) / math.log(500) + 16
