"""Which implementation runs an operator, and what is said where none can."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.operators.engine.running.planner import physical_plan, running_operator
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.implementations.obstacles import is_relation
from midstream.plans.algebra.operators import Source, Split
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import PlanError, TieError
from midstream.plans.values.snapshots import compare, normal_form
from midstream.testing import elements, plans, rows

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
    assert chosen(L.join(R, on=col("x") < col("z")).plan()) == ["band-join"]
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
            "expected one of hash-join, band-join, nested-loops-join",
        ),
        (
            with_choice(relation("p", x="integer").window(5).plan(), "time-window"),
            "its input, relation p, reads relations alone, whose rows do not arrive over time",
        ),
        (
            Plan(Node(Physical("scan", L.node.operator))),
            "found implementation 'scan' for source l, expected none",
        ),
    ],
    ids=[
        "hash join without keys",
        "unfit",
        "unknown",
        "window over a relation",
        "source",
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(plan: Plan, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        physical_plan(plan)


I = stream("i", x="integer", intervals=True)  # noqa: E741
P = relation("p", z="integer")

WINDOWS = {
    "time-window": lambda s: s.window(5),
    "count-window": lambda s: s.last(3),
    "partitioned-window": lambda s: s.last(3, by=["x"]),
}

windows = pytest.mark.parametrize("window", WINDOWS)


def signed(query: Stream) -> Stream:
    """The query with a signed implementation of its last operator."""
    (name,) = (one.name for one in IMPLEMENTATIONS[type(query.node.operator)] if one.gives == "signs")
    return Stream(Node(Physical(name, query.node.operator), query.node.inputs))


@windows
@pytest.mark.parametrize(
    ("below", "names"),
    {
        "a source of intervals": (I, []),
        "a filter of one": (I.filter(col("x") > 1), ["filter"]),
        "a window": (L.window(3), ["time-window"]),
        "a window of one that slides": (L.window(1, slide=2), ["time-window"]),
        "a count-based window": (L.last(3), ["count-window"]),
        "a union with intervals": (L.select("x").union(I), ["map", "union"]),
        "a granularity of chronons": (L.granularity(5), ["granularity"]),
        "longer pieces": (I.split(2), ["split"]),
        "a coalesced one": (L.coalesce(2), ["coalesce"]),
        "two of intervals joined": (
            I.join(I.rename({"x": "y"}), on=[("x", "y")]),
            ["map", "hash-join"],
        ),
        "rows that were signs": (
            signed(L.select("x")),
            ["intervals-to-signs", "signed-map", "signs-to-intervals"],
        ),
        "a signed now-window": (signed(L.window(1)), ["signed-time-window", "signs-to-intervals"]),
    }.values(),
)
def test_what_is_no_chronon_stream_is_split_under_a_window(
    window: str, below: Stream, names: list[str]
) -> None:
    """Thesis, 12.3.2: a window means something else over intervals than its operator makes of them."""
    plan = WINDOWS[window](below).plan()
    assert chosen(plan) == [*names, "split", window]
    (split,) = physical_plan(plan).root.inputs
    assert split.operator.logical == Split(1)
    assert logical_plan(physical_plan(plan)) == logical_plan(plan), "a split does not change what is meant"


@windows
@pytest.mark.parametrize(
    ("below", "names"),
    {
        "a source": (L, []),
        "a filter": (L.filter(col("x") > 1), ["filter"]),
        "a projection": (L.select("x"), ["map"]),
        "a union": (L.union(R.rename({"z": "x"}).select("x", y=col("x"))), ["map", "map", "union"]),
        "a join with chronons on one side": (
            L.join(I.rename({"x": "z"}), on=[("x", "z")]),
            ["map", "hash-join"],
        ),
        "a duplicate elimination": (L.distinct(), ["distinct"]),
        "a grouping": (L.group_by("x").aggregate(), ["aggregate"]),
        "pieces of one chronon": (I.split(1), ["split"]),
        "shorter pieces than there are": (L.split(9), ["split"]),
        "coalesced to nothing longer": (L.coalesce(1), ["coalesce"]),
        "a now-window": (L.window(1), ["time-window"]),
        "the finest granularity": (L.granularity(1), ["granularity"]),
        "what appears": (I.istream(), ["istream"]),
        "what disappears": (I.dstream(), ["dstream"]),
    }.values(),
)
def test_no_split_is_placed_over_what_gives_chronons(window: str, below: Stream, names: list[str]) -> None:
    """Thesis, 12.3.3 and Table 12.1."""
    assert chosen(WINDOWS[window](below).plan()) == [*names, window]


@given(data=st.data())
def test_a_window_over_intervals_gives_what_it_means(data: st.DataObject) -> None:
    window = WINDOWS[data.draw(st.sampled_from(["time-window", "count-window", "partitioned-window"]))]
    below = data.draw(st.sampled_from([I, I.istream(), L.select("x").window(3), I.split(2), I.distinct()]))
    plan = window(below.distinct() if below is not I else below).plan()
    sources = {
        source.stream: data.draw(
            elements(rows(len(source.columns)), chronons=not source.intervals, forever=False)
        )
        for source in plan.sources
    }
    try:
        expected = specified(plan, sources)
    except TieError:
        with pytest.raises(TieError):
            run(plan, sources, 3)
    else:
        assert compare(expected, normal_form(run(plan, sources, 3)))


TIMED = {
    "time window": lambda s: s.window(5),
    "count window": lambda s: s.last(3),
    "count window that breaks ties": lambda s: s.last(3, ties="arrival"),
    "partitioned window": lambda s: s.last(3, by=["z"]),
    "granularity": lambda s: s.granularity(3),
    "istream": lambda s: s.istream(),
    "dstream": lambda s: s.dstream(),
    "split": lambda s: s.split(1),
    "coalesce": lambda s: s.coalesce(5),
}
"""What follows its input through time."""


@pytest.mark.parametrize("follow", TIMED.values(), ids=TIMED)
def test_nothing_follows_relations_through_time(follow: Callable[[Stream], Stream]) -> None:
    temporal = relation("q", z="integer", temporal=True)
    for below in (P, P.filter(col("z") > 1).select("z"), temporal, P.union(temporal).distinct()):
        name = re.escape(str(below.node.operator))
        with pytest.raises(
            PlanError, match=f"its input, {name}, reads relations alone, whose rows do not arrive over time"
        ):
            physical_plan(follow(below).plan())
    named = L.select("x").rename({"x": "z"})
    for below in (named.union(P), P.max_union(named).distinct()):
        name = re.escape(str(below.node.operator))
        with pytest.raises(PlanError, match=f"its input, {name}, has results from a constant relation alone"):
            physical_plan(follow(below).plan())
    assert is_relation(P.union(temporal).node)
    assert not is_relation(P.join(L).node)
    assert not is_relation(L.node)


@pytest.mark.parametrize(
    "below",
    [
        L.select("x").union(L.select("x")),
        L.distinct().select("x"),
        L.window(1),
        I,
        L.group_by("x").aggregate(),
        L.join(R),
    ],
)
def test_arrival_breaks_ties_only_where_there_is_an_order_of_arrival(below: Stream) -> None:
    for query in (below.last(2, ties="arrival"), below.last(2, by=["x"], ties="arrival")):
        with pytest.raises(PlanError, match="does not keep the order in which rows arrive"):
            physical_plan(query.plan())
    assert "count-window" in chosen(below.last(2).plan()), "without ties there is nothing to break"
    assert chosen(L.filter(col("x") > 1).select("x").last(2, ties="arrival").plan())[-1] == "count-window"


def test_implementations_have_names_of_their_own() -> None:
    names = [choice.name for options in IMPLEMENTATIONS.values() for choice in options]
    assert len(names) == len(set(names))
