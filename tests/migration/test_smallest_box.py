"""Only what differs is exchanged, among operators that go on: in an engine, at any moment, with other queries
and other migrations around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from inside import base_of, box_of

from midstream.arrivals import interleave
from midstream.driving import run
from midstream.engine import Engine
from midstream.migration.machine import Phase, under_way
from midstream.migration.report import report
from midstream.migration.transition import Transition
from midstream.operators.base.operator import Operator
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationNote, MigrationRefused
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import FOREVER, Element, chronons
from midstream.testing import is_ordered, verdict
from midstream.testing.law import vouched

A, B, C = (stream(name, {x: "integer"}).window(10) for name, x in zip("abc", "xyz", strict=True))
HISTORY: Mapping[str, list[Element]] = {
    "a": list(chronons((t, (t % 3,)) for t in range(0, 90, 2))),
    "b": list(chronons((t, (t % 4,)) for t in range(1, 90, 3))),
    "c": list(chronons((t, (t % 5,)) for t in range(0, 90, 4))),
}
EVENTS = list(interleave(HISTORY, batch_size=3))
EARLY, LATE = 12, 20
"""Events after which something happens; those after `EARLY` are still moving after a few more."""


def by(implementation: str, query: Stream) -> Stream:
    """A query whose last operator runs in a certain way."""
    return Stream(Node(Physical(implementation, logical(query.node)), query.node.inputs))


def looped(query: Stream) -> Stream:
    """A join by nested loops."""
    return by("nested-loops-join", query)


PAIRS = by("hash-join", A.join(B, on=[("x", "y")]))


def triples(pairs: Stream) -> Stream:
    """Ten operators: three windows, two joins, two filters, a duplicate elimination, a grouping, a map."""
    joined = pairs.filter(col("x") >= 0).join(C, on=[("y", "z")])
    counts = joined.distinct().group_by("x").aggregate(n=count())
    return counts.filter(col("n") > 0).select(x=col("x") + 0, n=col("n"))


OLD, NEW = triples(PAIRS).plan(), triples(looped(PAIRS)).plan()


class Run:
    """An engine with queries, their results, and events one by one."""

    def __init__(self, **queries: Plan) -> None:
        self.engine = Engine()
        self.results: dict[tuple[str, str], list[Element]] = {}
        self.plans = dict(queries)
        self.seen = 0
        for name, plan in queries.items():
            self.add(name, plan)

    def add(self, name: str, plan: Plan) -> object:
        """One more query."""
        query = self.engine.add(plan, name=name)
        self.plans[name] = plan
        for output in plan.outputs:
            found = self.results[name, output] = []
            self.engine.subscribe(found.extend, output, name)
        return query.complete_from

    def until(self, event: int) -> None:
        """Let events happen up to a number."""
        while self.seen < event:
            name, batch = EVENTS[self.seen]
            if name in self.engine.streams:
                self.engine.push(name, batch)
            self.seen += 1

    def close(self) -> None:
        """Let all others happen, and the end."""
        self.until(len(EVENTS))
        self.engine.close()

    def check(self, *queries: str) -> None:
        """Each output is what it means, and in order; nothing is left."""
        for name in queries:
            for output, root in self.plans[name].outputs.items():
                found = self.results[name, output]
                alone = Plan(root)
                outcome = verdict(
                    specified(alone, {one.stream: HISTORY[one.stream] for one in alone.sources}), found
                )
                assert outcome, f"{name}, {output}: {outcome}"
                assert found
                assert is_ordered(found)
            assert under_way(box_of(self.engine, name)) == []
        assert base_of(self.engine).size() == 0

    def objects(self) -> list[Operator]:
        """What runs."""
        return list(base_of(self.engine).running.values())


def names(transition: Transition) -> list[list[str]]:
    """The operators of the new boxes."""
    return [
        [type(one).__name__ for _, one in part.new.operators()]  # type: ignore[attr-defined]
        for part in transition.parts
    ]


def kept(before: list[Operator], after: list[Operator]) -> tuple[list[str], list[str]]:
    """Which operators are gone and which have come; all others are the very same objects."""

    def missing(some: list[Operator], others: list[Operator]) -> Iterator[str]:
        there = set(map(id, others))
        return (type(one).__name__ for one in some if id(one) not in there)

    return sorted(missing(before, after)), sorted(missing(after, before))


@pytest.mark.parametrize(
    "strategy", ["genmig", "genmig-end-timestamp", "genmig-reference-point", "parallel-track"]
)
@pytest.mark.parametrize("at", [1, EARLY, LATE])
def test_one_join_of_ten_operators_is_exchanged(strategy: str, at: int) -> None:
    """All others are the same objects throughout, and keep what they have; also where the reference point or
    a parallel track could not move the whole plan."""
    one = Run(query=OLD)
    one.until(at)
    before = one.objects()
    sizes = [operator.size() for operator in before]
    migration = one.engine.migrate(NEW, strategy)
    assert names(migration) == [["NestedLoopsJoin"]]
    if migration.phase is Phase.MOVING:
        assert kept(before, one.objects()) == (["HashJoin"], ["Guest"])
        left = [operator.size() for operator in before if operator in one.objects()]
        assert sum(sizes) - sum(left) == migration.parts[0].observer.peak_old
    one.close()
    assert migration.phase is Phase.DONE
    assert kept(before, one.objects()) == (["HashJoin"], ["NestedLoopsJoin"])
    assert len(before) == 10
    one.check("query")
    assert report(migration).unmatched == 0


def test_what_comes_out_is_what_comes_without_it() -> None:
    """Element by element where no result is cut, and at the same events."""
    moved, unmoved = Run(query=PAIRS.plan()), Run(query=PAIRS.plan())
    for event in range(len(EVENTS) + 1):
        if event == EARLY:
            moved.engine.migrate(looped(PAIRS).plan(), "genmig-reference-point")
        for each in (moved, unmoved):
            each.until(event)
    for each in (moved, unmoved):
        each.close()
    streams = {name: HISTORY[name] for name in "ab"}
    found = moved.results["query", "out"]
    assert sorted(found) == sorted(unmoved.results["query", "out"]) == sorted(run(PAIRS.plan(), streams))


@pytest.mark.parametrize("name", ["first", "second"])
def test_two_queries_share_what_one_of_them_exchanges(name: str) -> None:
    """The other one's operators are the same objects, those that were shared among them."""
    one = Run(first=OLD, second=PAIRS.distinct().plan())
    one.until(EARLY)
    plans = {"first": NEW, "second": looped(PAIRS).distinct().plan()}
    other = "second" if name == "first" else "first"
    nodes = one.engine.query(other).physical.nodes
    theirs = [operator for node, operator in base_of(one.engine).running.items() if node in nodes]
    migration = one.engine.migrate(plans[name], query=name)
    assert len(migration.parts) == 1
    assert migration.phase is Phase.MOVING
    assert kept(theirs, one.objects())[0] == []
    one.close()
    assert migration.phase is Phase.DONE
    assert kept(theirs, one.objects())[0] == []
    assert [type(o).__name__ for o in one.objects()].count("NestedLoopsJoin") == 1
    one.check("first", "second")


def test_when_the_other_follows_they_share_again() -> None:
    one = Run(first=OLD, second=PAIRS.distinct().plan())
    one.until(EARLY)
    first = one.engine.migrate(NEW, query="first")
    one.until(EARLY + 2)
    second = one.engine.migrate(looped(PAIRS).distinct().plan(), query="second")
    one.close()
    assert (first.phase, second.phase) == (Phase.DONE, Phase.DONE)
    one.check("first", "second")


def outputs(pairs: Stream) -> Plan:
    """Two outputs over a join, and one beside it."""
    return Plan(
        {
            "pairs": pairs.node,
            "kinds": pairs.distinct().node,
            "counts": A.aggregate(n=count()).node,
        }
    )


@pytest.mark.parametrize("whole", [False, True])
def test_several_outputs(whole: bool) -> None:
    one = Run(query=outputs(PAIRS))
    one.until(EARLY)
    before = one.objects()
    migration = one.engine.migrate(outputs(looped(PAIRS)), replace_all=whole)
    one.close()
    assert migration.phase is Phase.DONE
    gone = ["Aggregate", "FifoDistinct", "HashJoin"] if whole else ["HashJoin"]
    assert len(kept(before, one.objects())[0]) == len(gone)
    one.check("query")


def test_a_migration_may_wait_for_another() -> None:
    one = Run(query=OLD)
    one.until(EARLY)
    first = one.engine.migrate(NEW)
    second = one.engine.migrate(OLD, when_busy="queue")
    dropped = one.engine.migrate(NEW, when_busy="queue")
    assert (second.phase, second.parts) == (Phase.QUEUED, ())
    dropped.abort("not needed")
    one.until(EARLY + 3)
    assert (first.phase, second.phase) == (Phase.MOVING, Phase.QUEUED)
    while first.phase is not Phase.DONE:
        assert second.phase is Phase.QUEUED
        one.until(one.seen + 1)
    assert second.phase is Phase.MOVING
    assert len(second.parts) == 1
    one.close()
    assert second.phase is Phase.DONE
    assert (dropped.phase, dropped.reason, dropped.parts) == (Phase.ABORTED, "not needed", ())
    assert [type(o).__name__ for o in one.objects()].count("NestedLoopsJoin") == 0
    one.check("query")


def test_what_is_queued_is_checked_in_its_turn() -> None:
    """Other answers are refused at once; what shows only then is told by its phase."""
    one = Run(query=OLD)
    one.until(EARLY)
    first = one.engine.migrate(NEW)
    with pytest.raises(MigrationRefused, match="output has the columns"):
        one.engine.migrate(PAIRS.plan(), when_busy="queue")
    other = triples(stream("a", x="integer").window(11).join(B, on=[("x", "y")])).plan()
    refused = vouched(one.engine, other, when_busy="queue")
    with pytest.warns(MigrationNote, match="of query query was refused: the plans differ below"):
        one.close()
    assert first.phase is Phase.DONE
    assert refused.phase is Phase.REFUSED
    assert "differ below or between their windows" in refused.reason
    one.check("query")


def test_or_be_refused() -> None:
    one = Run(query=OLD, other=PAIRS.distinct().plan())
    one.until(EARLY)
    first = one.engine.migrate(NEW, query="query", when_busy="refuse")
    with pytest.raises(MigrationRefused, match="a migration of query is under way; wait until it is done"):
        one.engine.migrate(OLD, query="query", when_busy="refuse")
    # That of another query is no obstacle.
    other = one.engine.migrate(looped(PAIRS).distinct().plan(), query="other", when_busy="refuse")
    with pytest.raises(MigrationRefused, match="expected chain, queue or refuse"):
        one.engine.migrate(OLD, query="query", when_busy="wait")
    one.close()
    assert (first.phase, other.phase) == (Phase.DONE, Phase.DONE)
    one.check("query", "other")


@pytest.mark.parametrize("more", range(4))
def test_abort_in_the_middle(more: int) -> None:
    """The operator that was to go is there again, with its state."""
    one = Run(query=OLD)
    one.until(EARLY)
    before = one.objects()
    migration = one.engine.migrate(NEW)
    one.until(EARLY + more)
    assert migration.phase is Phase.MOVING
    migration.abort("changed my mind")
    assert (migration.phase, migration.reason) == (Phase.ABORTED, "changed my mind")
    assert kept(before, one.objects()) == ([], [])
    assert not one.engine.query().is_exchanged
    with pytest.raises(MigrationRefused, match="the migration is aborted, which is too late to abort it"):
        migration.abort()
    one.close()
    one.check("query")


def test_abort_of_a_change_whose_results_take_their_way_through_what_stays() -> None:
    """What the joiner holds has not been through the operators above; two outputs get it."""
    one = Run(query=outputs(PAIRS))
    one.until(EARLY)
    migration = one.engine.migrate(outputs(looped(PAIRS)), "parallel-track")
    one.until(EARLY + 4)
    assert report(migration).peak_held > 0
    migration.abort()
    one.close()
    one.check("query")


def inner_and_outer(strategy: str = "genmig") -> tuple[Run, Transition, Transition]:
    """A lower join is being exchanged, and then what contains it."""
    one = Run(query=OLD)
    one.until(EARLY)
    inner = one.engine.migrate(NEW)
    one.until(EARLY + 2)
    outer = one.engine.migrate(triples(B.join(A, on=[("y", "x")], columns=("x", "y"))).plan(), strategy)
    assert len(outer.parts) == 1
    assert (inner.phase, outer.phase) == (Phase.MOVING, Phase.MOVING)
    return one, inner, outer


def test_a_migration_around_one_that_is_under_way() -> None:
    one, inner, outer = inner_and_outer()
    assert outer.split > inner.split
    one.close()
    assert (inner.phase, outer.phase) == (Phase.DONE, Phase.DONE)
    assert report(outer).unmatched == report(inner).unmatched == 0
    one.check("query")


def test_what_is_part_of_another_cannot_be_aborted_before_that_is() -> None:
    one, inner, outer = inner_and_outer()
    with pytest.raises(MigrationRefused, match="a later migration has begun that includes this one"):
        inner.abort()
    outer.abort("first")
    inner.abort("then")
    one.close()
    assert (inner.phase, outer.phase) == (Phase.ABORTED, Phase.ABORTED)
    one.check("query")


def sides(left: Stream, right: Stream) -> Plan:
    """A join of two that can be exchanged apart."""
    return left.union(right.rename({"z": "y"})).distinct().plan()


OTHER = by("hash-join", A.join(C, on=[("x", "z")]))


def side_by_side() -> tuple[Run, list[Operator], Transition, Transition]:
    """One side is being exchanged, and then the other one."""
    one = Run(query=sides(PAIRS, OTHER))
    one.until(EARLY)
    before = one.objects()
    first = one.engine.migrate(sides(looped(PAIRS), OTHER))
    one.until(EARLY + 2)
    second = one.engine.migrate(sides(looped(PAIRS), looped(OTHER)))
    assert (first.phase, second.phase) == (Phase.MOVING, Phase.MOVING)
    return one, before, first, second


@pytest.mark.parametrize("aborted", [None, 1])
def test_another_part_is_migrated_while_one_is(aborted: int | None) -> None:
    """Both end, or the second gives way to the first."""
    one, before, *both = side_by_side()
    if aborted is not None:
        both[aborted].abort()
    one.close()
    assert [each.phase for each in both] == [Phase.DONE, Phase.DONE if aborted is None else Phase.ABORTED]
    assert kept(before, one.objects())[0].count("HashJoin") == 2 - (aborted is not None)
    one.check("query")


def test_another_part_is_exchanged_beside_one_that_is_being_exchanged() -> None:
    """Two boxes side by side; neither is part of the other, and the first can be aborted alone."""
    one, before, first, second = side_by_side()
    assert names(second) == [["NestedLoopsJoin"]]
    assert kept(before, one.objects()) == (["HashJoin"] * 2, ["Guest"] * 2)
    first.abort()
    one.close()
    assert (first.phase, second.phase) == (Phase.ABORTED, Phase.DONE)
    one.check("query")


def test_a_box_over_rows_of_a_relation_can_be_part_of_another_migration() -> None:
    """What it gives is joined to a stream, as before and after the migration."""
    terms = relation("terms", temporal=True, x="integer").rename({"x": "z"})
    rows = A.rename({"x": "y"}).union(terms.rename({"z": "y"})).distinct()

    def plan(kind: str) -> Plan:
        return by(kind, A.join(rows, on=[("x", "y")])).distinct().plan()

    engine = Engine(plan("hash-join"), relations={"terms": [(0, 60, (1,))]})
    engine.push("a", HISTORY["a"][:9])
    assert engine.migrate(plan("nested-loops-join")).phase is Phase.MOVING
    assert engine.migrate(plan("hash-join"), replace_all=True).phase is Phase.MOVING


def test_what_comes_on_signs_is_taken_in_beside_what_runs_on_signs() -> None:
    """A single query, in which nothing else is under way."""
    large, small = col("x") > 0, col("x") < 2

    def plan(kind: str) -> Plan:
        signed = by("signed-filter", A.filter(large))
        return signed.union(by(kind, A.filter(small))).plan()

    one = Run(query=plan("filter"))
    one.until(EARLY)
    migration = one.engine.migrate(plan("signed-filter"))
    one.until(len(EVENTS))
    assert migration.phase is Phase.DONE
    assert not one.engine.query().is_exchanged


def test_what_waits_begins_though_another_query_has_the_same_new_operator() -> None:
    """The operator of the second query stays in its box, as the first one has an equal one of its own."""
    one = Run(first=PAIRS.distinct().plan(), second=PAIRS.aggregate(n=count()).plan())
    one.until(EARLY)
    one.engine.migrate(looped(PAIRS).distinct().plan(), query="first")
    second = one.engine.migrate(looped(PAIRS).aggregate(n=count()).plan(), query="second")
    waiting = one.engine.migrate(PAIRS.aggregate(n=count()).plan(), query="second", when_busy="queue")
    one.until(len(EVENTS))
    assert second.phase is Phase.DONE
    assert waiting.phase is not Phase.QUEUED


@pytest.mark.parametrize(("name", "more"), list(product(("first", "second"), (0, 2))))
def test_a_query_is_removed_while_one_migrates(name: str, more: int) -> None:
    """The one that migrates, with all that it keeps, or the other one."""
    one = Run(first=OLD, second=PAIRS.distinct().plan())
    one.until(EARLY)
    migration = one.engine.migrate(NEW, query="first")
    queued = one.engine.migrate(OLD, query="first", when_busy="queue")
    one.until(EARLY + more)
    one.engine.remove(name)
    assert {type(o).__name__ for o in one.objects()} & {"Guest"} == (set() if name == "first" else {"Guest"})
    one.close()
    left = "second" if name == "first" else "first"
    one.check(left)
    assert (migration.phase is Phase.DONE) == (name == "second")
    assert (queued.phase is Phase.REFUSED) == (name == "first")


def test_what_is_removed_can_be_aborted_without_harm() -> None:
    one = Run(first=OLD, second=PAIRS.distinct().plan())
    one.until(EARLY)
    migration = one.engine.migrate(NEW, query="first")
    one.engine.remove("first")
    with pytest.raises(MigrationRefused, match="query first has been removed"):
        migration.abort()
    one.close()
    one.check("second")


@pytest.mark.parametrize(
    "late", [OLD, NEW, PAIRS.plan(), looped(PAIRS).plan()], ids=["old", "new", "part", "new part"]
)
@pytest.mark.parametrize("more", [0, 2])
def test_a_query_is_added_while_one_migrates(late: Plan, more: int) -> None:
    """It has operators of its own where a box answers for those of the other one, until that is done."""
    one = Run(query=OLD)
    one.until(EARLY)
    migration = one.engine.migrate(NEW)
    one.until(EARLY + more)
    complete_from = one.add("late", late)
    assert migration.phase is Phase.MOVING
    one.close()
    assert migration.phase is Phase.DONE
    one.check("query")
    found = one.results["late", "out"]
    expected = run(late, {one.stream: HISTORY[one.stream] for one in late.sources})
    assert is_ordered(found)
    assert isinstance(complete_from, int)
    assert complete_from < 60 < FOREVER
    for instant in range(complete_from, 110):
        assert snapshot(found, instant) == snapshot(expected, instant)
