"""The keys that are told of a plan hold at every instant, and are told where they do."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators.columns import MOST_KEYS
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import keys
from midstream.plans.algebra.specification import snapshots
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.testing import WHOLE, Workload, plans, workloads


def breaks(node: Node, workload: Workload) -> list[frozenset[str]]:
    """The keys that two rows valid at one instant agree on."""
    told = keys(node)
    found = []
    for snapshot in snapshots(Plan(node), workload.streams).values() if told else ():
        for key in told:
            columns = [node.schema.index(name) for name in sorted(key)]
            values = Counter(tuple(row[i] for i in columns) for row in snapshot.elements())
            if any(n > 1 for n in values.values()):
                found.append(key)
    return found


@st.composite
def keyed(draw: st.DrawFn) -> Plan:
    """Plans in which keys are made, renamed, joined and lost."""

    def unique(query: Stream) -> Stream:
        names = query.schema.names
        chosen = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        match draw(st.integers(0, 2)):
            case 0:
                return query.distinct()
            case 1:
                return query.group_by(*chosen).aggregate(**{f"n of {names[0]}": count()})
            case _:
                return query

    one = unique(Stream(draw(plans(depth=1, **WHOLE)).root))
    other = unique(Stream(draw(plans(depth=1)).root))
    other = other.rename({name: f"other {name}" for name in other.schema.names})
    pairs = st.tuples(st.sampled_from(one.schema.names), st.sampled_from(other.schema.names))
    on = draw(st.lists(pairs, max_size=2))
    names = one.schema.names + other.schema.names
    found = one.join(other, on=on, columns=draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))
    kept = draw(st.lists(st.sampled_from(found.schema.names), min_size=1, unique=True))
    found = found.select(*kept, copy=col(draw(st.sampled_from(found.schema.names))))
    coarser = found.granularity(2 * found.node.granule)
    return draw(st.sampled_from([found, found.istream(), coarser, found.coalesce(3)])).plan()


@given(workloads(plans(**WHOLE)))
def test_no_two_valid_rows_agree_on_a_key(workload: Workload) -> None:
    for node in workload.plan.nodes:
        assert all(key <= set(node.schema.names) for key in keys(node))
        assert not breaks(node, workload)


@given(workloads(keyed()))
def test_no_two_valid_rows_agree_on_a_key_above_joins(workload: Workload) -> None:
    for node in workload.plan.nodes:
        assert not breaks(node, workload)


@given(keyed())
def test_no_key_includes_another(plan: Plan) -> None:
    for node in plan.nodes:
        told = keys(node)
        assert not any(one < other for one in told for other in told)
        assert len(set(told)) == len(told) <= MOST_KEYS


S = stream("s", x="integer", y="integer").window(9)
BY_X = S.group_by("x").aggregate(n=count())
BY_Y = S.group_by("y").aggregate(m=count())
PAIRS = S.select("x", "y").distinct()
OTHER = stream("t", a="integer", b="integer").window(9).distinct()
ONE_A = stream("t", a="integer", b="integer").window(9).group_by("a").aggregate(b=max_("b"))
R = relation("r", a="integer", b="integer")

KEYS: dict[str, tuple[Stream, list[set[str]]]] = {
    "rows": (stream("s", x="integer"), []),
    "a relation": (R, []),
    "groups": (BY_X, [{"x"}]),
    "all rows": (S.aggregate(n=count()), [set()]),
    "groups of groups": (
        S.group_by("x", "y").aggregate(n=count()).group_by("x", "y", "n").aggregate(m=count()),
        [{"x", "y"}],
    ),
    "groups of other columns": (BY_X.group_by("n").aggregate(x=count()), [{"n"}]),
    "distinct": (PAIRS, [{"x", "y"}]),
    "distinct groups": (BY_X.distinct(), [{"x"}]),
    "a filter": (BY_X.filter(col("n") > 1), [{"x"}]),
    "renamed": (BY_X.rename({"x": "item"}), [{"item"}]),
    "the key is computed with": (BY_X.select("n", z=col("x") + 1), []),
    "the key is dropped": (BY_X.select("n"), []),
    "the key is dropped, an equal column is not": (
        BY_X.filter(col("x").eq(col("n"))).select("n"),
        [{"n"}],
    ),
    "a window": (BY_X.rstream().window(9), []),
    "a now-window": (BY_X.rstream().window(1), [{"x"}]),
    "the last row": (stream("s", x="integer").last(1), [set()]),
    "the last rows": (stream("s", x="integer").last(2), []),
    "the last row of each": (stream("s", x="integer", y="integer").last(1, by=["x"]), [{"x"}]),
    "the last rows of each": (stream("s", x="integer", y="integer").last(2, by=["x"]), []),
    "granularity": (BY_X.granularity(5), [{"x"}]),
    "what comes": (BY_X.istream(), [{"x"}]),
    "what goes": (BY_X.dstream(), [{"x"}]),
    "split and coalesced": (BY_X.split(2).coalesce(9), [{"x"}]),
    "a product": (BY_X.join(BY_Y), [{"x", "y"}]),
    "a join of keys": (BY_X.join(BY_Y, on=[("x", "y")]), [{"x"}, {"y"}]),
    "each has one partner": (PAIRS.join(ONE_A, on=[("x", "a")]), [{"a", "y"}, {"x", "y"}]),
    "each may have several": (PAIRS.join(OTHER, on=[("x", "a")]), [{"a", "b", "y"}, {"b", "x", "y"}]),
    "rows without a key on one side": (BY_X.join(R, on=[("x", "a")]), []),
    "an equal column stands for a dropped one": (
        BY_X.join(BY_Y, on=[("x", "y")], columns=["n", "m", "y"]),
        [{"y"}],
    ),
    "a join drops the key": (BY_X.join(BY_Y, on=[("x", "y")], columns=["n", "m"]), []),
    "an inequality": (BY_X.join(BY_Y, on=col("x") < col("y")), [{"x", "y"}]),
    "a semi-join": (BY_X.semi_join(R, on=[("x", "a")]), [{"x"}]),
    "an anti-join": (BY_X.anti_join(R, on=[("x", "a")]), [{"x"}]),
    "of the right side only": (S.semi_join(BY_Y.rename({"y": "z"}), on=[("x", "z")]), []),
    "a difference": (BY_X.difference(S.rename({"y": "n"})), [{"x"}]),
    "a strict difference": (BY_X.strict_difference(S.rename({"y": "n"})), [{"x"}]),
    "a union": (BY_X.union(BY_X), []),
    "a max union": (BY_X.max_union(BY_X), [{"n", "x"}]),
    "a max union with rows": (BY_X.max_union(S.rename({"y": "n"})), []),
    "an intersection": (BY_X.intersection(PAIRS.rename({"y": "n"})), [{"x"}]),
    "an intersection with rows": (S.rename({"y": "n"}).intersection(BY_X), [{"x"}]),
}
"""Per plan, what is told."""


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_told(name: str) -> None:
    query, expected = KEYS[name]
    assert [set(key) for key in keys(query.node)] == expected
    physical = Node(Physical("any", query.node.operator), query.node.inputs)
    assert [set(key) for key in keys(physical)] == expected


DENIED: dict[str, tuple[Stream, list[str]]] = {
    "a window": (BY_X.rstream().window(9), ["x"]),
    "a union": (BY_X.union(BY_X), ["x"]),
    "a max union": (BY_X.max_union(PAIRS.rename({"y": "n"})), ["x"]),
    "the key is dropped": (BY_X.select("n"), ["n"]),
    "each may have several": (PAIRS.join(OTHER, on=[("x", "a")]), ["x", "y"]),
    "of the right side only": (S.semi_join(BY_Y.rename({"y": "z"}), on=[("x", "z")]), ["x", "y"]),
}


@pytest.mark.parametrize("name", DENIED)
def test_where_a_key_is_denied_there_is_a_counter_example(name: str) -> None:
    """A derivation that never tells anything would be right as well."""
    query, columns = DENIED[name]
    streams = {
        "s": [(0, 1, (1, 1)), (2, 3, (1, 1)), (3, 4, (2, 1)), (4, 5, (2, 2))],
        "t": [(0, 1, (1, 1)), (2, 3, (1, 2))],
    }
    assert frozenset(columns) not in keys(query.node)
    positions = [query.schema.index(name) for name in columns]
    assert any(
        max(Counter(tuple(row[i] for i in positions) for row in snapshot.elements()).values(), default=0) > 1
        for snapshot in snapshots(query.plan(), streams).values()
    )


def test_joins_of_many_keys_are_read_in_no_time() -> None:
    """Of ten streams, each with two keys, a product has 1024."""
    query = None
    for i in range(10):
        one = BY_X.join(BY_Y, on=[("x", "y")]).alias(f"s{i}")
        query = one if query is None else query.join(one)
    assert query is not None
    assert len(keys(query.node)) == MOST_KEYS
