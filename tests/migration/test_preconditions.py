"""A migration that cannot be proved applicable is refused, with operator and reason, and does no harm."""

from __future__ import annotations

import pytest

from midstream.engine import Engine
from midstream.plans.aggregates import count
from midstream.plans.builder import Stream, stream
from midstream.plans.errors import MigrationRefused
from midstream.plans.expressions import col
from midstream.plans.plan import Plan
from midstream.plans.streams import FOREVER, chronons


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
            "not snapshot-reducible.*below the forks",
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
    box, running = engine.box, engine.plan
    with pytest.raises(MigrationRefused, match=reason):
        engine.migrate(plan.plan(), strategy)
    assert engine.box is box
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


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (DISTINCT, DISTINCT, "unsound over distinct of the old plan"),
        (COUNTED, COUNTED, r"unsound over aggregate count\(\*\) as n of the old plan"),
        (bids(), DISTINCT, "unsound over distinct of the new plan"),
    ],
)
def test_the_reference_point_is_refused_where_starts_are_not_preserved(
    old: Stream, new: Stream, reason: str
) -> None:
    """Erratum 13: the refusal names the operator."""
    engine = Engine(old.plan())
    with pytest.raises(MigrationRefused, match=reason) as refusal:
        engine.migrate(new.plan(), "genmig-reference-point")
    assert refusal.value.operator in ("distinct", "aggregate count(*) as n")


def test_what_is_valid_for_ever_is_refused_only_once_it_has_come() -> None:
    engine = Engine(bids(None).plan())
    engine.migrate(bids(None).plan())
    engine.push("bids", chronons([(1, (7, 2))]))
    with pytest.raises(MigrationRefused, match="valid for ever"):
        engine.migrate(bids(None).plan())


def test_what_comes_for_ever_during_a_migration_is_cut_like_anything() -> None:
    plan = stream("s", x="integer", intervals=True).plan()
    results: list = []
    engine = Engine(plan, results.extend)
    engine.push("s", [(0, 10, (1,))])
    engine.migrate(plan)
    engine.push("s", [(5, FOREVER, (2,)), (20, FOREVER, (3,))])
    engine.close()
    assert results == [(0, 10, (1,)), (5, FOREVER, (2,)), (20, FOREVER, (3,))]
