"""An engine's counters tell what was done for a query, whatever other queries and migrations do."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from dataclasses import replace

import pytest
from counted import CountReference
from hypothesis import given
from hypothesis import strategies as st
from inside import graph_of

import midstream as ms
from midstream.migration.machine import Phase
from midstream.operators.engine.running.tally import GONE
from midstream.optimizer import CostModel, Statistics, StreamStatistics
from midstream.optimizer.cost.objective import INTERMEDIATE
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.properties import logical_node
from midstream.plans.values.streams import Element
from midstream.testing.law import vouched

WINDOW, END = 8, 40
A, B, C = (ms.stream(name, **{name: "integer"}).window(WINDOW) for name in "abc")
PAIRS = A.join(B, on=[("a", "b")])
ALL = PAIRS.join(C, on=[("b", "c")])
AB_FIRST = ALL.select("a", "b", "c").plan()
BC_FIRST = B.join(C, on=[("b", "c")]).join(A, on=[("b", "a")]).select("a", "b", "c").plan()
CA_FIRST = C.join(A, on=[("c", "a")]).join(B, on=[("a", "b")]).select("a", "b", "c").plan()
ORDERS = (AB_FIRST, BC_FIRST, CA_FIRST)


def feed(engine: ms.Engine, since: int, until: int, names: str = "abc") -> None:
    for at in range(since, until):
        for name in names:
            if name in engine.streams:
                engine.push(name, ms.chronons([(at, (at % 2,))]))


def test_a_migration_sets_nothing_back() -> None:
    engine = ms.Engine(AB_FIRST)
    feed(engine, 0, 20)
    before = engine.counters("query")
    assert before.intermediate == before.emitted[PAIRS.node] > 0
    migration = engine.migrate(BC_FIRST)
    begun = engine.counters("query")
    assert replace(begun, emitted=+Counter(begun.emitted)) == before
    feed(engine, 20, 40)
    assert migration.phase is Phase.DONE
    after = engine.counters("query")
    assert after.intermediate > before.intermediate and after.results > before.results
    assert after.intermediate == sum(n for node, n in after.emitted.items() if _joins_two(node))


def test_a_query_that_comes_changes_no_counter_of_another_one() -> None:
    engine = ms.Engine(AB_FIRST)
    feed(engine, 0, 20)
    before = engine.counters("query")
    engine.add(ALL.distinct(), name="other")
    assert engine.counters("query") == before
    came = engine.counters("other")
    assert (came.elements, came.results, came.intermediate, sum(came.emitted.values())) == (0, 0, 0, 0)


def test_a_query_that_goes_leaves_the_others_what_they_did() -> None:
    """What it did before they came is not theirs, and stays in the sum."""
    engine = ms.Engine(AB_FIRST)
    feed(engine, 0, 20)
    engine.add(ALL.distinct(), name="other")
    feed(engine, 20, 22)
    before, of_all = engine.counters("other"), engine.counters()
    engine.remove()
    assert (engine.counters("other"), engine.counters()) == (before, of_all)
    assert 0 < before.intermediate < of_all.intermediate


def test_an_operator_that_two_queries_share_counts_for_both_and_once_in_all() -> None:
    engine = ms.Engine(AB_FIRST)
    engine.add(AB_FIRST, name="other")
    feed(engine, 0, 20)
    one, other, both = (engine.counters(name) for name in ("query", "other", None))
    assert one == other and one.intermediate > 0
    assert (both.elements, both.intermediate, both.emitted) == (60, one.intermediate, one.emitted)
    assert both.results == one.results + other.results


def test_an_output_that_another_query_reads_on_is_intermediate_for_that_one() -> None:
    engine = ms.Engine(PAIRS)
    feed(engine, 0, 10)
    engine.add(ALL, name="all")
    feed(engine, 10, 20)
    pairs, of_all, both = (engine.counters(name) for name in ("query", "all", None))
    assert pairs.intermediate == 0
    assert both.intermediate == of_all.intermediate == of_all.emitted[PAIRS.node] < pairs.emitted[PAIRS.node]


def test_results_that_an_old_output_held_count_once_when_a_swap_gives_them_out() -> None:
    """It gives them as it is ended, before the migration takes its place."""
    a, b = (ms.stream(name, x="integer").window(WINDOW) for name in "ab")
    results: list[Element] = []
    engine = ms.Engine(a.union(b), results.extend)
    reference = CountReference(engine)
    reference.look()
    engine.push("a", ms.chronons([(t, (t,)) for t in range(9)]))
    engine.push("b", ms.chronons([(4, (7,))]))
    reference.look()
    engine.migrate(b.union(a), "swap")
    reference.look()
    assert engine.counters("query").results == len(results) == 6
    engine.close()
    reference.look()
    assert engine.counters("query").results == len(results) == 10


def test_what_a_new_plan_did_before_it_was_put_in_place_counts() -> None:
    """Moving states gives the new plan what is still valid, of which it makes its own state."""
    engine = ms.Engine(AB_FIRST)
    engine.keep_log()
    reference = CountReference(engine)
    reference.look()
    feed(engine, 0, 20)
    reference.look()
    before = engine.counters("query")
    migration = engine.migrate(BC_FIRST, "moving-states")
    reference.look()
    after = engine.counters("query")
    (new,) = (node for node in BC_FIRST.nodes if _joins_two(node))
    assert migration.parts and after.results == before.results
    assert after.intermediate - before.intermediate == after.emitted[new] > 0


def test_results_are_counted_on_where_a_window_has_another_size() -> None:
    window = ms.stream("a", a="integer").window(WINDOW, bounds=(1, 20))
    results: list[Element] = []
    engine = ms.Engine(window, results.extend)
    feed(engine, 0, 5)
    engine.resize(window, 3, 7)
    assert engine.counters("query").results == len(results) == 5
    feed(engine, 5, 10)
    assert engine.counters("query").results == engine.counters().results == len(results) == 10
    assert sum(engine.counters("query").emitted.values()) == 20


def test_elements_that_wait_to_be_put_in_order_have_come() -> None:
    engine = ms.Engine(A, slack={"a": 5})
    engine.push("a", ms.chronons([(3, (1,)), (1, (1,))]))
    assert engine.counters("query").elements == engine.counters().elements == 2
    engine.add(A, name="other")
    assert engine.counters("other").elements == 0
    engine.push("a", ms.chronons([(20, (1,))]))
    assert [engine.counters(name).elements for name in ("query", "other", None)] == [3, 1, 3]
    engine.remove("query")
    engine.remove("other")
    assert engine.counters().elements == 3
    engine.add(A, name="again")
    engine.end("a")
    assert [engine.counters(name).elements for name in ("again", None)] == [0, 3]


def test_the_state_of_an_old_plan_is_not_kept_by_its_counts() -> None:
    engine = ms.Engine(AB_FIRST)
    feed(engine, 0, 20)
    running = graph_of(engine).base.running
    (old,) = (weakref.ref(one) for node, one in running.items() if _joins_two(logical_node(node)))
    engine.migrate(BC_FIRST)
    feed(engine, 20, 40)
    gc.collect()
    assert old() is None


PLANS = {
    "one output": (ms.Plan({"all": ALL.node}), [PAIRS]),
    "below what has no state": (ms.Plan({"all": ALL.filter(ms.col("c") > 0).node}), [PAIRS]),
    "two outputs": (ms.Plan({"all": ALL.node, "bs": B.distinct().node}), [PAIRS]),
    "an output that another one reads": (
        ms.Plan({"all": ALL.filter(ms.col("c") > 0).node, "pairs": PAIRS.node}),
        [PAIRS],
    ),
    "outputs of two of which one has no state": (
        ms.Plan(
            {
                "some": ALL.filter(ms.col("c") > 0).node,
                "groups": ALL.group_by("a").aggregate(n=ms.count()).node,
            }
        ),
        [PAIRS, ALL],
    ),
    "below a window": (ALL.distinct().istream().window(3).distinct().plan(), [PAIRS, ALL, ALL.distinct()]),
}
ROWS = st.lists(
    st.tuples(st.integers(0, END - 1), st.sampled_from("abc"), st.integers(0, 1)), min_size=4, max_size=40
)


@pytest.mark.parametrize("plan, inner", PLANS.values(), ids=PLANS)
@given(rows=ROWS)
def test_intermediate_results_are_counted_as_they_are_priced(
    plan: ms.Plan, inner: list[ms.Stream], rows: list[tuple[int, str, int]]
) -> None:
    engine = ms.Engine(plan)
    for at, name, value in sorted(rows):
        engine.push(name, ms.chronons([(at, (value,))]))
    for name in engine.streams:
        engine.advance(name, END)
    counters = engine.counters("query")
    assert counters.intermediate == sum(counters.emitted[stream.node] for stream in inner)
    sources = [source for source in plan.nodes if not source.inputs]
    rates = {node: n / END for node, n in counters.emitted.items()}
    known = Statistics({source: StreamStatistics(d=1.0, l=1.0) for source in sources})
    price = INTERMEDIATE.of(CostModel(known, None, rates).price(plan))
    assert END * price == pytest.approx(counters.intermediate)


STEPS = st.one_of(
    st.tuples(st.just("push"), st.sampled_from("abc"), st.lists(st.integers(0, 1), min_size=1, max_size=4)),
    st.tuples(st.just("push"), st.sampled_from("abc"), st.lists(st.integers(0, 1), min_size=1, max_size=4)),
    st.tuples(st.just("add"), st.integers(0, 3), st.just(None)),
    st.tuples(st.just("remove"), st.integers(0, 3), st.just(None)),
    st.tuples(st.just("migrate"), st.integers(0, 8), st.sampled_from(["genmig", "moving-states"])),
    st.tuples(st.just("abort"), st.integers(0, 3), st.just(None)),
    st.tuples(st.just("replace"), st.integers(0, 8), st.just(None)),
)


@given(steps=st.lists(STEPS, min_size=5, max_size=40))
def test_joins_of_two_streams_are_what_is_inside_orders_of_three(
    steps: list[tuple[str, int | str, object]],
) -> None:
    """Of queries that come, go, are replaced, and move among orders, also before a migration is over and back
    again: what all operators gave that join two streams, while the query used them."""
    engine, now, number = ms.Engine(), 0, 0
    reference, transitions = CountReference(engine), list[ms.migration.Transition]()
    for kind, which, what in steps:
        names = [name for name in engine.queries if not name.endswith("to come")]
        name = names[which % len(names)] if names and isinstance(which, int) else ""
        running = [one for one in transitions if one.phase is Phase.MOVING]
        try:
            if kind == "push" and isinstance(which, str) and isinstance(what, list):
                now += 1
                if which in engine.streams:
                    engine.push(which, ms.chronons([(now, (value,)) for value in what]))
            elif kind == "add" and isinstance(which, int):
                number += 1
                engine.add(PAIRS if which == 3 else ORDERS[which], name=f"q{number}")
            elif kind == "remove" and name:
                engine.remove(name)
            elif kind == "migrate" and name and isinstance(which, int) and isinstance(what, str):
                transitions.append(vouched(engine, ORDERS[which // 3], what, name))
            elif kind == "abort" and running:
                running[-1].abort()
            elif kind == "replace" and name and isinstance(which, int):
                engine.replace(ORDERS[which // 3], name)
        except ms.MidstreamError:
            pass
        reference.look()
        for query in engine.queries:
            counters = engine.counters(query)
            joined = sum(n for node, n in counters.emitted.items() if _joins_two(node))
            is_of_two = len(engine.query(query).plan.sources) == 2
            assert counters.intermediate == (0 if is_of_two else joined), query


def _joins_two(node: ms.plans.Node) -> bool:
    return [one for one in node.walk() if isinstance(one.operator, Join)] == [node]


def test_of_nodes_that_went_long_ago_the_sum_is_known() -> None:
    """Totals stay, and what an engine remembers of queries that have gone does not grow."""
    stream = ms.stream("s", k="integer")
    engine, given = ms.Engine(stream.window(9).plan()), 0
    for number in range(2 * GONE):
        query = engine.add(stream.window(9).filter(ms.col("k") > -number).plan(), name="more")
        engine.push("s", ms.chronons([(number, (number % 3,))]))
        given += 2 + engine.counters("more").results
        engine.remove("more")
    counters = engine.counters()
    assert (counters.elements, sum(counters.emitted.values()) + counters.earlier) == (2 * GONE, given)
    assert counters.earlier > 0
    assert len(counters.emitted) == GONE + 2
    engine.add(query.plan, name="again")
    assert engine.counters().emitted[query.plan.root] == counters.emitted[query.plan.root] == 1
