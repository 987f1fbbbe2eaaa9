"""Queries whose windows and granules change while they run, and move to other plans meanwhile, against a
specification that knows which setting was in force when.

    window        S@u counts at t where T - w(u) < u <= T,       w(u) the size in force at u (thesis, 21.3.1)
    rows          a row counts until n(u) later ones of its group have come
    sample        a row is drawn by the share in force at its timestamp
    granularity   an element is rounded by the granule in force at its start (thesis, 21.3.2)

What a granularity makes of an element depends on its start. So above anything but a stream, of which the
elements are known, results are compared only at the instants where all granules agree, and only where no
window looks at others (thesis, Lemma 20.1).
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from inside import graph_of

from midstream.autopilot.managing import ResourceManager
from midstream.autopilot.settings import EAGER
from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.engine.graph.adjustment import Adjustment
from midstream.operators.engine.graph.levers import Lever
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.optimizer.search import enumerate_plans
from midstream.plans.algebra.operators import (
    Adjustable,
    CountWindow,
    Granularity,
    Leaf,
    Logical,
    PartitionedWindow,
    Sample,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.operators.base import History, OverTime, RowByRow, Snapshot
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan, unbounded
from midstream.plans.algebra.specification import specified
from midstream.plans.values.errors import (
    BudgetExceeded,
    MigrationRefused,
    PlanError,
    QueryNote,
    StatisticsError,
)
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import Workload, is_ordered, plans, workloads
from midstream.testing.plans import LARGEST_SETTING
from midstream.testing.workloads import drive

Bounds = tuple[float, float]
Settings = list[tuple[Time, Any]]
"""From when on which setting holds, in order of time."""


@dataclass(frozen=True)
class Step:
    """Before an event: settings for levers of a query, some time later; or a move; or a query that comes or
    goes."""

    query: int
    levers: Mapping[int, int]
    """Settings by the places of levers."""
    delay: int
    move: str
    """To which plan: "", "rules", "optimizer"; or what else happens: a query "comes", "comes otherwise", with
    other bounds, or "goes"; or the engine "forgets" settings, or a "watch" of the query begins or ends."""
    choice: int


@dataclass(frozen=True)
class Case:
    """A query and its streams, what is done before each event, whether an autopilot flies it, and the bytes
    of a budget, if there is one."""

    workload: Workload
    steps: Mapping[int, Step]
    is_piloted: bool
    memory: int | None = None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A random one."""
    depth = draw(st.sampled_from((0, 1, 2, 3, 3)))
    has_relations = draw(st.booleans())
    plan = plans(
        depth=depth, windows=True, forever=False, shared=True, adjustable=True, relations=has_relations
    )
    workload = draw(workloads(plan, forever=False))
    step = st.builds(
        Step,
        st.integers(0, 3),
        st.dictionaries(st.integers(0, 9), st.integers(0, LARGEST_SETTING + 2), min_size=1, max_size=3),
        st.integers(1, 12),
        st.sampled_from(
            ("",) * 6 + ("rules", "optimizer", "comes", "goes", "forgets", "watch") + ("comes otherwise",) * 3
        ),
        st.integers(0, 200),
    )
    steps = {i: draw(step) for i in range(len(workload.events)) if draw(st.integers(0, 3))}
    memory = draw(st.none() | st.integers(100, 10_000))
    return Case(workload, steps, draw(st.integers(0, 3)) == 0, memory)


def levers(plan: Plan) -> dict[Bounds, Node]:
    """The adjustable windows and granularities of a plan, by their bounds, of which no two are the same."""
    found = (node for node in logical_plan(plan).nodes if _bounds(node) is not None)
    return {bounds: node for node in found if (bounds := _bounds(node)) is not None}


def _bounds(node: Node) -> Bounds | None:
    operator = logical(node)
    return operator.bounds if isinstance(operator, Adjustable) else None


class Subject:
    """A query that runs: its plan as it was given, its results, and which settings it has been given."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.results: list[Element] = []
        self.settings: dict[Bounds, Settings] = {
            bounds: [(BEGINNING, _setting(node))] for bounds, node in levers(plan).items()
        }
        self.remembered: Time = BEGINNING
        """From when on its settings are remembered."""
        self.since: Time = BEGINNING
        """From when on its results are complete."""
        self.until: Time = FOREVER
        """Until when they are; a query that goes gives no more."""
        self.is_specified = True
        """False once a budget has changed a lever of which no specification tells the results."""


class Trial:
    """A case under way: the engine, its queries, and which settings they have been given."""

    def __init__(self, case: Case) -> None:
        self.case = case
        first = Subject(case.workload.plan)
        self.queries = {"query": first}
        self.gone: list[Subject] = []
        self.engine = Engine(first.plan, first.results.extend, relations=case.workload.relations)
        self.watches: dict[str, ExitStack] = {}
        self.reads: list[Callable[[], list[Metadata]]] = []
        self.changed = self.refused = self.moved = self.met = self.amid = self.parted = 0
        self.shared = self.noted = self.managed = self.admitted = self.excluded = 0
        if case.is_piloted:
            self.engine.autopilot(settings=replace(EAGER, budget=None), every=5)
        self.budget: ResourceManager | None = None
        if case.memory is not None:
            self.budget = self.engine.budget(memory=case.memory, every=3, deciding=None)
            self._adjust_by_budget, self.budget._adjust = self.budget._adjust, self._managed

    @property
    def results(self) -> list[Element]:
        """Those of the first query."""
        return self.queries["query"].results

    def run(self) -> None:
        """All events, with what is done before each."""
        for i, event in enumerate(self.case.workload.events):
            if (step := self.case.steps.get(i)) is not None:
                self._move(step)
                self._check_running()
                self._adjust(step)
                self._check_running()
            drive(self.engine, [event])
            self._check_running()
            for read in self.reads:
                read()
        self.engine.close()
        for subject in self.queries.values():
            assert is_ordered(subject.results)

    def _check_running(self) -> None:
        """All nodes of the queries' plans run, for these queries."""
        graph = graph_of(self.engine)
        for query in graph.queries.values():
            assert all(query in graph.base.users(node) for node in query.physical.nodes)
        for lever in self.engine.levers():
            own = [_own_lever(lever, self.engine.query(name).plan) for name in lever.queries]
            declared = [bounds for bounds in map(_bounds, own) if bounds is not None]
            assert lever.bounds == (max(b[0] for b in declared), min(b[1] for b in declared))
            assert lever.bounds[0] <= lever.setting <= lever.bounds[1]
            self.shared += len(set(declared)) > 1
        for name, subject in self.queries.items():
            query = self.engine.query(name)
            assert set(levers(query.plan)) <= set(subject.settings)
            for lever, settings in query.settings().items():
                bounds = _bounds(lever)
                assert bounds is not None
                _check_settings(settings, subject.settings[bounds], subject.remembered)

    def _chosen(self, number: int) -> str:
        return list(self.queries)[number % len(self.queries)]

    def _move(self, step: Step) -> None:
        name = self._chosen(step.query)
        plan = self.engine.query(name).plan
        try:
            match step.move:
                case "rules":
                    others = enumerate_plans(plan)
                    chosen = [other for other, _ in zip(others, range(step.choice % 40 + 1), strict=False)][
                        -1
                    ]
                    self.engine.migrate(chosen, "auto", name, when_busy=("chain", "queue")[step.choice % 2])
                case "optimizer":
                    self.engine.migrate(self.engine.optimize(query=name), "auto", name)
                case "comes" | "comes otherwise":
                    comes = plan if step.choice % 2 else self.case.workload.plan
                    if step.move == "comes otherwise":
                        comes = _otherwise(comes, step.choice // 2)
                    self._come(comes, f"query {step.choice}", is_admitted=step.choice % 3 == 0)
                case "forgets" if (until := self.engine.query(name).progress()) not in (BEGINNING, FOREVER):
                    before = int(until) - step.choice % 4
                    self.engine.forget_settings(before, name)
                    subject = self.queries[name]
                    subject.remembered = max(subject.remembered, before)
                case "watch" if name in self.watches:
                    self.watches.pop(name).close()
                case "watch":
                    stack = self.watches[name] = ExitStack()
                    self.reads.append(stack.enter_context(self.engine.watch(name)))
                case "goes" if name != "query":
                    self.watches.pop(name, None)
                    gone = self.queries.pop(name)
                    gone.until = self.engine.query(name).progress()
                    self.gone.append(gone)
                    self.engine.remove(name)
        except MigrationRefused:
            return
        self.moved += step.move in ("rules", "optimizer")

    def _managed(self, *, settings: Mapping[Node, Any], not_before: Time) -> Adjustment:
        """What a budget adjusts, with a note of it."""
        concerned = self._concerned(
            settings, {name: self.engine.query(name).plan for name in self.queries}, []
        )
        adjusted = self._adjust_by_budget(settings=settings, not_before=not_before)
        for name in adjusted.queries:
            for lever, new in concerned.get(name, {}).items():
                self._note(name, lever, adjusted.at, new)
                subject, bounds = self.queries[name], _bounds(lever)
                assert bounds is not None
                subject.is_specified &= _is_specified(subject.plan, bounds)
        self.managed += 1
        return adjusted

    def _note(self, name: str, lever: Node, at: int, new: Any) -> None:
        """Take note of a new setting."""
        bounds = _bounds(lever)
        assert bounds is not None
        settings = self.queries[name].settings[bounds]
        settings[:] = [*(entry for entry in settings if entry[0] < at), (at, new)]

    def _come(self, plan: Plan, name: str, *, is_admitted: bool) -> None:
        if name in self.queries or len(self.queries) >= 4:
            return
        results: list[Element] = []
        within = self.budget if is_admitted else None
        before = {other: self.engine.query(other).plan for other in self.queries}
        subject = Subject(plan)
        self.queries[name] = subject
        try:
            query = self.engine.add(plan, results.extend, name=name, within=within)
        except (BudgetExceeded, StatisticsError):
            assert within is not None
            del self.queries[name]
            assert before == {other: self.engine.query(other).plan for other in self.engine.queries}
            self.excluded += 1
            return
        self.admitted += within is not None
        subject.results, subject.since = results, query.complete_from
        for lever, history in query.settings().items():
            bounds = _bounds(lever)
            assert bounds is not None
            if len(history) == 1 and len(subject.settings[bounds]) == 1:
                assert bounds[0] <= history[0][1] <= bounds[1]
                subject.settings[bounds] = [(BEGINNING, history[0][1])]  # that with which it was admitted

    def _adjust(self, step: Step) -> None:
        """Change settings, or see that this is refused with a reason, and that nothing has changed."""
        name = self._chosen(step.query)
        subject = self.queries[name]
        all_bounds = sorted(subject.settings)
        reached = [self.engine.progress(stream) for stream in self.engine.streams]
        if not all_bounds or FOREVER in reached:
            return
        chosen = {all_bounds[place % len(all_bounds)]: setting for place, setting in step.levers.items()}
        chosen = {bounds: new for bounds, new in chosen.items() if _is_specified(subject.plan, bounds)}
        before = {other: self.engine.query(other).plan for other in self.queries}
        wanted = {
            lever: new * bounds[0]
            for bounds, new in chosen.items()
            for lever in _copies(before[name], bounds)
        }
        if not wanted:
            return
        at = max((int(time) for time in reached if time != BEGINNING), default=0) + step.delay
        if step.choice % 2:
            olds = (_in_force(subject.settings[bounds], at - 1) for bounds in chosen)
            at += -at % math.lcm(*(old for old in olds if isinstance(old, int)))
        only = [name] if step.choice % 3 == 0 else []
        concerned = self._concerned(wanted, before, only)
        willing = {other: changes for other, changes in concerned.items() if _are_allowed(changes)}
        try:
            adjusted = self.engine.adjust(wanted, at=at, queries=only)
        except PlanError as error:
            is_ahead = "have been given out" in str(error) and not all(map(_is_of_elements, wanted))
            is_together = (only or willing != concerned) and "as well, so that" in str(error)
            is_unwilling = name not in willing or (only and willing != concerned)
            may_refuse = is_unwilling or self._may_refuse(willing, before, at)
            assert is_ahead or is_together or may_refuse, (wanted, at, str(error))
            assert before == {other: self.engine.query(other).plan for other in self.queries}
            self.refused += 1
            return
        assert name in willing and set(adjusted.queries) == set(willing)
        assert len(adjusted.notes) == len(concerned) - len(willing)
        self.parted += bool(only)
        self.noted += bool(adjusted.notes)
        for other, changes in willing.items():
            for lever, new in changes.items():
                self._note(other, lever, at, new)
        for other in self.queries:
            query = self.engine.query(other)
            changes = willing.get(other, {})
            assert {*levers(query.plan)} == {*levers(before[other])}
            for bounds, lever in levers(query.plan).items():
                old = levers(before[other])[bounds]
                assert _setting(lever) == changes.get(old, _setting(old))
            running = graph_of(self.engine).queries[other]
            assert logical_plan(running.physical) == logical_plan(running.plan)
        self.met += len(adjusted.queries) > 1
        self.amid += any(self.engine.query(other).is_exchanged for other in adjusted.queries)
        self.changed += 1

    def _concerned(
        self, wanted: Mapping[Node, Any], plans: Mapping[str, Plan], only: Sequence[str]
    ) -> dict[str, dict[Node, Any]]:
        """The queries that run one of some levers, with their own levers and the settings that these get."""
        concerned: dict[str, dict[Node, Any]] = {}
        for lever in self.engine.levers():
            own = {name: _own_lever(lever, plans[name]) for name in lever.queries if not only or name in only}
            for key, setting in wanted.items():
                if unbounded(key) != unbounded(lever.node):
                    continue
                if _bounds(key) in (lever.bounds, *map(_bounds, own.values())):
                    for name, of in own.items():
                        concerned.setdefault(name, {})[of] = setting
        return concerned

    def _may_refuse(
        self, wanted: Mapping[str, Mapping[Node, Any]], plans: Mapping[str, Plan], at: int
    ) -> bool:
        """Whether a change is to be refused, where later elements would come out earlier, or where granules
        do not fit each other."""
        for name, changes in wanted.items():
            for lever, setting in changes.items():
                bounds = _bounds(lever)
                if isinstance(lever.operator, Granularity) and bounds is not None:
                    old = _in_force(self.queries[name].settings[bounds], at - 1)
                    if setting % old and at % old:
                        return True
            try:
                _replaced(
                    plans[name],
                    lambda node, to=changes: _given(node, to[node]) if node in to else node,
                    keep=True,
                )
            except PlanError:
                return True
        return False


def _are_allowed(changes: Mapping[Node, Any]) -> bool:
    """Whether all settings are within the bounds of their levers."""
    return all(
        bounds[0] <= setting <= bounds[1]
        for lever, setting in changes.items()
        if (bounds := _bounds(lever)) is not None
    )


def _own_lever(lever: Lever, plan: Plan) -> Node:
    """The node of a query's plan that is a running lever."""
    alike = [node for node in levers(plan).values() if unbounded(node) == unbounded(lever.node)]
    return next((node for node in alike if _bounds(node) == lever.bounds), alike[0])


def _check_settings(settings: Settings, expected: Settings, remembered: Time) -> None:
    """All are there from which results can come that are valid from an instant on."""
    changes = [*_changes(expected), (FOREVER, None)]
    needed = [entry for entry, after in pairwise(changes) if after[0] > remembered]
    assert _changes(settings) == changes[-1 - len(settings) : -1]
    assert len(needed) <= len(settings)


def _changes(settings: Sequence[tuple[Time, Any]]) -> list[tuple[Time, Any]]:
    """The settings without those that are as before."""
    return [entry for before, entry in pairwise([(None, None), *settings]) if before[1] != entry[1]]


def _otherwise(plan: Plan, choice: int) -> Plan:
    """A plan with other bounds for some levers, of which again no two are the same."""
    used = set(levers(plan))
    others: dict[Node, Bounds] = {}
    for place, (bounds, lever) in enumerate(levers(plan).items()):
        if not choice >> place & 1:
            continue
        setting = _setting(lever)
        least = bounds[0] * 2 if choice % 5 in (1, 2) and bounds[0] * 2 <= setting else bounds[0]
        if isinstance(lever.operator, Sample):
            least, greatest = (least, 1.0) if least > bounds[0] else (least / 1.5, max(setting, 0.5))
        else:
            greatest = setting if choice % 3 == 0 else bounds[1] + (choice % 3 - 1.5) * 6 // 1
            greatest = max(int(greatest), setting, least)
            while (least, greatest) in used:
                greatest += 1
        used.add((least, greatest))
        others[lever] = (least, greatest)
    return _replaced(
        plan,
        lambda node: _as(node, logical(node).with_bounds(others[node])) if node in others else node,
        keep=True,
    )


def check(case: Case) -> Trial:
    """Run a case, and compare the results of its queries with what is specified; a warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=QueryNote)
        trial = Trial(case)
        trial.run()
    for subject in (*trial.queries.values(), *trial.gone):
        if subject.is_specified:
            _check(subject, case.workload.streams)
    return trial


def _check(subject: Subject, of_streams: Mapping[str, Sequence[Element]]) -> None:
    plan, streams = subject.plan, dict(of_streams)
    for bounds in levers(plan):
        (lever,) = _copies(plan, bounds)
        settings = subject.settings[bounds]
        if isinstance(lever.operator, Granularity):
            if len(settings) > 1 and _is_of_elements(lever):
                name = f"rounded {bounds[1]}"
                streams[name] = _rounded(run(Plan(lever.inputs[0]), _of(lever, streams)), settings)
                leaf = Node(Source(name, lever.schema, intervals=True))
                plan = _replaced(
                    plan, lambda node, at=bounds, leaf=leaf: leaf if _bounds(node) == at else node
                )
            continue
        known = _with_history(lever.operator, tuple(settings))
        plan = _replaced(
            plan, lambda node, at=bounds, known=known: _as(node, known) if _bounds(node) == at else node
        )
    expected = _during(specified(plan, _of(plan.root, streams)), subject)
    found = _during(normal_form(subject.results), subject)
    granules = [
        value
        for bounds, node in levers(subject.plan).items()
        if isinstance(node.operator, Granularity) and not _is_of_elements(node)
        for _, value in subject.settings[bounds]
        if len(subject.settings[bounds]) > 1
    ]
    if granules:
        expected, found = (_seen_at_multiples(form, math.lcm(*granules)) for form in (expected, found))
    verdict = compare(expected, found)
    assert verdict, f"{verdict}\n{subject.plan}\n{subject.settings}\n{subject.since} to {subject.until}"


def _during(form: NormalForm, subject: Subject) -> NormalForm:
    """What is valid while a query's results are complete."""
    since, until = subject.since, subject.until
    steps = [
        (max(s, since), min(e, until), row) for row, of in form.items() for s, e, n in of for _ in range(n)
    ]
    return normal_form([step for step in steps if step[0] < step[1]])


def _with_history(operator: Logical, settings: tuple[tuple[Time, int], ...]) -> Logical:
    kinds = {
        TimeWindow: _WindowWithHistory,
        CountWindow: _CountWindowWithHistory,
        PartitionedWindow: _PartitionedWindowWithHistory,
        Sample: _SampleWithHistory,
    }
    parameters = {each.name: getattr(operator, each.name) for each in fields(operator)}
    return kinds[type(operator)](**parameters | {"bounds": None}, settings=settings)


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


class _CountingWithHistory:
    """Shows a row until as many later ones of its group have come as the setting was at its timestamp."""

    settings: tuple[tuple[Time, int], ...]

    def snapshot(self, history: History, instant: int) -> Snapshot:
        columns = self.grouped_by(history.schema)
        self.check_ties(history.rows(), columns)
        groups: dict[Any, list[tuple[int, Any]]] = {}
        for t, e in history.rows():
            if t <= instant:
                groups.setdefault(tuple(e[i] for i in columns), []).append((t, e))
        shown: Snapshot = Counter()
        for rows in groups.values():
            last = len(rows) // self.slide * self.slide
            for number, (t, e) in enumerate(rows, start=1):
                shown[e] += number <= last < number + _in_force(self.settings, t)
        return +shown


@dataclass(frozen=True, slots=True)
class _CountWindowWithHistory(_CountingWithHistory, CountWindow):
    settings: tuple[tuple[Time, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _PartitionedWindowWithHistory(_CountingWithHistory, PartitionedWindow):
    settings: tuple[tuple[Time, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _SampleWithHistory(Sample):
    """A sample whose share depends on the instant."""

    settings: tuple[tuple[Time, float], ...] = ()

    def of_row(self) -> Callable[[int, Any], Sequence[Any]]:
        """By the share that is in force."""
        shares = {
            share: Sample(self.stream, share, self.seed, weighted=self.weighted).of_row()
            for _, share in self.settings
        }
        return lambda instant, row: shares[_in_force(self.settings, instant)](instant, row)


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
    if not isinstance(lever.operator, Granularity) or _is_of_elements(lever):
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
    return logical(node).setting


def _given(node: Node, setting: int) -> Node:
    return _as(node, node.operator.with_setting(setting))


def _as(node: Node, operator: Logical) -> Node:
    return Node(operator, node.inputs)


def _replaced(plan: Plan, change: Callable[[Node], Node], *, keep: bool = False) -> Plan:
    """A plan with other nodes for some, from the inputs up; with `keep`, nodes are asked for as they were."""
    if not keep:
        return logical_plan(plan).map(change)
    made: dict[Node, Node] = {}
    for node in logical_plan(plan).nodes:
        made[node] = change(node).with_inputs(tuple(made[child] for child in node.inputs))
    return Plan({name: made[root] for name, root in logical_plan(plan).outputs.items()})
