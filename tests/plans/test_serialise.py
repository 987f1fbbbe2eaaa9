"""Plans survive being written; files that are no plans are refused with the node and the reason."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import (
    dumps,
    loads,
    plan_from_json,
    plan_to_json,
)
from midstream.plans.expressions.aggregates import avg, count, max_
from midstream.plans.expressions.operands import col, greatest, opaque
from midstream.plans.values.errors import PlanFormatError
from midstream.plans.values.schema import Schema
from midstream.testing import WHOLE, implemented, plans

S = stream("s", x="integer", y="float?", z="string")
T = stream("t", {"other name": "any?", "ß": "boolean"}, intervals=True)

EVERYTHING = Plan(
    {
        "joined": S.window(60)
        .filter((col("x") > 1) | col("y").is_null() & ~col("z").eq("a\n\"'{}"))
        .join(T, on=col("x").eq(col("other name")) & col("ß"), columns=["ß", "x", "z"])
        .distinct()
        .node,
        "grouped": S.window(None)
        .group_by("z")
        .aggregate(n=count(), m=count("x"), a=avg(col("y") / 2), g=max_(greatest(col("x"), col("y"))))
        .node,
        "united": S.union(S, S).select("x", w=col("x") * 2.5 - 1).node,
        "constants": S.select(a=col("x") % 3, n=None, t=True, i=10**30, f=1e308, s="").node,
        "raw": T.node,
    }
)


@given(plans(**WHOLE), st.data())
def test_a_plan_is_read_back_as_it_was(plan: Plan, data: st.DataObject) -> None:
    """Any plan of the whole algebra, logical, physical, and with a choice of implementations."""
    for one in (plan, physical_plan(plan), data.draw(implemented(plan))):
        assert loads(dumps(one)) == one
        assert plan_from_json(json.loads(json.dumps(plan_to_json(one)))) == one
        assert plan_from_json(plan_to_json(one)) == one


def test_every_operator_and_constant_is_read_back_as_it_was() -> None:
    again = loads(dumps(EVERYTHING))
    assert again == EVERYTHING
    assert list(again.outputs) == list(EVERYTHING.outputs)
    assert dumps(again) == dumps(EVERYTHING)
    assert "ß" in dumps(EVERYTHING)


def test_equal_plans_are_written_alike() -> None:
    """So that files can be compared."""
    one = S.filter((col("x") > 1) & (col("x") < 9)).join(T, on=[("x", "other name")])
    other = S.filter((col("x") < 9) & (col("x") > 1)).join(T, on=col("other name").eq(col("x")))
    assert dumps(one.plan()) == dumps(other.plan())


@given(plans())
def test_a_shared_node_is_written_once(plan: Plan) -> None:
    data = plan_to_json(plan)
    assert len(data["nodes"]) == len(plan.nodes)
    lines = dumps(plan).splitlines()
    assert len(lines) == len(plan.nodes) + 4
    for i, node in enumerate(data["nodes"]):
        assert all(child < i for child in node.get("inputs", []))
        assert json.loads(lines[2 + i].rstrip(",")) == node


def test_the_form_is_the_documented_one() -> None:
    bids = stream("bids", item="integer").window(60)
    assert plan_to_json(bids.plan()) == {
        "format": "midstream-plan",
        "version": 1,
        "nodes": [
            {"operator": "source", "stream": "bids", "columns": [["item", "integer"]], "intervals": False},
            {"operator": "window", "size": 60, "inputs": [0]},
        ],
        "outputs": {"out": 1},
    }


def test_a_callable_is_refused() -> None:
    plan = S.filter(opaque(len, ["z"], "integer") > 3).plan()
    with pytest.raises(PlanFormatError, match=r"len\(z\) is a Python callable, which has no serial form"):
        dumps(plan)


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    data = copy.deepcopy(plan_to_json(S.window(60).filter(col("x") > 1).plan()))
    change(data)
    return data


BAD: dict[str, tuple[Any, str]] = {
    "nothing": (None, 'this is no plan: expected an object with "format": "midstream-plan"'),
    "a list": ([], "this is no plan"),
    "another format": (changed(lambda d: d.update(format="other")), "this is no plan"),
    "no format": (changed(lambda d: d.pop("format")), "this is no plan"),
    "a later version": (changed(lambda d: d.update(version=2)), "found plan format version 2, expected 1"),
    "no version": (changed(lambda d: d.pop("version")), "found plan format version None"),
    "no nodes": (changed(lambda d: d.pop("nodes")), 'a plan needs "nodes", a list, and "outputs", an object'),
    "nodes by name": (changed(lambda d: d.update(nodes={})), 'a plan needs "nodes", a list'),
    "no outputs": (changed(lambda d: d.pop("outputs")), 'a plan needs "nodes", a list, and "outputs"'),
    "empty outputs": (changed(lambda d: d.update(outputs={})), "outputs: .*at least one output"),
    "an output beyond the nodes": (changed(lambda d: d.update(outputs={"out": 3})), "found input 3"),
    "an output before the nodes": (changed(lambda d: d.update(outputs={"out": -1})), "found input -1"),
    "an output by name": (changed(lambda d: d.update(outputs={"out": "1"})), "found input '1'"),
    "a node that reads itself": (
        changed(lambda d: d["nodes"][1].update(inputs=[1])),
        "node 1: found input 1, expected the number of an earlier node",
    ),
    "a node that reads a later one": (
        changed(lambda d: d["nodes"][1].update(inputs=[2])),
        "node 1: found input 2",
    ),
    "an input that is true": (
        changed(lambda d: d["nodes"][2].update(inputs=[True])),
        "node 2: found input True",
    ),
    "inputs that are no list": (changed(lambda d: d["nodes"][1].update(inputs=0)), "node 1"),
    "too few inputs": (changed(lambda d: d["nodes"][1].pop("inputs")), "node 1: window 60: found 0 inputs"),
    "a node that is no object": (changed(lambda d: d["nodes"].__setitem__(1, 7)), "node 1: found 7"),
    "no operator": (
        changed(lambda d: d["nodes"][1].pop("operator")),
        "node 1: .*lacks or misuses 'operator'",
    ),
    "an unknown operator": (
        changed(lambda d: d["nodes"][1].update(operator="sort")),
        "node 1: found operator 'sort', expected a known one",
    ),
    "no size": (changed(lambda d: d["nodes"][1].pop("size")), "node 1: .*lacks or misuses 'size'"),
    "a size that is none": (
        changed(lambda d: d["nodes"][1].update(size="60")),
        "node 1: found a window of '60'",
    ),
    "no condition": (changed(lambda d: d["nodes"][2].pop("condition")), "node 2: .*'condition'"),
    "a condition that is none": (
        changed(lambda d: d["nodes"][2].update(condition="x > 1")),
        "node 2: found 'x > 1', expected an expression",
    ),
    "a column that is not there": (
        changed(lambda d: d["nodes"][2].update(condition={"column": "q"})),
        "node 2: there is no column q",
    ),
    "an unknown type": (
        changed(lambda d: d["nodes"][0].update(columns=[["x", "int"]])),
        "node 0: found type 'int', expected one of integer",
    ),
    "a column without a type": (changed(lambda d: d["nodes"][0].update(columns=[["x"]])), "node 0"),
    "columns twice": (
        changed(lambda d: d["nodes"][0].update(columns=[["x", "integer"], ["x", "integer"]])),
        "node 0: column x occurs twice",
    ),
    "a column without a name": (
        changed(lambda d: d["nodes"][0].update(columns=[["", "integer"]])),
        "node 0: a column's name must be a non-empty string",
    ),
    "an implementation that is no name": (
        changed(lambda d: d["nodes"][1].update(implementation=["hash-join"])),
        "node 1",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_plan_is_refused_with_the_reason(name: str) -> None:
    data, message = BAD[name]
    with pytest.raises(PlanFormatError, match=message):
        plan_from_json(data)
    with pytest.raises(PlanFormatError, match=message):
        loads(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[1,", "plan", '{"format": }'])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(PlanFormatError, match="this is no JSON"):
        loads(text)


def test_the_number_of_the_bad_node_is_an_attribute() -> None:
    with pytest.raises(PlanFormatError) as caught:
        plan_from_json(BAD["an unknown operator"][0])
    assert caught.value.node == 1


JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    7,
    1.5,
    "",
    "x",
    "join",
    [],
    [0],
    {},
    {"column": "x"},
    [["x", "integer"]],
]


def damaged(data: Any, rng: random.Random) -> Any:
    """The same data with one value exchanged, doubled or dropped somewhere."""
    if isinstance(data, dict) and data and rng.random() < 0.9:
        key = rng.choice(sorted(data))
        if rng.random() < 0.1:
            return {k: v for k, v in data.items() if k != key}
        return {**data, key: damaged(data[key], rng)}
    if isinstance(data, list) and data and rng.random() < 0.8:
        i = rng.randrange(len(data))
        if rng.random() < 0.1:
            return data[:i] + data[i + 1 :]
        return [*data[:i], damaged(data[i], rng), *data[i + 1 :]]
    return rng.choice(JUNK)


@settings(max_examples=3 * settings.default.max_examples)
@given(
    st.one_of(plans(**WHOLE), plans(**WHOLE).map(physical_plan), st.just(EVERYTHING)),
    st.randoms(use_true_random=False),
)
def test_a_damaged_file_is_refused_or_is_another_plan(plan: Plan, rng: random.Random) -> None:
    """There is one error for whatever may be wrong; what is read is a plan that can be written."""
    try:
        found = plan_from_json(damaged(plan_to_json(plan), rng))
    except PlanFormatError:
        return
    assert loads(dumps(found)) == found


def test_a_schema_is_read_back_as_it_was() -> None:
    schema = Schema.of(a="integer", b="float?", c="string", d="boolean?", e="any")
    assert schema.to_json() == [
        ["a", "integer"],
        ["b", "float?"],
        ["c", "string"],
        ["d", "boolean?"],
        ["e", "any"],
    ]
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema.from_json([]) == Schema(())
