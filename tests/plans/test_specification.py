"""The specification is what the definitions say: small, slow, compared with other ways to say the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import meaning, snapshots, specified
from midstream.plans.expressions.aggregates import avg, count, max_, min_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import normal_form, snapshot
from midstream.plans.values.streams import FOREVER, Element
from midstream.testing import Workload, elements, rows, workloads

S = stream("s", x="integer", y="integer", intervals=True)
T = stream("t", a="integer", b="integer", intervals=True)
C = stream("c", x="integer", y="integer")

DATA = st.fixed_dictionaries({"s": elements(), "t": elements(), "c": elements(chronons=True)})
Data = dict[str, list[Element]]


@given(DATA)
def test_a_source_means_what_it_delivers(data: Data) -> None:
    """(6.2): the snapshots of the physical stream itself."""
    assert specified(S.plan(), data) == normal_form(data["s"])
    assert all(now == snapshot(data["s"], t) for t, now in snapshots(S.plan(), data).items())


@given(DATA)
def test_a_join_is_a_filtered_and_mapped_product(data: Data) -> None:
    """(8.10)."""
    condition = col("x").eq(col("a")) & (col("y") <= col("b"))
    joined = S.join(T, on=condition, columns=["b", "x"])
    composed = S.join(T).filter(condition).select("b", "x")
    assert specified(joined.plan(), data) == specified(composed.plan(), data)


@given(DATA)
def test_grouping_is_the_union_of_aggregations_over_each_group(data: Data) -> None:
    """(8.15), with as many groups as there are keys."""
    calls: dict[str, Any] = {"n": count(), "s": sum_("y"), "l": min_("y"), "g": max_("y"), "a": avg("y")}
    groups = [
        S.filter(col("x").eq(key)).aggregate(**calls).select(x=key, **{name: col(name) for name in calls})
        for key in range(4)
    ]
    united = groups[0].union(*groups[1:])
    assert specified(S.group_by("x").aggregate(**calls).plan(), data) == specified(united.plan(), data)


@given(DATA, st.sampled_from([1, 2, 5, None]))
def test_a_window_makes_every_chronon_last(data: Data, size: int | None) -> None:
    """(8.17), from the side of the physical algebra: each element gets its end."""
    lasting = [(t, FOREVER if size is None else t + size, payload) for t, _, payload in data["c"]]
    assert specified(C.window(size).plan(), data) == normal_form(lasting)


@given(DATA)
def test_equations_of_the_relational_algebra_hold(data: Data) -> None:
    def same(one: Stream, other: Stream) -> None:
        assert specified(one.plan(), data) == specified(other.plan(), data)

    first, second = col("x") > 0, col("y").ne(2)
    same(S.filter(first).filter(second), S.filter(first & second))
    same(S.distinct().distinct(), S.distinct())
    same(S.union(S).distinct(), S.distinct())
    same(S.union(C.select("x", "y")), C.union(S))
    same(S.filter(first).distinct(), S.distinct().filter(first))
    same(S.filter(first).union(S.filter(~first)), S)
    same(S.group_by("x", "y").aggregate(), S.distinct())
    same(S.join(T, columns=["x", "y", "a", "b"]), T.join(S, columns=["x", "y", "a", "b"]))


@given(workloads())
def test_the_choice_of_implementations_has_no_meaning(workload: Workload) -> None:
    assert specified(physical_plan(workload.plan), workload.streams) == workload.specified()


@given(workloads())
def test_what_is_reducible_can_be_computed_instant_by_instant(workload: Workload) -> None:
    """Definition 10.2: the result's snapshot is the relational operator on the snapshots of the inputs."""
    root = workload.plan.root
    if not root.operator.is_snapshot_reducible:
        return
    results = snapshots(workload.plan, workload.streams)
    inputs = [snapshots(Plan(child), workload.streams) for child in root.inputs]

    def at(taken: dict[int, Counter[Any]], instant: int) -> Counter[Any]:
        known = [t for t in taken if t <= instant]
        return taken[max(known)] if known else Counter()

    for instant, found in results.items():
        assert found == meaning(root)(*(at(one, instant) for one in inputs))


def test_an_aggregate_over_nothing_gives_nothing() -> None:
    """Erratum 10: unlike SQL, no row with a count of 0, neither before the first row nor in a gap."""
    plan = S.aggregate(n=count()).plan()
    gap = {"s": [(3, 4, (1, 1)), (6, 8, (1, 1))]}
    assert specified(plan, gap) == {(1,): ((3, 4, 1), (6, 8, 1))}
    assert specified(plan, {"s": []}) == specified(plan, {}) == {}


def test_a_map_that_merges_payloads_adds_their_multiplicities() -> None:
    """(8.2): the sum over all payloads with the same image."""
    data = {"s": [(0, 2, (1, 5)), (0, 2, (1, 6)), (1, 2, (1, 6)), (0, 2, (2, 6))]}
    assert snapshots(S.select("x").plan(), data)[1] == {(1,): 3, (2,): 1}


def test_a_product_multiplies_multiplicities() -> None:
    """(8.4)."""
    data = {"s": [(0, 2, (1, 1))] * 3, "t": [(0, 2, (2, 2))] * 2}
    assert snapshots(S.join(T).plan(), data)[0] == {(1, 1, 2, 2): 6}


def test_unknown_conditions_do_not_hold() -> None:
    u = stream("u", x="integer?", intervals=True)
    data = {"u": [(0, 2, (None,)), (0, 2, (1,))]}
    assert snapshots(u.filter(col("x").eq(col("x"))).plan(), data)[0] == {(1,): 1}
    pairs = u.join(u.rename({"x": "y"}), on=[("x", "y")]).plan()
    assert snapshots(pairs, data)[0] == {(1, 1): 1}


def test_unknown_keys_form_one_group() -> None:
    """As in SQL: for grouping and for duplicates, unknown is like unknown."""
    u = stream("u", x="integer?", intervals=True)
    data = {"u": [(0, 2, (None,)), (0, 2, (None,))]}
    assert snapshots(u.group_by("x").aggregate(n=count(), m=count("x")).plan(), data)[0] == {(None, 2, 0): 1}
    assert snapshots(u.distinct().plan(), data)[0] == {(None,): 1}


def test_the_last_instant_stands_for_all_later_ones() -> None:
    found = snapshots(S.plan(), {"s": [(3, 5, (1, 1)), (4, FOREVER, (2, 2))]})
    assert list(found) == [3, 4, 5]
    assert found[5] == {(2, 2): 1}
    assert list(snapshots(C.window(10).plan(), {"c": [(3, 4, (1, 1))]})) == list(range(3, 15))


@given(elements(rows(2)), st.randoms(use_true_random=False))
def test_the_order_of_delivery_has_no_meaning(stream_: list[Element], rng: Any) -> None:
    shuffled = list(stream_)
    rng.shuffle(shuffled)
    plan = S.group_by("x").aggregate(n=count(), s=sum_("y")).distinct().plan()
    assert specified(plan, {"s": shuffled}) == specified(plan, {"s": stream_})


def test_only_snapshot_reducible_operators_have_a_meaning_at_one_instant() -> None:
    for query in (S, C.window(5)):
        with pytest.raises(TypeError, match="is not snapshot-reducible"):
            meaning(query.node)
