"""Keys and references that are declared of streams and relations: how they are written, and what follows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.declared import obedient
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    keys,
    lasting_dependencies,
    lasting_keys,
    logical,
)
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.equivalence.small_streams import SmallStreams
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import PlanError, SchemaError
from midstream.plans.values.streams import FOREVER
from midstream.plans.values.verdicts import Answer
from midstream.testing import WHOLE, Workload, plans, workloads
from tests.support.told import check

S = stream("s", x="integer", y="integer")
T = stream("t", a="integer", b="integer?")
I = stream("i", x="integer", y="integer", intervals=True)  # noqa: E741
R = relation("r", a="integer", b="integer")
ONE_X = S.unique("x")
EVER_X = S.unique("x", of_all_time=True)


# How they are written


def test_declarations_belong_to_the_stream() -> None:
    query = S.unique("x").unique("x", "y", of_all_time=True, enforced=False)
    query = query.references([("y", "a")], R).references([("x", "a")], "t", within=None, enforced=False)
    assert query.node.operator == Source(
        "s",
        S.schema,
        keys=(Key(("x",)), Key(("x", "y"), True, False)),
        references=(Reference(("y",), "r", ("a",)), Reference(("x",), "t", ("a",), FOREVER, False)),
    )
    assert query.plan() != S.plan()
    assert S.unique("x") == S.unique("x") != S.unique("y")
    assert isinstance(R.unique("a").node.operator, Relation)


@pytest.mark.parametrize(
    "query",
    [
        S,
        S.unique("x"),
        EVER_X.references([("y", "a")], R, within=7),
        R.unique("a", enforced=False).references([("b", "x")], "s", within=None),
    ],
)
def test_declarations_are_read_back_as_they_were(query: Stream) -> None:
    assert loads(dumps(query)) == query.plan()
    assert ("keys" in dumps(query)) == bool(logical(query.node).keys)  # type: ignore[attr-defined]


def test_a_declaration_says_what_sql_says() -> None:
    assert str(Key(("x", "y"), True, False)) == "unique (x, y) for all time not enforced"
    assert str(Reference(("x",), "r", ("a",))) == "(x) references r (a)"
    assert str(Reference(("x",), "r", ("a",), 5, False)) == "(x) references r (a) within 5 not enforced"
    assert str(Reference(("x",), "r", ("a",), FOREVER)) == "(x) references r (a) for all time"


def test_wrong_declarations_are_refused() -> None:
    with pytest.raises(PlanError, match="unique: found filter x > 1, expected a stream or a relation itself"):
        S.filter(col("x") > 1).unique("x")
    with pytest.raises(PlanError, match="references: found window 3, expected a stream"):
        S.references([("x", "a")], T.window(3))
    with pytest.raises(PlanError, match=r"unique \(x, x\), expected each column once"):
        S.unique("x", "x")
    with pytest.raises(SchemaError, match="no column z"):
        S.unique("z")
    with pytest.raises(SchemaError, match="no column z"):
        S.references([("x", "z")], T)
    with pytest.raises(PlanError, match="expected as many columns on both sides, one at least"):
        S.references([], T)
    with pytest.raises(PlanError, match="within -1, expected chronons, 0 or more"):
        S.references([("x", "a")], T, within=-1)


# What follows


KEYS: dict[str, tuple[Stream, list[set[str]], list[set[str]]]] = {
    "nothing": (S, [], []),
    "at every instant": (ONE_X, [{"x"}], []),
    "of all time": (EVER_X, [{"x"}], [{"x"}]),
    "trusted": (S.unique("x", enforced=False), [{"x"}], []),
    "at most one row": (S.unique(), [set()], []),
    "of what lasts": (I.unique("x", of_all_time=True), [{"x"}], []),
    "of a relation": (R.unique("a"), [{"a"}], []),
    "a window of what is unique at every instant": (ONE_X.window(5), [], []),
    "a now-window": (ONE_X.window(1), [{"x"}], []),
    "a window": (EVER_X.window(5), [{"x"}], []),
    "a window that slides": (EVER_X.window(5, slide=2), [{"x"}], []),
    "an unbounded window": (EVER_X.window(None), [{"x"}], []),
    "a window of what lasts": (I.unique("x", of_all_time=True).window(5), [], []),
    "a window of a window": (EVER_X.window(5).window(5), [], []),
    "the last rows": (EVER_X.last(3, ties="arrival"), [{"x"}], []),
    "the last rows of each": (EVER_X.last(3, by=["y"], ties="arrival"), [{"x"}], []),
    "the last row of each": (EVER_X.last(1, by=["y"], ties="arrival"), [{"x"}, {"y"}], []),
    "granularity": (EVER_X.granularity(3), [{"x"}], []),
    "granularity, then a window": (EVER_X.granularity(3).window(3), [], []),
    "renamed below": (EVER_X.alias("s").window(5), [{"s.x"}], []),
    "chosen below": (EVER_X.filter(col("y") > 1), [{"x"}], [{"x"}]),
    "grouped below": (EVER_X.group_by("x").aggregate(n=count()), [{"x"}], [{"x"}]),
    "grouped by others": (EVER_X.group_by("y").aggregate(n=count()), [{"y"}], []),
    "a join below": (EVER_X.join(T.unique("a"), on=[("x", "a")]), [{"a"}, {"x"}], [{"x"}]),
    "a join with several": (EVER_X.join(T, on=[("x", "a")]), [], []),
    "a semi-join below": (EVER_X.semi_join(T, on=[("x", "a")]), [{"x"}], [{"x"}]),
    "istream": (EVER_X.istream(), [{"x"}], [{"x"}]),
    "a union": (EVER_X.union(S), [], []),
}
"""Per plan, the keys and those of all time."""


@pytest.mark.parametrize("name", KEYS)
def test_keys_that_follow(name: str) -> None:
    query, at_every_instant, of_all_time = KEYS[name]
    assert [set(key) for key in keys(query.node)] == at_every_instant
    assert [set(key) for key in lasting_keys(query.node)] == of_all_time


@pytest.mark.parametrize("name", KEYS)
def test_what_follows_holds_for_all_small_streams(name: str) -> None:
    plan = KEYS[name][0].plan()
    for streams in SmallStreams([plan]).by_size(limit=1500):
        check(plan.root, streams)


DENIED: dict[str, tuple[Stream, str]] = {
    name: (KEYS[name][0], column)
    for name, column in {
        "a window of what is unique at every instant": "x",
        "a window of what lasts": "x",
        "a window of a window": "x",
        "granularity, then a window": "x",
        "grouped by others": "n",
    }.items()
}


@pytest.mark.parametrize("name", DENIED)
def test_where_a_key_is_denied_there_is_a_counter_example(name: str) -> None:
    """By duplicate elimination of the key's columns: it would change nothing."""
    query, column = DENIED[name]
    one = query.select(column)
    assert equivalent(one, one.distinct()).answer is Answer.REFUTED


def test_what_is_declared_is_proved_by() -> None:
    once = EVER_X.window(5)
    assert equivalent(once, once.distinct())
    assert equivalent(ONE_X, ONE_X.distinct())
    assert not equivalent(S.window(5), S.window(5).distinct())
    assert str(lasting_dependencies(EVER_X.window(5).node)[0]) == "{x} → {y}"
    assert str(lasting_dependencies(I.unique("x", of_all_time=True).window(5).node)[0]) == "{x} → {y}"
    assert not lasting_dependencies(ONE_X.window(5).node)


@st.composite
def declared(draw: st.DrawFn) -> Plan:
    """Plans over streams and relations with keys."""
    plan = draw(plans(**WHOLE))
    chosen: dict[str, tuple[Key, ...]] = {}

    def with_keys(node: Node) -> Node:
        operator = logical(node)
        if not isinstance(operator, Source | Relation):
            return node
        if operator.label not in chosen:
            columns = st.sampled_from([("x",), ("y",), ("x", "y"), ()])
            one = st.builds(Key, columns, is_lasting=st.booleans())
            chosen[operator.label] = tuple(draw(st.lists(one, max_size=2)))
        query = Stream(node)
        for key in chosen[operator.label]:
            query = query.unique(*key.columns, of_all_time=key.is_lasting)
        return query.node

    return plan.map(with_keys)


@given(workloads(declared()))
def test_what_follows_from_declared_keys_holds(workload: Workload) -> None:
    for node in workload.plan.nodes:
        check(node, workload.streams)


@given(workloads(declared()))
def test_obedient_streams_obey(workload: Workload) -> None:
    leaves = (*workload.plan.sources, *workload.plan.relations)
    assert obedient(leaves, workload.streams) == workload.streams


def test_what_has_no_partner_is_left_out() -> None:
    a = S.references([("x", "a")], T, within=2).node.operator
    b = T.node.operator
    assert isinstance(a, Source) and isinstance(b, Source)
    streams = {
        "s": [(0, 1, (1, 1)), (2, 3, (1, 1)), (4, 5, (1, 1)), (5, 6, (1, 1))],
        "t": [(2, 3, (1, None))],
    }
    assert obedient([a, b], streams) == {**streams, "s": [(2, 3, (1, 1)), (4, 5, (1, 1))]}
    lasting = I.references([("x", "x")], "j").node.operator
    other = stream("j", x="integer", intervals=True).node.operator
    assert isinstance(lasting, Source) and isinstance(other, Source)
    parts = {"i": [(0, 6, (1, 1)), (0, 7, (1, 1))], "j": [(0, 3, (1,)), (2, 6, (1,))]}
    assert obedient([lasting, other], parts) == {**parts, "i": [(0, 6, (1, 1))]}
