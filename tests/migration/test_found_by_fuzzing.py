"""What fuzzing found, as small as it can be told."""

from __future__ import annotations

import pytest
from counted import CountReference
from inside import base_of, box_of, input_max_ends, input_progress

from midstream.engine import Engine
from midstream.migration.machine import Phase
from midstream.migration.report import report
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators import Difference, Distinct, Split, Union
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import equivalent
from midstream.testing.law import vouched

A = stream("a", x="integer", intervals=True)
B = stream("b", y="integer", intervals=True)
C = stream("c", x="integer", intervals=True)
POSITIVE, SMALL = col("x") > 0, col("x") < 9


def test_the_inputs_of_a_query_that_shares_what_is_made_of_a_relation() -> None:
    table = relation("table", z="integer").distinct()
    engine = Engine(A.join(table, on=[("x", "z")]).plan(), relations={"table": []})
    engine.add(A.filter(POSITIVE).join(table, on=[("x", "z")]).plan(), name="other")
    assert set(input_max_ends(engine)) == {BEGINNING}


def test_a_queued_migration_begins_where_the_new_plan_runs_for_another_query() -> None:
    """The operators of the new plan stay apart then; that is not a migration under way."""
    one, two = A.distinct().filter(POSITIVE).plan(), A.filter(POSITIVE).distinct().plan()
    engine = Engine(one)
    engine.add(two, name="other")
    engine.push("a", [(0, 3, (1,)), (1, 4, (2,))])
    first = engine.migrate(two, replace_all=True)
    second = engine.migrate(one, when_busy="queue", replace_all=True)
    engine.push("a", [(20, 23, (1,))])
    assert first.phase is Phase.DONE
    assert second.phase is Phase.MOVING
    engine.close()
    assert second.phase is Phase.DONE


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_what_a_shared_operator_holds_is_given_by_the_old_plan(strategy: str) -> None:
    """The old plan's own state tells nothing of it."""
    results: list[Element] = []
    engine = Engine(A.anti_join(B, on=[("x", "y")]).distinct().plan(), results.extend)
    engine.add(engine.plan, name="other")
    engine.push("a", [(0, 10, (0,))])
    engine.migrate(A.distinct().anti_join(B, on=[("x", "y")]).plan(), strategy)
    engine.close()
    assert equivalent(results, [(0, 10, (0,))])


@pytest.mark.parametrize("whole", [False, True])
def test_a_plan_that_ends_in_a_window_while_it_is_exchanged_as_a_whole(whole: bool) -> None:
    """A Box stands above the window and means the same."""
    results: list[Element] = []
    plan = A.window(1).plan()
    engine = Engine(plan, results.extend)
    engine.push("a", [(0, 10, (1,))])
    migrations = [engine.migrate(plan, replace_all=True), engine.migrate(plan, replace_all=whole)]
    engine.close()
    assert [one.phase for one in migrations] == [Phase.DONE] * 2
    assert equivalent(results, [(0, 10, (1,))])


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp"])
def test_parallel_track_compares_what_both_plans_were_given(strategy: str) -> None:
    """A later migration is past its split time, behind which the plans inside had different inputs: the new
    one the elements, the old one not yet what a shared join made of them."""
    results: list[Element] = []
    joined = A.join(B)
    engine = Engine(joined.select("x", "y").plan(), results.extend)
    engine.add(joined.plan(), name="other")
    engine.push("b", [(0, 9, (0,))])
    engine.push("a", [(0, 6, (0,))])
    new = B.join(A).select("x", "y").plan()
    migrations = [
        vouched(engine, new, "parallel-track"),
        vouched(engine, new, strategy, when_busy="chain", replace_all=True),
    ]
    engine.push("a", [(12, 14, (0,))])
    engine.push("b", [(11, 13, (0,))])
    assert [one.phase for one in migrations] == [Phase.DONE] * 2
    assert [report(one).unmatched for one in migrations] == [0, 0]
    engine.close()
    assert equivalent(results, [(0, 6, (0, 0)), (12, 13, (0, 0))])


@pytest.mark.parametrize(
    "strategy", ["genmig", "genmig-end-timestamp", "genmig-reference-point", "parallel-track"]
)
def test_an_output_that_has_promised_that_nothing_will_come_keeps_that(strategy: str) -> None:
    """Its only stream has ended; the migration waits for that of the other output."""
    kept = A.filter(POSITIVE)
    plan = Plan({"one": kept.node, "more": kept.join(B, on=[("x", "y")]).node})
    new = Plan({"one": kept.node, "more": A.join(B, on=[("x", "y")]).filter(POSITIVE).node})
    engine = Engine(plan)
    engine.push("a", [(0, 4, (1,)), (2, 9, (1,))])
    engine.end("a")
    assert box_of(engine).progress(0) == FOREVER
    (part,) = engine.migrate(new, strategy, replace_all=True).parts
    assert part.phase is Phase.MOVING
    assert box_of(engine).progress(0) == FOREVER
    engine.close()
    assert part.phase is Phase.DONE


def test_rows_of_a_relation_do_not_arrive_at_any_rate() -> None:
    """What it costs to move is predicted by what elements arrive until then."""
    table = relation("table", z="integer")
    rows = [(BEGINNING, FOREVER, (z,)) for z in range(3)]
    results: list[Element] = []
    plan = A.anti_join(table.filter(col("z") > 1), on=[("x", "z")]).filter(POSITIVE).plan()
    engine = Engine(plan, results.extend, relations={"table": rows})
    engine.add(A.join(table, on=[("x", "z")]).plan(), name="other")
    engine.push("a", [(0, 5, (1,)), (2, 5, (2,))])
    new = A.filter(POSITIVE).anti_join(table.filter(col("z") > 1), on=[("x", "z")]).plan()
    migration = vouched(engine, new, "auto")
    engine.close()
    assert migration.phase is Phase.DONE
    assert equivalent(results, [(0, 5, (1,))])


@pytest.mark.parametrize("strategy", ["swap", "genmig", "auto"])
def test_what_an_input_holds_that_goes_is_not_lost(strategy: str) -> None:
    """The union is read by the split that goes, and gives way itself to another one."""
    other = stream("b", x="integer", intervals=True)
    given: dict[str, list[Element]] = {"one": [], "more": []}
    union, moved = A.union(other), split(A).union(other)
    engine = Engine(Plan({"one": split(union).node, "more": union.distinct().node}))
    for output, elements in given.items():
        engine.subscribe(elements.extend, output)
    engine.push("a", [(0, 1, (0,))])
    try:
        engine.migrate(Plan({"one": moved.node, "more": moved.distinct().node}), strategy)
    except MigrationRefused as refusal:
        assert strategy == "swap" and "swap would lose the elements that union holds" in str(refusal)
    engine.close()
    assert given == {"one": [(0, 1, (0,))], "more": [(0, 1, (0,))]}


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_rows_of_a_relation_are_exchanged_with_what_bounds_them(strategy: str) -> None:
    """The union runs for another query too, so another one comes. Alone, it could not: both plans would give
    the relation's rows."""
    table = relation("table", temporal=True, x="integer")
    union, moved = A.union(table), split(A).union(table)
    results: list[Element] = []
    old = union.join(B, on=[("x", "y")])
    engine = Engine(old.plan(), results.extend, relations={"table": [(0, 9, (1,))]})
    engine.add(union.join(B.filter(col("y") > 0), on=[("x", "y")]).plan(), name="other")
    engine.push("b", [(2, 6, (1,))])
    migration = engine.migrate(moved.join(B, on=[("x", "y")]).plan(), strategy)
    engine.push("b", [(5, 8, (1,))])
    engine.close()
    assert migration.phase is Phase.DONE
    assert equivalent(results, [(2, 6, (1, 1)), (5, 8, (1, 1))])


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_a_promise_is_kept_where_the_new_plan_begins_with_old_rows_of_a_relation(strategy: str) -> None:
    """Nothing is valid, so the old plan goes at once; the new one does not know that the row has ended."""
    table = relation("table", temporal=True, y="integer")
    old = A.distinct().anti_join(B.union(table), on=[("x", "y")]).plan()
    engine = Engine(old, relations={"table": [(0, 1, (0,))]})
    engine.add(old, name="other")
    for name in ("a", "b"):
        engine.advance(name, 1)

    def promise() -> Time:
        return base_of(engine).progress_of(engine.query().physical.root)

    assert promise() == 1
    migration = engine.migrate(old.map(signed_union), strategy)
    assert (promise(), migration.phase) == (1, Phase.DRAINING)
    for name in ("a", "b"):
        engine.advance(name, 3)
    assert (promise(), migration.phase) == (3, Phase.DONE)


def test_a_late_query_gets_positives_with_their_negatives() -> None:
    """Its union dropped the relation's rows that had begun, and gave their ends."""
    table = relation("table", temporal=True, x="integer")
    results: list[Element] = []
    engine = Engine(A.plan(), relations={"table": [(0, 4, (1,))]})
    engine.push("a", [(0, 1, (0,))])
    union = Plan(A.union(table).node).map(signed_union)
    late = Plan(Node(Difference(), (C.node, union.root)))
    engine.add(late, results.extend, name="late")
    engine.push("c", [(2, 6, (1,))])
    engine.close()
    assert equivalent(results, [(4, 6, (1,))])


def test_a_swap_leaves_what_another_query_runs() -> None:
    """The new plan's operator took the place of the equal one of the other query, which lost what it held."""
    results: list[Element] = []
    shared: list[Element] = []
    named = A.select("x")
    engine = Engine(named.plan(), results.extend)
    engine.add(split(named).plan(), shared.extend, name="other")
    engine.push("a", [(0, 3, (0,))])
    with pytest.raises(
        MigrationRefused, match="swap would repeat the elements that split 2 of the new plan holds"
    ):
        engine.migrate(split(named).plan(), "swap")
    engine.push("a", [(4, 6, (1,))])
    assert engine.migrate(split(named).plan(), "swap").phase is Phase.DONE
    engine.push("a", [(7, 10, (2,))])
    engine.close()
    assert equivalent(results, [(0, 3, (0,)), (4, 6, (1,)), (7, 10, (2,))])
    assert equivalent(shared, results)


def test_a_swap_of_a_plan_for_itself_begins_anew() -> None:
    """Its operators have been ended, and cannot go on."""
    plan = split(A).plan()
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    engine.migrate(plan, "swap", replace_all=True)
    assert base_of(engine).progress_of(engine.query().physical.root) == BEGINNING
    engine.push("a", [(0, 3, (0,))])
    engine.close()
    assert equivalent(results, [(0, 3, (0,))])


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_an_input_is_valid_as_long_as_rows_of_relations_that_it_gave(strategy: str) -> None:
    """The union stays, and has given its row before the migration begins; the new plan gets nothing of it."""
    table = relation("table", temporal=True, x="integer")
    results: list[Element] = []
    both = A.union(table)
    plan = both.filter(POSITIVE).difference(A.filter(POSITIVE)).distinct().plan()
    engine = Engine(plan, results.extend, relations={"table": [(0, 40, (1,))]})
    engine.push("a", [(0, 4, (7,))])
    migration = vouched(engine, both.difference(A).filter(POSITIVE).distinct().plan(), strategy)
    for t in (20, 30, 50):
        engine.push("a", [(t, t + 4, (7,))])
    engine.close()
    assert migration.phase is Phase.DONE
    assert equivalent(results, [(0, 40, (1,))])


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp"])
def test_an_input_that_gave_rows_that_are_valid_always_cannot_be_cut(strategy: str) -> None:
    table = relation("table", x="integer")
    both = A.union(table)
    plan = both.filter(POSITIVE).difference(A.filter(POSITIVE)).distinct().plan()
    engine = Engine(plan, relations={"table": constant([(1,)])})
    with pytest.raises(MigrationRefused, match="valid for ever"):
        engine.migrate(both.difference(A).filter(POSITIVE).distinct().plan(), strategy)


def test_rows_that_are_valid_always_are_joined_above_what_stays() -> None:
    """Only the sides of the join differ, but the union below it cannot be cut."""
    table = relation("table", y="integer")
    results: list[Element] = []
    rows, both = A.select(z=col("x")), A.select(y=col("x")).union(table)
    engine = Engine(both.join(rows).plan(), results.extend, relations={"table": constant([(1,)])})
    engine.push("a", [(0, 4, (7,))])
    migration = engine.migrate(rows.join(both, columns=["y", "z"]).plan())
    for t in (2, 9):
        engine.push("a", [(t, t + 4, (t,))])
    engine.close()
    assert migration.phase is Phase.DONE
    assert migration.parts[0].inputs == ("a",)
    expected = [(0, 4, (1, 7)), (0, 4, (7, 7)), (2, 4, (2, 7)), (2, 4, (7, 2))]
    assert equivalent(results, [*expected, *((t, t + 4, row) for t in (2, 9) for row in ((1, t), (t, t)))])


@pytest.mark.parametrize("is_compiled", [True, False])
def test_what_is_valid_since_ever_has_no_counterpart_before(is_compiled: bool) -> None:
    """A part without state is replaced from the beginning of time on: nothing of the old plan can have
    promised what starts there."""
    table = relation("table", x="integer")
    rows, results = A.max_union(table), list[Element]()
    old = rows.filter(POSITIVE).filter(col("x") < 9).plan()
    engine = Engine(old, results.extend, relations={"table": constant([(1,)])}, compile=is_compiled)
    migration = engine.migrate(rows.filter(POSITIVE & (col("x") < 9)).plan(), "genmig-end-timestamp")
    engine.push("a", [(5, 9, (1,)), (5, 9, (1,))])
    engine.close()
    assert migration.phase is Phase.DONE
    assert migration.origins().unmatched == 0
    assert equivalent(results, [(BEGINNING, FOREVER, (1,)), (5, 9, (1,))])


def signed_union(node: Node) -> Node:
    """A union over signs, any other node as it is."""
    return (
        Node(Physical("signed-union", node.operator), node.inputs)
        if isinstance(node.operator, Union)
        else node
    )


def split(given: Stream) -> Stream:
    """In pieces of two chronons."""
    return Stream(Node(Split(2), (given.node,)))


def projected(pieces: Node | None = None, *, more: Node | None = None) -> Plan:
    """A projection, in pieces or not, and what is made of it."""
    rows = Stream(pieces) if pieces else A
    one = rows.select(z=col("x")).node
    return Plan({"one": one, "more": more or Node(Distinct(), (one,))})


@pytest.mark.parametrize("both", [False, True], ids=["one of two outputs", "each of two outputs"])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp"])
def test_the_outputs_of_a_box_under_way_go_together(strategy: str, whole: bool, both: bool) -> None:
    """The second migration moves one of them, or each by itself. It must not end the Box for the other one,
    which then took everything for past."""
    results: dict[str, list[Element]] = {"one": [], "more": []}
    engine = Engine()
    engine.add(projected(more=Node(Split(2), (projected().outputs["more"],))), name="query")
    for output, found in results.items():
        engine.subscribe(found.extend, output, "query")
    engine.migrate(projected(split(A).node), strategy, replace_all=whole)
    last = projected()
    if both:
        (distinct,) = (node for node in last.nodes if isinstance(node.operator, Distinct))
        last = last.map(
            lambda node: Node(Physical("distinct", node.operator), node.inputs) if node == distinct else node
        )
    engine.migrate(last, strategy, replace_all=whole)
    assert [base_of(engine).progress_of(root) for root in engine.query().physical.outputs.values()] == [
        BEGINNING,
        BEGINNING,
    ]
    engine.push("a", [(0, 5, (1,)), (1, 3, (1,))])
    engine.close()
    assert equivalent(results["one"], [(0, 5, (1,)), (1, 3, (1,))])
    assert equivalent(results["more"], [(0, 5, (1,))])


@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_a_box_of_which_one_output_stays_is_answered_for(strategy: str) -> None:
    """What it keeps counted for the output that stays, so the old plan seemed to hold nothing."""
    named = C.select(z=col("x"))
    results: list[Element] = []
    engine = Engine()
    engine.add(Plan({"one": named.node, "more": named.join(A.distinct()).node}), name="query")
    engine.subscribe(results.extend, "more", "query")
    engine.push("a", [(0, 1, (1,))])
    engine.migrate(
        Plan({"one": named.node, "more": named.join(A).distinct().node}), strategy, replace_all=True
    )
    engine.push("c", [(0, 30, (7,))])
    second = engine.migrate(
        Plan({"one": named.node, "more": named.join(A.distinct()).distinct().node}), strategy
    )
    engine.push("a", [(10, 20, (2,))])
    engine.close()
    assert report(second).unmatched == 0
    assert equivalent(results, [(0, 1, (7, 1)), (10, 20, (7, 2))])


@pytest.mark.parametrize("is_root", [False, True], ids=["below", "root"])
@pytest.mark.parametrize("strategy", ["genmig-reference-point", "parallel-track", "auto"])
def test_what_goes_on_for_another_query_must_fulfil_what_a_strategy_requires(
    strategy: str, is_root: bool
) -> None:
    """Only operators that go were looked at, and those that stay begin results where others end."""
    results: list[Element] = []
    same = A.union(C).intersection(A)
    engine = Engine(same.union(C).plan(), results.extend)
    engine.add((same.union(C) if is_root else same).distinct().plan(), name="other")
    engine.push("a", [(0, 2, (0,))])
    engine.push("c", [(0, 2, (0,))])
    if strategy == "auto":
        engine.migrate(A.union(C).plan(), strategy)
    else:
        with pytest.raises(MigrationRefused, match="unsound over intersection of the old plan"):
            engine.migrate(A.union(C).plan(), strategy)
        engine.migrate(A.union(C).plan())
    engine.push("c", [(1, 4, (0,))])
    engine.push("a", [(1, 6, (0,))])
    engine.close()
    assert equivalent(results, [(0, 2, (0,)), (0, 2, (0,)), (1, 4, (0,)), (1, 6, (0,))])


def test_inputs_that_mean_the_same_are_inputs_each() -> None:
    """A split of a stream below a window, and the stream itself: neither is left out where a query begins."""
    s = stream("s", x="integer")
    low = col("x") < 1
    results: list[Element] = []
    engine = Engine(s.split(2).window(3).union(s).filter(low).plan(), results.extend)
    new = s.split(2).window(3).filter(low).union(s.split(2).filter(low)).plan()
    migration = vouched(engine, new)
    assert box_of(engine).progress() == BEGINNING
    assert len(input_progress(engine)) == len(input_max_ends(engine))
    engine.push("s", [(0, 1, (0,)), (1, 2, (5,)), (9, 10, (0,))])
    assert box_of(engine).progress() == 9
    engine.close()
    assert migration.phase is Phase.DONE
    assert equivalent(results, [(0, 3, (0,)), (0, 1, (0,)), (9, 12, (0,)), (9, 10, (0,))])


@pytest.mark.parametrize("strategy", ["swap", "genmig", "auto"])
def test_what_one_output_reads_no_more_comes_to_be_read_by_another(strategy: str) -> None:
    """They were exchanged one by one, and the second took away what the first one's new plan went on with."""
    one, other = A.filter(POSITIVE).filter(SMALL), A.filter(SMALL).filter(POSITIVE)
    cut = A.split(2).filter(SMALL).filter(POSITIVE)
    engine = Engine()
    engine.add(Plan({"one": one.node, "more": cut.node}), name="query")
    results: dict[str, list[Element]] = {"one": [], "more": []}
    for output, found in results.items():
        engine.subscribe(found.extend, output, "query")
    vouched(engine, Plan({"one": other.node, "more": one.node}), strategy, replace_all=True)
    engine.advance("a", 2)
    assert [engine.query().progress(output) for output in results] == [2, 2]
    engine.push("a", [(3, 8, (1,)), (4, 5, (9,))])
    engine.close()
    for found in results.values():
        assert equivalent(found, [(3, 8, (1,))])


@pytest.mark.parametrize("first", ["genmig-end-timestamp", "moving-states"])
def test_parallel_track_does_not_read_another_output_of_a_migration_under_way(first: str) -> None:
    """It gives results in parts, of which the old plan gave the whole; both came out."""
    a, b = (stream(name, x="integer", y="integer") for name in "ab")
    left, right = a.window(3).filter(col("x") < col("y")), b.window(1)
    both, apart = left.union(right), left.select("x", "y").union(right.select("x", "y"))
    with_nothing = apart.union(apart.filter(~(col("x").is_null() | ~col("x").is_null())))
    plans = [
        Plan({"one": one.node, "more": more})
        for one, more in [
            (both.select("x", "y"), both.node),
            (with_nothing, Node(Split(2), (both.node,))),
            (with_nothing.select("x", "y"), both.node),
            (both.select("x", "y"), left.select("x", "y").union(right).node),
        ]
    ]
    engine, found = Engine(plans[0]), list[Element]()
    engine.subscribe(found.extend, "one")
    engine.keep_log()
    engine.push("a", [(0, 1, (0, 1))])
    for plan, strategy in zip(plans[1:3], (first, "moving-states"), strict=True):
        vouched(engine, plan, strategy, when_busy="chain")
    with pytest.raises(MigrationRefused, match="while a migration by another strategy is under way"):
        vouched(engine, plans[3], "parallel-track", when_busy="chain")
    vouched(engine, plans[3], when_busy="chain")
    engine.close()
    assert equivalent(found, [(0, 3, (0, 1))])


ROUNDABOUT = {
    "intersection": lambda rows: rows.intersection(rows),
    "max union": lambda rows: rows.max_union(rows.filter(POSITIVE)),
    "difference": lambda rows: rows.union(rows.filter(POSITIVE)).difference(rows.filter(POSITIVE)),
}
"""Ways to say the same by an operator that cuts elements in parts."""


@pytest.mark.parametrize("roundabout", ROUNDABOUT)
@pytest.mark.parametrize("strategy", ["genmig-reference-point", "parallel-track", "moving-states"])
def test_what_only_the_new_plan_reads_must_fulfil_what_a_strategy_requires(
    strategy: str, roundabout: str
) -> None:
    """Only what comes was looked at, and not what is read below it that goes on for another output."""
    rows = A.filter(SMALL)
    other = ROUNDABOUT[roundabout](rows)
    engine, results = Engine(Plan({"one": rows.node, "more": other.node})), list[Element]()
    engine.subscribe(results.extend, "one")
    elements = [(0, 10, (1,)), (2, 7, (1,)), (3, 12, (1,)), (4, 6, (1,))]
    engine.push("a", elements)
    new = Plan({"one": other.node, "more": other.node})
    with pytest.raises(MigrationRefused, match=f"unsound over {roundabout} of the new plan"):
        engine.migrate(new, strategy)
    vouched(engine, new, "auto")
    later = [(t + start, t + end, row) for t in (5, 20, 40) for start, end, row in elements]
    engine.push("a", later)
    engine.close()
    assert equivalent(results, [*elements, *later])


@pytest.mark.parametrize("strategy", ["genmig-reference-point", "parallel-track"])
def test_what_both_plans_read_must_not_matter_or_fulfil_what_a_strategy_requires(strategy: str) -> None:
    """Over all that they give, these plans mean the same; over anything else, they do not."""
    one, other = (ROUNDABOUT[name](A) for name in ("intersection", "difference"))
    kept = {"one": one.node, "other": other.node}
    parted = [s.filter(POSITIVE).union(t.filter(SMALL)) for s, t in ((one, other), (other, one))]
    engine, results = Engine(Plan({**kept, "more": parted[0].node})), list[Element]()
    engine.subscribe(results.extend, "more")
    twice, once = [(0, 10, (1,)), (2, 7, (1,))], [(3, 12, (10,)), (4, 6, (10,))]
    engine.push("a", [*twice, *once])
    with pytest.raises(MigrationRefused, match="unsound over intersection of the old plan"):
        engine.migrate(Plan({**kept, "more": parted[1].node}), strategy)
    turned = other.filter(SMALL).union(one.filter(POSITIVE))
    assert vouched(engine, Plan({**kept, "more": turned.node}), strategy).parts
    engine.close()
    assert equivalent(results, [*twice, *twice, *once])


@pytest.mark.parametrize("which", ["one", "more"])
def test_a_box_of_which_one_output_is_read_no_more_is_counted_in_full(which: str) -> None:
    """The query comes to read one of two outputs, and the Box was counted at the first of them."""
    joined = A.join(B)
    forms = {"one": joined.intersection(joined), "more": joined}
    engine = Engine()
    engine.add(Plan({"one": B.join(A, columns=["x", "y"]).node, "more": joined.node}), name="query")
    reference = CountReference(engine)
    engine.push("a", [(0, 1, (x,)) for x in range(3)])
    vouched(engine, Plan({name: form.node for name, form in forms.items()}), query="query", replace_all=True)
    engine.advance("b", 2)
    reference.look()
    swap = vouched(engine, Plan(dict.fromkeys(forms, forms[which].node)), "swap", "query")
    assert swap.phase is Phase.DONE
    engine.push("b", [(2, 3, (0,))])
    assert sum(engine.held().values()) > 0
    reference.look()
    engine.push("a", [(2, 3, (1,))])
    reference.look()
    engine.close()
    reference.look()
    assert engine.counters("query").results == 2
