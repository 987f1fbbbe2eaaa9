"""The same machine with an autopilot that follows a random advisor: it migrates at every opportunity, while
queries come, go and are replaced, and others migrate and abort by hand."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from inside import host_of
from machine import FIRST, Midstream, between, companions

from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.autopilot import Autopilot, Later
from midstream.autopilot.decision import Decision
from midstream.autopilot.learning import Learning
from midstream.autopilot.looks import Looks
from midstream.autopilot.parts import PilotParts
from midstream.autopilot.records import Record
from midstream.autopilot.settings import Settings
from midstream.autopilot.watching import EngineAutopilot
from midstream.migration.transition import Transition
from midstream.operators.engine.graph.replacement import TO_COME
from midstream.operators.engine.running.queries import RunningQuery
from midstream.optimizer import Statistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.errors import MigrationRefused, PlanError
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing.families import Family, members
from midstream.testing.law import steps

OTHERS = 3
"""So many plans are known that a query may be moved to, besides those that it had."""


class Restless(Autopilot[Plan]):
    """Moves at every opportunity to what the advisor names first."""

    def decide(
        self,
        now: float,
        advice: Advice[Plan] | None,
        until_split: float = 0.0,
        strategies: Sequence[str] = (),
        spent: float | Later | None = None,
    ) -> Decision[Plan]:
        if advice is None or not advice.others:
            return Decision(now, self.running, "nothing is known")
        return Decision(now, self.running, "at every opportunity", advice.others[0].plan, moves=True)

    def may_pay(self, advice: Advice[Plan]) -> bool:
        return bool(advice.others)

    def begun(self, now: float, to: Plan, strategy: str, until_split: float = 0.0) -> None:
        pass

    def ended(self, now: float, running: Plan) -> None:
        self.running = running


class AtRandom:
    """An advisor that names plans in any order."""

    def __init__(self, known: list[list[Plan]], seed: int) -> None:
        self._known, self._random = known, Random(seed)

    def advise(self, running: Plan, known: Statistics) -> Advice[Plan]:
        same = next((plans for plans in self._known if running in plans), [])
        plans = self._random.sample(same, len(same))
        return Advice(2.0, tuple(Forecast(plan, 1.0, 1.0) for plan in plans))


class Unneeded(Learning):
    """Statistics that are there from the beginning, whatever comes."""

    def statistics(self, now: int) -> Statistics:
        return Statistics({})


class Anyhow(EngineAutopilot):
    """Migrates by any strategy."""

    def __init__(self, machine: Piloted, seed: int, every: int) -> None:
        self._machine, self._random, self._by = machine, Random(seed), machine.strategies
        host = host_of(machine.moved.engine)

        def parts(query: RunningQuery, looks: Looks) -> PilotParts:
            advisor, learning = AtRandom(machine.known, seed), Unneeded(query.plan, looks, 1.0)
            unbounded = Settings(budget=None)
            return PilotParts(Restless(query.plan, looks.window, unbounded), advisor, learning)

        super().__init__(host, parts, self._migrate_anyhow, every=every)

    def strategies(self, query: RunningQuery, plan: Plan) -> tuple[str, ...]:
        """Without a look at whether it is possible: what is refused must do no harm."""
        self._strategy = self._random.choice(self._by)
        return (self._strategy,)

    def _migrate_anyhow(self, plan: Plan, strategy: str, name: str) -> Transition:
        found = self._machine.migrated(name, plan, strategy)
        if found is None:
            raise MigrationRefused("for a good reason")
        return found


class Piloted(Midstream):
    """The law of migration, whatever happens, with an autopilot."""

    @initialize(data=st.data(), forever=st.integers(0, 9).map(lambda n: n == 9), is_logged=st.booleans())
    def begin(self, data: st.DataObject, forever: bool, is_logged: bool) -> None:
        self.known: list[list[Plan]] = []
        """Plans that mean the same."""
        self.meant: dict[str, list[tuple[Time, Plan]]] = {}
        """By query, from which instant on it means what."""
        self.since: dict[str, Time] = {}
        """By query, before which instant what it had replaced may lack something."""
        self.coming: dict[str, Family] = {}
        """By query, what takes its place."""
        super().begin(data, forever, is_logged)
        self._learn(data, FIRST, self.families[FIRST])
        self.told: list[Record] = []
        seed, every = data.draw(st.integers(0, 999), "seed"), data.draw(st.integers(1, 5), "every")
        self.pilot = Anyhow(self, seed, every)
        self.pilot.listen(self._hear)

    def _learn(self, data: st.DataObject, name: str, family: Family) -> None:
        """What else a query may run."""
        plans = [data.draw(members(family), label="other plan") for _ in range(OTHERS)]
        self.known.append([family.plans[0], *plans])
        self.meant.setdefault(name, []).append((BEGINNING, family.plans[0]))

    def _hear(self, record: Record) -> None:
        note(f"    {record}")
        assert record.event != "failed", record
        if record.event == "left":  # what it was moving to went with it
            self.transitions = [one for one in self.transitions if one[0] != record.query]
        self.told.append(record)

    def migrated(self, name: str, plan: Plan, strategy: str) -> Transition | None:
        """A migration that the autopilot wishes for."""
        return self._ask(name, plan, strategy, "refuse", replace_all=False)

    def _ask(
        self, name: str, plan: Plan, strategy: str, when_busy: str, replace_all: bool
    ) -> Transition | None:
        running = self.moved.engine.query(name).plan
        for plans in self.known:
            if running in plans and plan not in plans:
                plans.append(plan)
        return super()._ask(name, plan, strategy, when_busy, replace_all)

    @precondition(lambda self: len(self.families) == 1)
    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        before = set(self.families)
        super().add(data)
        for name in set(self.families) - before:
            self.meant.pop(name, None)
            self.since.pop(name, None)
            self._learn(data, name, self.families[name])

    @precondition(lambda self: len(self.families) == 2 and not self.coming)
    @rule(which=st.integers(0, 1))
    def remove(self, which: int) -> None:
        super().remove(which)

    @rule(data=st.data(), which=st.integers(0, 1), is_sure=st.integers(0, 2))
    def replace(self, data: st.DataObject, which: int, is_sure: int) -> None:
        name = self._name(which)
        query = self.moved.engine.query(name)
        if is_sure or name in self.coming or query.is_exchanged or query.is_logged:
            return
        family = data.draw(companions(self.families[name]), label="what it is to mean")
        plan = family.plans[0]
        if set(plan.outputs) != set(query.plan.outputs) or len(plan.outputs) > 1:
            return
        since = self._complete_from(name)
        try:
            at = self.moved.engine.replace(plan, name).at
        except PlanError as error:
            note(f"    not replaced: {error}")
            return
        note(f"replace({name!r}) from {at} on by\n{plan}")
        self.unmoved.engine.replace(plan, name, at=None if at == BEGINNING else int(at))
        self.since[name] = since
        self.coming[name] = family
        self.is_pristine = False
        self._learn(data, name, family)
        self.meant[name][-1] = at, plan
        self._settle()

    def _tell(self, kind: str, stream: str, *what: Any) -> None:
        super()._tell(kind, stream, *what)
        self._settle()

    def _settle(self) -> None:
        """See which queries have been replaced. What took their place promises anew."""
        for runner in (self.moved, self.unmoved):
            for name in self.coming:
                if name + TO_COME not in runner.engine.queries:
                    runner.forget(name)
        for name in tuple(self.coming):
            if name + TO_COME not in self.moved.engine.queries:
                self.families[name] = self.coming.pop(name)
                self.added.add(name)

    def _is_heard(self, name: str) -> bool:
        """Of two queries, one of which takes the other's place, only a part each."""
        return name not in self.since

    def _complete_from(self, name: str) -> Time:
        return max(super()._complete_from(name), self.since.get(name, BEGINNING))

    def _specified(self, name: str, output: str, root: Node) -> NormalForm:
        """What it has meant in the course of time."""
        meant = self.meant[name]
        ends = [at for at, _ in meant[1:]] + [FOREVER]
        found: list[Element] = []
        for (since, plan), until in zip(meant, ends, strict=True):
            form = super()._specified(name, output, plan.root if len(meant) > 1 else root)
            found += steps(between(steps(form), since, until))
        return normal_form(found)
