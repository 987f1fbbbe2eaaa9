"""Many queries come, go and move to other plans while elements flow, and each gives what it means.

How many operators run as one function is drawn too, down to one, so that the ways of streams have many legs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from unittest.mock import patch

from counted import CountReference
from hypothesis import given, note
from hypothesis import strategies as st
from inside import base_of

from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.transition import Transition
from midstream.operators.compile import legs
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import compare, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time
from midstream.testing import is_ordered

A, B, C = (stream(name, {f"{name}k": "integer", f"{name}v": "integer"}) for name in "abc")


def counts(rows: Stream) -> Stream:
    return rows.group_by("ak").aggregate(n=count())


def shapes(size: int, bound: int) -> list[tuple[Plan, Plan]]:
    """Queries of several shapes, each with a plan that means the same."""
    a, b, c = A.window(size), B.window(4), C.window(size)
    few, own = col("ak") > 0, a.filter(col("av") > bound)
    pairs: Callable[[Stream], Stream] = lambda left: left.join(b, on=[("ak", "bk")])  # noqa: E731
    found = [
        (own.filter(few), a.filter(few).filter(col("av") > bound)),
        (counts(own).filter(few), counts(own.filter(few))),
        (pairs(own).filter(few), pairs(own.filter(few))),
        (
            pairs(own).join(c, on=[("ak", "ck")]),
            pairs(own.join(c, on=[("ak", "ck")])).select("ak", "av", "bk", "bv", "ck", "cv"),
        ),
        (own.select("ak").distinct().filter(few), own.filter(few).select("ak").distinct()),
        (own.union(a).filter(few), own.filter(few).union(a.filter(few))),
        (A.filter(few), A.filter(few)),
        (A.filter(few).select("ak"), A.select("ak").filter(few)),
        (
            own.difference(a.filter(col("av") > bound + 1)).filter(few),
            own.filter(few).difference(a.filter(col("av") > bound + 1).filter(few)),
        ),
    ]
    return [(before.plan(), after.plan()) for before, after in found]


POOL = [pair for size in (3, 6) for bound in (0, 1, 2) for pair in shapes(size, bound)]


@dataclass
class Watched:
    """A query, what it gave, and its migrations."""

    which: int
    complete_from: Time
    results: Batch = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    is_moved: bool = False


class Crowd:
    """An engine with queries of the pool, and what arrived."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.queries: dict[str, Watched] = {}
        self.arrived: dict[str, list[Element]] = {"a": [], "b": [], "c": []}
        self.now = 0
        self.reference = CountReference(self.engine)
        self._added = 0

    def add(self, which: int) -> None:
        name = f"q{self._added}"
        self._added += 1
        self.queries[name] = watched = Watched(which, BEGINNING)
        query = self.engine.add(POOL[which][0], watched.results.extend, name=name)
        watched.complete_from = query.complete_from

    def remove(self, nth: int) -> None:
        if self.queries:
            name = sorted(self.queries)[nth % len(self.queries)]
            root = self.engine.query(name).physical.root
            until = base_of(self.engine).progress_of(root)
            self.check(name, until)
            self.engine.remove(name)
            del self.queries[name]

    def migrate(self, nth: int, strategy: str) -> None:
        if not self.queries:
            return
        name = sorted(self.queries)[nth % len(self.queries)]
        watched = self.queries[name]
        try:
            transition = self.engine.migrate(POOL[watched.which][not watched.is_moved], strategy, name)
        except MigrationRefused as refusal:
            note(f"{name}: {refusal}")
            return
        watched.transitions.append(transition)
        watched.is_moved = not watched.is_moved

    def abort(self, nth: int) -> None:
        moving = [t for one in self.queries.values() for t in one.transitions if t.phase is Phase.MOVING]
        if moving:
            transition = moving[nth % len(moving)]
            watched = self.queries[transition.query]
            transition.abort()
            watched.is_moved = not watched.is_moved

    def push(self, name: str, gaps: list[int], rows: list[tuple[int, int]]) -> None:
        batch = []
        for gap, row in zip(gaps, rows, strict=False):
            self.now += gap
            batch.append((self.now, self.now + 1, row))
        if name in self.engine.streams and batch:
            self.arrived[name] += batch
            self.engine.push(name, batch)

    def advance(self, name: str, gap: int) -> None:
        self.now += gap
        if name in self.engine.streams:
            self.engine.advance(name, self.now)

    def check(self, name: str, until: Time) -> None:
        """The results up to an instant are those that are specified, from where the query is complete."""
        watched = self.queries[name]
        plan = POOL[watched.which][0]
        arrived = {source.stream: self.arrived[source.stream] for source in plan.sources}
        meant = [
            (s, e, row)
            for row, steps in specified(plan, arrived).items()
            for s, e, n in steps
            for _ in range(n)
        ]
        ours, theirs = (
            normal_form(
                (max(start, watched.complete_from), min(end, until), row)
                for start, end, row in elements
                if end > watched.complete_from and start < until
            )
            for elements in (meant, watched.results)
        )
        assert compare(ours, theirs), f"{name} until {until}: {compare(ours, theirs)}"
        assert is_ordered(watched.results)
        if name in self.engine.queries:
            assert self.engine.counters(name).results == len(watched.results)
        for transition in watched.transitions:
            assert transition.failure is None


NTH = st.integers(0, 99)
WHICH = st.integers(0, len(POOL) - 1)
STREAMS = st.sampled_from("abc")
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=3)
GAPS = st.lists(st.integers(0, 3), min_size=3, max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("push"), STREAMS, GAPS, ROWS),
    st.tuples(st.just("push"), STREAMS, GAPS, ROWS),
    st.tuples(st.just("advance"), STREAMS, st.integers(0, 4)),
    st.tuples(st.just("add"), WHICH),
    st.tuples(st.just("remove"), NTH),
    st.tuples(st.just("abort"), NTH),
    st.tuples(st.just("migrate"), NTH, st.sampled_from(["genmig", "swap", "genmig-end-timestamp", "auto"])),
)


@given(
    st.lists(WHICH, min_size=1, max_size=12),
    st.lists(STEPS, min_size=5, max_size=40),
    st.sampled_from([1, 2, 5, legs.LEG]),
)
def test_each_of_many_queries_gives_what_it_means(first: list[int], steps: list[tuple], leg: int) -> None:
    with patch.object(legs, "LEG", leg):
        crowd = Crowd()
        for which in first:
            crowd.add(which)
            crowd.reference.look()
        for step in steps:
            getattr(crowd, step[0])(*step[1:])
            crowd.reference.look()
        if crowd.queries:
            crowd.engine.close()
        for name, watched in crowd.queries.items():
            crowd.check(name, FOREVER)
            assert all(one.phase in (Phase.DONE, Phase.ABORTED) for one in watched.transitions)
        if crowd.queries:
            assert crowd.engine.size() == 0
        for name in tuple(crowd.queries):
            crowd.engine.remove(name)
        base = base_of(crowd.engine)
        assert not base.paths
        assert not base.running


"""Nothing is left of queries that are gone."""
