"""Queries that run, and everything that may happen to them in any order, as a hypothesis state machine.

Elements, heartbeats and ends arrive; migrations begin, in any way, are aborted or fail; queries come and go.
A second engine is told the same, but for the migrations. After every step the results so far, and the
promises about those to come, are compared with its; at the end the results are compared with the
specification.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from math import floor
from typing import Any

from counted import CountReference
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from inside import host_of
from migration_law import Brittle, ask

from midstream.migration.machine import Migration, Phase
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.transition import OVER, Transition
from midstream.operators.engine.running.planner import form
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.implementations.obstacles import is_relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan, reads_stream
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.values.errors import MidstreamError, MigrationRefused, PlanError
from midstream.plans.values.schema import Type
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import is_ordered, rows
from midstream.testing.arrivals import ELEMENTS, GAPS, LATEST, later, placed, relations_for
from midstream.testing.families import KINDS, Family, families, members, strategies_for
from midstream.testing.law import REFUSALS, LawRunner, must_move, steps

FIRST, SECOND = "query", "other"

STANDS = st.sampled_from((None, None, None, None, 0, 2, 4))
"""How many events a new plan stands; None if it does not fail."""

MOVED = ("moved", "moved to another logical plan")

OUTCOMES = ("refused", "nothing to do", "aborted", *MOVED)

TALLY: Counter[tuple[str, str]] = Counter()
"""What came of the migrations of all runs in this process, by strategy; and how many runs there were."""


class ChangingRunner(LawRunner):
    """The same, whose queries also go, or become others."""

    def remove(self, name: str) -> None:
        """Run it no longer, and forget what it gave."""
        self.engine.remove(name)
        self.given = {at: batch for at, batch in self.given.items() if at[0] != name}

    def forget(self, name: str) -> None:
        """A query is another one now, which promises anew."""
        self._promised |= {at: BEGINNING for at in self._promised if at[0] == name}


def between(results: Iterable[Element], since: Time, until: Time) -> NormalForm:
    """What a stream means from one instant to another."""
    clipped = ((max(start, since), min(end, until), payload) for start, end, payload in results)
    return normal_form(element for element in clipped if element[0] < element[1])


@st.composite
def companions(draw: st.DrawFn, family: Family) -> Family:
    """Another query that shares something with one: all, a part, or that it is made of it."""
    plan = logical_plan(family.plans[0])
    found = [node for node in plan.nodes if not is_relation(node) and reads_stream(node) and node.inputs]
    one = Stream(draw(st.sampled_from(found or list(plan.outputs.values()))))
    number = next((c.name for c in one.schema if c.type is Type.INTEGER), None)
    match draw(st.integers(0, 4)):
        case 0:
            return Family((plan,), family.is_rewritten)
        case 1:
            return Family((draw(members(family)), plan), family.is_rewritten)
        case 2:
            return Family((one.distinct().plan(),))
        case 3:
            return Family((one.aggregate(most=max_(number) if number else count()).plan(),))
    return Family((one.plan(),), family.is_rewritten)


def outcome(transition: Transition, *, is_another: bool) -> str:
    """What came of a migration that is over."""
    match transition.phase:
        case Phase.REFUSED:
            return "refused"
        case Phase.ABORTED:
            return "aborted"
    return MOVED[is_another] if transition.parts else "nothing to do"


class Midstream(RuleBasedStateMachine):
    """The law of migration, whatever happens."""

    kinds: Sequence[str] = tuple(KINDS)
    strategies: Sequence[str] = tuple(STRATEGIES)

    @initialize(data=st.data(), forever=st.integers(0, 9).map(lambda n: n == 9), is_logged=st.booleans())
    def begin(self, data: st.DataObject, forever: bool, is_logged: bool) -> None:
        family = data.draw(families(self.kinds, forever), label="plans")
        relations = data.draw(relations_for(family.plans[0]), label="relations")
        self.relations = relations
        self.moved, self.unmoved = ChangingRunner(relations), ChangingRunner(relations)
        self.counted = CountReference(self.moved.engine)
        self.families: dict[str, Family] = {}
        self.streams: dict[str, list[Element]] = {source: [] for source in "abc"}
        self.ended: set[str] = set()
        self.may_last = forever
        self.transitions: list[tuple[str, Transition]] = []
        self.asked: list[tuple[str, Transition, bool]] = []
        """The migrations that were not refused at once: by which strategy, what came of it, and whether to
        another logical plan."""
        self.brittle: list[Migration] = []
        """Those whose new plan is to fail."""
        self.tally: Counter[tuple[str, str]] = Counter()
        """By strategy, what came of migrations."""
        self.added: set[str] = set()
        """The queries that were added while others ran."""
        self.is_pristine = True
        """Whether what has come out must be the very elements that the plan to begin with gives."""
        self._add(FIRST, family)
        if is_logged:
            self._keep_log(FIRST)
        for stream in self._open():
            self._push(stream, data.draw(st.lists(ELEMENTS, max_size=4), label=stream))

    # What arrives

    @precondition(lambda self: self._is_open("a"))
    @rule(steps=st.lists(ELEMENTS, min_size=1, max_size=5))
    def push_a(self, steps: Sequence[Any]) -> None:
        self._push("a", steps)

    @precondition(lambda self: self._is_open("b"))
    @rule(steps=st.lists(ELEMENTS, min_size=1, max_size=5))
    def push_b(self, steps: Sequence[Any]) -> None:
        self._push("b", steps)

    @precondition(lambda self: self._is_open("c"))
    @rule(steps=st.lists(ELEMENTS, min_size=1, max_size=5))
    def push_c(self, steps: Sequence[Any]) -> None:
        self._push("c", steps)

    @precondition(lambda self: self.may_last and self._is_open("a"))
    @rule(gap=st.sampled_from(GAPS), row=rows(2))
    def push_for_ever(self, gap: int | str, row: Any) -> None:
        self._push("a", [(gap, "for ever", row)])

    def _push(self, stream: str, steps: Sequence[Any]) -> None:
        batch = placed(steps, self._now(stream), self._mark(), chronons=stream != "a")
        if batch:
            self.streams[stream] += batch
            self._tell("push", stream, batch)

    @precondition(lambda self: self._open())
    @rule(which=st.integers(0, 2), gap=st.sampled_from(GAPS))
    def advance(self, which: int, gap: int | str) -> None:
        found = self._open()
        stream = found[which % len(found)]
        time = later(gap, self._now(stream), self._mark())
        if time <= LATEST:
            self._tell("advance", stream, time)

    @precondition(lambda self: self._open())
    @rule(which=st.integers(0, 2), is_sure=st.booleans())
    def end(self, which: int, is_sure: bool) -> None:
        if is_sure:
            found = self._open()
            stream = found[which % len(found)]
            self.ended.add(stream)
            self._tell("end", stream)

    # What is changed

    @rule(data=st.data(), which=st.integers(0, 1), whole=st.booleans(), stands=STANDS)
    def migrate(self, data: st.DataObject, which: int, whole: bool, stands: int | None) -> None:
        self._migrate(data, which, "chain", whole, stands)

    @rule(data=st.data(), which=st.integers(0, 1), whole=st.booleans())
    def migrate_once_more(self, data: st.DataObject, which: int, whole: bool) -> None:
        self._migrate(data, which, "chain", whole, None)

    @rule(data=st.data(), which=st.integers(0, 1), when_busy=st.sampled_from(("queue", "refuse")))
    def migrate_when_done(self, data: st.DataObject, which: int, when_busy: str) -> None:
        self._migrate(data, which, when_busy, False, None)

    def _migrate(
        self, data: st.DataObject, which: int, when_busy: str, whole: bool, stands: int | None
    ) -> None:
        name = self._name(which)
        family = self.families[name]
        query = self.moved.engine.query(name)
        choices = strategies_for(
            family, self.strategies, is_logged=query.is_logged, is_exchanged=query.is_exchanged
        )
        strategy = data.draw(st.sampled_from(choices), label="strategy")
        plan = data.draw(members(family, query.plan, strategy), label="plan")
        found = self._ask(name, plan, strategy, when_busy, whole)
        for part in () if found is None else found.parts:
            if stands is not None and part.phase is Phase.MOVING:
                self.brittle.append(part)
                part.backlog.adopt(Brittle(part.new, part, stands))

    def _ask(
        self, name: str, plan: Plan, strategy: str, when_busy: str, replace_all: bool
    ) -> Transition | None:
        """Migrate, unless that is refused for a good reason."""
        note(
            f"migrate({name!r}, {strategy!r}, when_busy={when_busy!r}, replace_all={replace_all}) to\n{plan}"
        )
        engine = self.moved.engine
        query = engine.query(name)
        before, physical = query.plan, query.physical
        must = self._must(name, plan, strategy, when_busy)
        self.counted.look()
        try:
            found = ask(engine, plan, strategy, name, when_busy=when_busy, replace_all=replace_all)
        except MigrationRefused as refusal:
            note(f"    refused: {refusal}")
            # What runs for another query too is not exchanged, even where signs begin, or go on.
            host = host_of(engine)
            shared = host.shared(name)
            is_signed = any(form(node) == "signs" for node in host.operators if node in shared)
            assert not must or (is_signed and "gives positive and negative" in str(refusal)), refusal
            assert re.search(REFUSALS, str(refusal)), refusal
            assert (query.plan, query.physical) == (before, physical)
            self.tally[strategy, "refused"] += 1
            return None
        self.counted.look()
        self.transitions.append((name, found))
        self.asked.append((strategy, found, logical_plan(before) != logical_plan(plan)))
        # Parallel track holds results, and auto may choose it, also when its turn comes.
        is_begun = bool(found.parts) or found.phase is Phase.QUEUED
        self.is_pristine &= not is_begun or strategy not in ("swap", "parallel-track", "auto")
        return found

    def _must(self, name: str, plan: Plan, strategy: str, when_busy: str) -> bool:
        """Whether nothing speaks against a migration."""
        engine = self.moved.engine
        query = engine.query(name)
        if query.is_exchanged and when_busy != "chain":
            return when_busy == "queue"
        return must_move(engine, name, plan, strategy, preserving=not self.families[name].is_rewritten)

    @precondition(lambda self: self.transitions)
    @rule(which=st.integers(0, 5))
    def abort(self, which: int) -> None:
        busy = [one for one in self.transitions if one[1].phase in (Phase.QUEUED, Phase.MOVING)]
        found = busy or self.transitions
        name, transition = found[-1 - which % len(found)]
        was = transition.phase
        note(f"abort({name!r}), which is {was.value}")
        try:
            transition.abort("it is too slow")
        except MidstreamError as error:
            assert was is not Phase.QUEUED, error
            assert was is not Phase.MOVING or "a later migration has begun" in str(error), error
            assert transition.phase is was
        else:
            assert was in (Phase.QUEUED, Phase.MOVING), was

    @rule(which=st.integers(0, 1), is_sure=st.integers(0, 3))
    def keep_log(self, which: int, is_sure: int) -> None:
        if not is_sure:
            self._keep_log(self._name(which))

    def _keep_log(self, name: str) -> None:
        note(f"keep_log({name!r})")
        try:
            self.moved.engine.keep_log(name)
        except PlanError as error:
            assert "positive and negative" in str(error), error

    @precondition(lambda self: len(self.families) == 1)
    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        (name,) = self.families
        family = data.draw(companions(self.families[name]), label="other plans")
        name = SECOND if name == FIRST else FIRST
        self.added.add(name)
        self._add(name, family)

    def _add(self, name: str, family: Family) -> None:
        plan = family.plans[0]
        note(f"add({name!r}) of\n{plan}")
        self.families[name] = family
        for runner in (self.moved, self.unmoved):
            runner.add(name, plan)
        self.counted.look()

    @precondition(lambda self: len(self.families) == 2)
    @rule(which=st.integers(0, 1))
    def remove(self, which: int) -> None:
        name = self._name(which)
        note(f"remove({name!r})")
        del self.families[name]
        gone = [transition for one, transition in self.transitions if one == name]
        self.transitions = [(one, transition) for one, transition in self.transitions if one != name]
        for runner in (self.moved, self.unmoved):
            runner.remove(name)
        for transition in gone:
            assert transition.phase in OVER, (name, transition.phase)

    # What must hold

    @invariant()
    def what_came_is_right(self) -> None:
        """Up to where both engines have promised, their results mean the same; where no migration has ended,
        they are the same."""
        self.is_pristine &= all(
            part.phase in (Phase.MOVING, Phase.ABORTED) for _, one in self.transitions for part in one.parts
        )
        for at, results in self.moved.given.items():
            until = min(self.moved.progress(at), self.unmoved.progress(at))
            since = self._complete_from(at[0])
            wanted = self.unmoved.given[at]
            outcome = compare(between(wanted, since, until), between(results, since, until))
            assert outcome, f"{at} before {until}: without the migrations on the left: {outcome}"
            # One of several outputs may be ahead of an input, and then it is held.
            is_alone = at[0] not in self.added and len(self.families[at[0]].plans[0].outputs) == 1
            if self.is_pristine and is_alone:
                assert Counter(results) == Counter(wanted), at

    @invariant()
    def what_is_counted_is_what_was_given(self) -> None:
        """Counters neither fall nor jump, and tell what operators gave, and how many results came out."""
        self.counted.look()
        engine = self.moved.engine
        for name in filter(self._is_heard, self.families):
            given = sum(len(batch) for at, batch in self.moved.given.items() if at[0] == name)
            assert engine.counters(name).results == engine.query(name).results == given, name

    def _is_heard(self, name: str) -> bool:
        """Whether its sinks get all that it gives."""
        return True

    @invariant()
    def what_is_past_is_over(self) -> None:
        """No old plan outlives its last input's passing the split time."""
        for _, transition in self.transitions:
            for part in transition.parts:
                if part.phase is Phase.MOVING:
                    assert part.least_reached < part.split
                assert part.observer.peak_held <= part.held_bound()
                assert report(transition).unmatched == 0
                assert part.failure is None or part in self.brittle, part.failure

    def teardown(self) -> None:
        if sys.exc_info()[0] is not None:
            return
        note("close()")
        for runner in (self.moved, self.unmoved):
            runner.engine.close()
        engine = self.moved.engine
        self.what_came_is_right()
        self.what_is_counted_is_what_was_given()
        self.what_is_past_is_over()
        for name, family in self.families.items():
            since = self._complete_from(name)
            for output, root in family.plans[0].outputs.items():
                results = self.moved.given[name, output]
                assert is_ordered(results)
                expected = self._specified(name, output, root)
                outcome = compare(between(steps(expected), since, FOREVER), between(results, since, FOREVER))
                assert outcome, f"{name}, {output}: specified on the left: {outcome}"
            assert not engine.query(name).is_exchanged
            assert not host_of(engine).query(name).waiting
        for name, transition in self.transitions:
            assert transition.phase in OVER, (name, transition.phase)
            assert all(part.old is None for part in transition.parts)
        assert not any(operator.size() for operator in host_of(engine).operators.values())
        self._count()

    def _specified(self, name: str, output: str, root: Node) -> NormalForm:
        """What an output means."""
        return specified(Plan(root), {**self.streams, **self.relations})

    def _count(self) -> None:
        """Tell what came of all migrations of the run."""
        for strategy, transition, is_another in self.asked:
            self.tally[strategy, outcome(transition, is_another=is_another)] += 1
        outcomes = {found for _, found in self.tally}
        self.tally["", "runs"] += 1
        self.tally["", "runs that moved"] += not outcomes.isdisjoint(MOVED)
        self.tally["", "runs that moved to another logical plan"] += MOVED[1] in outcomes
        TALLY.update(self.tally)

    # What it is about

    def _tell(self, kind: str, stream: str, *what: Any) -> None:
        note(f"{kind}({', '.join(map(repr, (stream, *what)))})")
        for runner in (self.moved, self.unmoved):
            getattr(runner.engine, kind)(stream, *what)

    def _name(self, which: int) -> str:
        names = list(self.families)
        return names[which % len(names)]

    def _is_open(self, stream: str) -> bool:
        return stream in self.moved.engine.streams and stream not in self.ended

    def _open(self) -> list[str]:
        return [stream for stream in self.moved.engine.streams if stream not in self.ended]

    def _now(self, stream: str) -> int:
        progress = self.moved.engine.progress(stream)
        return int(progress) if progress != BEGINNING else 0

    def _mark(self) -> int:
        """The chronon of the split time of the latest migration under way, or else of the next one."""
        for _, transition in reversed(self.transitions):
            if transition.phase is Phase.MOVING and transition.split != BEGINNING:
                return floor(transition.split)
        ends = [end for end in self._max_ends(next(iter(self.families))) if isinstance(end, int)]
        return max(ends, default=0)

    def _max_ends(self, name: str) -> list[Time]:
        engine = self.moved.engine
        return [
            host_of(engine).max_end(node)
            for node in host_of(engine).exchangeable_inputs(name).values()
            if reads_stream(node)
        ]

    def _complete_from(self, name: str) -> Time:
        return max(runner.engine.query(name).complete_from for runner in (self.moved, self.unmoved))
