"""A migration that cannot be proved applicable is refused, with operator and reason, and does no harm."""

from __future__ import annotations

import pytest

from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER, chronons
from midstream.testing import verdict


def bids(size: int | None = 10, name: str = "bids") -> Stream:
    return stream(name, item="integer", price="integer").window(size)


RUNNING = bids().filter(col("price") > 1)


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (
            bids(name="asks").filter(col("price") > 1),
            "different inputs: only the old plan has source bids .*asks",
        ),
        (bids(11).filter(col("price") > 1), "differ below or between their windows.*window 10.*window 11"),
        (
            stream("bids", item="integer", price="integer").filter(col("price") > 1).window(10),
            "not snapshot-reducible.*time windows may be moved",
        ),
        (
            stream("bids", item="integer", price="integer").filter(col("price") > 1),
            "differ below or between their windows",
        ),
        (
            bids().select("item"),
            r"output has the columns \(item integer\), expected \(item integer, price integer\)",
        ),
        (bids().select("price", "item"), "output has the columns"),
        (bids().select("item", price=col("price") / 2), "price float"),
        (
            stream("bids", item="integer", price="integer", intervals=True).filter(col("price") > 1),
            "different inputs",
        ),
    ],
)
@pytest.mark.parametrize("strategy", ["genmig", "genmig-reference-point"])
def test_plans_that_differ_in_more_than_their_upper_part_are_refused(
    plan: Stream, reason: str, strategy: str
) -> None:
    results: list = []
    engine = Engine(RUNNING.plan(), results.extend)
    engine.push("bids", chronons([(1, (7, 2))]))
    physical, running = engine.query().physical, engine.plan
    with pytest.raises(MigrationRefused, match=reason):
        engine.migrate(plan.plan(), strategy)
    assert engine.query().physical is physical
    assert engine.plan is running
    engine.push("bids", chronons([(2, (7, 1)), (3, (7, 3))]))
    engine.close()
    assert results == [(1, 11, (7, 2)), (3, 13, (7, 3))]


def test_plans_with_other_outputs_are_refused() -> None:
    engine = Engine(Plan({"dear": RUNNING.node}))
    with pytest.raises(MigrationRefused, match="has the outputs out, expected dear"):
        engine.migrate(RUNNING.plan())


DISTINCT = bids().distinct()
COUNTED = bids().aggregate(n=count())
OFFERS = bids().alias("o")
TERMS = relation("terms", temporal=True, item="integer", price="integer")
ON = [("item", "o.item")]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (DISTINCT, DISTINCT, "unsound over distinct of the old plan"),
        (COUNTED, COUNTED, r"unsound over aggregate count\(\*\) as n of the old plan"),
        (bids(), DISTINCT, "unsound over distinct of the new plan"),
        (bids(), bids().difference(bids()), "unsound over difference of the new plan"),
        (bids().strict_difference(bids()), bids(), "unsound over strict difference of the old plan"),
        (bids(), bids().intersection(bids()), "unsound over intersection of the new plan"),
        (bids().max_union(bids()), bids(), "unsound over max union of the old plan"),
        (bids().semi_join(OFFERS, ON), bids(), "unsound over semi-join item = o.item of the old plan"),
        (bids(), bids().anti_join(OFFERS, ON), "unsound over anti-join item = o.item of the new plan"),
        (bids(), bids().split(2), "unsound over split 2 of the new plan"),
        (bids().coalesce(5), bids(), "unsound over coalesce 5 of the old plan"),
    ],
)
def test_the_reference_point_is_refused_where_starts_are_not_preserved(
    old: Stream, new: Stream, reason: str
) -> None:
    """Erratum 13: the refusal names the operator."""
    engine = Engine(old.plan())
    with pytest.raises(MigrationRefused, match=reason) as refusal:
        engine.migrate(new.plan(), "genmig-reference-point", replace_all=True)
    operators = {str(node.operator) for query in (old, new) for node in query.plan().nodes}
    assert refusal.value.operator in operators
    assert f"over {refusal.value.operator} of" in str(refusal.value)


def test_the_reference_point_is_refused_where_rows_of_a_relation_begin() -> None:
    """The pair starts with the relation's row, behind the split time, though the bid came before it: both
    plans would give it."""
    pairs = bids().join(TERMS.alias("t"), on=[("item", "t.item")]).plan()
    engine = Engine(pairs, relations={"terms": [(12, 30, (7, 1))]})
    engine.push("bids", chronons([(1, (7, 2))]))
    with pytest.raises(MigrationRefused, match="relation terms of the old plan: its rows begin") as refusal:
        engine.migrate(pairs, "genmig-reference-point", replace_all=True)
    assert refusal.value.operator == "relation terms"


CONSTANT = relation("terms", item="integer", price="integer")
UNBOUNDED = {
    "the relation alone": (bids().union(TERMS), "union"),
    "behind other operators": (bids().union(TERMS).filter(col("item") > 1).distinct(), "distinct"),
    "on the left of a difference": (TERMS.difference(bids()), "difference"),
    "on the left of an anti-join": (TERMS.anti_join(OFFERS, ON), "anti-join item = o.item"),
    "the larger of both": (bids().max_union(TERMS), "max union"),
    "rows that are valid always": (CONSTANT.semi_join(OFFERS, ON), "semi-join item = o.item"),
}


@pytest.mark.parametrize("name", UNBOUNDED)
@pytest.mark.parametrize("strategy", ["genmig", "genmig-reference-point"])
def test_results_of_a_relation_alone_are_refused(name: str, strategy: str) -> None:
    """Relations are not cut at the split time: both plans would give them."""
    query, operator = UNBOUNDED[name]
    plan = query.plan()
    rows = [(0, 30, (7, 1))] if not plan.relations[0].is_constant else constant([(7, 1)])
    engine = Engine(plan, relations={"terms": rows})
    engine.push("bids", chronons([(1, (7, 2))]))
    with pytest.raises(
        MigrationRefused, match="of the old plan gives rows of a relation where no"
    ) as refusal:
        engine.migrate(plan, strategy, replace_all=True)
    assert refusal.value.operator == operator


BOUNDED = {
    "joined": bids().join(TERMS.alias("t"), on=[("item", "t.item")]),
    "taken away": bids().difference(TERMS),
    "in common": TERMS.intersection(bids()),
    "matched by what is not bounded": bids().semi_join(OFFERS.union(TERMS.alias("o")), ON),
    "below a window": TERMS.union(bids()).window(5),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_valid_only_together_with_a_stream_can_be_migrated(name: str) -> None:
    plan = BOUNDED[name].plan()
    rows = [(0, 11, (7, 2)), (12, 30, (8, 2))]
    history = list(chronons([(t, (7 + t % 2, 2)) for t in range(0, 40, 3)]))
    results: list = []
    engine = Engine(plan, results.extend, relations={"terms": rows})
    for i, bid in enumerate(history):
        if i == 3:
            engine.migrate(plan, replace_all=True)
        engine.push("bids", [bid])
    engine.close()
    assert verdict(specified(plan, {"bids": history, "terms": rows}), results)


def test_what_is_valid_for_ever_is_refused_only_once_it_has_come() -> None:
    engine = Engine(bids(None).plan())
    engine.migrate(bids(None).plan(), replace_all=True)
    engine.push("bids", chronons([(1, (7, 2))]))
    with pytest.raises(MigrationRefused, match="valid for ever"):
        engine.migrate(bids(None).plan(), replace_all=True)


def test_what_comes_for_ever_during_a_migration_is_cut_like_anything() -> None:
    plan = stream("s", x="integer", intervals=True).plan()
    results: list = []
    engine = Engine(plan, results.extend)
    engine.push("s", [(0, 10, (1,))])
    engine.migrate(plan, replace_all=True)
    engine.push("s", [(5, FOREVER, (2,)), (20, FOREVER, (3,))])
    engine.close()
    assert results == [(0, 10, (1,)), (5, FOREVER, (2,)), (20, FOREVER, (3,))]


@pytest.mark.parametrize("strategy", ["genmig-end-timestamp", "genmig-reference-point", "moving-states"])
def test_signed_windows_cannot_be_forked_by_others_than_genmig(strategy: str) -> None:
    engine = Engine(signed_plan(bids().plan()))
    with pytest.raises(MigrationRefused, match=r"positive and negative elements, which only genmig|unsound"):
        engine.migrate(bids().filter(col("item") > 1).plan(), strategy, replace_all=True)
