"""Recorded sources come in step and live ones as they come; commands and heartbeats come between them."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream import runner
from midstream.arrivals import Event
from midstream.commands.feeding import meeting
from midstream.driving import Trial
from midstream.io import async_rows_source
from midstream.io.sources.source import Source
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Batch
from midstream.runner import Runner, arrivals

LIMIT = 20
"""After how many seconds a test that waits for a thread has failed."""


def batch(*starts: int) -> Batch:
    """Chronons without content."""
    return [(start, start + 1, ()) for start in starts]


def recorded(**batches: list[Batch]) -> dict[str, Source]:
    """Sources that have everything already."""
    return {name: Source(name, iter(some)) for name, some in batches.items()}


def source_threads() -> list[threading.Thread]:
    """The threads that read live sources."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("source ")]


def require_no_threads() -> None:
    """Wait until the threads have stopped."""
    for thread in source_threads():
        thread.join(LIMIT)
    assert not source_threads()


def test_the_source_that_is_behind_is_read() -> None:
    sources = recorded(a=[batch(1, 5), batch(20)], b=[batch(3), batch(4), batch(9, 30)])
    assert list(arrivals(sources)) == [
        ("push", "a", batch(1, 5)),
        ("push", "b", batch(3)),
        ("push", "b", batch(4)),
        ("push", "b", batch(9, 30)),
        ("push", "a", batch(20)),
        ("end", "a", None),
        ("end", "b", None),
    ]


def test_no_source_and_an_empty_one() -> None:
    assert list(arrivals({})) == []
    assert list(arrivals(recorded(a=[]))) == [("end", "a", None)]


@given(
    st.lists(
        st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), max_size=6), min_size=1, max_size=4
    )
)
def test_recorded_sources_are_in_step(drawn: list[list[list[int]]]) -> None:
    given: dict[str, list[Batch]] = {}
    for number, lengths in enumerate(drawn):
        now, made = 0, []
        for steps in lengths:
            starts = [now := now + step for step in steps]
            made.append(batch(*starts))
        given[f"s{number}"] = made
    reached = dict.fromkeys(given, -1)
    seen: dict[str, list[Batch]] = {name: [] for name in given}
    for _, name, some in arrivals(recorded(**given)):
        # Whoever is read is behind, or as far as, all others that have not ended.
        assert reached[name] == min(reached.values())
        if some is None:
            del reached[name]
        else:
            seen[name].append(some)
            reached[name] = int(some[-1][0])
    assert reached == {}
    assert seen == given


def test_recorded_sources_are_read_no_sooner_than_needed() -> None:
    read: list[int] = []

    def counting() -> Iterator[Batch]:
        for start in range(0, 100, 10):
            read.append(start)
            yield batch(start)

    found = arrivals({"a": Source("a", counting()), "b": Source("b", iter([batch(25), batch(90)]))})
    while next(found) != ("push", "b", batch(90)):
        pass
    assert read == [0, 10, 20, 30]
    assert not source_threads()


@given(
    st.dictionaries(st.sampled_from("abc"), st.lists(st.lists(st.integers(0, 9), min_size=1), max_size=4)),
    st.integers(0, 60),
    st.integers(0, 5),
    st.booleans(),
)
def test_streams_meet_at_an_instant(
    drawn: dict[str, list[list[int]]], at: int, slack: int, is_held: bool
) -> None:
    """Nothing is lost or changes places; and what is held comes behind the mark."""
    given: dict[str, list[Batch]] = {}
    for name, lengths in drawn.items():
        now = 0
        given[name] = [batch(*(now := now + step for step in steps)) for steps in lengths]
    found = list(meeting(arrivals(recorded(**given)), given, at, at + slack, is_held=is_held))
    for name, batches in given.items():
        own = [(kind, what) for kind, of, what in found if of == name]
        assert [e for kind, what in own if kind == "push" for e in what] == [e for b in batches for e in b]
        assert [kind for kind, _ in own if kind == "end"] == ["end"] == [own[-1][0]]
        beats = [i for i, (kind, _) in enumerate(own) if kind == "advance"]
        late = [i for i, (kind, what) in enumerate(own) if kind == "push" and what[-1][0] >= at + slack]
        assert beats == [i - 1 for i in late[:1]]
        assert all(own[i] == ("advance", at) for i in beats)
    marks = [i for i, event in enumerate(found) if event[0] == "mark"]
    reached = {name for kind, name, _ in found if kind == "advance"}
    assert [found[i] for i in marks] == [("mark", "", at)] * bool(reached)
    for mark in marks:
        before = found[:mark]
        assert reached == {name for kind, name, _ in before if kind == "advance"}
        assert {name for kind, name, _ in before if kind == "end"} | reached == {*given}
        late = [what for kind, _, what in before if kind == "push" and what[-1][0] >= at + slack]
        assert not (is_held and late)


def live(name: str, batches: Callable[[], Iterator[Batch]]) -> Source:
    """A source that may wait."""
    return Source(name, batches(), is_live=True)


def test_a_source_that_waits_does_not_hold_up_the_others() -> None:
    go_on = threading.Event()

    def waiting() -> Iterator[Batch]:
        assert go_on.wait(LIMIT)
        yield batch(1)

    sources = {"a": live("a", waiting), **recorded(b=[batch(t) for t in range(5)])}
    found = arrivals(sources)
    assert [next(found) for _ in range(6)] == [
        *(("push", "b", batch(t)) for t in range(5)),
        ("end", "b", None),
    ]
    go_on.set()
    assert list(found) == [("push", "a", batch(1)), ("end", "a", None)]
    require_no_threads()


def test_a_single_live_source_needs_no_thread() -> None:
    count = 2 * runner.AHEAD  # a thread would not be at the end of them yet
    found = arrivals({"a": live("a", lambda: (batch(t) for t in range(count)))})
    assert next(found) == ("push", "a", batch(0))
    assert not source_threads()
    assert list(found) == [*(("push", "a", batch(t)) for t in range(1, count)), ("end", "a", None)]


def test_live_sources_are_read_to_their_ends_in_their_order() -> None:
    def many() -> Iterator[Batch]:
        return (batch(t) for t in range(3 * runner.AHEAD))

    found = list(arrivals({"a": live("a", many), "b": live("b", many)}))
    for name in "ab":
        assert [some for _, of, some in found if of == name] == [*many(), None]
    require_no_threads()


def test_an_error_of_a_live_source_reaches_whoever_takes_the_batches() -> None:
    stop = threading.Event()

    def failing() -> Iterator[Batch]:
        yield batch(1)
        raise InputFileError("stdin, line 2: found nonsense")

    def waiting() -> Iterator[Batch]:
        stop.wait(LIMIT)
        yield batch(2)

    found = arrivals({"a": live("a", failing), "b": live("b", waiting)})
    assert next(found) == ("push", "a", batch(1))
    with pytest.raises(InputFileError, match="found nonsense"):
        next(found)
    stop.set()
    require_no_threads()


def test_closing_early_stops_the_threads_and_closes_what_they_read() -> None:
    closed: list[str] = []

    def endless(name: str) -> Callable[[], Iterator[Batch]]:
        def batches() -> Iterator[Batch]:
            try:
                for t in range(10**9):
                    yield batch(t)
            finally:
                closed.append(name)

        return batches

    sources = {name: live(name, endless(name)) for name in "ab"}  # held, so that nothing closes by itself
    found = arrivals(sources)
    next(found)
    assert len(source_threads()) == 2
    found.close()  # type: ignore[attr-defined]  # it is a generator
    require_no_threads()
    assert sorted(closed) == sorted(sources)


def test_live_sources_do_not_run_far_ahead() -> None:
    read = {"a": 0, "b": 0}

    def endless(name: str) -> Callable[[], Iterator[Batch]]:
        def batches() -> Iterator[Batch]:
            for t in range(10**9):
                read[name] += 1
                yield batch(t)

        return batches

    found = arrivals({name: live(name, endless(name)) for name in read})
    next(found)
    deadline = time.monotonic() + LIMIT
    while sum(read.values()) < 2 * runner.AHEAD and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    # One has been taken, and each holds one for which there is no place.
    assert 2 * runner.AHEAD <= sum(read.values()) <= 2 * runner.AHEAD + 3
    found.close()  # type: ignore[attr-defined]
    require_no_threads()


S = ms.stream("s", x="integer").window(9)


def numbered(count: int) -> Iterator[Batch]:
    return ([(t, t + 1, (t,))] for t in range(count))


def run_all(one: Runner) -> list[Event]:
    return list(one.events())


def test_commands_are_carried_out_between_two_events_in_their_order() -> None:
    one = Runner(ms.Engine(S, results := ms.Results()), {"s": Source("s", numbered(5))})
    seen: list[int] = []

    def add(event: Event, trial: Trial) -> None:
        if event[0] == "push" and event[2][0][0] == 2:
            answers.append(one.command(lambda trial: seen.append(trial.engine.counters().elements) or "told"))

    answers = [one.command(lambda trial: trial.engine.add(S, seen_also.extend, "also"))]
    seen_also: list[object] = []
    one.observers.append(add)
    run_all(one)
    assert seen == [3]
    assert [answers[0].result().name, answers[1].result()] == ["also", "told"]
    assert len(results) == len(seen_also) == 5


def test_an_error_of_a_command_goes_to_who_gave_it() -> None:
    one = Runner(ms.Engine(S, results := ms.Results()), {"s": Source("s", numbered(3))})
    answer = one.command(lambda trial: trial.engine.remove("unknown"))
    run_all(one)
    assert isinstance(answer.exception(), ms.MidstreamError)
    assert len(results) == 3


def test_commands_come_while_the_engine_waits_for_rows() -> None:
    go_on = threading.Event()

    def waiting() -> Iterator[Batch]:
        assert go_on.wait(LIMIT)
        yield from numbered(2)

    one = Runner(ms.Engine(S, results := ms.Results()), {"s": live("s", waiting)}, is_live=True)
    done: list[list[Event]] = []
    thread = threading.Thread(target=lambda: done.append(run_all(one)))
    thread.start()
    assert one.command(lambda trial: trial.engine.counters().elements).result(LIMIT) == 0
    go_on.set()
    thread.join(LIMIT)
    assert [kind for kind, _, _ in done[0]] == ["mark", "push", "push", "end"]
    assert len(results) == 2


def test_commands_behind_the_end_are_cancelled() -> None:
    one = Runner(ms.Engine(S), {"s": Source("s", numbered(1))})
    run_all(one)
    assert one.command(lambda trial: None).cancelled()


def test_an_error_of_an_observer_ends_the_run() -> None:
    one = Runner(ms.Engine(S), {"s": Source("s", numbered(3))})

    def observe(event: Event, trial: Trial) -> None:
        raise ValueError("no more")

    one.observers.append(observe)
    left = one.command(lambda trial: None)
    with pytest.raises(ValueError, match="no more"):
        run_all(one)
    assert left.result() is None  # it came in front of the first event


class Clock:
    """Time that a test sets."""

    def __init__(self) -> None:
        self.now = 100

    def __call__(self) -> int:
        return self.now


def stamped_source(name: str, batches: Callable[[], Iterator[Batch]], clock: Clock) -> Source:
    """A live source whose rows are stamped by a clock when they are taken."""
    return Source(name, batches(), is_live=True, now=clock)


def test_time_goes_on_while_a_stamped_source_is_silent() -> None:
    """Windows that are over give their results without a further row, also beside a source without any."""
    clock, go_on = Clock(), threading.Event()

    def rows() -> Iterator[Batch]:
        yield [(0, 1, (1,)), (0, 1, (2,))]
        assert go_on.wait(LIMIT)

    def silent() -> Iterator[Batch]:
        assert go_on.wait(LIMIT)
        yield from ()

    t = ms.stream("t", y="integer").window(9)
    counted = S.aggregate(n=ms.count())
    engine = ms.Engine(counted, results := ms.Results())
    engine.add(S.anti_join(t, on=[("x", "y")]), unpaired := ms.Results(), "unpaired")
    sources = {"s": stamped_source("s", rows, clock), "t": stamped_source("t", silent, clock)}
    for kind, name, what in Runner(engine, sources).events():
        if kind == "push":
            clock.now = 200
        if (kind, name, what) == ("advance", "t", 200) and engine.progress() == 200:
            assert results == [(100, 109, (2,))]
            assert unpaired == [(100, 109, (1,)), (100, 109, (2,))]
            go_on.set()
    assert go_on.is_set()
    require_no_threads()


def test_a_declared_delay_lets_time_go_on_by_the_clock() -> None:
    clock, go_on = Clock(), threading.Event()

    def rows() -> Iterator[Batch]:
        yield [(90, 91, (1,))]
        assert go_on.wait(LIMIT)

    engine = ms.Engine(S.aggregate(n=ms.count()), results := ms.Results(), delay={"s": 5})
    for event in Runner(engine, {"s": live("s", rows)}, now=clock).events():
        if event[0] == "push":
            clock.now = 104
        if event == ("tick", "", 104):
            assert results == [(90, 99, (1,))]
            assert engine.progress("s") == 99
            go_on.set()
    assert go_on.is_set()


def test_an_idle_source_does_not_hold_up_the_others() -> None:
    go_on = threading.Event()

    def rows() -> Iterator[Batch]:
        yield [(0, 1, (1,))]
        yield [(50, 51, (2,))]
        assert go_on.wait(LIMIT)

    def silent() -> Iterator[Batch]:
        yield [(0, 1, (1,))]
        assert go_on.wait(LIMIT)

    t = ms.stream("t", y="integer").window(9)
    engine = ms.Engine(S.union(t.rename({"y": "x"})), results := ms.Results())
    sources = {"s": live("s", rows), "t": live("t", silent)}
    for event in Runner(engine, sources, idle=0.2).events():
        if event == ("advance", "t", 50):
            assert len(results) == 3
            go_on.set()
    assert go_on.is_set()


def test_a_slow_engine_holds_up_an_asynchronous_source() -> None:
    """It is read no further ahead than there are places for batches."""
    given = 0

    async def rows() -> AsyncIterator[tuple[int, int]]:
        nonlocal given
        for number in range(100_000):
            given += 1
            yield number, number

    catalog = ms.catalog("seconds")
    catalog.execute("CREATE STREAM s(at TIMESTAMP, x INT) ORDERED BY at")
    source = async_rows_source(rows(), catalog.streams["s"], "seconds")
    one = Runner(ms.Engine(S), {"s": source}, is_live=True)
    events = one.events()
    next(events)
    time.sleep(0.3)
    assert given <= (runner.AHEAD + 2) * 1024
    events.close()  # type: ignore[attr-defined]
    source.close()
