"""Plans are immutable values: equal where they say the same, however they came to be."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Logical,
    Project,
    Source,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, max_, sum_
from midstream.plans.expressions.expressions import TRUE, Col
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import PlanError, SchemaError
from midstream.plans.values.schema import Schema
from midstream.testing import plans

S = stream("s", x="integer", y="integer")
T = stream("t", z="integer")


def anew(node: Node) -> Node:
    """The same subplan in new objects, with nothing shared."""
    return Node(node.operator, tuple(map(anew, node.inputs)))


WAYS: dict[str, Callable[[Plan], Plan]] = {
    "anew": lambda plan: Plan(anew(plan.root)),
    "written and read": lambda plan: loads(dumps(plan)),
    "pickled": lambda plan: pickle.loads(pickle.dumps(plan)),
    "copied": deepcopy,
    "mapped": lambda plan: plan.map(lambda node: node),
    "mapped anew": lambda plan: plan.map(lambda node: Node(node.operator, node.inputs)),
    "named": lambda plan: Plan({"out": plan.root}),
    "shallow": copy,
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=settings.default.max_examples // 2)
@given(plan=plans())
def test_equal_plans_are_equal_whatever_the_way_of_building(way: str, plan: Plan) -> None:
    other = WAYS[way](plan)
    assert other == plan
    assert hash(other) == hash(plan)
    assert len({plan, other}) == 1
    assert str(other) == str(plan)
    assert other.nodes == plan.nodes
    assert other.schema == plan.schema


@given(plans(), plans())
def test_plans_are_equal_only_if_they_are_written_alike(one: Plan, other: Plan) -> None:
    """The other direction: equality overlooks nothing."""
    assert (one == other) == (dumps(one) == dumps(other))


def variants() -> list[Plan]:
    """Plans that differ from each other in one thing."""
    made: list[Stream | Plan] = [
        S,
        stream("other", x="integer", y="integer"),
        stream("s", x="integer", y="integer", intervals=True),
        stream("s", x="integer", y="integer?"),
        stream("s", y="integer", x="integer"),
        S.window(5),
        S.window(6),
        S.window(None),
        S.filter(col("x") > 1),
        S.filter(col("x") > 1.0),
        S.filter(col("x") >= 1),
        S.select("x", "y"),
        S.select("y", "x"),
        S.select(x=col("y"), y=col("x")),
        S.union(S),
        S.union(S, S),
        S.join(T),
        S.join(T, columns=["x", "z"]),
        S.join(T, on=[("x", "z")]),
        T.join(S, on=[("z", "x")]),
        S.distinct(),
        S.aggregate(n=count()),
        S.aggregate(m=count()),
        S.aggregate(n=count("x")),
        S.aggregate(n=sum_("x")),
        S.group_by("x").aggregate(n=count()),
        S.group_by("x", "y").aggregate(n=count()),
        S.group_by("y", "x").aggregate(n=count()),
        Plan(Node(Physical("hash-join", S.join(T, on=[("x", "z")]).node.operator), (S.node, T.node))),
        Plan({"other name": S.node}),
        Plan({"out": S.node, "second": S.node}),
    ]
    return [one if isinstance(one, Plan) else one.plan() for one in made]


def test_plans_that_differ_in_anything_differ() -> None:
    made = variants()
    assert len(set(made)) == len(made)
    assert all(one != other for i, one in enumerate(made) for other in made[:i])
    assert S.plan() != S.node
    assert S.node != S.plan()


def test_a_query_is_one_plan_however_it_is_put() -> None:
    """Conditions have one form, and so do equalities of columns."""
    one = S.join(T, on=[("x", "z")])
    assert one.plan() == S.join(T, on=col("z").eq(col("x"))).plan()
    assert one.plan() == S.join(T, on=col("x").eq(col("z")) & True).plan()
    assert (
        S.filter((col("x") > 1) & (col("y") > 2)).plan() == S.filter((col("y") > 2) & (col("x") > 1)).plan()
    )
    assert Plan({"a": S.node, "b": T.node}) == Plan({"b": T.node, "a": S.node})
    assert hash(Plan({"a": S.node, "b": T.node})) == hash(Plan({"b": T.node, "a": S.node}))


# Immutability


@pytest.mark.parametrize("name", ["operator", "inputs", "schema", "_hash", "anything"])
def test_a_node_cannot_be_changed(name: str) -> None:
    node = S.distinct().node
    before = hash(node)
    with pytest.raises(AttributeError, match="immutable"):
        setattr(node, name, None)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(node, name)
    assert hash(node) == before


@pytest.mark.parametrize("name", ["outputs", "nodes", "graph", "anything"])
def test_a_plan_cannot_be_changed(name: str) -> None:
    plan = S.distinct().plan()
    assert len(plan.nodes) == 2
    with pytest.raises(AttributeError, match="immutable"):
        setattr(plan, name, None)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(plan, name)
    assert len(plan.nodes) == 2


def test_what_a_plan_holds_cannot_be_changed() -> None:
    outputs = {"out": S.node}
    plan = Plan(outputs)
    outputs["more"] = T.node
    assert list(plan.outputs) == ["out"]
    with pytest.raises(TypeError):
        plan.outputs["more"] = T.node  # type: ignore[index]
    for operator, name in (
        (Filter(TRUE), "condition"),
        (TimeWindow(5), "size"),
        (Physical("x", Distinct()), "logical"),
    ):
        with pytest.raises(AttributeError):
            setattr(operator, name, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.add_node(S.node),
        lambda graph: graph.add_nodes_from([S.node]),
        lambda graph: graph.add_edge(*graph.nodes),
        lambda graph: graph.add_edges_from([tuple(graph.nodes)]),
        lambda graph: graph.remove_node(next(iter(graph))),
        lambda graph: graph.remove_edge(*next(iter(graph.edges()))),
        lambda graph: graph.clear(),
    ],
)
def test_the_graph_is_frozen(change: Callable[[Any], Any]) -> None:
    plan = S.distinct().plan()
    with pytest.raises(nx.NetworkXError):
        change(plan.graph)
    assert plan.graph is plan.graph
    assert len(plan.graph) == 2


# The graph


@given(plans())
def test_the_graph_is_the_plan(plan: Plan) -> None:
    """Nodes once each, edges with the data, the port on each edge; inputs come before consumers."""
    graph = plan.graph
    assert nx.is_directed_acyclic_graph(graph)
    assert tuple(graph.nodes) == plan.nodes
    position = {node: i for i, node in enumerate(plan.nodes)}
    for node in plan.nodes:
        by_port = {data["port"]: source for source, _, data in graph.in_edges(node, data=True)}
        assert tuple(by_port[port] for port in range(len(node.inputs))) == node.inputs
        assert all(position[child] < position[node] for child in node.inputs)
        assert sorted(map(repr, plan.consumers(node))) == sorted(
            repr(other) for other in plan.nodes for child in other.inputs if child == node
        )
    assert nx.ancestors(graph, plan.root) | {plan.root} == set(plan.nodes)
    assert {source.stream for source in plan.sources} == {
        node.operator.stream for node in graph if graph.in_degree(node) == 0
    }


def test_a_node_that_is_used_twice_has_two_edges() -> None:
    plan = S.union(S).plan()
    assert [data["port"] for *_, data in plan.graph.edges(data=True)] == [0, 1]
    assert plan.consumers(S.node) == [plan.root, plan.root]


@given(plans())
def test_equal_subplans_are_one_shared_node(plan: Plan) -> None:
    """Whoever wrote them: the same object, so that comparing them ends at identity and state is kept once."""
    copied = Plan(anew(plan.root))
    nodes = {node: node for node in copied.nodes}
    assert len(nodes) == len(copied.nodes)
    for node in copied.nodes:
        assert all(child is nodes[child] for child in node.inputs)
    assert all(root is nodes[root] for root in copied.outputs.values())


def test_outputs_share_what_they_have_in_common() -> None:
    plan = Plan({"a": S.distinct().node, "b": anew(S.distinct().filter(col("x") > 1).node)})
    assert len(plan.nodes) == 3
    assert plan.outputs["b"].inputs[0] is plan.outputs["a"]


# Rewriting


@given(plans(), st.data())
def test_replacing_keeps_what_it_does_not_touch(plan: Plan, data: st.DataObject) -> None:
    """The very objects, not copies: whoever has looked at them need not look again."""
    old = data.draw(st.sampled_from(plan.nodes))
    new = Node(Filter(TRUE), (old,))
    replaced = plan.replace(old, new)
    above = nx.descendants(plan.graph, old)
    kept = {node: node for node in replaced.nodes}
    for node in plan.nodes:
        if node not in above:
            assert kept[node] is node
        else:
            assert node not in kept
    assert new in kept
    assert len(replaced.nodes) == len(plan.nodes) + 1


@given(plans(), st.data())
def test_replacing_by_the_same_changes_nothing(plan: Plan, data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(plan.nodes))
    same = plan.replace(old, anew(old))
    assert same == plan
    assert plan.replace(old, old).root is plan.root
    assert plan.map(lambda node: node).root is plan.root


@given(plans(), st.data())
def test_a_true_filter_changes_no_meaning(plan: Plan, choice: st.DataObject) -> None:
    """Wherever it is put."""
    data: dict[str, list[Any]] = {
        source.stream: [(t, t + (3 if source.intervals else 1), (t % 3, t % 2)) for t in range(6)]
        for source in plan.sources
    }
    old = choice.draw(st.sampled_from(plan.nodes))
    assert specified(plan.replace(old, Node(Filter(TRUE), (old,))), data) == specified(plan, data)


def test_replacing_exchanges_every_use_and_only_those() -> None:
    one = S.filter(col("x") > 1)
    both = one.join(one.rename({"x": "a", "y": "b"}), on=[("x", "a")]).plan()
    replaced = both.replace(one.node, S.distinct().node)
    assert [str(node.operator) for node in replaced.nodes if node.inputs == (S.node,)] == ["distinct"]
    assert both.replace(T.node, S.node).root is both.root


def test_what_comes_of_replacing_is_not_replaced_again() -> None:
    """Without the inner step, the outer one is what the inner one was; it must stay."""
    step = S.select(x=col("x") + 1, y=col("y"))
    twice = step.select(x=col("x") + 1, y=col("y")).plan()
    assert twice.replace(step.node, S.node) == step.plan()
    thrice = step.select(x=col("x") + 1, y=col("y")).select(x=col("x") + 1, y=col("y")).plan()
    assert thrice.replace(step.node, S.node) == twice


def test_a_node_over_the_same_inputs_is_the_same_node() -> None:
    node = S.join(T).node
    assert node.with_inputs(node.inputs) is node
    assert node.with_inputs((S.node, T.node)) is node
    assert node.with_inputs((S.distinct().node, T.node)) != node


# What cannot be


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Node(Filter(TRUE)), PlanError, "filter True: found 0 inputs, expected 1"),
        (
            lambda: Node(Source("s", Schema.of()), (S.node,)),
            PlanError,
            "source s: found 1 inputs, expected 0",
        ),
        (lambda: Node(Union(), (S.node,)), PlanError, "union: found 1 inputs, expected two or more"),
        (lambda: Node(Join(), (S.node,)), PlanError, "product: found 1 inputs, expected 2"),
        (lambda: Node(Join(), (S.node, S.node)), PlanError, "join: both sides have a column x; rename one"),
        (lambda: Node(Join(TRUE, ("q",)), (S.node, T.node)), SchemaError, "there is no column q"),
        (lambda: Node(Join(TRUE, ("x", "x")), (S.node, T.node)), SchemaError, "column x occurs twice"),
        (lambda: Node(Union(), (S.node, T.node)), PlanError, "expected the same names and types"),
        (lambda: Node(Filter(Col("x")), (S.node,)), PlanError, "x is integer, expected a condition"),
        (
            lambda: Node(Join((col("x") + 1).expression), (S.node, T.node)),
            PlanError,
            "is integer, expected a condition",
        ),
        (lambda: TimeWindow(0), PlanError, "found a window of 0, expected a positive number of chronons"),
        (lambda: TimeWindow(-3), PlanError, "found a window of -3"),
        (lambda: TimeWindow(2.5), PlanError, "found a window of 2.5"),
        (lambda: TimeWindow(True), PlanError, "found a window of True"),
        (lambda: Aggregate((), ()), PlanError, "aggregate: found neither keys nor functions"),
        (lambda: Node(Aggregate(("q",), ()), (S.node,)), SchemaError, "there is no column q"),
        (lambda: Node(Aggregate(("x",), (("x", count()),)), (S.node,)), SchemaError, "x occurs twice"),
        (lambda: Plan({}), PlanError, "a plan needs at least one output"),
        (lambda: Plan({"a": S.node, "b": T.node}).root, PlanError, "has the outputs a, b, expected one"),
        (lambda: Plan({"a": S.node, "b": T.node}).schema, PlanError, "expected one"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    """A node that exists is well-formed."""
    with pytest.raises(error, match=message):
        make()


def test_schemas_follow_from_operators() -> None:
    nullable = stream("t", x="integer?", y="integer")
    assert str(S.union(nullable).schema) == "(x integer null, y integer)"
    assert str(S.join(T, columns=["z", "x"]).schema) == "(z integer, x integer)"
    assert (
        str(S.group_by("y").aggregate(n=count(), m=max_("x")).schema) == "(y integer, n integer, m integer)"
    )
    assert str(S.select("x", half=col("x") / 2).schema) == "(x integer, half float null)"
    assert S.distinct().schema is S.window(3).schema is S.filter(TRUE).schema is S.schema


@pytest.mark.parametrize(
    ("operator", "reducible", "preserving", "stateless"),
    [
        (S.node.operator, False, True, True),
        (TimeWindow(5), False, True, True),
        (Filter(TRUE), True, True, True),
        (Project(()), True, True, True),
        (Union(), True, True, True),
        (Join(), True, True, False),
        (Distinct(), True, False, False),
        (Aggregate(("x",), ()), True, False, False),
    ],
    ids=str,
)
def test_operators_say_what_migrations_ask(
    operator: Logical, reducible: bool, preserving: bool, stateless: bool
) -> None:
    """Snapshot-reducible: Definition 10.2; start-preserving: what the reference point needs."""
    assert operator.is_snapshot_reducible is reducible
    assert operator.is_start_preserving is preserving
    assert operator.is_stateless is stateless
