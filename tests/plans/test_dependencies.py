"""The dependencies between columns that are told of a plan hold at every instant, or of all time, and are
told where they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators.columns import MOST_DEPENDENCIES, Dependency, closure, visible
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import (
    dependencies,
    determined,
    keys,
    lasting_dependencies,
)
from midstream.plans.algebra.specification import snapshots
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.testing import WHOLE, Workload, plans, workloads
from tests.support.told import breaks, check


@st.composite
def dependent(draw: st.DrawFn) -> Plan:
    """Plans in which columns are fixed, equated, computed, grouped and dropped."""
    query = Stream(draw(plans(depth=2, windows=True)).root)
    for number in range(draw(st.integers(1, 4))):
        names = query.schema.names
        one, other = (col(draw(st.sampled_from(names))) for _ in range(2))
        match draw(st.integers(0, 6)):
            case 0:
                query = query.filter(one.eq(draw(st.integers(0, 2))))
            case 1:
                query = query.filter(one.eq(other))
            case 2:
                query = query.select(*names, **{f"computed {number}": one + other * 2})
            case 3:
                query = query.distinct()
            case 4:
                groups = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
                query = query.group_by(*groups).aggregate(**{f"n {number}": count()})
            case 5:
                kept = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
                query = query.select(*kept)
            case _:
                query = query.istream().window(draw(st.integers(1, 3)) * query.node.granule)
    return query.plan()


@given(workloads(plans(**WHOLE)))
def test_dependencies_hold(workload: Workload) -> None:
    for node in workload.plan.nodes:
        check(node, workload.streams)


@given(workloads(dependent()))
def test_dependencies_hold_where_much_is_said(workload: Workload) -> None:
    for node in workload.plan.nodes:
        check(node, workload.streams)


@given(dependent())
def test_what_is_told_is_told_once(plan: Plan) -> None:
    for node in plan.nodes:
        told = dependencies(node)
        assert len(told) <= MOST_DEPENDENCIES
        for i, one in enumerate(told):
            assert one.determines <= set(node.schema.names) - one.columns
            assert not one.determines & closure(one.columns, told[:i])


S = stream("s", x="integer", y="integer")
W = S.window(9)
F = stream("f", p="float", q="string").window(9)
BY_X = W.group_by("x").aggregate(n=count())
OTHER = stream("t", a="integer", b="integer").window(9).group_by("a").aggregate(b=max_("b"))
TOLD: dict[str, tuple[Stream, list[str]]] = {
    "rows": (W, []),
    "a constant": (W.filter(col("x").eq(3)), ["{} → {x}"]),
    "an unknown": (W.filter(col("x").is_null()), ["{} → {x}"]),
    "an alternative": (W.filter(col("x").eq(3) | col("x").eq(4)), []),
    "equal columns": (W.filter(col("x").eq(col("y"))), ["{x} → {y}", "{y} → {x}"]),
    "groups": (BY_X, ["{x} → {n}"]),
    "a group of all": (W.aggregate(n=count()), ["{} → {n}"]),
    "computed": (W.select("x", "y", z=col("x") + col("y")), ["{x, y} → {z}"]),
    "computed of what is told apart": (F.select("p", z=col("p").cast("string")), []),
    "computed of text": (F.select("q", z=col("q").str.upper()), ["{q} → {z}"]),
    "a copy": (F.select("p", z=col("p")), ["{p} → {z}", "{z} → {p}"]),
    "exchanged names": (
        W.filter(col("x").eq(3)).select(x=col("y"), y=col("x")),
        ["{} → {y}"],
    ),
    "through a dropped column": (
        W.select("x", z=col("x") + 1).select("x", "z", u=col("z") * 2).select("x", "u"),
        ["{x} → {u}"],
    ),
    "a join": (W.join(OTHER, on=[("x", "a")]), ["{a} → {b, x}", "{x} → {a}"]),
    "a join that drops the key": (W.join(OTHER, on=[("x", "a")], columns=["x", "y", "b"]), ["{x} → {b}"]),
    "a semi-join says what its matches say": (
        W.semi_join(OTHER, on=[("x", "a"), ("y", "b")]),
        ["{x} → {y}"],
    ),
    "an anti-join says nothing": (W.anti_join(OTHER, on=[("x", "a"), ("y", "b")]), []),
    "an intersection": (W.rename({"y": "n"}).intersection(BY_X), ["{x} → {n}"]),
    "a union": (BY_X.union(BY_X), []),
    "of one instant only": (BY_X.rstream().window(3), []),
    "of all time": (W.select("x", z=col("x") + 1).rstream().window(3), ["{x} → {z}"]),
    "a now-window": (BY_X.window(1), ["{x} → {n}"]),
    "granularity": (BY_X.granularity(2), ["{x} → {n}"]),
    "istream": (BY_X.istream(), ["{x} → {n}"]),
    "the last row": (S.last(1), ["{} → {x, y}"]),
}
"""Per plan, what is told."""


@pytest.mark.parametrize("name", TOLD)
def test_dependencies_are_told(name: str) -> None:
    query, expected = TOLD[name]
    assert [str(one) for one in dependencies(query.node)] == expected


def test_where_a_dependency_is_denied_there_is_a_counter_example() -> None:
    streams = {"s": [(0, 1, (1, 1)), (1, 2, (1, 2)), (2, 3, (1, 1))]}
    for name in ("rows", "a union", "of one instant only"):
        node = TOLD[name][0].node
        columns = [frozenset({one}) for one in node.schema.names]
        denied = [Dependency(columns[0], columns[1])]
        assert any(list(breaks(node, denied, part)) for part in snapshots(Plan(node), streams).values()) or (
            any(n > 1 for part in snapshots(Plan(node), streams).values() for n in part.values())
        )


def test_a_key_is_told_without_what_depends_on_the_rest() -> None:
    groups = W.filter(col("y").eq(3)).group_by("x", "y").aggregate(n=count())
    assert keys(groups.node) == (frozenset({"x"}),)
    assert determined(groups.node, ["x"]) == {"x", "y", "n"}
    assert determined(groups.node, []) == {"y"}


def test_much_that_is_dropped_is_read_in_no_time() -> None:
    """Thirty columns, each computed from the two before it."""
    query = stream("s", c0="integer", c1="integer")
    for i in range(2, 30):
        query = query.select(*query.schema.names, **{f"c{i}": col(f"c{i - 1}") + col(f"c{i - 2}")})
    told = dependencies(query.select("c0", "c1", "c29").node)
    assert [str(one) for one in told] == ["{c0, c1} → {c29}"]


names = st.frozensets(st.sampled_from("abcde"), max_size=3)
some = st.lists(st.builds(Dependency, names, names), max_size=6)


@given(some, names)
def test_what_is_visible_is_what_follows(told: list[Dependency], shown: frozenset[str]) -> None:
    """The same as trying all sets of visible columns."""
    kept = visible(told, shown)
    for columns in _subsets(sorted(shown)):
        assert closure(columns, kept) == closure(columns, told) & shown


def _subsets(columns: list[str]) -> Iterator[frozenset[str]]:
    for bits in range(2 ** len(columns)):
        yield frozenset(name for i, name in enumerate(columns) if bits >> i & 1)


def test_much_is_told_of_random_plans() -> None:
    """The properties above would hold as well if nothing were told."""
    told = {"dependencies": 0, "lasting dependencies": 0, "keys": 0}
    nodes = 0

    @settings(max_examples=60, derandomize=True, database=None)
    @given(dependent())
    def count_told(plan: Plan) -> None:
        nonlocal nodes
        for node in plan.nodes:
            nodes += 1
            told["dependencies"] += bool(dependencies(node))
            told["lasting dependencies"] += bool(lasting_dependencies(node))
            told["keys"] += bool(keys(node))

    count_told()
    assert {name: number > nodes / 20 for name, number in told.items()} == dict.fromkeys(told, True)
