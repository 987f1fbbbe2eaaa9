"""Batches of several sources come in step, or as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.commands import feeding
from midstream.commands.feeding import arrivals, meeting
from midstream.io.sources.source import Source
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Batch

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
    count = 2 * feeding.AHEAD  # a thread would not be at the end of them yet
    found = arrivals({"a": live("a", lambda: (batch(t) for t in range(count)))})
    assert next(found) == ("push", "a", batch(0))
    assert not source_threads()
    assert list(found) == [*(("push", "a", batch(t)) for t in range(1, count)), ("end", "a", None)]


def test_live_sources_are_read_to_their_ends_in_their_order() -> None:
    def many() -> Iterator[Batch]:
        return (batch(t) for t in range(3 * feeding.AHEAD))

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
    while sum(read.values()) < feeding.AHEAD and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    # One has been taken, and each holds one that the queue has no place for.
    assert feeding.AHEAD <= sum(read.values()) <= feeding.AHEAD + 3
    found.close()  # type: ignore[attr-defined]
    require_no_threads()
