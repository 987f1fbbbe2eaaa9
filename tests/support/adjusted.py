"""Queries whose windows and granules change while they run, and move to other plans meanwhile, against a
specification that knows which setting was in force when.

    window        S@u counts at t where T - w(u) < u <= T,       w(u) the size in force at u (thesis, 21.3.1)
    granularity   an element is rounded by the granule in force at its start (thesis, 21.3.2)

What a granularity makes of an element depends on its start. So above anything but a stream, of which the
elements are known, results are compared only at the instants where all granules agree, and only where no
window looks at others (thesis, Lemma 20.1).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from midstream.autopilot.settings import EAGER
from midstream.driving import run
from midstream.engine import Engine
from midstream.optimizer.search import enumerate_plans
from midstream.plans.algebra.operators import Granularity, Leaf, Logical, Source, TimeWindow
from midstream.plans.algebra.operators.base import History, OverTime, RowByRow, Snapshot
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan
from midstream.plans.algebra.specification import specified
from midstream.plans.values.errors import MigrationRefused, PlanError
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import Workload, is_ordered, plans, workloads
from midstream.testing.plans import LARGEST_SETTING
from midstream.testing.workloads import drive

Bounds = tuple[int, int]
Settings = list[tuple[Time, Any]]
"""From when on which setting holds, in order of time."""


@dataclass(frozen=True)
class Step:
    """Before an event: a setting for one of the adjustable operators, some time later; or a move."""

    lever: int
    setting: int
    delay: int
    move: str
    """To which plan: "", "rules", "optimizer"."""
    choice: int


@dataclass(frozen=True)
class Case:
    """A query and its streams, what is done before each event, and whether an autopilot flies it."""

    workload: Workload
    steps: Mapping[int, Step]
    is_piloted: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A random one."""
    plan = plans(depth=3, windows=True, forever=False, shared=True, adjustable=True)
    workload = draw(workloads(plan, forever=False))
    step = st.builds(
        Step,
        st.integers(0, 9),
        st.integers(0, LARGEST_SETTING + 2),
        st.integers(1, 12),
        st.sampled_from(("",) * 6 + ("rules", "optimizer")),
        st.integers(0, 200),
    )
    steps = {i: draw(step) for i in range(len(workload.events)) if draw(st.integers(0, 3))}
    return Case(workload, steps, draw(st.integers(0, 3)) == 0)


def levers(plan: Plan) -> dict[Bounds, Node]:
    """The adjustable windows and granularities of a plan, by their bounds, of which no two are the same."""
    found = (node for node in logical_plan(plan).nodes if _bounds(node) is not None)
    return {bounds: node for node in found if (bounds := _bounds(node)) is not None}


def _bounds(node: Node) -> Bounds | None:
    operator = logical(node)
    return operator.bounds if isinstance(operator, TimeWindow | Granularity) else None


class Trial:
    """A case under way: the engine, and which settings it has been given."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.results: list[Element] = []
        self.engine = Engine(case.workload.plan, self.results.extend)
        self.settings: dict[Bounds, Settings] = {
            bounds: [(BEGINNING, _setting(node))] for bounds, node in levers(case.workload.plan).items()
        }
        self.changed = self.refused = self.moved = 0
        if case.is_piloted:
            self.engine.autopilot(settings=replace(EAGER, budget=None), every=5)

    def run(self) -> None:
        """All events, with what is done before each."""
        for i, event in enumerate(self.case.workload.events):
            if (step := self.case.steps.get(i)) is not None:
                self._move(step)
                self._adjust(step)
            drive(self.engine, [event])
        self.engine.close()
        assert is_ordered(self.results)

    def _move(self, step: Step) -> None:
        try:
            match step.move:
                case "rules":
                    others = enumerate_plans(self.engine.plan)
                    chosen = [plan for plan, _ in zip(others, range(step.choice % 40 + 1), strict=False)][-1]
                    self.engine.migrate(chosen, "auto")
                case "optimizer":
                    self.engine.migrate(self.engine.optimize(), "auto")
        except MigrationRefused:
            return
        self.moved += bool(step.move)

    def _adjust(self, step: Step) -> None:
        """Change a setting, or see that it is refused with a reason, and that nothing has changed."""
        known = sorted(self.settings)
        reached = [self.engine.progress(name) for name in self.engine.streams]
        if not known or FOREVER in reached:
            return
        bounds = known[step.lever % len(known)]
        if not _is_specified(self.case.workload.plan, bounds):
            return
        setting = step.setting * bounds[0]
        at = max((int(time) for time in reached if time != BEGINNING), default=0) + step.delay
        before, old = self.engine.plan, _in_force(self.settings[bounds], at - 1)
        if step.choice % 2:
            at += -at % old
        try:
            for copy in range(len(_copies(before, bounds))):
                lever = _copies(self.engine.plan, bounds)[copy]
                if isinstance(lever.operator, TimeWindow):
                    self.engine.resize(lever, setting, at)
                else:
                    self.engine.change_granule(lever, setting, at)
        except PlanError as error:
            is_ahead = "have been given out" in str(error) and not _is_of_elements(lever)
            assert is_ahead or self._may_refuse(bounds, setting, at), (bounds, setting, at, str(error))
            assert self.engine.plan == before
            self.refused += 1
            return
        assert bounds[0] <= setting <= bounds[1]
        settings = self.settings[bounds]
        settings[:] = [*(entry for entry in settings if entry[0] < at), (at, setting)]
        self.changed += 1

    def _may_refuse(self, bounds: Bounds, setting: int, at: int) -> bool:
        """Whether a change is to be refused: out of bounds, during a migration, where later elements would
        come out earlier, or where granules do not fit each other."""
        if not bounds[0] <= setting <= bounds[1] or self.engine.query().is_exchanged:
            return True
        old = _in_force(self.settings[bounds], at - 1)
        is_granule = isinstance(_copies(self.engine.plan, bounds)[0].operator, Granularity)
        if is_granule and setting % old and at % old:
            return True
        try:
            _replaced(
                self.engine.plan, lambda node: _given(node, setting) if _bounds(node) == bounds else node
            )
        except PlanError:
            return True
        return False


def check(case: Case) -> Trial:
    """Run a case, and compare its results with what is specified."""
    trial = Trial(case)
    trial.run()
    plan, streams = case.workload.plan, dict(case.workload.streams)
    for bounds in levers(plan):
        (lever,) = _copies(plan, bounds)
        settings = trial.settings[bounds]
        if isinstance(lever.operator, TimeWindow):
            known = _WindowWithHistory(_setting(lever), lever.operator.slide, settings=tuple(settings))
            plan = _replaced(
                plan, lambda node, at=bounds, known=known: _as(node, known) if _bounds(node) == at else node
            )
        elif len(settings) > 1 and _is_of_elements(lever):
            name = f"rounded {bounds[1]}"
            streams[name] = _rounded(run(Plan(lever.inputs[0]), _of(lever, streams)), settings)
            leaf = Node(Source(name, lever.schema, intervals=True))
            plan = _replaced(plan, lambda node, at=bounds, leaf=leaf: leaf if _bounds(node) == at else node)
    expected = specified(plan, _of(plan.root, streams))
    found = normal_form(trial.results)
    granules = [
        value
        for bounds, node in levers(case.workload.plan).items()
        if isinstance(node.operator, Granularity) and not _is_of_elements(node)
        for _, value in trial.settings[bounds]
        if len(trial.settings[bounds]) > 1
    ]
    if granules:
        expected, found = (_seen_at_multiples(form, math.lcm(*granules)) for form in (expected, found))
    verdict = compare(expected, found)
    assert verdict, f"{verdict}\n{case.workload.plan}\n{trial.settings}"
    return trial


@dataclass(frozen=True, slots=True)
class _WindowWithHistory(TimeWindow):
    """A time window whose size depends on the timestamp of the row."""

    settings: tuple[tuple[Time, int], ...] = ()

    def snapshot(self, history: History, instant: int) -> Snapshot:
        last = (instant + 1) // self.slide * self.slide - 1
        rows: Snapshot = Counter()
        for u in range(int(history.beginning), last + 1):
            if last - _in_force(self.settings, u) < u:
                rows += history.at(u)
        return rows

    @property
    def reach(self) -> int:
        return max(size for _, size in self.settings) + self.slide - 1


def _rounded(elements: Sequence[Element], settings: Settings) -> list[Element]:
    """Each by the granule that is in force at its start."""
    rounded = []
    for start, end, row in elements:
        granule = _in_force(settings, int(start))
        first = start + -start % granule
        last = end if end == FOREVER else end + -end % granule
        if first < last:
            rounded.append((first, last, row))
    return rounded


def _seen_at_multiples(form: NormalForm, granule: int) -> NormalForm:
    """What is valid at multiples of a granule, held until the next one."""
    steps = [(s, e, row) for row, found in form.items() for s, e, n in found for _ in range(n)]
    return normal_form(_rounded(steps, [(BEGINNING, granule)]))


def _is_specified(plan: Plan, bounds: Bounds) -> bool:
    """Whether it is known what a change of it means: of a window always, of a granularity where its elements
    are known, or nobody sees other instants than the multiples of all granules."""
    (lever,) = _copies(plan, bounds)
    if isinstance(lever.operator, TimeWindow) or _is_of_elements(lever):
        return True
    above = (node for node in plan.nodes if node != lever and lever in node.walk())
    return not any(isinstance(logical(node), OverTime) for node in above)


def _is_of_elements(lever: Node) -> bool:
    """Whether nothing but what treats each row by itself lies below."""
    (below,) = lever.inputs
    while isinstance(below.operator, RowByRow):
        (below,) = below.inputs
    return isinstance(below.operator, Source)


def _of(node: Node, streams: Mapping[str, Sequence[Element]]) -> dict[str, Sequence[Element]]:
    names = {below.operator.label for below in node.walk() if isinstance(below.operator, Leaf)}
    return {name: streams[name] for name in names}


def _copies(plan: Plan, bounds: Bounds) -> list[Node]:
    return [node for node in logical_plan(plan).nodes if _bounds(node) == bounds]


def _in_force(settings: Sequence[tuple[Time, Any]], time: int) -> Any:
    return [setting for since, setting in settings if since <= time][-1]


def _setting(node: Node) -> Any:
    operator = logical(node)
    return operator.size if isinstance(operator, TimeWindow) else operator.granule


def _given(node: Node, setting: int) -> Node:
    name = "size" if isinstance(node.operator, TimeWindow) else "granule"
    return _as(node, replace(node.operator, **{name: setting}))


def _as(node: Node, operator: Logical) -> Node:
    return Node(operator, node.inputs)


def _replaced(plan: Plan, change: Callable[[Node], Node]) -> Plan:
    """A plan with other nodes for some, from the inputs up."""
    return logical_plan(plan).map(change)
