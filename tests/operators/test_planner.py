"""Which implementation runs an operator, and what is said where none can."""

from __future__ import annotations

import pytest
from hypothesis import given

from midstream.operators.planner import IMPLEMENTATIONS, physical_plan, running_operator
from midstream.plans.algebra import specified
from midstream.plans.builder import stream
from midstream.plans.errors import PlanError
from midstream.plans.expressions import col
from midstream.plans.logical import Source
from midstream.plans.physical import Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import logical_plan
from midstream.testing import plans

L, R = stream("l", x="integer", y="integer"), stream("r", z="integer")


def chosen(plan: Plan) -> list[str]:
    return [node.operator.name for node in physical_plan(plan).nodes if not isinstance(node.operator, Source)]


@given(plans())
def test_choosing_changes_no_more_than_the_choice(plan: Plan) -> None:
    """Every operator but the sources has an implementation afterwards, and is otherwise the same."""
    physical = physical_plan(plan)
    assert logical_plan(physical) == plan
    assert logical_plan(plan) == plan
    assert physical_plan(physical) == physical
    for node in physical.nodes:
        assert isinstance(node.operator, Source if not node.inputs else Physical)
    assert physical.schema == plan.schema


def test_a_join_hashes_where_it_can() -> None:
    assert chosen(L.join(R, on=[("x", "z")]).plan()) == ["hash-join"]
    assert chosen(L.join(R, on=col("x").eq(col("z")) & (col("y") < col("z"))).plan()) == ["hash-join"]
    assert chosen(L.join(R, on=col("x") < col("z")).plan()) == ["nested-loops-join"]
    assert chosen(L.join(R, on=col("x").eq(col("z")) | (col("y") < 1)).plan()) == ["nested-loops-join"]
    assert chosen(L.join(R, on=col("x").eq(col("y"))).plan()) == ["nested-loops-join"]
    assert chosen(L.join(R).plan()) == ["nested-loops-join"]


def with_choice(query: Plan, implementation: str) -> Plan:
    return Plan(Node(Physical(implementation, query.root.operator), query.root.inputs))


def test_a_choice_that_was_made_is_kept() -> None:
    nested = with_choice(L.join(R, on=[("x", "z")]).plan(), "nested-loops-join")
    assert physical_plan(nested) == nested
    assert type(running_operator(nested.root)).__name__ == "NestedLoopsJoin"


def test_a_choice_means_what_the_operator_means() -> None:
    """The specification does not look at implementations."""
    query = L.join(R, on=[("x", "z")]).plan()
    data = {"l": [(1, 5, (1, 2)), (2, 4, (3, 2))], "r": [(3, 6, (1,))]}
    for implementation in ("hash-join", "nested-loops-join"):
        assert specified(with_choice(query, implementation), data) == specified(query, data)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (
            with_choice(L.join(R, on=col("x") < col("z")).plan(), "hash-join"),
            "no column of the left side is to be equal to one of the right side",
        ),
        (
            with_choice(L.distinct().plan(), "hash-join"),
            "found implementation 'hash-join' for distinct, expected one of distinct",
        ),
        (
            with_choice(L.join(R).plan(), "sort-merge-join"),
            "expected one of hash-join, nested-loops-join",
        ),
        (
            stream("i", x="integer", intervals=True).window(5).plan(),
            "window 5: its input, source i, is not a chronon stream, and a window over intervals has another",
        ),
        (
            with_choice(stream("i", x="integer", intervals=True).window(5).plan(), "time-window"),
            "its input, source i, is not a chronon stream",
        ),
        (L.window(3).union(L.window(3)).window(5).plan(), "window 5: its input, union, is not a chronon"),
        (
            Plan(Node(Physical("scan", L.node.operator))),
            "found implementation 'scan' for source l, expected none",
        ),
    ],
    ids=[
        "hash join without keys",
        "unfit",
        "unknown",
        "window over intervals",
        "the same, chosen",
        "window of window",
        "source",
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(plan: Plan, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        physical_plan(plan)


@pytest.mark.parametrize("above", ["join", "filter", "distinct", "union", "aggregate", "project"])
def test_a_window_may_stand_over_whatever_gives_chronons(above: str) -> None:
    """Not only over sources: a join with a chronon stream gives one, for example."""
    intervals = stream("i", z="integer", intervals=True)
    query = {
        "join": L.join(intervals),
        "filter": L.filter(col("x") > 1),
        "distinct": L.distinct(),
        "union": L.union(L),
        "aggregate": L.group_by("x").aggregate(),
        "project": L.select("x"),
    }[above]
    assert chosen(query.window(5).plan())[-1] == "time-window"


def test_implementations_have_names_of_their_own() -> None:
    names = [choice.name for options in IMPLEMENTATIONS.values() for choice in options]
    assert len(names) == len(set(names))
