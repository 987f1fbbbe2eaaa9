"""The inclusions that are told of a plan hold at every instant, and are told where they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators import Relation, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import Inclusion, inclusions, is_included, logical
from midstream.plans.algebra.specification import snapshots
from midstream.plans.equivalence.small_streams import SmallStreams
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element
from midstream.testing import WHOLE, Workload, plans, workloads

Streams = Mapping[str, Sequence[Element]]

S = stream("s", x="integer", y="integer?")
T = stream("t", a="integer", b="integer?")
R = relation("r", a="integer", b="integer")
I = stream("i", a="integer", b="integer", intervals=True)  # noqa: E741
X = [("x", "a")]
TO_T, TO_R, TO_I = S.references(X, T), S.references(X, R), S.references(X, I)
Q = stream("q", a="integer")
TO_Q = stream("p", x="integer").references(X, Q)
LATE, EVER = S.references(X, T, within=2), S.references(X, T, within=None)


def lacks(
    one: Stream, columns: Sequence[str], other: Stream, others: Sequence[str], streams: Streams
) -> bool:
    """Whether at some instant a value of the one is not among those of the other."""
    left, right = snapshots(one.plan(), streams), snapshots(other.plan(), streams)
    mine = [one.schema.index(name) for name in columns]
    theirs = [other.schema.index(name) for name in others]
    for instant in left.keys() & right.keys():
        held = {tuple(row[i] for i in theirs) for row in right[instant]}
        values = {tuple(row[i] for i in mine) for row in left[instant]}
        if any(value not in held for value in values if None not in value):
            return True
    return False


TOLD: dict[str, tuple[Stream, Stream]] = {
    "itself": (S.rename({"x": "x"}), S.rename({"x": "a"})),
    "what is declared": (TO_T, T),
    "a filter": (TO_T.filter(col("y") > 0), T),
    "a window on both sides": (TO_T.window(3), T.window(3)),
    "a window on the other side": (TO_T, T.window(3)),
    "a larger window": (TO_T.window(2), T.window(3)),
    "an unbounded window": (TO_T.window(2), T.window(None)),
    "windows that slide": (TO_T.window(2, slide=2), T.window(3, slide=2)),
    "a window that slides in one that does not": (TO_T.window(2, slide=2), T.window(3)),
    "granularities": (TO_T.window(2).granularity(2), T.window(2).granularity(2)),
    "a granularity in a window": (TO_T.granularity(3), T.window(3)),
    "the last rows": (TO_T.last(2, ties="arrival"), T.window(None)),
    "what goes": (TO_T.dstream(), T.window(2)),
    "a late partner": (LATE.window(2), T.window(4)),
    "a partner of any time": (EVER.window(2), T.window(None)),
    "a relation": (TO_R.window(3), R),
    "duplicate elimination": (TO_T.window(3), T.window(3).select("a").distinct()),
    "groups": (TO_T.window(3), T.window(3).group_by("a").aggregate(n=count())),
    "a union": (TO_T.window(3), T.window(3).union(T.window(2))),
    "a greatest value": (TO_T.window(3).aggregate(x=max_("x")), T.window(3)),
    "a partner in a join": (
        S.window(3).join(T.window(3), on=X, columns=["x", "y"]),
        T.window(3),
    ),
    "a match": (S.window(3).semi_join(T.window(2), on=X), T.window(2)),
    "an interval": (TO_I, I),
}
"""Subplans whose column x is included in the other's column a."""

NOT_TOLD: dict[str, tuple[Stream, Stream]] = {
    "what nobody declares": (S, T),
    "a filter on the other side": (TO_T, T.filter(col("a") > 0)),
    "a window on one side": (TO_T.window(2), T),
    "a smaller window": (TO_T.window(3), T.window(2)),
    "another slide": (TO_T.window(3), T.window(3, slide=2)),
    "a window that slides in too small a one": (TO_T.window(2, slide=2), T.window(2)),
    "a granularity on one side": (TO_T, T.granularity(2)),
    "the last rows on the other side": (TO_Q.last(1, ties="arrival"), Q.last(1, ties="arrival")),
    "too late a partner": (LATE.window(2), T.window(3)),
    "a partner of any time that may have gone": (EVER, T.window(3)),
    "what has gone": (TO_T.dstream(), T),
    "what has changed": (TO_T.window(3), T.window(3).istream()),
    "a window over an interval": (TO_I.window(2), I),
    "a computed column": (TO_T.select(x=col("x") + 1), T),
    "a sum of values": (TO_T.window(3).aggregate(x=count()), T.window(3)),
    "no partner": (S.window(3).anti_join(T.window(2), on=X), T.window(2)),
    "a union on this side": (TO_T.union(S.rename({"x": "x"})), T),
    "what has a partner": (TO_T, T.semi_join(R.rename({"a": "c", "b": "d"}), on=[("a", "c")])),
}
"""Subplans of which that is not told."""


@pytest.mark.parametrize("name", TOLD)
def test_inclusions_are_told(name: str) -> None:
    one, other = TOLD[name]
    assert is_included(one.node, ["x"], other.node, ["a"])


@pytest.mark.parametrize("name", NOT_TOLD)
def test_what_does_not_hold_is_not_told(name: str) -> None:
    one, other = NOT_TOLD[name]
    assert not is_included(one.node, ["x"], other.node, ["a"])


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_holds_for_all_small_streams(name: str) -> None:
    one, other = TOLD[name]
    for streams in SmallStreams([one.plan(), other.plan()]).by_size(limit=1000):
        assert not lacks(one, ["x"], other, ["a"], streams), streams


@pytest.mark.parametrize("name", NOT_TOLD)
def test_what_is_not_told_has_a_counter_example(name: str) -> None:
    one, other = NOT_TOLD[name]
    small = SmallStreams([one.plan(), other.plan()]).by_size(limit=6000)
    assert any(lacks(one, ["x"], other, ["a"], streams) for streams in small)


def test_columns_are_included_together() -> None:
    both = S.references([("x", "a"), ("y", "b")], T).window(3)
    apart = S.references(X, T).references([("y", "b")], T).window(3)
    assert is_included(both.node, ["y", "x"], T.window(3).node, ["b", "a"])
    assert not is_included(apart.node, ["x", "y"], T.window(3).node, ["a", "b"])
    assert not is_included(both.node, ["x", "y"], T.window(3).node, ["b", "a"])


def test_a_column_stands_for_one_that_equals_it() -> None:
    same = TO_R.filter(col("x").eq(col("y"))).select("y")
    assert is_included(same.node, ["y"], R.node, ["a"])


def test_inclusions_are_listed() -> None:
    told = inclusions(TO_R.window(3).select("x", z=col("x")).node)
    assert told == (
        Inclusion(("x", "z"), "s", ("x", "x"), (TimeWindow(3),), False),
        Inclusion(("x", "z"), "r", ("a", "a"), (TimeWindow(3),), True),
    )
    assert str(told[1]) == "(x, z) in r (a, a) of window 3"


@st.composite
def referring(draw: st.DrawFn) -> Plan:
    """Plans of which some streams refer to others."""
    plan = draw(plans(**WHOLE))
    labels = ["a", "b", "c", "constant", "temporal"]
    chosen: dict[str, Stream] = {}

    def with_references(node: Node) -> Node:
        operator = logical(node)
        if not isinstance(operator, Source | Relation):
            return node
        if operator.label not in chosen:
            query = Stream(node)
            if draw(st.booleans()):
                to = draw(st.sampled_from(labels))
                within = draw(st.sampled_from((0, 0, 3, None)))
                query = query.references([("x", draw(st.sampled_from("xy")))], to, within=within)
            chosen[operator.label] = query
        return chosen[operator.label].node

    return plan.map(with_references)


@given(workloads(referring()))
def test_inclusions_hold(workload: Workload) -> None:
    """Of any two subplans of a plan, in pairs of columns."""
    for node in workload.plan.nodes:
        assert all(set(one.columns) <= set(node.schema.names) for one in inclusions(node))
        for other in workload.plan.nodes:
            for name in node.schema.names:
                for theirs in other.schema.names:
                    if node != other and is_included(node, [name], other, [theirs]):
                        assert not lacks(Stream(node), [name], Stream(other), [theirs], workload.streams)


def test_inclusions_are_told_of_random_plans() -> None:
    """The property above would hold as well if nothing were told."""
    found = sum(
        is_included(node, [name], other, [theirs])
        for query in (query for pair in TOLD.values() for query in pair)
        for node in query.plan().nodes
        for other in query.plan().nodes
        for name in node.schema.names
        for theirs in other.schema.names
        if node != other
    )
    assert found > 30
