"""The suite for Boxes finds what a Box does wrong, and nothing in one that does nothing wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time
from midstream.testing import PROMISES, BrokenPromise, Watched, check_box, elements, rows

DOCS = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"


class Pairs:
    """Elements of two inputs with the same first column, while both are valid: a Box as it should be."""

    inputs, outputs = ("left", "right"), ("out",)

    def __init__(self) -> None:
        self.reached: list[Time] = [BEGINNING, BEGINNING]
        self.waiting: list[tuple[int, Element]] = []
        self.kept: list[tuple[int, Element]] = []
        self.received = 0

    def push(self, port: int, batch: Batch) -> list[Batch]:
        if self.reached[port] == FOREVER:
            raise ValueError("an element after the end")
        self.received += len(batch)
        self.waiting += [(port, element) for element in batch]
        return self.advance(port, batch[-1][0])

    def advance(self, port: int, time: Time) -> list[Batch]:
        self.reached[port] = max(self.reached[port], time)
        self.waiting.sort(key=lambda one: one[1][0])
        results: Batch = []
        while self.waiting and self.waiting[0][1][0] <= self.least():
            results += self.take(*self.waiting.pop(0))
        self.purge()
        return [results]

    def end(self, port: int) -> list[Batch]:
        return self.advance(port, FOREVER)

    def take(self, port: int, element: Element) -> Batch:
        self.kept.append((port, element))
        return [pair for other in self.kept if other[0] != port for pair in self.pair(element, other[1])]

    def pair(self, one: Element, other: Element) -> Batch:
        start, end = max(one[0], other[0]), min(one[1], other[1])
        return [(start, end, one[2][:1])] if start < end and one[2][0] == other[2][0] else []

    def purge(self) -> None:
        self.kept = [one for one in self.kept if one[1][1] > self.least()]

    def least(self) -> Time:
        return min(self.reached)

    def progress(self, output: int = 0) -> Time:
        return self.least()

    def state(self) -> Iterable[Element]:
        return [element for _, element in self.waiting + self.kept]

    def size(self) -> int:
        return len(self.waiting) + len(self.kept)

    def counters(self) -> Mapping[str, int]:
        return {"received": self.received}


LEFT, RIGHT = (
    stream(name, {f"{name}_x": "integer", f"{name}_y": "integer"}, intervals=True) for name in Pairs.inputs
)
PAIRS: Plan = LEFT.join(RIGHT, on=[("left_x", "right_x")], columns=["left_x"]).plan()


class NotInOrder(Pairs):
    """Serves its inputs as they come."""

    def advance(self, port: int, time: Time) -> list[Batch]:
        self.reached[port] = max(self.reached[port], time)
        results = [pair for one in self.waiting for pair in self.take(*one)]
        self.waiting.clear()
        self.purge()
        return [results]


class EmptyIntervals(Pairs):
    """Pairs what only meets."""

    def pair(self, one: Element, other: Element) -> Batch:
        start, end = max(one[0], other[0]), min(one[1], other[1])
        return [(start, end, one[2][:1])] if start <= end and one[2][0] == other[2][0] else []


class PromisesTooMuch(Pairs):
    """Forgets the input that is behind."""

    def progress(self, output: int = 0) -> Time:
        return max(self.reached)


class PromisesTooLittle(Pairs):
    """Tells its progress when all is over."""

    def progress(self, output: int = 0) -> Time:
        return FOREVER if self.least() == FOREVER else BEGINNING


class GoesBack(Pairs):
    """Tells how far the input is that was served last."""

    last = 0

    def push(self, port: int, batch: Batch) -> list[Batch]:
        self.last = port
        return super().push(port, batch)

    def progress(self, output: int = 0) -> Time:
        return self.reached[self.last] if self.kept else super().progress()


class SeesBatches(Pairs):
    """Takes equal elements of a batch for one."""

    def push(self, port: int, batch: Batch) -> list[Batch]:
        return super().push(port, list(dict.fromkeys(batch)))


class CutsAtHeartbeats(Pairs):
    """Shortens what it keeps when a heartbeat comes."""

    def advance(self, port: int, time: Time) -> list[Batch]:
        results = super().advance(port, time)
        if not results[0]:
            self.kept = [(p, (s, min(e, s + 3), row)) for p, (s, e, row) in self.kept]
            self.purge()
        return results


class DeafToHeartbeats(Pairs):
    """Goes on when the next element comes."""

    is_pushed = False

    def push(self, port: int, batch: Batch) -> list[Batch]:
        self.is_pushed = True
        results = super().push(port, batch)
        self.is_pushed = False
        return results

    def advance(self, port: int, time: Time) -> list[Batch]:
        return super().advance(port, time) if self.is_pushed or time == FOREVER else [[]]


class SaysItAgain(Pairs):
    """Gives its last results once more when it is told what it knows."""

    last: list[Batch]

    def advance(self, port: int, time: Time) -> list[Batch]:
        if time == self.reached[port] == FOREVER and self.received:
            return [[(10**9, 10**9 + 1, (0,))]]
        return super().advance(port, time)


class CountsHeartbeats(Pairs):
    """Takes each heartbeat for progress."""

    def advance(self, port: int, time: Time) -> list[Batch]:
        if time == self.reached[port] and not self.waiting and time != FOREVER:
            time += 1
        return super().advance(port, time)


class NeverPurges(Pairs):
    """Keeps everything until the end."""

    def purge(self) -> None:
        if self.least() == FOREVER:
            self.kept.clear()


class KeepsForEver(Pairs):
    """Keeps something beyond the end, though only what lasts for long."""

    def purge(self) -> None:
        self.kept = [one for one in self.kept if one[1][1] > self.least() or one[1][1] - one[1][0] > 10]


class LosesTheEnd(Pairs):
    """Forgets what waits when an input ends."""

    def end(self, port: int) -> list[Batch]:
        self.waiting = [one for one in self.waiting if one[0] != port]
        return super().end(port)


class DoesNotEnd(Pairs):
    """Still is where the last element was, when all has ended."""

    def progress(self, output: int = 0) -> Time:
        return 10**6 if self.least() == FOREVER else self.least()


class TakesMore(Pairs):
    """Takes an element after the end."""

    def push(self, port: int, batch: Batch) -> list[Batch]:
        if self.reached[port] == FOREVER:
            return [[]]
        return super().push(port, batch)


class OnlyIntegers(Pairs):
    """Counts in chronons."""

    def pair(self, one: Element, other: Element) -> Batch:
        return [(start, int(end), row) for start, end, row in super().pair(one, other)]


class SizeIsWrong(Pairs):
    """Does not count what waits."""

    def size(self) -> int:
        return len(self.kept)


class CountsDown(Pairs):
    """Counts what is kept."""

    def counters(self) -> Mapping[str, int]:
        return {"received": len(self.kept)}


class UsesTheBatch(Pairs):
    """Empties what arrives."""

    def push(self, port: int, batch: Batch) -> list[Batch]:
        copy = list(batch)
        batch.clear()
        return super().push(port, copy)


class OneBatch(Pairs):
    """Returns results and not one batch an output."""

    def advance(self, port: int, time: Time) -> list[Any]:
        return super().advance(port, time)[0]


class Lists(Pairs):
    """Its payloads are lists."""

    def pair(self, one: Element, other: Element) -> Batch:
        return [(start, end, list(row)) for start, end, row in super().pair(one, other)]


class Fails(Pairs):
    """Cannot pair what starts together."""

    def pair(self, one: Element, other: Element) -> Batch:
        if one[0] == other[0]:
            raise KeyError("no such key")
        return super().pair(one, other)


class Unpredictable(Pairs):
    """Pairs more, the more often it was made."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        Unpredictable.made += 1

    def pair(self, one: Element, other: Element) -> Batch:
        return super().pair(one, other) if Unpredictable.made % 7 else []


class PairsByTheSecondColumn(Pairs):
    """Looks at other columns."""

    def pair(self, one: Element, other: Element) -> Batch:
        return super().pair((*one[:2], one[2][::-1]), (*other[:2], other[2][::-1]))


BROKEN: Mapping[type[Pairs], set[str]] = {
    NotInOrder: {"order"},
    EmptyIntervals: {"order"},
    PromisesTooMuch: {"honest progress"},
    PromisesTooLittle: {"honest progress"},
    GoesBack: {"honest progress"},
    SeesBatches: {"snapshots", "the same meaning"},
    CutsAtHeartbeats: {"snapshots", "heartbeats that tell nothing", "the same meaning"},
    DeafToHeartbeats: {"honest progress"},
    SaysItAgain: {"heartbeats that tell nothing"},
    CountsHeartbeats: {"heartbeats that tell nothing"},
    NeverPurges: {"state by time alone"},
    KeepsForEver: {"state by time alone"},
    LosesTheEnd: {"snapshots", "the same meaning"},
    DoesNotEnd: {"release"},
    TakesMore: {"release"},
    OnlyIntegers: {"any comparable time"},
    SizeIsWrong: {"true figures"},
    CountsDown: {"true figures"},
    UsesTheBatch: {"events"},
    OneBatch: {"events"},
    Lists: {"hashable payloads"},
    Fails: {"events", "honest progress"},
}
"""The promise that each breaks, and what follows from that and may be met first."""


def test_a_box_as_it_should_be() -> None:
    check_box(Pairs, means=PAIRS)


def test_a_box_that_means_something_by_a_function() -> None:
    def pairs(left: list[Element], right: list[Element]) -> Batch:
        return [pair for one in left for other in right for pair in Pairs().pair(one, other)]

    check_box(Pairs, means=pairs, to=lambda: PlanBox(PAIRS))


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_promise_is_noticed(kind: type[Pairs]) -> None:
    """Without knowing what the results should mean, and the message names the promise."""
    with pytest.raises(BrokenPromise) as caught:
        check_box(kind, examples=300, shrinks=False)
    assert caught.value.promise in BROKEN[kind], str(caught.value)
    for line in (kind.__name__, caught.value.promise, "What happened", "What was found", "docs/embedding.md"):
        assert line in str(caught.value)


def test_every_promise_is_broken_by_one() -> None:
    assert set().union(*BROKEN.values()) == set(PROMISES)


def test_a_box_that_is_not_to_be_foretold_is_noticed() -> None:
    with pytest.raises(BrokenPromise):
        check_box(Unpredictable)


@pytest.mark.parametrize(
    "options", [{"means": PAIRS}, {"to": Pairs}, {"to": lambda: PlanBox(PAIRS)}], ids=["plan", "box", "both"]
)
def test_another_meaning_is_noticed(options: dict[str, Any]) -> None:
    with pytest.raises(BrokenPromise) as caught:
        check_box(PairsByTheSecondColumn, examples=300, shrinks=False, **options)
    assert caught.value.promise == "the same meaning"


@pytest.mark.slow
def test_the_smallest_streams_are_shown() -> None:
    with pytest.raises(BrokenPromise) as caught:
        check_box(NotInOrder, examples=300)
    shown = str(caught.value)
    assert shown.count("box.push") <= 4
    assert not getattr(caught.value, "__notes__", [])


def test_what_the_box_raised_is_the_cause() -> None:
    with pytest.raises(BrokenPromise, match="it raised KeyError: 'no such key'") as caught:
        check_box(Fails, examples=300, shrinks=False)
    assert isinstance(caught.value.__cause__, KeyError)


def test_windows_need_not_do_what_only_migrations_need() -> None:
    """A window that counts rows keeps them however late it is."""
    rows_ = stream("s", x="integer", y="integer").last(2, ties="arrival").plan()
    chronons = [elements(rows(2), chronons=True)]
    check_box(lambda: PlanBox(rows_), means=rows_, inputs=chronons, migrates=False)
    with pytest.raises(BrokenPromise):
        check_box(lambda: PlanBox(rows_), means=rows_, inputs=chronons)


class Longer(Pairs):
    """Shows what it keeps with later ends than that of any element."""

    def state(self) -> list[Element]:
        return [(start, end + 99, row) for start, end, row in super().state()]


def test_a_migration_that_is_refused_for_wrong_ends_is_no_pass() -> None:
    with pytest.raises(BrokenPromise) as caught:
        check_box(Longer, shrinks=False)
    assert caught.value.promise == "state by time alone"


def test_more_can_be_checked_after_every_event() -> None:
    seen: list[int] = []

    def look(watched: Watched) -> None:
        seen.append(watched.box.size())
        assert watched.promised() == min(watched.reached)

    check_box(Pairs, after_event=look, examples=20)
    assert max(seen) > 1


def test_what_never_ends_cannot_migrate_and_is_no_fault() -> None:
    check_box(Pairs, means=PAIRS, inputs=[elements(forever=True)] * 2)


def test_what_is_no_box_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"check_box: found .*, expected a Box from the factory"):
        check_box(object)  # type: ignore[arg-type, return-value]
    with pytest.raises(ArgumentError, match=r"inputs: found 1 .*, expected a strategy for each of 2 inputs"):
        check_box(Pairs, inputs=[st.just([])])


def test_the_guide_explains_every_promise() -> None:
    if not DOCS.exists():
        pytest.skip("the documents are not next to the tests")
    text = DOCS.read_text(encoding="utf-8").lower()
    assert [promise for promise in PROMISES if f"**{promise}.**" not in text] == []
