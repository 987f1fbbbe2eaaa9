"""Relations in queries (thesis, 17.4): joined to streams by what the operator above them keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import (
    IntervalError,
    PlanError,
    SchemaError,
    StreamOrderError,
    UnknownStreamError,
)
from midstream.plans.values.streams import BEGINNING, FOREVER, chronons
from midstream.testing import drive, elements, interleavings, is_ordered, rows, verdict

BIDS = stream("bids", item="integer", price="integer")
ITEMS = relation("items", id="integer", kind="integer")
OFFERS = relation("offers", temporal=True, id="integer", kind="integer")


def queries(one: Stream) -> dict[str, Plan]:
    """What a relation may be part of."""
    bids = BIDS.window(5)
    named = one.rename({"id": "item", "kind": "price"})
    pairs = bids.join(one, on=[("item", "id")])
    return {
        "equi-join": pairs.plan(),
        "join on the other side": one.join(bids, on=[("id", "item")]).plan(),
        "theta-join": bids.join(one, on=col("price") < col("kind")).plan(),
        "filtered and grouped": bids.join(one.filter(col("kind") > 0), on=[("item", "id")])
        .group_by("kind")
        .aggregate(n=count())
        .plan(),
        "distinct relation": bids.join(one.distinct(), on=[("item", "id")]).plan(),
        "semi-join": bids.semi_join(one, on=[("item", "id")]).plan(),
        "anti-join": bids.anti_join(one, on=[("item", "id")]).plan(),
        "difference": bids.difference(named).plan(),
        "intersection": bids.intersection(named).plan(),
        "union": bids.union(named).plan(),
        "distinct union": bids.union(named).distinct().plan(),
        "maximum": bids.max_union(named).plan(),
        "union that is joined": bids.rename({"item": "i", "price": "p"})
        .join(bids.union(named), on=[("i", "item")])
        .plan(),
        "two relations": pairs.join(one.alias("r").select("r.id"), on=[("kind", "r.id")]).plan(),
        "a window on top": bids.join(one, on=[("item", "id")]).istream().window(3).plan(),
    }


@pytest.mark.parametrize("name", queries(ITEMS))
@given(st.data())
def test_a_constant_relation_is_valid_always(name: str, data: st.DataObject) -> None:
    content = constant(data.draw(st.lists(rows(2), max_size=4)))
    check(queries(ITEMS)[name], {"items": content}, data)


@pytest.mark.parametrize("name", queries(OFFERS))
@given(st.data())
def test_a_temporal_relation_is_valid_by_its_intervals(name: str, data: st.DataObject) -> None:
    content = data.draw(elements(rows(2), forever=name != "a window on top", max_size=6))
    check(queries(OFFERS)[name], {"offers": content}, data)


def check(plan: Plan, relations: dict, data: st.DataObject) -> None:
    """A query over random bids, in random portions, gives what is specified."""
    streams = {"bids": data.draw(elements(rows(2), chronons=True, max_size=8))}
    results: list = []
    engine = Engine(plan, results.extend, relations=relations)
    drive(engine, data.draw(interleavings(streams)))
    engine.close()
    outcome = verdict(specified(plan, {**streams, **relations}), results)
    assert outcome, str(outcome)
    assert is_ordered(results)


def test_what_is_made_of_a_relation_is_there_for_a_later_query() -> None:
    """The projection of a relation runs already when the second query comes, and has nothing more to say."""
    named = ITEMS.alias("i")
    first: list = []
    second: list = []
    items = constant([(1, 7), (2, 8)])
    engine = Engine(BIDS.join(named, on=[("item", "i.id")]).plan(), first.extend, relations={"items": items})
    engine.push("bids", chronons([(0, (1, 5))]))
    engine.add(BIDS.join(named, on=[("price", "i.id")]).plan(), second.extend, name="second")
    engine.push("bids", chronons([(3, (1, 2))]))
    assert first == [(0, 1, (1, 5, 1, 7)), (3, 4, (1, 2, 1, 7))]
    assert second == [(3, 4, (1, 2, 2, 8))]


def test_a_later_query_lacks_what_a_relation_gave_alone() -> None:
    """That was when streams began, or the operator that it shares."""
    bids, named = BIDS.window(5), ITEMS.rename({"id": "item", "kind": "price"})
    both = bids.union(named)
    engine = Engine(both.plan(), relations={"items": constant([(1, 7)])})
    assert engine.query().complete_from == BEGINNING
    engine.advance("bids", 3)
    assert engine.add(bids.filter(col("item") > 0).union(named).plan(), name="new").complete_from == FOREVER
    assert engine.add(both.distinct().plan(), name="shared").complete_from == FOREVER
    assert engine.add(bids.difference(named).plan(), name="bounded").complete_from == BEGINNING
    other = stream("other", item="integer", price="integer").window(5).union(named)
    assert engine.add(other.plan(), name="before it begins").complete_from == BEGINNING


def test_rows_of_a_relation_are_given_before_anything_arrives() -> None:
    """To whoever subscribes by then, once."""
    first: list = []
    later: list = []
    too_late: list = []
    named = ITEMS.rename({"id": "item", "kind": "price"})
    engine = Engine(BIDS.union(named).plan(), first.extend, relations={"items": constant([(1, 7)])})
    engine.subscribe(later.extend)
    assert first == later == [(BEGINNING, FOREVER, (1, 7))]
    engine.push("bids", chronons([(3, (1, 5))]))
    engine.subscribe(too_late.extend)
    engine.push("bids", chronons([(4, (1, 6))]))
    assert first == later == [(BEGINNING, FOREVER, (1, 7)), (3, 4, (1, 5)), (4, 5, (1, 6))]
    assert too_late == [(4, 5, (1, 6))]
    assert engine.query().results == 3


@pytest.mark.parametrize("begun", ["bids", "union", "distinct union"])
@pytest.mark.parametrize("content", [constant([(1, 7)]), [(0, 90, (1, 7))]], ids=["constant", "temporal"])
def test_a_later_query_gets_the_rows_that_a_stream_bounds(begun: str, content: list) -> None:
    """Regression: a union that was made later dropped them, and one that ran already had given them."""
    rows_ = ITEMS if content[0][0] == BEGINNING else OFFERS
    both = BIDS.union(rows_.rename({"id": "item", "kind": "price"}))
    running = {"bids": BIDS, "union": both, "distinct union": both.distinct()}[begun]
    results: list = []
    engine = Engine(running.plan(), relations={"items": content, "offers": content})
    engine.push("bids", chronons([(3, (2, 5))]))
    asks = stream("asks", good="integer")
    query = engine.add(asks.join(both.distinct(), on=[("good", "item")]).plan(), results.extend, name="late")
    assert query.complete_from == 4
    engine.push("asks", chronons([(5, (1,)), (5, (2,))]))
    engine.close()
    assert results == [(5, 6, (1, 1, 7))]


def test_a_query_with_a_relation_can_be_migrated() -> None:
    """The new plan gets the relation's rows for itself; that they are valid for ever is no obstacle."""
    bids = BIDS.window(5)
    old = bids.join(ITEMS, on=[("item", "id")])
    results: list = []
    items = constant([(1, 7), (2, 8)])
    engine = Engine(old.filter(col("price") > 1).plan(), results.extend, relations={"items": items})
    engine.push("bids", chronons([(t, (t % 3, t % 4)) for t in range(10)]))
    migration = engine.migrate(bids.filter(col("price") > 1).join(ITEMS, on=[("item", "id")]).plan())
    rest = [(t, (t % 3, t % 4)) for t in range(10, 40)]
    engine.push("bids", chronons(rest[:3]))
    engine.push("bids", chronons(rest[3:]))
    assert migration.phase.value == "done"
    engine.close()
    history = list(chronons([(t, (t % 3, t % 4)) for t in range(40)]))
    assert verdict(specified(old.filter(col("price") > 1).plan(), {"bids": history, "items": items}), results)


def test_statistics_count_the_rows_of_a_relation() -> None:
    pairs = BIDS.window(5).join(ITEMS, on=[("item", "id")])
    engine = Engine(pairs.plan(), relations={"items": constant((i, 7) for i in range(10))})
    engine.push("bids", chronons([(t, (t % 10, 1)) for t in range(100)]))
    choice = engine.optimize()
    (estimate,) = [cost for node, cost in choice.cost.operators.items() if node == choice.plan.root]
    assert 0.5 < estimate.rate < 2


@pytest.mark.parametrize(
    ("relations", "error", "message"),
    [
        ({}, UnknownStreamError, "relation offers: found no elements, expected them under this name"),
        ({"offer": []}, UnknownStreamError, "did you mean offer"),
        ({"offers": [(1, 2)]}, IntervalError, r"offers, element 1: found \(1, 2\)"),
        ({"offers": [(1, 2, (1, 2)), (2, 2, (1, 2))]}, IntervalError, "element 2: .* an end after it"),
        ({"offers": [(BEGINNING, FOREVER, (1, 2))]}, IntervalError, "an integer start"),
        ({"offers": [(3, 4, (1, 2)), (2, 4, (1, 2))]}, StreamOrderError, "offers: .* not in order"),
        ({"offers": [(3, 4, (1, "x"))]}, SchemaError, "relation offers: column kind: found 'x'"),
    ],
)
def test_rows_that_are_not_as_declared_are_refused(relations: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Engine(BIDS.join(OFFERS).plan(), relations=relations)


def test_a_constant_relation_has_rows_that_are_valid_always() -> None:
    with pytest.raises(IntervalError, match="valid always; declare the relation temporal"):
        Engine(BIDS.join(ITEMS).plan(), relations={"items": [(1, 2, (1, 2))]})


def test_a_query_reads_a_stream_at_least() -> None:
    with pytest.raises(PlanError, match="query query reads no stream"):
        Engine(ITEMS.plan(), relations={"items": []})


def test_a_window_over_a_relation_is_refused() -> None:
    with pytest.raises(PlanError, match="relation"):
        Engine(BIDS.join(ITEMS.window(5)).plan(), relations={"items": []})
