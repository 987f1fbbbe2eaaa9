"""Migration cases: a query, an equivalent plan, arrivals, and the time and strategy of the migration.

A case is plain data. A seed determines it, JSON stores it, and a check compares it with the law:

    output(migrated) = the results that the logical algebra specifies, snapshot by snapshot, in order;
    and the migration ends.

    >>> case = case_of(7)
    >>> check_case(case).outcome in OUTCOMES
    True
    >>> case_from_json(case_to_json(case)) == case
    True
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

from midstream.arrivals import Event, Kind
from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.transition import Transition
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan, reads_stream
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.algebra.specification import specified
from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, read_artefact
from midstream.plans.values.errors import MigrationRefused, PlanError, PlanFormatError
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing.arrivals import ELEMENTS, GAPS, LATEST, LENGTHS, later, placed, relations_for
from midstream.testing.families import KINDS, families, members, strategies_for
from midstream.testing.law import REFUSALS, LawRunner, must_move, vouched
from midstream.testing.mutants import MUTANTS
from midstream.testing.seeded import drawn, smallest
from midstream.testing.streams import is_ordered, rows
from midstream.testing.workloads import drive, verdict

HEADER: Header = {"format": "midstream-case", "version": 1}

COUNTED = "counted"
"""The outcome of a case that counts: the plans differ logically, and elements were valid on both sides."""

OUTCOMES = (COUNTED, "empty", "same plan", "refused", "not drawn")
"""The outcomes of a case that keeps the law.

counted    the plans differ logically, and the migration had valid elements on both sides: one from before it
           was still valid, and one from after it is valid where the old plan gives no results
empty      the migration had no such elements
same plan  the plans are logically the same
refused    the strategy refused the plans, for a known reason
not drawn  the seed gave no case
"""

QUERY = "query"


class Tried(NamedTuple):
    """The strategy and outcome of a case that keeps the law."""

    strategy: str
    outcome: str


@dataclass(frozen=True)
class Case:
    """A query that migrates to another plan after some events."""

    plan: Plan
    """The plan that runs first."""
    to: Plan
    strategy: str
    replace_all: bool
    """True if everything above the windows is replaced, else only the parts where the plans differ."""
    after: int
    """The number of events before the migration."""
    events: Sequence[Event]
    relations: Mapping[str, Sequence[Element]]
    is_logged: bool
    """True if the engine keeps a log of the windows."""
    preserving: bool
    """True if all operators of the query preserve starts, as the reference-point method requires."""

    @property
    def streams(self) -> dict[str, list[Element]]:
        """All elements that arrive, by stream."""
        found: dict[str, list[Element]] = {source.stream: [] for source in self.plan.sources}
        for kind, name, what in self.events:
            if kind == "push":
                found[name] += what
        return found


@st.composite
def cases(
    draw: st.DrawFn, kinds: Sequence[str] = tuple(KINDS), strategies: Sequence[str] = tuple(STRATEGIES)
) -> Case:
    """Queries of some kinds that migrate once, by one of some strategies."""
    forever = draw(st.integers(0, 9)) == 9
    family = draw(families(kinds, forever))
    is_logged = draw(st.booleans())
    strategy = draw(st.sampled_from(strategies_for(family, strategies, is_logged=is_logged)))
    plan = family.plans[0]
    to = draw(members(family, plan, strategy))
    for _ in range(2):
        if logical_plan(to) == logical_plan(plan):
            to = draw(members(family, plan, strategy))
    relations = draw(relations_for(plan))
    arrivals = _Arrivals(plan, relations)
    for step in draw(st.lists(_steps(forever), max_size=4)):
        arrivals.happen(*step)
    for stream in arrivals.open:
        arrivals.push(stream, draw(st.lists(_EARLY, max_size=4)))
    after = len(arrivals.events)
    arrivals.fix_mark()
    for step in draw(st.lists(_steps(forever), max_size=6)):
        arrivals.happen(*step)
    for stream in arrivals.open:
        arrivals.push(stream, draw(st.lists(_LATE, max_size=4)))
    for step in draw(st.lists(_steps(forever, ends=True), max_size=4)):
        arrivals.happen(*step)
    replace_all = draw(st.booleans())
    return Case(
        plan, to, strategy, replace_all, after, arrivals.events, relations, is_logged, not family.is_rewritten
    )


_EARLY = st.tuples(st.sampled_from((0, 0, 1, 2)), st.sampled_from((1, 3, 6, 9)), rows(2))
"""Steps between the last elements before a migration: short, so that some elements are valid then."""

_LATE = st.tuples(
    st.sampled_from((0, 1, 2, 7, "the mark", "behind the mark")), st.sampled_from(LENGTHS), rows(2)
)
"""Steps between later elements: many lead to where only the new plan gives results."""


class _Arrivals:
    """Events, and an engine that processes them, so that elements can be placed near the split time."""

    def __init__(self, plan: Plan, relations: Mapping[str, Sequence[Element]]) -> None:
        self.events: list[Event] = []
        self._engine = Engine(plan, relations=dict(relations))
        self._ended: set[str] = set()
        self._fixed: int | None = None

    @property
    def open(self) -> list[str]:
        """The streams that have not ended."""
        return [stream for stream in self._engine.streams if stream not in self._ended]

    def fix_mark(self) -> None:
        """Fix the split time when the migration begins."""
        self._fixed = self._mark()

    def push(self, stream: str, steps: Sequence[Any]) -> None:
        """Push elements that follow by some steps."""
        if batch := placed(steps, self._now(stream), self._mark(), chronons=stream != "a"):
            self._tell(("push", stream, batch))

    def happen(self, kind: str, which: int, what: Any) -> None:
        """Apply a step to one of the open streams."""
        if not self.open:
            return
        stream = self.open[which % len(self.open)]
        match kind:
            case "push":
                self.push(stream, what)
            case "push for ever" if "a" in self.open:
                self.push("a", [what])
            case "advance" if (time := later(what, self._now(stream), self._mark())) <= LATEST:
                self._tell(("advance", stream, time))
            case "end":
                self._tell(("end", stream, None))
                self._ended.add(stream)

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        drive(self._engine, [event])

    def _now(self, stream: str) -> int:
        progress = self._engine.progress(stream)
        return int(progress) if progress != BEGINNING else 0

    def _mark(self) -> int:
        if self._fixed is not None:
            return self._fixed
        return max((end for end in _max_ends(self._engine) if isinstance(end, int)), default=0)


_Step = tuple[str, int, Any]
"""A step: an event's kind, the number of its stream, and its content."""


@functools.cache
def _steps(forever: bool, ends: bool = False) -> st.SearchStrategy[_Step]:
    """A strategy for the next step: mostly arriving elements.

    Elements without an end, and ends of streams, come only on request.
    """
    which, gaps = st.integers(0, 2), st.sampled_from(GAPS)
    pushed = st.tuples(st.just("push"), which, st.lists(ELEMENTS, min_size=1, max_size=5))
    advanced = st.tuples(st.just("advance"), which, gaps)
    ended = st.tuples(st.just("end"), which, st.none())
    endless = st.tuples(st.just("push for ever"), st.just(0), st.tuples(gaps, st.just("for ever"), rows(2)))
    return st.one_of(*[pushed] * 4, *[advanced] * 2, *[endless] * forever, *[ended] * ends)


def _max_ends(engine: Engine) -> list[Time]:
    """The largest end seen on each input of the exchangeable part."""
    return [end for node, end in engine.max_ends(QUERY).items() if reads_stream(node)]


def case_of(
    seed: int, kinds: Sequence[str] = tuple(KINDS), strategies: Sequence[str] = tuple(STRATEGIES)
) -> Case | None:
    """The case of a seed, equal in every process; None where the seed gives none.

    Another version of Midstream or of hypothesis may draw another case. `case_to_json` makes a lasting copy.
    """
    return drawn(_cases(tuple(kinds), tuple(strategies)), seed)


def smallest_case(
    seed: int,
    kinds: Sequence[str] = tuple(KINDS),
    strategies: Sequence[str] = tuple(STRATEGIES),
    mutant: str | None = None,
) -> Case | None:
    """The simplest case that breaks the law, starting from a seed; None where the seed's case keeps it."""

    def fails(case: Case) -> bool:
        return failure_of(case, mutant) is not None

    return smallest(_cases(tuple(kinds), tuple(strategies)), seed, fails)


@functools.cache
def _cases(kinds: Sequence[str], strategies: Sequence[str]) -> st.SearchStrategy[Case]:
    return cases(kinds, strategies)


def failure_of(case: Case, mutant: str | None = None) -> str | None:
    """The way in which a case breaks the law, perhaps with a planted fault; None if it keeps it."""
    found = try_case(case, mutant)
    return found if isinstance(found, str) else None


def try_case(case: Case, mutant: str | None = None) -> Tried | str:
    """The outcome of a case, perhaps with a planted fault, or the way in which it breaks the law."""
    with MUTANTS[mutant].patched() if mutant else nullcontext():
        try:
            return check_case(case)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def check_case(case: Case) -> Tried:
    """Run a case to the end of all streams.

    Raises   AssertionError where the case breaks the law.
    """
    runner = LawRunner({name: list(rows) for name, rows in case.relations.items()})
    runner.add(QUERY, case.plan)
    if case.is_logged:
        _keep_log(runner.engine)
    _tell(runner, case.events[: case.after])
    is_alive = _has_elements(runner.engine)
    transition = _move(case, runner)
    _tell(runner, case.events[case.after :], transition)
    if transition is None:
        _finish(case, runner)
        return Tried(case.strategy, "refused")
    arrived = any(kind == "push" for kind, _, _ in case.events[case.after :])
    is_alive &= arrived and any(end > _threshold(transition) for end in _max_ends(runner.engine))
    _finish(case, runner, transition)
    if not transition.parts or logical_plan(case.plan) == logical_plan(case.to):
        return Tried(case.strategy, "same plan")
    return Tried(case.strategy, COUNTED if is_alive else "empty")


def _keep_log(engine: Engine) -> None:
    try:
        engine.keep_log(QUERY)
    except PlanError as error:
        assert "positive and negative" in str(error), error


def _has_elements(engine: Engine) -> bool:
    """True if an element that arrived is still valid on an input of the exchangeable part."""
    return any(
        end > min(engine.progress(source.stream) for source in Plan(node).sources)
        for node, end in engine.max_ends(QUERY).items()
        if reads_stream(node)
    )


def _threshold(transition: Transition) -> Time:
    """The time after which only the new plan gives results."""
    return transition.started if transition.split == BEGINNING else transition.split


def _move(case: Case, runner: LawRunner) -> Transition | None:
    """Begin the migration; None if it is refused."""
    engine = runner.engine
    query = engine.query(QUERY)
    must = must_move(engine, QUERY, case.to, case.strategy, preserving=case.preserving)
    before = query.plan, query.physical
    try:
        return vouched(engine, case.to, case.strategy, QUERY, replace_all=case.replace_all)
    except MigrationRefused as refusal:
        assert not must, f"refused without reason: {refusal}"
        assert re.search(REFUSALS, str(refusal)), f"refused for an unknown reason: {refusal}"
        assert (query.plan, query.physical) == before, "what runs was changed by a refusal"
        return None


def _tell(runner: LawRunner, events: Sequence[Event], transition: Transition | None = None) -> None:
    for event in events:
        drive(runner.engine, [event])
        _check_on_the_way(runner, transition)


def _check_on_the_way(runner: LawRunner, transition: Transition | None) -> None:
    """Check that promises are kept, and that the old plan ends when the last input passes the split time."""
    for at in runner.given:
        runner.progress(at)
    for part in transition.parts if transition else ():
        if part.phase is Phase.MOVING:
            assert part.least_reached < part.split, "the old plan runs on behind the split time"
        assert part.observer.peak_held <= part.held_bound(), "more is held than may be"
        assert part.failure is None, part.failure


def _finish(case: Case, runner: LawRunner, transition: Transition | None = None) -> None:
    """End all streams, and compare the results with the specification."""
    engine = runner.engine
    engine.close()
    _check_on_the_way(runner, transition)
    inputs = {**case.streams, **case.relations}
    for name, root in case.plan.outputs.items():
        results = runner.given[QUERY, name]
        assert is_ordered(results), f"{name}: results are out of order"
        assert all(isinstance(t, int) or abs(t) == FOREVER for start, end, _ in results for t in (start, end))
        outcome = verdict(specified(Plan(root), inputs), results)
        assert outcome, f"{name}: specified on the left: {outcome}"
    assert not engine.query(QUERY).is_exchanged, "the migration does not end"
    assert not any(engine.held().values()), "something is kept"
    if transition is not None:
        assert transition.phase is Phase.DONE, f"the migration is {transition.phase.value}"
        assert all(part.old is None for part in transition.parts), "an old plan is kept"
        assert report(transition).unmatched == 0, "results match none of the other plan"


@dataclass(frozen=True, kw_only=True)
class _CaseFile:
    strategy: str
    whole: bool
    is_logged: bool
    preserving: bool
    after: int
    events: list[tuple[Kind, str, list[_ElementInFile] | int | None]]
    relations: dict[str, list[_ElementInFile]]
    plan: dict[str, Any]
    to: dict[str, Any]


_ElementInFile = tuple[int | None, int | None, tuple[Any, ...]]
"""Start, end and payload; null stands for BEGINNING and FOREVER."""


def case_to_json(case: Case) -> dict[str, Any]:
    """A case as plain JSON data."""
    file = _CaseFile(
        strategy=case.strategy,
        whole=case.replace_all,
        is_logged=case.is_logged,
        preserving=case.preserving,
        after=case.after,
        events=[(kind, name, _batch(what) if kind == "push" else what) for kind, name, what in case.events],
        relations={name: _batch(rows) for name, rows in case.relations.items()},
        plan=plan_to_json(case.plan),
        to=plan_to_json(case.to),
    )
    data: dict[str, Any] = json.loads(artefact_text(HEADER, file))
    return data


def case_from_json(data: Any) -> Case:
    """Read a case that `case_to_json` wrote.

    Raises   PlanFormatError for other data.
    """
    try:
        file = read_artefact(data, HEADER, _CaseFile)
    except ArtefactError as error:
        raise PlanFormatError(f"this is no case: {error}") from error
    if file.strategy not in STRATEGIES:
        raise PlanFormatError(f"found strategy {file.strategy!r}, expected one of {', '.join(STRATEGIES)}")
    return Case(
        plan=plan_from_json(file.plan),
        to=plan_from_json(file.to),
        strategy=file.strategy,
        replace_all=file.whole,
        after=file.after,
        events=[_event(*event) for event in file.events],
        relations={name: _elements(rows) for name, rows in file.relations.items()},
        is_logged=file.is_logged,
        preserving=file.preserving,
    )


def _batch(elements: Sequence[Element]) -> list[_ElementInFile]:
    return [
        (None if abs(start) == FOREVER else int(start), None if end == FOREVER else int(end), tuple(row))
        for start, end, row in elements
    ]


def _elements(batch: Sequence[_ElementInFile]) -> list[Element]:
    return [
        (BEGINNING if start is None else start, FOREVER if end is None else end, row)
        for start, end, row in batch
    ]


def _event(kind: str, name: str, what: list[_ElementInFile] | int | None) -> Event:
    match kind:
        case "push" if isinstance(what, list):
            return "push", name, _elements(what)
        case "advance" if isinstance(what, int):
            return "advance", name, what
        case "end" if what is None:
            return "end", name, None
    raise PlanFormatError(
        f"found event {kind} with {what!r}, expected push with elements, advance with an instant, or end"
    )
