"""A migration is a state machine: its phases follow each other as a table says, whatever happens."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import midstream as ms
from midstream.migration import transition as transitions
from midstream.migration.machine import Phase
from midstream.migration.transition import OVER, Transition
from midstream.operators.engine.graph import feed
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.verdicts import Answer, Equivalence

CHECKING, QUEUED, MOVING, DRAINING = Phase.CHECKING, Phase.QUEUED, Phase.MOVING, Phase.DRAINING
DONE, ABORTED, REFUSED = OVER
BUSY = (MOVING, DRAINING)

STEPS: Mapping[Phase, frozenset[Phase]] = {
    CHECKING: frozenset({QUEUED, MOVING, ABORTED, REFUSED}),
    QUEUED: frozenset({MOVING, ABORTED, REFUSED}),
    MOVING: frozenset({DRAINING, ABORTED}),
    DRAINING: frozenset({DONE, ABORTED}),
    DONE: frozenset(),
    ABORTED: frozenset(),
    REFUSED: frozenset(),
}

A, B, C = (ms.stream(name, {x: "integer"}).window(10) for name, x in zip("abc", "xyz", strict=True))


def plan(*kinds: str) -> Plan:
    """Two joins that are exchanged apart, each run in a certain way."""
    joins = (A.join(B, on=[("x", "y")]), C.join(C.rename({"z": "w"}), on=[("z", "w")]))
    pairs, others = (
        Stream(Node(Physical(kind, logical(join.node)), join.node.inputs))
        for kind, join in zip(kinds, joins, strict=True)
    )
    return pairs.union(others.rename({"z": "x", "w": "y"})).distinct().plan()


HASHES, LOOPS = "hash-join", "nested-loops-join"
PLANS = (plan(HASHES, HASHES), plan(LOOPS, LOOPS), plan(HASHES, LOOPS))


def after(phase: Phase) -> set[Phase]:
    """The phases that some steps lead to, none among them."""
    return {phase}.union(*map(after, STEPS[phase]))


def test_the_table_is_the_documented_one(root: Path) -> None:
    text = (root / "docs" / "migration.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(rows) == sorted((one.value, to.value) for one, others in STEPS.items() for to in others)
    assert set(STEPS) == set(Phase)


class Asked:
    """A request, and the model of what becomes of it."""

    def __init__(
        self, query: ms.Query, when_busy: str, answer: Answer, slices: int, *, vouched: bool
    ) -> None:
        self.running, self.query = query, query.name
        self.when_busy, self.answer = when_busy, answer
        self.slices = slices
        """After how many further ones the answer is known."""
        self.vouched = vouched
        self.is_busy = query.is_exchanged
        """Whether another migration is under way when the answer is known."""
        self.is_heard = False
        """Whether the caller has aborted it."""
        self.expected = CHECKING
        """MOVING since it has begun: how far it is, the streams tell."""
        self.transition: Transition

    def checks(self, left: Plan, right: Plan, **_: object) -> Iterator[None]:
        """In the place of the comparison: it pauses so often, and then has the answer."""
        for _ in range(self.slices):
            yield
        self.is_busy = self.running.is_exchanged
        return Equivalence(self.answer, "as the test says", plans=(left, right))  # type: ignore[return-value]

    def after_check(self) -> Phase:
        """What the answer leads to."""
        if self.answer is Answer.REFUTED or (self.answer is Answer.UNKNOWN and not self.vouched):
            return REFUSED
        if not self.is_busy or self.when_busy == "chain":
            return MOVING
        return QUEUED if self.when_busy == "queue" else REFUSED


class Migrations(RuleBasedStateMachine):
    """Migrations are asked for, aborted and done, while streams go on and end, and queries come and go."""

    @initialize()
    def begin(self) -> None:
        self.told: list[str] = []
        self.patch = patch.object(feed, "tell", lambda notes, category: self.told.extend(notes))
        self.patch.start()
        self.engine = ms.Engine()
        self.names: list[str] = []
        self.asked: list[Asked] = []
        """All that was not refused at once, in order."""
        self.checking: list[Asked] = []
        self.queues: dict[str, list[Asked]] = {}
        self.seen: dict[Transition, Phase] = {}
        self.open = ["a", "b", "c"]
        self._add("first")
        self._add("second")

    # What happens

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2), gap=st.sampled_from((0, 1, 5, 12)), x=st.integers(0, 1))
    def push(self, which: int, gap: int, x: int) -> None:
        stream, now = self._later(which, gap)
        self.engine.push(stream, [(now, now + 1, (x,))])
        self._event()

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2), gap=st.integers(1, 25))
    def advance(self, which: int, gap: int) -> None:
        stream, now = self._later(which, gap)
        self.engine.advance(stream, now)
        self._event()

    @precondition(lambda self: self.open)
    @rule(gap=st.integers(1, 25))
    def advance_all(self, gap: int) -> None:
        for which in range(len(self.open)):
            self.advance(which, gap)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 2), number=st.sampled_from((0, 0, 0, 1, 3)))
    def end(self, which: int, number: int) -> None:
        for _ in range(min(number, len(self.open))):
            self.engine.end(self.open.pop(which % len(self.open)))
            self._event()

    @precondition(lambda self: len(self.names) == 1)
    @rule()
    def add(self) -> None:
        self._add("second" if self.names == ["first"] else "first")

    @precondition(lambda self: len(self.names) == 2)
    @rule(which=st.integers(0, 1))
    def remove(self, which: int) -> None:
        name = self.names.pop(which)
        for one in self.asked:
            if one.query == name and one.transition.phase not in OVER:
                one.expected = ABORTED if one.expected is MOVING else REFUSED
        self.queues[name] = []
        self.engine.remove(name)
        self._event()

    @rule(
        which=st.integers(0, 1),
        plan=st.sampled_from(PLANS),
        when_busy=st.sampled_from(("chain", "queue", "queue", "refuse")),
        answer=st.sampled_from((*Answer, Answer.PROVED)),
        slices=st.sampled_from((0, 0, 1, 2, 9)),
        vouched=st.booleans(),
        wait=st.integers(0, 4).map(lambda n: n == 4),
    )
    def migrate(
        self,
        which: int,
        plan: Plan,
        when_busy: str,
        answer: Answer,
        slices: int,
        vouched: bool,
        wait: bool,
    ) -> None:
        name = self.names[which % len(self.names)]
        one = Asked(self.engine.query(name), when_busy, answer, slices, vouched=vouched)
        before = self.engine.query(name).plan, self.engine.query(name).physical
        is_known = slices == 0 or wait or not self.open
        is_refused = (one.is_busy and when_busy == "refuse") or (is_known and one.after_check() is REFUSED)
        with patch.object(transitions, "compare", one.checks):
            try:
                one.transition = self.engine.migrate(
                    plan,
                    query=name,
                    when_busy=when_busy,
                    unproved="accept" if vouched else "refuse",
                    wait=wait,
                )
            except MigrationRefused:
                assert is_refused
                assert before == (self.engine.query(name).plan, self.engine.query(name).physical)
                return
        assert not is_refused
        self.asked.append(one)
        if is_known:
            self._answered(one)
        else:
            one.slices -= 1
            self.checking.append(one)
        self._step()

    @precondition(lambda self: self.asked)
    @rule(which=st.integers(0, 7))
    def abort(self, which: int) -> None:
        one = self.asked[-1 - which % len(self.asked)]
        was = one.transition.phase
        try:
            one.transition.abort("not needed")
        except MigrationRefused as refusal:
            assert was not in (CHECKING, QUEUED)
            assert was is not MOVING or "a later migration has begun" in str(refusal)
            assert one.transition.phase is was
        else:
            assert was in (CHECKING, QUEUED, MOVING)
            assert one.transition.reason == "not needed"
            one.is_heard = True
            one.expected = ABORTED
            if was is MOVING:
                self._event()

    # The model

    def _add(self, name: str) -> None:
        self.engine.add(PLANS[0], name=name)
        self.names.append(name)
        self.queues[name] = []

    def _later(self, which: int, gap: int) -> tuple[str, int]:
        stream = self.open[which % len(self.open)]
        now = self.engine.progress(stream)
        return stream, gap + (0 if now == ms.BEGINNING else int(now))

    def _is_busy(self, name: str) -> bool:
        of_query = (one for one in self.asked if one.query == name and one.expected is MOVING)
        return any(one.transition.phase in BUSY for one in of_query)

    def _answered(self, one: Asked) -> None:
        one.expected = one.after_check()
        if one.expected is QUEUED:
            self.queues[one.query].append(one)

    def _event(self) -> None:
        """What was under way may be over, so that what is queued begins; then each check takes a slice."""
        for name, queue in self.queues.items():
            while queue and not self._is_busy(name):
                if (one := queue.pop(0)).expected is QUEUED:
                    one.expected = MOVING
        self._step()

    def _step(self) -> None:
        for one in self.checking:
            if one.expected is CHECKING and not self.open:
                one.expected = ABORTED
            elif one.expected is CHECKING and one.slices == 0:
                self._answered(one)
            else:
                one.slices -= 1
        self.checking = [one for one in self.checking if one.expected is CHECKING]

    # What must hold

    @invariant()
    def phases_are_those_of_the_model(self) -> None:
        for one in self.asked:
            found = one.transition.phase
            if one.expected is MOVING:
                parts = one.transition.parts
                assert found in (MOVING, DRAINING, DONE), (found, one.transition.reason)
                assert (found is MOVING) == any(part.least_reached < part.split for part in parts)
                assert (found is DONE) == all(part.successor is part.new for part in parts)
            elif one.expected is not ABORTED or found is not DRAINING:  # other parts go on
                assert found is one.expected, (found, one.expected)

    @invariant()
    def phases_follow_each_other_as_the_table_says(self) -> None:
        for one in self.asked:
            before, now = self.seen.get(one.transition, CHECKING), one.transition.phase
            assert now in after(before)
            self.seen[one.transition] = now
            for part in one.transition.parts:
                entries = [Phase(entry.phase) for entry in part.trace]
                assert entries[0] is MOVING
                for last, entry in pairwise(entries):
                    assert entry is last or entry in STEPS[last]

    @invariant()
    def a_query_is_exchanged_while_a_migration_is_under_way(self) -> None:
        for name in self.names:
            assert self.engine.query(name).is_exchanged == self._is_busy(name)

    @invariant()
    def each_bad_end_is_told_once_unless_the_caller_knows(self) -> None:
        expected = [
            f"a migration of query {one.query} was {one.transition.phase.value}: {one.transition.reason}"
            for one in self.asked
            if one.transition.phase in (ABORTED, REFUSED) and not one.is_heard
        ]
        assert sorted(expected) == sorted(self.told)

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.end(0, 3)
                self.phases_are_those_of_the_model()
                assert all(one.transition.phase in OVER for one in self.asked)
                self.each_bad_end_is_told_once_unless_the_caller_knows()
        finally:
            self.patch.stop()


def test_phases_are_those_of_the_model() -> None:
    unhurried = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        Migrations, settings=settings(stateful_step_count=30, suppress_health_check=unhurried)
    )


def test_who_listens_early_hears_all() -> None:
    """Before the check has ended, and before the turn has come."""
    s = ms.stream("s", x="integer").window(10)
    x = ms.col("x")
    one, other = s.filter(x > 1).distinct(), s.distinct().filter(x > 1)
    engine = ms.Engine(one)
    engine.push("s", ms.chronons([(0, (2,))]))
    first = engine.migrate(other)
    queued = engine.migrate(one, when_busy="queue")
    checked = engine.migrate(other.filter((x > 0) | (x * x > 1000)), unproved="accept", when_busy="queue")
    assert (first.phase, queued.phase, checked.phase) == (MOVING, QUEUED, CHECKING)
    heard: dict[Transition, list[Any]] = {queued: [], checked: []}
    for transition, entries in heard.items():
        transition.listen(entries.append)
        transition.listen(entries.append)
    for t in range(1, 700):
        engine.push("s", ms.chronons([(t, (t % 5,))]))
    for transition, entries in heard.items():
        assert transition.phase is DONE
        assert entries[::2] == entries[1::2] == transition.trace
        assert entries


def test_those_that_wait_begin_in_order() -> None:
    engine = ms.Engine(PLANS[0])
    for stream in "abc":
        engine.push(stream, [(0, 1, (1,))])
    first, second, third = (engine.migrate(PLANS[i], when_busy="queue") for i in (1, 2, 0))
    assert (first.phase, second.phase, third.phase) == (MOVING, QUEUED, QUEUED)
    for stream in "abc":
        engine.push(stream, [(20, 21, (1,))])
    assert (first.phase, second.phase, third.phase) == (DONE, MOVING, QUEUED)
    engine.close()
    assert (first.phase, second.phase, third.phase) == (DONE, DONE, DONE)
    assert engine.plan == PLANS[0]


def test_the_phase_is_that_of_the_part_that_is_least_far() -> None:
    engine = ms.Engine(PLANS[0])
    engine.push("c", [(0, 1, (1,))])
    migration = engine.migrate(PLANS[1])
    assert [part.phase for part in migration.parts] == [DRAINING, MOVING]
    assert migration.phase is MOVING
    migration.abort()
    assert [part.phase for part in migration.parts] == [DRAINING, ABORTED]
    assert migration.phase is DRAINING
    engine.close()
    assert [part.phase for part in migration.parts] == [DONE, ABORTED]
    assert migration.phase is ABORTED


def test_a_check_that_raises_is_not_asked_again() -> None:
    """Elements go on behind the one event that tells."""

    def broken(*_: object, **__: object) -> Iterator[None]:
        for _ in range(2):
            yield
        raise ValueError("no comparison")

    results: list[Any] = []
    engine = ms.Engine(PLANS[0], results.extend)
    with patch.object(transitions, "compare", broken):
        engine.migrate(PLANS[1])
    with pytest.raises(ValueError, match="no comparison"):
        engine.push("a", [(0, 1, (1,))])
    for stream in "bc":
        engine.push(stream, [(0, 1, (1,))])
    assert not engine._feed._under_way
    engine.close()
    assert results == [(0, 10, (1, 1))] * len(results) != []
