"""Streams are joined to relations as they are loaded, streamed and kept."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from midstream import testing
from midstream.engine import Engine
from midstream.io.relations import TemporalTable, TimeVaryingRelation, load_csv, load_sql
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import FOREVER, Element, chronons

BIDS = stream("bids", item="integer", price="float").window(4)


def test_a_constant_relation_is_joined_to(tmp_path: Path) -> None:
    (tmp_path / "category.csv").write_text("id,name\n7,lamp\n8,\n9,chair\n", encoding="utf-8")
    schema = Schema.of(id="integer", name="string?")
    category = relation("category", schema)
    plan = BIDS.join(category, on=[("item", "id")]).select("name", "price").plan()
    results: list[Element] = []
    content = load_csv(tmp_path / "category.csv", schema)
    engine = Engine(plan, results.extend, relations={"category": content})
    engine.push("bids", chronons([(1, (7, 5.0)), (2, (5, 6.0)), (3, (8, 7.0))]))
    engine.close()
    assert results == [(1, 5, ("lamp", 5.0)), (3, 7, (None, 7.0))]


def test_a_temporal_relation_is_joined_to(tmp_path: Path) -> None:
    schema = Schema.of(article="integer", rate="float")
    with TemporalTable(schema, tmp_path / "d.db", "rates") as rates:
        rates.push([(0, 3, (7, 0.5)), (3, FOREVER, (7, 0.75))])
    content = load_sql(tmp_path / "d.db", schema, table="rates", period=("valid_from", "valid_to"))
    plan = BIDS.join(relation("rates", schema, temporal=True), on=[("item", "article")]).plan()
    results: list[Element] = []
    engine = Engine(plan, results.extend, relations={"rates": content})
    engine.push("bids", chronons([(1, (7, 5.0)), (9, (7, 6.0))]))
    engine.close()
    wanted = [(1, 3, (7, 5.0, 7, 0.5)), (3, 5, (7, 5.0, 7, 0.75)), (9, 13, (7, 6.0, 7, 0.75))]
    assert equivalent(results, wanted)


@given(testing.elements(st.tuples(st.integers(0, 3), st.just(1.0)), chronons=True), st.data())
def test_the_content_of_a_time_varying_relation_is_a_temporal_one(
    bids: list[Element], data: st.DataObject
) -> None:
    schema = Schema.of(id="integer")
    people = TimeVaryingRelation(schema)
    for time in range(data.draw(st.integers(0, 8))):
        people.insert(time, data.draw(st.lists(st.tuples(st.integers(0, 3)), max_size=2)))
        if some := list(people.rows()):
            people.delete(time, data.draw(st.lists(st.sampled_from(some), max_size=1)))
    wanted: list[Element] = []
    query = BIDS.join(stream("people", schema, intervals=True), on=[("item", "id")])
    engine = Engine(query.plan(), wanted.extend)
    if content := people.elements():
        engine.push("people", content)
    if bids:
        engine.push("bids", bids)
    engine.close()
    results: list[Element] = []
    query = BIDS.join(relation("people", schema, temporal=True), on=[("item", "id")])
    engine = Engine(query.plan(), results.extend, relations={"people": content})
    if bids:
        engine.push("bids", bids)
    engine.close()
    assert equivalent(results, wanted)
