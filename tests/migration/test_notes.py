"""A migration that is refused or aborted later tells it once, behind the work of the event."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import midstream as ms
from midstream.autopilot import Advice, Forecast
from midstream.errors import MigrationNote, Note
from midstream.migration.machine import Phase
from midstream.migration.transition import OVER, Transition
from midstream.testing.law import vouched

S = ms.stream("s", x="integer").window(9)
x = ms.col("x")
OLD, WRONG = S.filter(x > 3), S.filter(x > 4)
IMPLIED = OLD.filter((x > 1) | (x * x > 1000))
"""It means the same as OLD, which takes the whole search, and is not proved then."""
LATE = 600
"""So many events later the search has ended."""


def fails_at(limit: int) -> ms.Stream:
    """A plan that means what OLD means, up to a row that it cannot take."""

    def is_large(value: int) -> bool:
        if value >= limit:
            raise OverflowError(f"{value} is too large")
        return value > 3

    return S.filter(ms.opaque(is_large, ["x"], type="boolean"))


class Run:
    """An engine with the query OLD, and its results."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.rows: list[Any] = []
        self.time = 0
        self.engine = ms.Engine(OLD, self.results.extend)
        self.push(5)

    def push(self, value: int = 5) -> None:
        """One more row."""
        self.time += 1
        self.rows.append((self.time, self.time + 1, (value,)))
        self.engine.push("s", self.rows[-1:])

    def check(self) -> None:
        """No result is lost, and none comes twice."""
        self.engine.close()
        assert ms.equivalent(self.results, ms.run(OLD, {"s": self.rows}))


@contextmanager
def told(*expected: str) -> Iterator[list[warnings.WarningMessage]]:
    """A block in which exactly these notes are told, in their order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    texts = [str(one.message) for one in caught if issubclass(one.category, Note)]
    assert len(texts) == len(expected), texts
    for text, part in zip(texts, expected, strict=True):
        assert part in text
    assert all(one.category is MigrationNote for one in caught)


def refuted(run: Run) -> Transition:
    migration = run.engine.migrate(WRONG)
    for _ in range(LATE):
        run.push()
    return migration


def unknown(run: Run) -> Transition:
    migration = run.engine.migrate(IMPLIED)
    for _ in range(LATE):
        run.push()
    return migration


def ended_early(run: Run) -> Transition:
    migration = run.engine.migrate(WRONG)
    run.engine.close()
    return migration


def failed(run: Run) -> Transition:
    migration = vouched(run.engine, fails_at(100).plan())
    assert migration.phase is Phase.MOVING
    run.push(200)
    for _ in range(20):
        run.push()
    return migration


def failed_with_rows(run: Run) -> Transition:
    """The new plan fails in the middle of rows that come in several batches."""
    migration = vouched(run.engine, fails_at(100).plan())
    rows = [(run.time + i, 200 if i == 3 else 5) for i in range(1, 3001)]
    run.time += 3000
    run.rows += [(time, time + 1, (value,)) for time, value in rows]
    run.engine.push_rows("s", [{"at": time, "x": value} for time, value in rows], time="at")
    return migration


def removed_while_moving(run: Run) -> Transition:
    migration = vouched(run.engine, fails_at(100).plan())
    run.engine.add(OLD, run.results.extend, name="more")
    run.results.clear()
    del run.rows[:]
    run.engine.remove("query")
    return migration


FAILED = "was aborted: the new plan failed: FunctionError: function is_large: OverflowError"
ENDS: dict[str, tuple[Callable[[Run], Transition], str]] = {
    "refuted": (refuted, "was refused: the plans do not mean the same: a search found an input of 1 element"),
    "unknown": (unknown, "was refused: it is unknown whether the plans mean the same"),
    "ended early": (ended_early, "was aborted: all streams ended before it was known"),
    "failed": (failed, FAILED),
    "failed with rows": (failed_with_rows, FAILED),
    "removed": (removed_while_moving, "was aborted: query query has been removed"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_bad_end_is_told_once_at_the_line_of_the_call(end: str) -> None:
    run, (make, reason) = Run(), ENDS[end]
    with told(f"a migration of query query {reason}") as caught:
        migration = make(run)
        for _ in range(20):
            if end != "ended early":
                run.push()
        run.check()
    assert migration.phase in OVER and migration.reason in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("end", ENDS)
def test_where_notes_are_errors_no_result_is_lost(end: str) -> None:
    """The error comes behind the work of the call: of each event, of all rows, of the end of all streams."""
    run, (make, reason) = Run(), ENDS[end]
    beside = run.engine.add(ms.stream("t", x="integer").window(9), run.results.extend, name="beside")
    with warnings.catch_warnings():
        warnings.simplefilter("error", MigrationNote)
        with pytest.raises(MigrationNote, match=reason):
            make(run)
    if end == "ended early":
        assert run.engine.progress("t") == ms.FOREVER
    assert beside.progress() in (ms.BEGINNING, ms.FOREVER)
    run.check()


def test_of_several_that_end_at_once_each_is_told() -> None:
    run = Run()
    for _ in range(3):
        run.engine.migrate(IMPLIED)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MigrationNote)
        with pytest.raises(MigrationNote, match="all streams ended") as caught:
            run.engine.close()
    assert len(caught.value.__notes__) == 2
    run.check()
    run = Run()
    for _ in range(3):
        run.engine.migrate(IMPLIED)
    with told(*["all streams ended"] * 3):
        run.engine.close()


def test_what_is_heard_otherwise_is_not_told() -> None:
    run = Run()
    with told():
        with pytest.raises(ms.MigrationRefused, match="do not mean the same"):
            run.engine.migrate(WRONG, wait=True)
        run.engine.migrate(WRONG).abort("not needed any more")
        vouched(run.engine, fails_at(100).plan()).abort()
        migration = run.engine.migrate(WRONG, note=False)
        for _ in range(LATE):
            run.push()
        assert migration.phase is Phase.REFUSED
        assert vouched(run.engine, OLD.filter(x > 2).plan()).phase not in (Phase.ABORTED, Phase.REFUSED)
        run.check()


def test_one_that_waits_for_its_turn_is_told_when_it_is_refused_there() -> None:
    run = Run()
    moving = vouched(run.engine, OLD.filter(x > 1).plan(), replace_all=True)
    waits = vouched(run.engine, OLD.filter(x > 2).plan(), when_busy="queue")
    assert (moving.phase, waits.phase) == (Phase.MOVING, Phase.QUEUED)
    with told("was aborted: query query has been removed", "was refused: query query has been removed"):
        run.engine.remove()


class Naming:
    """An advisor that names one plan as better."""

    def __init__(self, plan: ms.Plan) -> None:
        self._plan = plan

    def advise(self, running: ms.Plan, known: ms.Statistics) -> Advice[ms.Plan] | None:
        return Advice(10.0, (Forecast(self._plan, 1.0, 9.0),) if running != self._plan else ())


def flown(run: Run) -> ms.autopilot.EngineAutopilot:
    """An autopilot that has begun to move the query to a plan that is going to fail."""
    settings = ms.Settings(budget=None)
    pilot = run.engine.autopilot(
        Naming(fails_at(100).plan()), settings=settings, every=5, strategy="genmig", unproved="accept"
    )
    while pilot.migration("query") is None:
        run.push()
    return pilot


def test_what_an_autopilot_records_is_not_told_but_what_it_leaves_behind_is() -> None:
    run = Run()
    with told():
        pilot = flown(run)
        run.push(200)
        for _ in range(12):
            run.push()
    assert "aborted" in [record.event for record in pilot.decisions]
    run.check()
    for is_stopped_first in (True, False):
        run = Run()
        pilot = flown(run)
        migration = pilot.migration("query")
        assert migration is not None
        with told(FAILED):
            if is_stopped_first:
                pilot.stop()
            run.push(200)
            while migration.phase is not Phase.ABORTED:
                run.push()
            pilot.stop()
        run.check()
    run = Run()
    pilot = flown(run)
    migration = pilot.migration("query")
    assert migration is not None
    with told():
        migration.abort()
        pilot.stop()
        run.check()


def test_it_shows_its_phase_and_its_reason() -> None:
    run = Run()
    migration = run.engine.migrate(WRONG)
    assert repr(migration) == "<Transition of query: checking>"
    before = ms.report(migration)
    assert (before.reason, before.counterexample) == ("", None)
    with told("refused"):
        for _ in range(LATE):
            run.push()
    assert repr(migration) == (
        "<Transition of query: refused, the plans do not mean the same: a search found an input of 1 element "
        "on which they differ>"
    )
    report = ms.report(migration)
    assert (report.phase, report.reason) == ("refused", migration.reason)
    assert report.counterexample is not None
    assert "old  (4,)  [──" in report.counterexample and "new  nothing" in report.counterexample
