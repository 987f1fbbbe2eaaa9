"""What is told of a plan without running it holds whenever it runs, and is told where it does hold."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.operators.engine.running.planner import form, physical_plan
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.implementations.obstacles import gives_constants
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    above,
    columns_read,
    equal_columns,
    has_ordered_ends,
    input_nodes,
    is_chronon_stream,
    is_included,
    is_start_preserving,
    keys,
    logical,
    longest_validity,
    reads_stream,
    regions,
)
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.expressions import TRUE, Expression, compile_row, conjunction, join_keys
from midstream.plans.expressions.operands import col, expression_of, lit
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.testing import WHOLE, Workload, implemented, plans, workloads

S = stream("s", x="integer", y="integer")
I = stream("i", x="integer", y="integer", intervals=True)  # noqa: E741
J = stream("j", a="integer", b="integer", intervals=True)
C = stream("c", a="integer", b="integer")


def elements_by_node(workload: Workload) -> Iterator[tuple[Node, list[Element]]]:
    """The nodes of a plan with the intervals that each gives, converters and splits among them."""
    for node in physical_plan(workload.plan).nodes:
        if form(node) == "intervals":
            streams = {s.stream: workload.streams[s.stream] for s in Plan(node).sources}
            yield node, run(Plan(node), streams)


@given(workloads(plans().flatmap(implemented)))
def test_a_chronon_stream_holds_chronons_only(workload: Workload) -> None:
    """Every subplan of a random plan of any implementations, run on random streams."""
    for node, given_elements in elements_by_node(workload):
        if is_chronon_stream(node):
            assert all(end == start + 1 for start, end, _ in given_elements)


@given(workloads(plans().flatmap(implemented)))
def test_ordered_ends_never_decrease(workload: Workload) -> None:
    for node, given_elements in elements_by_node(workload):
        if has_ordered_ends(node):
            ends = [end for _, end, _ in given_elements]
            assert ends == sorted(ends)


CASES: dict[str, tuple[Stream, bool, bool]] = {
    "rows": (S, True, True),
    "intervals": (I, False, False),
    "window": (S.window(5), False, True),
    "now-window": (S.window(1), True, True),
    "unbounded window": (S.window(None), False, True),
    "filter of rows": (S.filter(col("x") > 0), True, True),
    "filter of a window": (S.window(5).filter(col("x") > 0), False, True),
    "filter of intervals": (I.filter(col("x") > 0), False, False),
    "projection of a window": (S.window(5).select("x"), False, True),
    "projection of intervals": (I.select("x"), False, False),
    "union of rows": (S.union(S), True, True),
    "union of a window and rows": (S.union(S.window(5)), False, False),
    "union of windows": (S.window(5).union(S.window(9)), False, False),
    "join of rows": (S.join(C), True, True),
    "join of rows and intervals": (S.join(J), True, True),
    "join of windows": (S.window(5).join(C.window(9)), False, False),
    "join of intervals": (I.join(J), False, False),
    "distinct rows": (S.distinct(), True, True),
    "distinct of a window": (S.window(5).distinct(), False, False),
    "aggregate of rows": (S.group_by("x").aggregate(n=count()), True, True),
    "aggregate over a window": (S.window(5).aggregate(n=count()), False, True),
    "aggregate over intervals": (I.aggregate(n=count()), False, True),
    "aggregate per group": (S.window(5).group_by("x").aggregate(n=count()), False, False),
}
"""Per subplan, whether it is a chronon stream and whether its ends are ordered; thesis, Table 12.1. Behind
duplicate elimination and grouping they are not: a payload may begin and outlive the rest of another."""


def test_a_window_of_a_size_that_may_change_has_no_order_of_ends() -> None:
    """What comes after it was made smaller may end before what came earlier; see Figure 24.1's scenario."""
    assert not has_ordered_ends(Node(TimeWindow(5, bounds=(2, 5)), (S.node,)))


@pytest.mark.parametrize(
    "query", [S.window(1, bounds=(1, 4)), S.granularity(1, bounds=(1, 4)), I.granularity(1, bounds=(1, 4))]
)
def test_what_holds_at_the_present_setting_only_is_not_told(query: Stream) -> None:
    """A window or granularity of 1 may become larger: it has no keys, and gives no chronons, of its own."""
    assert not is_chronon_stream(query.node)
    assert not has_ordered_ends(query.distinct().node)
    keyed = S.unique("x")
    window = keyed.window(1, bounds=(1, 4))
    assert keys(keyed.window(1).node) and not keys(window.node)
    assert not keys(keyed.granularity(1, bounds=(1, 4)).node)
    assert is_included(window.node, ["x"], keyed.window(4).node, ["x"])
    assert not is_included(window.node, ["x"], keyed.window(3).node, ["x"])
    assert not is_included(keyed.window(2).node, ["x"], window.node, ["x"])


@pytest.mark.parametrize("name", CASES)
def test_the_properties_are_told_where_they_hold(name: str) -> None:
    query, chronons, ordered = CASES[name]
    assert is_chronon_stream(query.node) is chronons
    assert has_ordered_ends(query.node) is ordered
    physical = Node(Physical("any", query.node.operator), query.node.inputs)
    assert (is_chronon_stream(physical), has_ordered_ends(physical)) == (chronons, ordered)
    assert logical(physical) == logical(query.node)


RUNS = {
    "i": [(0, 3, (1, 1)), (0, 9, (2, 1)), (1, 2, (1, 2)), (4, 9, (1, 1)), (5, 7, (2, 2))],
    "j": [(0, 9, (1, 1)), (0, 3, (2, 1)), (1, 8, (1, 2)), (2, 4, (2, 2))],
    "s": [(0, 1, (1, 1)), (0, 1, (2, 1)), (1, 2, (1, 2)), (3, 4, (1, 1)), (4, 5, (2, 2)), (7, 8, (1, 1))],
    "c": [(0, 1, (1, 1)), (1, 2, (2, 1)), (4, 5, (1, 2))],
}


@pytest.mark.parametrize("name", CASES)
def test_where_a_property_is_denied_there_is_a_counter_example(name: str) -> None:
    """A property that is always denied would be true as well."""
    query, chronons, ordered = CASES[name]
    plan = query.plan()
    found = run(plan, {source.stream: RUNS[source.stream] for source in plan.sources})
    ends = [end for _, end, _ in found]
    assert all(end == start + 1 for start, end, _ in found) == chronons
    assert (ends == sorted(ends)) == ordered


@given(plans())
def test_inputs_are_the_first_nodes_that_are_not_snapshot_reducible(plan: Plan) -> None:
    """As a graph problem: a node is one if a way leads from it to the output through reducible nodes only."""
    reducible = {node for node in plan.nodes if logical(node).is_snapshot_reducible}
    expected = []
    for node in plan.nodes:
        if node not in reducible:
            part = plan.graph.subgraph(reducible | {node})
            if node == plan.root or (plan.root in part and nx.has_path(part, node, plan.root)):
                expected.append(node)
    assert list(input_nodes(plan)) == expected


@given(plans())
def test_what_is_above_the_inputs_is_reducible_and_all_that_can_be_exchanged(plan: Plan) -> None:
    inputs = input_nodes(plan)
    upper = above(plan, inputs)
    below = {node for start in inputs for node in start.walk()}
    assert all(logical(node).is_snapshot_reducible for node in upper)
    assert set(upper) | below == set(plan.nodes)
    assert not set(upper) & below
    assert list(upper) == [node for node in plan.nodes if node in set(upper)]
    assert all(child in set(upper) | set(inputs) or child in below for node in upper for child in node.inputs)


def test_what_a_window_above_a_join_reads_stays_with_it() -> None:
    rows = S.join(C)
    query = rows.window(5).join(I.rename({"x": "p", "y": "q"}))
    assert input_nodes(query.plan()) == (rows.window(5).node, I.rename({}).node.inputs[0])
    both = Plan({"a": rows.node, "b": rows.window(5).distinct().node})
    assert input_nodes(both) == (rows.node, rows.window(5).node)


# Join keys


LEFT, RIGHT = Schema.of(a="integer", b="integer"), Schema.of(x="integer", y="integer")
PARTS = st.sampled_from(
    [
        col("a").eq(col("x")),
        col("y").eq(col("b")),
        col("b").eq(col("x")),
        col("a").eq(col("b")),
        col("x").eq(col("y")),
        col("a").eq(1),
        col("a") < col("x"),
        col("a").eq(col("x")) | col("b").eq(col("y")),
        ~col("a").eq(col("y")),
        (col("a") + 0).eq(col("x")),
    ]
).map(expression_of)


@given(st.lists(PARTS, max_size=4), st.tuples(*[st.integers(0, 2)] * 4))
def test_keys_and_the_rest_say_what_the_condition_says(parts: list[Expression], row: tuple[int, ...]) -> None:
    condition = conjunction(parts)
    keys, rest = join_keys(condition, LEFT, RIGHT)
    assert all(mine in LEFT and theirs in RIGHT for mine, theirs in keys)
    both = LEFT.concat(RIGHT)
    agree = all(row[both.index(mine)] == row[both.index(theirs)] for mine, theirs in keys)
    assert bool(compile_row(condition, both)(row)) == (agree and bool(compile_row(rest, both)(row)))


def test_only_an_equality_of_both_sides_is_a_key() -> None:
    condition = ((col("x") == col("a")) & (col("a") == col("b")) & (col("b") < col("y"))).expression
    assert join_keys(condition, LEFT, RIGHT) == (
        [("a", "x")],
        ((col("a") == col("b")) & (col("b") < col("y"))).expression,
    )
    assert join_keys(TRUE, LEFT, RIGHT) == ([], TRUE)


# Equal columns


@st.composite
def joined(draw: st.DrawFn) -> Plan:
    """Plans with many equalities, some of them hidden by projections."""
    query = draw(plans(depth=2))
    found = Stream(query.root)
    names = found.schema.names
    for _ in range(draw(st.integers(0, 3))):
        found = found.filter(col(draw(st.sampled_from(names))).eq(col(draw(st.sampled_from(names)))))
    if draw(st.booleans()):
        kept = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        found = found.select(*kept, **{f"copy of {kept[0]}": col(kept[0])})
    return found.plan()


@given(workloads(joined()))
def test_equal_columns_are_equal_in_every_row(workload: Workload) -> None:
    """At every subplan of plans with many equalities."""
    for node in workload.plan.nodes:
        classes = equal_columns(node)
        assert all(len(names) > 1 and names <= set(node.schema.names) for names in classes)
        assert sum(map(len, classes)) == len(frozenset().union(*classes))
        for payload in specified(Plan(node), workload.streams) if classes else ():
            for names in classes:
                assert len({payload[node.schema.index(name)] for name in names}) == 1


EQUAL: dict[str, tuple[Stream, list[set[str]]]] = {
    "nothing is said": (S, []),
    "a filter says so": (S.filter(col("x").eq(col("y"))), [{"x", "y"}]),
    "a filter says so of alternatives": (S.filter(col("x").eq(col("y")) | (col("x") > 1)), []),
    "a join says so": (S.join(C, on=[("x", "a")]), [{"a", "x"}]),
    "it follows": (S.join(C, on=[("x", "a"), ("y", "a")]), [{"a", "x", "y"}]),
    "it follows through a hidden column": (
        S.join(C, on=[("x", "a"), ("y", "a")], columns=["x", "y"]),
        [{"x", "y"}],
    ),
    "only one is left": (S.join(C, on=[("x", "a")], columns=["x", "y"]), []),
    "two classes": (S.join(C, on=[("x", "a"), ("y", "b")]), [{"a", "x"}, {"b", "y"}]),
    "below a window": (S.filter(col("x").eq(col("y"))).window(5).filter(col("x") > 1), []),
    "below duplicate elimination": (I.filter(col("x").eq(col("y"))).distinct(), [{"x", "y"}]),
    "renamed": (I.filter(col("x").eq(col("y"))).rename({"x": "z"}), [{"y", "z"}]),
    "computed": (I.filter(col("x").eq(col("y"))).select("x", y=col("y") + 0), []),
    "copied": (I.filter(col("x").eq(col("y"))).select("x", "y", z=col("x")), [{"x", "y", "z"}]),
    "grouped": (I.filter(col("x").eq(col("y"))).group_by("x", "y").aggregate(n=count()), [{"x", "y"}]),
    "grouped by one": (I.filter(col("x").eq(col("y"))).group_by("x").aggregate(y=max_("y")), []),
    "united": (I.filter(col("x").eq(col("y"))).union(I.filter(col("x").eq(col("y")))), []),
}
"""Per plan, what is told. No news is right as well: windows, unions and aggregates tell nothing."""


@pytest.mark.parametrize("name", EQUAL)
def test_equal_columns_are_told(name: str) -> None:
    query, expected = EQUAL[name]
    assert [set(names) for names in equal_columns(query.node)] == expected


def test_a_plan_that_shares_much_is_read_in_no_time() -> None:
    """Forty unions of a stream with itself are 41 nodes, and a million million ways through them."""
    query = S
    for _ in range(40):
        query = query.union(query)
    assert is_chronon_stream(query.node)
    assert has_ordered_ends(query.node)
    assert equal_columns(query.node) == ()
    assert len(query.plan().nodes) == 41


# Columns that are read


def overwritten(node: Node, names: frozenset[str]) -> Node:
    """A subplan whose other columns all have one value."""
    values = {Type.INTEGER: 7, Type.FLOAT: 7.5, Type.STRING: "7", Type.BOOLEAN: True, Type.ANY: None}
    shown = {c.name: col(c.name) if c.name in names else lit(values[c.type]) for c in node.schema}
    return Stream(node).select(**shown).node


@given(workloads(plans(**WHOLE)), st.data())
def test_what_is_not_read_may_be_anything(workload: Workload, data: st.DataObject) -> None:
    """At any node of a plan that drops some of its columns."""
    query = Stream(workload.plan.root)
    kept = data.draw(st.lists(st.sampled_from(query.schema.names), min_size=1, unique=True))
    plan = query.select(*kept).plan()
    expected = specified(plan, workload.streams)
    for node, names in columns_read(plan).items():
        assert names <= set(node.schema.names)
        if names < set(node.schema.names) and not gives_constants(node):
            assert specified(plan.replace(node, overwritten(node, names)), workload.streams) == expected


READ: dict[str, tuple[Stream, set[str]]] = {
    "all": (S, {"x", "y"}),
    "by a filter": (S.filter(col("y") > 0).select("x"), {"x", "y"}),
    "by nobody": (S.select("x"), {"x"}),
    "by a projection that nobody reads": (S.select("x", z=col("y") + 1).select("x"), {"x"}),
    "by an aggregate": (S.group_by("x").aggregate(m=max_("y")), {"x", "y"}),
    "by an aggregate that nobody reads": (S.group_by("x").aggregate(m=max_("y")).select("x"), {"x"}),
    "by duplicate elimination": (S.distinct().select("x"), {"x", "y"}),
    "by a difference": (S.difference(C.rename({"a": "x", "b": "y"})).select("x"), {"x", "y"}),
    "by a join": (S.join(C, on=[("y", "a")]).select("b"), {"y"}),
    "by a semi-join": (S.semi_join(C, on=[("y", "a")]).select("x"), {"x", "y"}),
    "by the groups of a window": (S.last(1, by=["y"]).select("x"), {"x", "y"}),
    "in two places": (S.select("x").rename({"x": "y"}).union(S.select("y")), {"x", "y"}),
    "by istream": (S.window(3).istream().select("x"), {"x", "y"}),
}
"""Per plan, what of the stream's columns is read."""


@pytest.mark.parametrize("name", READ)
def test_columns_that_are_read_are_told(name: str) -> None:
    query, expected = READ[name]
    assert columns_read(query.plan())[S.node] == expected


# Validity


@given(workloads(plans(windows=True, arrangements=True, shared=True).flatmap(implemented)))
def test_no_element_is_valid_for_longer_than_told(workload: Workload) -> None:
    for node, given_elements in elements_by_node(workload):
        if (most := longest_validity(node)) != FOREVER:
            assert all(end - start <= most for start, end, _ in given_elements)


LONGEST: dict[str, tuple[Stream, Time]] = {
    "rows": (S, 1),
    "intervals": (I, FOREVER),
    "a window": (S.window(5), 5),
    "a window that slides": (S.window(5, slide=3), 6),
    "an unbounded window": (S.window(None), FOREVER),
    "a join": (S.window(5).join(C.window(9)), 5),
    "a join with what has no bound": (S.window(5).join(J), 5),
    "a union": (S.window(5).union(S.window(9)), 9),
    "an aggregate": (S.window(5).aggregate(n=count()), 5),
    "duplicate elimination": (S.window(5).distinct(), 5),
    "an intersection": (S.window(5).intersection(S.window(3)), 3),
    "a count window": (S.last(3), FOREVER),
    "granularity": (S.window(5).granularity(3), 6),
    "istream": (I.istream(), 1),
    "split": (S.window(5).split(2), 2),
    "coalesce": (S.window(5).coalesce(3), 7),
}


@pytest.mark.parametrize("name", LONGEST)
def test_the_longest_validity_is_told(name: str) -> None:
    query, expected = LONGEST[name]
    assert longest_validity(query.node) == expected


def test_starts_are_preserved_up_to_the_windows() -> None:
    assert is_start_preserving(S.join(C).filter(col("x") > 0).node)
    assert not is_start_preserving(S.distinct().select("x").node)
    assert is_start_preserving(S.distinct().window(3).select("x").node)


# Regions


def is_convex(plan: Plan, nodes: set[Node]) -> bool:
    """Whether no way leads out of some nodes and back."""
    outside = {one for node in nodes for one in nx.descendants(plan.graph, node)} - nodes
    return not any(nodes & nx.descendants(plan.graph, node) for node in outside)


@given(plans(**WHOLE))
def test_regions_are_snapshot_reducible_and_whole(plan: Plan) -> None:
    found = regions(plan)
    for region in found:
        assert all(logical(node).is_snapshot_reducible for node in region.nodes)
        streaming = {node for node in region.nodes if reads_stream(node)}
        assert is_convex(plan, streaming)
        assert set(region.inputs) == {c for node in region.nodes for c in node.inputs} - set(region.nodes)
    reducible = {node for node in plan.nodes if logical(node).is_snapshot_reducible and reads_stream(node)}
    assert sum(len(reducible & set(region.nodes)) for region in found) == len(reducible)


@given(plans(**WHOLE))
def test_regions_are_maximal(plan: Plan) -> None:
    """Two of which one reads the other cannot be put together."""
    parts = [{node for node in region.nodes if reads_stream(node)} for region in regions(plan)]
    for one in parts:
        for other in parts:
            reads = any(child in one for node in other for child in node.inputs)
            assert one is other or not reads or not is_convex(plan, one | other)


@given(plans(**WHOLE))
def test_the_region_of_the_output_is_what_a_migration_exchanges(plan: Plan) -> None:
    if logical(plan.root).is_snapshot_reducible:
        top = next(region for region in regions(plan) if plan.root in region.nodes)
        assert set(top.nodes) == set(above(plan, input_nodes(plan)))
        assert top.outputs == (plan.root,)


def test_regions_are_told_below_windows() -> None:
    below = I.filter(col("x") > 0)
    query = below.distinct().istream().window(5).join(J.window(3), on=[("x", "a")])
    found = regions(query.plan())
    assert [[str(node.operator) for node in region.nodes] for region in found] == [
        ["filter x > 0", "distinct"],
        ["join a = x"],
    ]
    assert [str(node.operator) for node in found[0].inputs] == ["source i"]
    assert [str(node.operator) for node in found[1].inputs] == ["window 5", "window 3"]


def test_what_reads_a_relation_alone_belongs_to_every_region_that_reads_it() -> None:
    """So no region gives it to another one."""
    known = relation("known", x="integer")
    query = S.select("x").difference(known).granularity(2).difference(known).plan()
    found = regions(query)
    assert [[str(node.operator) for node in region.nodes][-1] for region in found] == ["difference"] * 2
    assert [len([node for node in one.nodes if not reads_stream(node)]) for one in found] == [1, 1]
    assert found[1].outputs == (query.root,)
    assert [str(node.operator) for node in found[0].outputs] == ["difference"]


def test_what_is_also_read_below_a_window_is_a_region_of_its_own() -> None:
    rows = S.filter(col("x") > 0)
    query = rows.union(rows.window(3)).plan()
    assert [[str(node.operator) for node in region.nodes] for region in regions(query)] == [
        ["filter x > 0"],
        ["union"],
    ]
    both = Plan({"one": rows.select("x").node, "other": rows.select("y").node})
    assert [len(region.nodes) for region in regions(both)] == [3]
    assert [str(node.operator) for node in regions(both)[0].outputs] == ["project x", "project y"]
