"""A migration leaves a trace: where it stood, and what it held and gave, from beginning to end."""

from __future__ import annotations

import json
from io import StringIO
from itertools import count as counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse
from midstream.migration.machine import Migration
from midstream.migration.trace import LOOK_EVERY, SAMPLES, Sampling, TraceEntry, write_jsonl
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.values.streams import BEGINNING, Time, just_before

LEFT, RIGHT = (stream(name, x="integer", intervals=True) for name in "lr")
PLAN = LEFT.join(RIGHT.rename({"x": "y"}), on=[("x", "y")]).plan()


def migration(split: Time = 150.5, reached: Time = 50) -> tuple[Migration, list[TraceEntry]]:
    """Two plans whose time is told second by second of a made-up clock."""
    seen: list[TraceEntry] = []
    ticks = counter(1_000)
    forks, joiners = [fork(split)] * 2, [Fuse(split)]
    one = Migration(PlanBox(PLAN), PlanBox(PLAN), split, [reached, reached], forks, joiners)
    one.observer.clock = lambda: float(next(ticks))
    one.listener = seen.append
    return one, seen


def drive(one: Migration, *times: int) -> None:
    for t in times:
        for port in range(2):
            one.push(port, [(t, t + 100, (1,))])


def test_beginning_samples_and_changes_leave_entries() -> None:
    one, seen = migration()
    one.begin()
    drive(one, *range(50, 200))
    assert one.trace == seen
    assert [entry.phase for entry in seen[-2:]] == ["draining", "done"]
    assert {entry.phase for entry in seen[:-2]} == {"moving"}
    assert SAMPLES - 2 <= len(seen) <= SAMPLES + 3
    assert seen[0] == TraceEntry("moving", 50, 1000.0, 0, 0, 0, 0, 0, 0, 0)
    assert [entry.wall_time for entry in seen] == [1000.0 + i for i in range(len(seen))]
    steps = [later.time - entry.time for entry, later in pairwise(seen[1:-2]) if entry.time and later.time]
    assert min(steps) >= 4
    assert max(steps) <= 6
    middle = seen[len(seen) // 2]
    assert middle.old_state > 0
    assert middle.results_old > 0
    assert (seen[-1].time, seen[-1].old_state, seen[-1].held) == (151, 0, 0)
    assert seen[-1].new_state > 0


@pytest.mark.parametrize("reached", [BEGINNING, 0, 50])
def test_it_begins_with_one_entry(reached: Time) -> None:
    """The first sample came on top of it."""
    one, seen = migration(reached=reached)
    one.begin()
    assert [entry.phase for entry in seen] == ["moving"]


def test_a_few_elements_that_wait_for_the_new_plan_count_as_its_state() -> None:
    """It is not called for them because an entry is due; many do not wait for one."""
    one, seen = migration()
    one.begin()
    for t in range(50, 140):
        for port in range(2):
            one.process(port, [(t, t + 200, (1,))] if t % 20 == 0 else [], t)
    assert len(seen) > 4
    assert (one.new.size(), seen[-1].new_state) == (0, 8)
    for t in range(140, 149):
        for port in range(2):
            one.process(port, [(t, t + 200, (1,))], t)
    assert one.new.size() >= LOOK_EVERY


def test_an_abort_is_noted() -> None:
    one, seen = migration()
    one.begin()
    drive(one, 60, 61)
    one.abort("too slow")
    assert (seen[-1].phase, seen[-1].note, seen[-1].time) == ("aborted", "too slow", 61)
    assert (seen[-1].old_state, seen[-1].new_state) == (one.size(), 0)


@pytest.mark.parametrize("reached", [BEGINNING, 150])
def test_a_short_migration_has_a_short_trace(reached: Time) -> None:
    one, seen = migration(reached=reached)
    one.begin()
    drive(one, 500)
    assert [entry.phase for entry in seen] == ["moving", "draining", "done"] or len(seen) == 4


def test_a_migration_before_the_first_element_has_no_time() -> None:
    one, seen = migration(split=BEGINNING, reached=BEGINNING)
    one.begin()
    assert [(entry.phase, entry.time) for entry in seen] == [("moving", None), ("draining", None)]


def test_entries_are_lines_of_json() -> None:
    one, seen = migration()
    one.begin()
    drive(one, 60, 300)
    file = StringIO()
    write_jsonl([entry.as_dict() for entry in seen], file)
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [entry.as_dict() for entry in seen]


@given(st.integers(0, 2**70), st.integers(0, 5000), st.lists(st.integers(0, 400), max_size=400))
def test_there_are_never_too_many_samples(start: int, duration: int, steps: list[int]) -> None:
    split = just_before(start + duration)
    sampling = Sampling(split)
    found, now = [], start
    for step in steps:
        now += step
        if now >= sampling.due and sampling.is_due(now):
            found.append(now)
    assert len(found) <= SAMPLES
    assert all(time < split for time in found)
