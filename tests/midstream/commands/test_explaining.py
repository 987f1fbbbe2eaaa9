"""An explanation shows plans that mean the same, from the query to what runs, and why each is as it is."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import pytest
from hypothesis import given

from midstream.commands.explaining import NO_COSTS, assumed_statistics, explain
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import Statistics, StreamStatistics, enumerate_plans, optimize
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.algebra.operators import Arrangement, Filter, Join, Union
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical, logical_plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import StatisticsError
from midstream.testing import WHOLE, Workload, plans, workloads

A, B, C = (stream(name, **{name: "integer", f"{name}2": "integer"}).window(60) for name in "abc")
PAIRS = A.join(B, on=[("a", "b")])


@given(workloads(plans(**WHOLE)))
def test_every_stage_means_what_the_query_means(workload: Workload) -> None:
    explanation = explain(workload.plan, budget=2_000)
    expected = workload.specified()
    for stage in explanation.stages:
        assert specified(stage.plan, workload.streams) == expected
        assert stage.plan.schema == workload.plan.schema


@given(plans())
def test_stages_are_steps_of_rules(plan: Plan) -> None:
    """Each is a neighbour of the one before by the rule that it names, and the last is the cheapest."""
    explanation = explain(plan, budget=2_000)
    choice = optimize(plan, assumed_statistics(plan), budget=2_000)
    assert explanation.logical.plan == plan
    assert explanation.choice == choice
    assert explanation.physical.plan == physical_plan(choice.plan)
    assert [stage.plan for stage in explanation.stages[1:-1]] == list(choice.plans)
    assert [stage.name for stage in explanation.stages[1:-1]] == list(choice.rules)
    assert explanation.stages[-2].plan == choice.plan
    assert explanation.stages[-2].cost == choice.cost.total


@given(plans(**WHOLE))
def test_the_nodes_that_are_placed_are_those_that_the_planner_adds(plan: Plan) -> None:
    explanation = explain(plan, budget=1)
    stage = explanation.physical
    assert all(isinstance(logical(node), Arrangement) for node in stage.placed)

    def without(node: Node) -> Node:
        inputs = tuple(map(without, node.inputs))
        return inputs[0] if node in stage.placed else Node(logical(node), inputs)

    assert Plan(without(stage.plan.root)) == explanation.stages[-2].plan


def test_a_query_is_explained_step_by_step() -> None:
    query = PAIRS.join(C, on=[("b", "c")]).filter(col("c2") > 7).group_by("a").aggregate(n=count())
    explanation = explain(query.plan())
    names = [stage.name for stage in explanation.stages]
    assert names[0] == "logical plan"
    assert "filter-below-right" in names
    assert "join-associativity" in names
    assert explanation.choice is not None
    assert explanation.stages[-2].plan == explanation.choice.plan
    assert names[-1] == "physical plan"
    text = explanation.all_text()
    assert "filter-below-right: filter(p, join(L, R)) = join(L, filter(p, R))" in text
    assert "key (a)" in text
    assert "subplans considered, all there are; no statistics were given" in text
    assert explanation.all_text(with_notes=False).count("snapshot-reducible") == 0


def test_a_plan_that_is_the_best_has_two_stages() -> None:
    explanation = explain(A.distinct().plan())
    assert [stage.name for stage in explanation.stages] == ["logical plan", "physical plan"]
    assert explanation.all_text().endswith(
        "3 subplans considered, all there are; "
        f"no statistics were given: 1000 rows of every stream assumed within the longest window\n{NO_COSTS}"
    )
    assert explanation.text().endswith(f"\n\nruns as the query says it\n{NO_COSTS}")


def test_the_statistics_decide() -> None:
    plan = PAIRS.join(C, on=[("b", "c")]).plan()

    def statistics(**rates: float) -> Statistics:
        nodes = {"a": A.node, "b": B.node, "c": C.node}
        return Statistics({nodes[name]: StreamStatistics(d, 60.0) for name, d in rates.items()})

    assert len(explain(plan, statistics(a=100.0, b=100.0, c=0.1)).stages) == 2
    explanation = explain(plan, statistics(a=0.1, b=100.0, c=100.0))
    assert "join-associativity" in [stage.name for stage in explanation.stages]
    assert not explanation.is_assumed
    assert explanation.all_text().endswith("by the statistics given")
    costs = [stage.cost for stage in explanation.stages[:-1]]
    assert costs[0] is not None and costs[-1] is not None
    assert costs[-1] < costs[0]
    assert explanation.text().endswith(f"costs {costs[-1]:.4g} µs per chronon instead of {costs[0]:.4g}")
    assert f"cost {costs[0]:.4g} µs per chronon" in explanation.all_text()


@given(plans(**WHOLE))
def test_guessed_costs_are_not_shown(plan: Plan) -> None:
    explanation = explain(plan, budget=100)
    for text in (explanation.text(), explanation.all_text()):
        assert "per chronon" not in text
        assert text.count(NO_COSTS) == 1


def test_the_text_of_a_join_is_short() -> None:
    """A tree of its operators, and at most four lines more."""
    explanation = explain(PAIRS.filter(col("a2") > 7).select(s=A["a"]).plan())
    lines = explanation.text().splitlines()
    assert lines[0].startswith("map ")
    assert len(lines) <= len(explanation.physical.plan.nodes) + 4 <= 20
    assert "snapshot-reducible" not in explanation.text()
    assert lines[-2].startswith("rewritten by filter-below-left")


def test_missing_statistics_are_an_error() -> None:
    with pytest.raises(StatisticsError, match="no statistics"):
        explain(PAIRS.plan(), Statistics({}))


def test_a_limit_is_told() -> None:
    plan = PAIRS.join(C, on=[("b", "c")]).plan()
    assert "subplans considered, there are more" in explain(plan, budget=3).all_text()
    assert "there may be cheaper plans: " in explain(plan, budget=3).text()
    assert "there may be cheaper plans" not in explain(plan).text()
    assert len(enumerate_plans(plan)) > 3


def test_what_the_planner_places_is_marked() -> None:
    rows = stream("i", x="integer", intervals=True)
    physical = explain(rows.window(9).plan()).physical
    assert physical.reason == "an implementation for each operator; placed between them: split 1"
    (placed,) = physical.placed
    assert physical.notes(placed)[0] == "placed by the planner"
    assert "placed by the planner" in physical.svg()
    assert "placed by the planner" in physical.dot()
    own = explain(rows.split(1).window(9).plan()).physical
    assert own.placed == frozenset()
    assert own.reason == "an implementation for each operator; placed between them: nothing"


def test_a_plan_that_names_implementations_is_explained_as_it_runs() -> None:
    """Also where rules would rewrite it."""
    windows = A.union(A).node.inputs
    union = Node(Physical("signed-union", Union()), windows)
    explanation = explain(Plan(Node(Filter((col("a") > 7).expression), (union,))))
    logical_stage, physical = explanation.stages
    assert logical_stage.plan == A.union(A).filter(col("a") > 7).plan()
    signed = next(node for node in physical.plan.nodes if logical(node) == Union())
    assert physical.notes(signed)[0] == "gives signed elements"
    assert {str(logical(node)) for node in physical.placed} == {"convert to signs", "convert to intervals"}
    assert physical.reason.endswith("placed between them: convert to intervals, convert to signs")
    assert explanation.all_text().endswith(f"or names implementations: it runs as it is\n{NO_COSTS}")
    assert "or names implementations: it runs as it is" in explanation.text()
    assert physical.reason in explanation.text()
    assert explanation.as_dict()["subplans_considered"] == 0


def test_a_plan_that_says_how_results_are_cut_runs_as_it_is() -> None:
    """Rules know nothing of split and coalesce, and would lose the chronons of an Rstream."""
    explanation = explain(PAIRS.filter(col("a") > 7).rstream().plan())
    assert [stage.name for stage in explanation.stages] == ["logical plan", "physical plan"]
    assert any(isinstance(logical(node), Arrangement) for node in explanation.physical.plan.nodes)
    assert explanation.choice is None


def test_joins_are_linked_before_rules_rewrite() -> None:
    query = A.join(B).join(C, on=[("a", "b"), ("b", "c")]).filter(col("a") > 7)
    explanation = explain(query.plan())
    names = [stage.name for stage in explanation.stages]
    assert names[1] == "linked joins"
    joins = [node for node in explanation.stages[1].plan.nodes if isinstance(node.operator, Join)]
    assert all(node.operator != Join(columns=node.operator.columns) for node in joins)


@given(plans(**WHOLE))
def test_the_dictionary_is_json_and_whole(plan: Plan) -> None:
    explanation = explain(plan, budget=5)
    found = json.loads(json.dumps(explanation.as_dict(), allow_nan=False))
    assert [stage["name"] for stage in found["stages"]] == [stage.name for stage in explanation.stages]
    for stage, one in zip(explanation.stages, found["stages"], strict=True):
        assert [node["text"] for node in one["nodes"]] == [str(node.operator) for node in stage.plan.nodes]
        assert all(child < node["id"] for node in one["nodes"] for child in node["inputs"])
        assert one["outputs"] == {"out": len(stage.plan.nodes) - 1}
    last = found["stages"][-1]["nodes"]
    assert all((node["implementation"] is None) == (not node["inputs"]) for node in last)


@given(plans(**WHOLE))
def test_every_stage_can_be_drawn(plan: Plan) -> None:
    for stage in explain(plan, budget=5).stages:
        drawn = ElementTree.fromstring(stage.svg())
        boxes = [one for one in drawn.iter("{http://www.w3.org/2000/svg}g") if one.get("class") == "node"]
        assert len(boxes) == len(stage.plan.nodes)
        assert stage.dot().count("[label=") == len(stage.plan.nodes)
        assert stage.text().count("snapshot-reducible") >= len([n for n in stage.plan.nodes if n.inputs])


def test_several_outputs_are_explained_together() -> None:
    plan = Plan({"pairs": PAIRS.filter(col("a") > 7).node, "rows": A.distinct().node})
    explanation = explain(plan)
    assert list(explanation.physical.plan.outputs) == ["pairs", "rows"]
    assert explanation.physical.as_dict()["outputs"].keys() == {"pairs", "rows"}
    assert "pairs:" in explanation.text()


@given(plans(**WHOLE))
def test_assumed_statistics_price_every_plan(plan: Plan) -> None:
    found = assumed_statistics(plan)
    for node in input_nodes(logical_plan(plan)):
        known = found.stream(node)
        assert known.d > 0
        assert known.l >= 0
    assert math.isfinite(explain(plan, budget=1).logical.cost or 0.0)


def test_assumed_lengths_are_those_of_the_windows() -> None:
    short, never = stream("a", a="integer").window(60, slide=5), stream("b", b="integer").window(None)
    counted = stream("c", c="integer").last(10, ties="arrival")
    table = relation("r", r="integer")
    plan = short.join(never).join(counted).join(table).plan()
    found = assumed_statistics(plan)
    assert [found.stream(node.node).l for node in (short, never, counted)] == pytest.approx(
        [64.0, 600.0, 0.6]
    )
    assert found.stream(table.node).always == 1000.0


def test_a_stage_says_what_is_read_above_and_which_regions_there_are() -> None:
    rows = stream("s", x="integer", y="integer", z="integer").window(5)
    plan = rows.filter(col("y") > 1).select("x").plan()
    explanation = explain(plan)
    stage = explanation.logical
    source, window, filter_, project = plan.nodes
    assert [stage.notes(node)[0] for node in (source, window, filter_)] == [
        "read above: x, y",
        "read above: x, y",
        "read above: x",
    ]
    assert not stage.notes(project)[0].startswith("read above")
    told = stage.as_dict()
    assert told["regions"] == [[2, 3]]
    assert [node["read_above"] for node in told["nodes"]] == [["x", "y"], ["x", "y"], ["x"], ["x"]]
    assert "read above: x" in explanation.all_text()
