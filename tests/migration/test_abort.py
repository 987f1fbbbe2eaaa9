"""A migration that moves can be aborted, and a new plan that fails gives way: examples, box by box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import midstream as ms
from midstream.driving import run
from midstream.migration.backlog import MOST_WAITING
from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse
from midstream.migration.machine import Migration, Phase
from midstream.migration.migrate import migrate_box
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.trace import LOOK_EVERY
from midstream.operators.base.box import settled
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time
from midstream.testing import equivalent, is_ordered

A = stream("a", x="integer", intervals=True)
B = stream("b", y="integer", intervals=True)
PAIRS = A.join(B, on=[("x", "y")]).plan()
BOTH = Plan({"a": A.node, "pairs": A.join(B, on=[("x", "y")]).node, "n": A.aggregate(n=count()).node})
MOVING = [name for name in STRATEGIES if name not in ("swap", "moving-states")]
JOINS = [name for name in MOVING if name != "genmig-reference-point"]
EARLY: dict[str, Batch] = {"a": [(0, 9, (1,)), (2, 7, (2,))], "b": [(1, 10, (1,)), (3, 8, (2,))]}
FAR: Batch = [(5, 30, (2,)), (20, 26, (1,)), (24, 60, (1,))]
"""Beyond the split time of GenMig, which is 9.5 or 10.5, while the other input is before it."""


class Raising:
    """A new plan that fails when it is asked for something."""

    def __init__(self, plan: Plan, on: str) -> None:
        self._box = PlanBox(plan)
        self._on = on

    def __getattr__(self, name: str) -> Any:
        if name == self._on:
            raise ValueError(f"no {name}")
        if name == "process":
            raise AttributeError(name)  # so that it is asked for one event after the other
        return getattr(self._box, name)


def moving(plan: Plan, strategy: str, new: Any = None) -> tuple[Migration, list[Batch]]:
    """A migration that has begun behind the early elements; and what the plan had given then."""
    old = PlanBox(plan)
    out: list[Batch] = [[] for _ in old.outputs]
    for port, name in enumerate(old.inputs):
        add(out, old.push(port, EARLY[name]))
    migration, ready = migrate_box(
        old,
        PlanBox(plan) if new is None else new,
        STRATEGIES[strategy],
        max_ends=[9, 10],
        reached=old.reached,
    )
    add(out, ready)
    return migration, out


def add(out: list[Batch], more: Sequence[Batch]) -> None:
    for batch, found in zip(out, more, strict=True):
        batch.extend(found)


def finish(box: Migration, out: list[Batch]) -> None:
    """More elements, and the end of both streams."""
    add(out, box.push(1, [(25, 40, (1,))]))
    for port in range(2):
        add(out, box.end(port))


def check(plan: Plan, out: list[Batch]) -> None:
    """As if nothing had happened."""
    streams = {"a": EARLY["a"] + FAR, "b": [*EARLY["b"], (25, 40, (1,))]}
    for name, batch in zip(plan.outputs, out, strict=True):
        assert is_ordered(batch)
        alone = Plan(plan.outputs[name])
        assert sorted(batch) == sorted(run(alone, {one.stream: streams[one.stream] for one in alone.sources}))


@pytest.mark.parametrize("strategy", JOINS)
def test_abort_where_one_input_is_far_beyond_the_split_time(strategy: str) -> None:
    """With several outputs: one reads only the input that is ahead, and has results that the new plan was to
    give."""
    migration, out = moving(BOTH, strategy)
    add(out, migration.push(0, FAR))
    assert migration.phase is Phase.MOVING
    held = migration.abort("changed my mind")
    assert [start > 9 for start, _, _ in held[0]].count(True) == 2
    add(out, held)
    assert migration.phase is Phase.ABORTED
    assert migration.old is None
    assert isinstance(settled(migration), PlanBox)
    assert (migration.reason, migration.failure) == ("changed my mind", None)
    assert (report(migration).phase, report(migration).ended) == ("aborted", 3)
    assert migration.trace[-1].note == "changed my mind"
    assert migration.size() == len(list(migration.state())) == settled(migration).size()
    finish(migration, out)
    check(BOTH, out)


@pytest.mark.parametrize("strategy", MOVING)
def test_abort_when_the_last_input_has_passed_is_too_late(strategy: str) -> None:
    migration, _ = moving(PAIRS, strategy)
    for port in range(2):
        migration.advance(port, 100)
    assert migration.phase is Phase.DONE
    with pytest.raises(MigrationRefused, match="the migration is done, expected moving: it is too late"):
        migration.abort()
    assert report(migration).ended == 100


def test_what_is_aborted_cannot_be_aborted_again() -> None:
    migration, _ = moving(PAIRS, "genmig")
    migration.abort()
    with pytest.raises(MigrationRefused, match="the migration is aborted"):
        migration.abort()


def test_a_swap_is_over_at_once() -> None:
    swap, _ = migrate_box(
        PlanBox(A.plan()), PlanBox(A.plan()), STRATEGIES["swap"], max_ends=[1], reached=[BEGINNING]
    )
    with pytest.raises(MigrationRefused):
        swap.abort()


@pytest.mark.parametrize("strategy", ["genmig", "parallel-track"])
@pytest.mark.parametrize("order", [(0,), (1,), (0, 1), (1, 0)])
def test_abort_of_one_of_two_of_which_one_is_in_the_other(strategy: str, order: tuple[int, ...]) -> None:
    """What the inner one gives out takes its way through the outer one, which may hold it."""
    plan = Plan({"a": A.node, "pairs": PAIRS.root}) if strategy == "parallel-track" else BOTH
    inner, out = moving(plan, strategy)
    outer, ready = migrate_box(
        inner, PlanBox(plan), STRATEGIES[strategy], max_ends=[9, 22], reached=inner._reached
    )
    add(out, ready)
    add(out, outer.push(0, FAR))
    for which in order:
        assert (inner, outer)[which].phase is Phase.MOVING
        add(out, (inner, outer)[which].abort())
        assert outer.phase is Phase.MOVING or isinstance(outer.successor, Migration | PlanBox)
    finish(outer, out)
    assert outer.phase is (Phase.ABORTED if 1 in order else Phase.DONE)
    assert report(outer).unmatched == 0
    check(plan, out)


@pytest.mark.parametrize("on", ["push", "progress", "size"])
@pytest.mark.parametrize("strategy", JOINS)
def test_a_new_plan_that_fails_gives_way(strategy: str, on: str) -> None:
    """Whatever it was asked for."""
    new = Raising(BOTH, "")
    migration, out = moving(BOTH, strategy, new)
    new._on = on
    add(out, migration.push(0, FAR))
    assert migration.phase is Phase.ABORTED
    assert isinstance(migration.failure, ValueError)
    assert migration.trace[-1].note == migration.reason == f"the new plan failed: ValueError: no {on}"
    finish(migration, out)
    check(BOTH, out)


def test_what_the_new_plan_kept_is_not_what_the_old_one_keeps_after_a_failure() -> None:
    """A new plan is given many elements at once, and sizes are looked at then."""
    new = Raising(PAIRS, "")
    migration, out = moving(PAIRS, "genmig", new)
    new._on = "push"
    many = [(5, 30, (i,)) for i in range(MOST_WAITING)]
    add(out, migration.process(0, many, 5))
    assert migration.phase is Phase.ABORTED
    assert migration.observer.peak_new == 0


def test_a_new_plan_that_fails_for_a_sample_is_noted_once() -> None:
    new = Raising(PAIRS, "")
    migration, out = moving(PAIRS, "genmig", new)
    new._on = "push"
    for time in range(5, 9):
        add(out, migration.process(0, [(time, 30, (i,)) for i in range(LOOK_EVERY)], time))
        add(out, migration.process(1, [], time))
    assert migration.phase is Phase.ABORTED
    assert [entry.phase for entry in migration.trace].count("aborted") == 1


@pytest.mark.parametrize("on", ["advance", "progress"])
def test_a_new_plan_that_fails_at_the_beginning_gives_way(on: str) -> None:
    migration, out = moving(BOTH, "genmig", Raising(BOTH, on))
    assert migration.phase is Phase.ABORTED
    assert migration.successor is not None
    add(out, migration.push(0, FAR))
    finish(migration, out)
    check(BOTH, out)


def test_a_new_plan_that_fails_on_what_it_is_to_begin_with_gives_way() -> None:
    old = PlanBox(A.plan())
    new = Raising(A.plan(), "push")
    migration = Migration(old, new, 4.5, [0], [fork(4.5)], [Fuse(4.5)], initial=[[(4.5, 9, (1,))]])
    assert migration.begin() == [[]]
    assert migration.phase is Phase.ABORTED
    assert migration.push(0, [(1, 9, (2,))]) == [[(1, 9, (2,))]]


@pytest.mark.parametrize("strategy", JOINS)
def test_a_new_plan_that_fails_when_the_last_input_passes_gives_way(strategy: str) -> None:
    """The old plan has not been ended yet, and gets the whole batch."""
    new = Raising(BOTH, "")
    migration, out = moving(BOTH, strategy, new)
    add(out, migration.push(0, FAR))
    new._on = "push"
    add(out, migration.push(1, [(25, 40, (1,))]))
    assert migration.phase is Phase.ABORTED
    for port in range(2):
        add(out, migration.end(port))
    check(BOTH, out)


def test_once_the_old_plan_is_gone_a_failure_is_told() -> None:
    plan = A.aggregate(n=count()).plan()
    new = Raising(plan, "")
    migration, _ = migrate_box(PlanBox(plan), new, STRATEGIES["genmig"], max_ends=[9], reached=[0])
    migration.push(0, [(1, 40, (1,)), (20, 50, (1,))])
    assert migration.phase in (Phase.DRAINING, Phase.DONE)
    new._on = "push"
    with pytest.raises(ValueError, match="no push"):
        migration.push(0, [(30, 31, (1,))])


def test_what_the_old_plan_raises_is_told() -> None:
    old = Raising(PAIRS, "")
    migration, _ = migrate_box(old, PlanBox(PAIRS), STRATEGIES["genmig"], max_ends=[9, 9], reached=[0, 0])
    old._on = "push"
    with pytest.raises(ValueError, match="no push"):
        migration.push(0, [(1, 2, (1,))])
    assert migration.phase is Phase.MOVING


def test_a_new_plan_may_begin_with_state() -> None:
    """As if it had been there before: `given` came out earlier, and `initial` gives it once more from the
    split time on."""
    split: Time = 4.5
    total = A.filter(col("x") > 0).plan()
    migration = Migration(
        PlanBox(total),
        PlanBox(total),
        split,
        [2],
        [fork(split)],
        [Fuse(split, said=[(1, 9, (7,))])],
        initial=[[(split, 9, (7,))]],
    )
    out: list[Element] = migration.begin()[0]
    assert (out, migration.size()) == ([], 0)
    out += migration.push(0, [(2, 8, (7,)), (6, 7, (3,))])[0]
    assert out == [(2, 8, (7,)), (6, 7, (3,))]
    assert report(migration).unmatched == 0
    assert migration.phase is Phase.DONE
    assert migration.progress() == 6
    assert migration.end(0) == [[]]
    assert migration.progress() == FOREVER
    assert equivalent(out, [(2, 8, (7,)), (6, 7, (3,))])


def test_what_a_removed_query_was_moving_to_is_aborted_and_what_waited_is_refused() -> None:
    s = ms.stream("s", x="integer").window(10)
    big = ms.col("x") > 1
    plans = [s.distinct().filter(big).plan(), s.filter(big).distinct().plan()]
    engine = ms.Engine()
    engine.add(plans[0], name="q")
    engine.push("s", ms.chronons([(0, (2,))]))
    moving = engine.migrate(plans[1])
    queued = engine.migrate(plans[0], when_busy="queue")
    assert (moving.phase, queued.phase) == (Phase.MOVING, Phase.QUEUED)
    engine.remove("q")
    assert (moving.phase, queued.phase) == (Phase.ABORTED, Phase.REFUSED)
    assert moving.reason == queued.reason == "query q has been removed"
    engine.add(plans[0], name="q")  # another one
    assert (moving.phase, queued.phase) == (Phase.ABORTED, Phase.REFUSED)
    with pytest.raises(MigrationRefused, match="query q has been removed"):
        moving.abort()
