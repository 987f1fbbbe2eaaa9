"""Drawings of plans show every operator once, and where a shared one is used again."""

from __future__ import annotations

import re
import textwrap

from hypothesis import given

from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.drawing import tree
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.testing import plans

S, T = stream("s", x="integer"), stream("t", y="integer")


def drawing(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def test_a_tree_has_its_output_at_the_top() -> None:
    plan = S.window(60).filter(col("x") > 1).join(T.window(None), on=[("x", "y")]).distinct().plan()
    assert (
        str(plan)
        == tree(plan)
        == drawing("""
        distinct
        └─ join x = y
           ├─ filter x > 1
           │  └─ window 60
           │     └─ source s
           └─ window unbounded
              └─ source t
        """)
    )


def test_a_shared_subplan_is_drawn_once() -> None:
    grouped = S.window(9).group_by("x").aggregate(n=count())
    plan = grouped.join(grouped.rename({"x": "y", "n": "m"}), on=[("x", "y")]).plan()
    assert str(plan) == drawing("""
        join x = y
        ├─ #1 aggregate count(*) as n by x
        │  └─ window 9
        │     └─ source s
        └─ project x as y, n as m
           └─ see #1
        """)


def test_shared_subplans_within_shared_subplans_are_numbered_as_they_are_met() -> None:
    inner = S.window(9)
    outer = inner.union(inner)
    assert str(outer.union(outer).plan()) == drawing("""
        union
        ├─ #1 union
        │  ├─ #2 window 9
        │  │  └─ source s
        │  └─ see #2
        └─ see #1
        """)


def test_several_outputs_are_drawn_one_below_the_other() -> None:
    window = S.window(9)
    plan = Plan({"rows": window.distinct().node, "count": window.aggregate(n=count()).node})
    assert str(plan) == drawing("""
        rows:
        distinct
        └─ #1 window 9
           └─ source s
        count:
        aggregate count(*) as n
        └─ see #1
        """)


def test_an_output_that_another_uses_is_shared() -> None:
    window = S.window(9)
    plan = Plan({"rows": window.node, "again": window.node, "distinct": window.distinct().node})
    assert str(plan) == drawing("""
        rows:
        #1 window 9
        └─ source s
        again:
        see #1
        distinct:
        distinct
        └─ see #1
        """)


def test_a_physical_plan_shows_what_was_chosen() -> None:
    plan = physical_plan(S.window(60).join(T, on=[("x", "y")]).plan())
    assert str(plan) == drawing("""
        hash-join x = y
        ├─ time-window 60
        │  └─ source s
        └─ source t
        """)


def test_lines_below_an_operator_leave_the_branches_whole() -> None:
    plan = S.window(60).join(T).plan()
    assert tree(plan, below=lambda node: [str(node.schema), "and more"]) == drawing("""
        product
        │  (x integer, y integer)
        │  and more
        ├─ window 60
        │  │  (x integer)
        │  │  and more
        │  └─ source s
        │        (x integer)
        │        and more
        └─ source t
              (y integer)
              and more
        """)


def test_a_shared_subplan_has_its_lines_once() -> None:
    window = S.window(9)
    text = tree(window.union(window).plan(), below=lambda node: [f"of {len(node.inputs)}"])
    assert [line.strip(" │") for line in text.splitlines()].count("of 1") == 1


@given(plans())
def test_every_operator_is_drawn_once_and_every_edge_has_a_line(plan: Plan) -> None:
    """Sources apart: they are drawn wherever they are read."""
    lines = [re.sub(r"^[│├└─ ]*", "", line) for line in str(plan).splitlines()]
    inner = sorted(str(node.operator) for node in plan.nodes if node.inputs)
    drawn = [line for line in lines if not line.startswith(("see #", "source "))]
    assert sorted(re.sub(r"^#\d+ ", "", line) for line in drawn) == inner
    assert len(lines) == 1 + sum(len(node.inputs) for node in plan.nodes)
    numbered = re.findall(r"^#(\d+) ", "\n".join(lines), re.M)
    assert set(re.findall(r"^see #(\d+)$", "\n".join(lines), re.M)) == set(numbered)


def test_what_is_written_for_debugging_names_operators_and_inputs() -> None:
    assert repr(S.window(9).node) == "<window 9 of <source s>>"
    assert repr(S.join(T).node) == "<product of <source s>, <source t>>"
    assert repr(S.plan()) == "<Plan out=<source s>>"
