"""Windows and granules change their size while queries run (thesis, 21.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import base_of, input_max_ends

from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes, logical_plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import PlanError
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element, chronons
from midstream.testing import elements, rows

BIDS = stream("bids", item="integer", price="integer")
BOUNDS = (1, 60)
WIDE = BIDS.window(10, bounds=BOUNDS)


@given(elements(rows(2), chronons=True), st.integers(1, 24), st.sampled_from((1, 3, 20)), st.data())
def test_from_an_instant_on_a_window_has_another_size(
    bids: list[Element], at: int, size: int, data: st.DataObject
) -> None:
    """Everything above it sees elements of the old size before, and of the new one from then on."""
    query = WIDE.filter(BIDS["price"] > 0).distinct()
    results: list = []
    engine = Engine(query.plan(), results.extend)
    early = [e for e in bids if e[0] < at]
    cut = data.draw(st.integers(0, len(early)))
    engine.push("bids", early[:cut])
    assert engine.resize(WIDE.node, size, at) == ["query"]
    assert engine.plan == BIDS.window(size, bounds=BOUNDS).filter(BIDS["price"] > 0).distinct().plan()
    split = data.draw(st.integers(cut, len(bids)))
    engine.push("bids", bids[cut:split])
    engine.push("bids", bids[split:])
    engine.close()
    before, after = early, [e for e in bids if e[0] >= at]
    windowed = [*run(WIDE.plan(), {"bids": before}), *run(BIDS.window(size).plan(), {"bids": after})]
    above = stream("bids", item="integer", price="integer", intervals=True)
    expected = run(above.filter(BIDS["price"] > 0).distinct().plan(), {"bids": windowed})
    assert equivalent(results, expected)


def test_all_queries_with_a_window_are_changed() -> None:
    first: list = []
    second: list = []
    other: list = []
    engine = Engine(WIDE.plan(), first.extend)
    engine.add(WIDE.aggregate(n=count()).plan(), second.extend, name="counts")
    engine.add(BIDS.window(5).plan(), other.extend, name="other")
    engine.push("bids", chronons([(0, (1, 1))]))
    assert engine.resize(WIDE.node, 2, at=3) == ["query", "counts"]
    engine.push("bids", chronons([(2, (2, 2)), (3, (3, 3))]))
    engine.close()
    assert first == [(0, 10, (1, 1)), (2, 12, (2, 2)), (3, 5, (3, 3))]
    assert equivalent(second, [(0, 2, (1,)), (2, 3, (2,)), (3, 5, (3,)), (5, 10, (2,)), (10, 12, (1,))])
    assert [end - start for start, end, _ in other] == [5, 5, 5]


def test_a_window_on_positives_and_negatives_keeps_its_size() -> None:
    results: list = []
    engine = Engine(signed_plan(WIDE), results.extend)
    with pytest.raises(PlanError, match=r"runs as signed-time-window .*; run the query on intervals"):
        engine.resize(WIDE.node, 2, at=3)
    engine.push("bids", chronons([(4, (1, 1))]))
    engine.close()
    assert results == [(4, 14, (1, 1))]


def test_after_a_change_the_window_is_what_the_plan_says() -> None:
    """It can be shared, changed again, and migrated."""
    results: list = []
    query = WIDE.filter(BIDS["price"] > 0).distinct()
    engine = Engine(query.plan(), results.extend)
    engine.resize(WIDE.node, 4, at=1)
    engine.push("bids", chronons([(1, (1, 1))]))
    narrow = BIDS.window(4, bounds=BOUNDS)
    shared = engine.add(narrow.plan(), name="narrow").physical.nodes
    assert {node for node in shared if node in base_of(engine).running}
    engine.remove("narrow")
    migration = engine.migrate(narrow.distinct().filter(BIDS["price"] > 0).plan())
    engine.push("bids", chronons([(2, (1, 1)), (9, (1, 1))]))
    assert migration.phase.value == "done"
    with pytest.raises(PlanError, match=r"no query has window 10 \(from 1 to 60\) of bids"):
        engine.resize(WIDE.node, 3, at=20)
    engine.resize(narrow.node, 3, at=20)
    engine.push("bids", chronons([(20, (1, 1))]))
    engine.close()
    assert equivalent(results, [(1, 6, (1, 1)), (9, 13, (1, 1)), (20, 23, (1, 1))])


def test_a_granule_is_changed() -> None:
    coarse = BIDS.window(10).granularity(5, bounds=(1, 20))
    results: list = []
    engine = Engine(coarse.plan(), results.extend)
    engine.push("bids", chronons([(1, (1, 1))]))
    with pytest.raises(PlanError, match="found a change from granule 5 to 2 at 12"):
        engine.change_granule(coarse.node, 2, at=12)
    assert engine.plan == coarse.plan()
    engine.change_granule(coarse.node, 2, at=10)
    engine.push("bids", chronons([(8, (2, 2)), (11, (3, 3))]))
    assert results == [(5, 15, (1, 1)), (10, 20, (2, 2)), (12, 22, (3, 3))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.resize(WIDE.node, 6, at=4), "found a change at 4, expected one at"),
        (lambda e: e.resize(WIDE.node, 0, at=9), "found a window of 0"),
        (lambda e: e.resize(WIDE.node, 6, at=9.5), "found a change at 9.5, expected an integer"),
        (lambda e: e.resize(WIDE.distinct().node, 5, at=9), "found distinct, expected a time window"),
        (
            lambda e: e.resize(BIDS.window(7, bounds=BOUNDS).node, 5, at=9),
            r"no query has window 7 .* of bids",
        ),
        (lambda e: e.change_granule(WIDE.node, 5, at=9), r"found window 10 .*, expected a granularity"),
        (lambda e: e.resize(WIDE.node, 5, at=9), r"time-window 5 .* of bids runs already"),
        (lambda e: e.resize(WIDE.node, 61, at=9), "found a window of 61, expected one from 1 to 60"),
        (lambda e: e.resize(WIDE.node, None, at=9), "found a window of None, expected one from 1 to 60"),
        (lambda e: e.resize(BIDS.window(7).node, 5, at=9), r"window 7 is fixed, .* RANGE MIN …, MAX …"),
        (
            lambda e: e.change_granule(BIDS.granularity(7).node, 5, at=9),
            r"granularity 7 is fixed, .* granularity\(…, bounds=",
        ),
    ],
)
def test_what_cannot_be_changed_stays(change, message: str) -> None:
    results: list = []
    engine = Engine(WIDE.plan(), results.extend)
    engine.add(BIDS.window(5, bounds=BOUNDS).plan(), name="five")
    engine.push("bids", chronons([(4, (1, 1))]))
    with pytest.raises(PlanError, match=message):
        change(engine)
    engine.push("bids", chronons([(9, (2, 2))]))
    assert results == [(4, 14, (1, 1)), (9, 19, (2, 2))]
    assert engine.plan == WIDE.plan()


def test_a_window_does_not_change_during_a_migration() -> None:
    engine = Engine(WIDE.filter(BIDS["price"] > 0).distinct().plan())
    engine.push("bids", chronons([(4, (1, 1))]))
    engine.migrate(WIDE.distinct().filter(BIDS["price"] > 0).plan())
    with pytest.raises(PlanError, match="query query is being migrated"):
        engine.resize(WIDE.node, 5, at=9)


@pytest.mark.parametrize(
    ("query", "change", "largest"),
    [
        (
            BIDS.window(60, bounds=BOUNDS),
            lambda e: e.resize(BIDS.window(60, bounds=BOUNDS).node, 5, at=1),
            60,
        ),
        (
            BIDS.window(40).granularity(20, bounds=(5, 20)),
            lambda e: e.change_granule(BIDS.window(40).granularity(20, bounds=(5, 20)), 5, at=20),
            40,
        ),
    ],
    ids=["window", "granularity"],
)
def test_a_migration_waits_for_what_was_valid_before_the_change(query, change, largest: int) -> None:
    """An element of the larger window outlasts those behind it; the split time lies beyond it."""
    old = query.filter(BIDS["price"] > 0).distinct()
    results: list = []
    engine = Engine(old.plan(), results.extend)
    engine.push("bids", chronons([(0, (7, 7))]))
    change(engine)
    engine.push("bids", chronons([(21, (7, 7)), (22, (8, 8))]))
    expected: list = []
    alone = Engine(old.plan(), expected.extend)
    alone.push("bids", chronons([(0, (7, 7))]))
    change(alone)
    assert input_max_ends(engine)[0] >= largest
    late = engine.add(engine.plan, name="late").complete_from
    assert late >= largest
    engine.remove("late")
    conversion = Plan(input_nodes(logical_plan(engine.plan))[0])
    new = Stream(conversion.root)
    engine.migrate(new.distinct().filter(BIDS["price"] > 0).plan())
    rest = chronons([(25, (7, 7)), (90, (7, 7)), (200, (9, 9))])
    alone.push("bids", chronons([(21, (7, 7)), (22, (8, 8))]))
    for element in rest:
        engine.push("bids", [element])
        alone.push("bids", [element])
    engine.close()
    alone.close()
    assert equivalent(results, expected)
