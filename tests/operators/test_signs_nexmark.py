"""The queries of the thesis' Figures 9.1 and 9.2, by intervals and by signs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from midstream.engine import Engine
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import Element, chronons
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.workload import (
    AUCTION,
    BID,
    CLOSED_AUCTION,
    HOUR,
    AuctionWorkload,
    by_stream,
    take,
)


def queries(hours: int, minutes: int, days: int) -> Mapping[str, Plan]:
    """Q1 to Q6, with windows of five hours, ten minutes and two days."""
    bids, auctions = stream("bid", BID), stream("auction", AUCTION)
    closed = _named("closed_auction", CLOSED_AUCTION, "c", "item")
    recent = bids.window(minutes)
    offers = bids.window(days).select("item", "price")
    offers = offers.union(auctions.window(days).select("item", price=col("start_price")))
    sellers = _named("auction", AUCTION, "o", "item", "seller").window(days)
    counts = recent.group_by("item").aggregate(num=count())
    return {
        "Q1 currency conversion": bids.select("item", "bidder", euros=col("price") * 0.908).plan(),
        "Q2 selection": bids.filter((col("item").eq(1)) | (col("item").eq(2))).plan(),
        "Q3 short auctions": auctions.window(hours).semi_join(closed, on=[("item", "c.item")]).plan(),
        "Q4 highest bid": recent.select("item", "price")
        .semi_join(recent.select("price").aggregate(highest=max_("price")), on=[("price", "highest")])
        .plan(),
        "Q5 closing price": offers.join(closed, on=[("item", "c.item")])
        .join(sellers, on=[("c.item", "o.item")])
        .group_by("item", "o.seller")
        .aggregate(price=max_("price"))
        .plan(),
        "Q6 hot item": counts.anti_join(counts.select(other=col("num")), on=col("num") < col("other"))
        .select("item")
        .plan(),
    }


def _named(name: str, schema: Schema, prefix: str, *columns: str) -> Stream:
    return stream(name, schema).select(**{f"{prefix}.{column}": col(column) for column in columns})


SMALL = AuctionWorkload(
    step=(0, 2),
    initial_persons=3,
    initial_auctions=3,
    duration=(3, 12),
    auctions_per_round=(0, 2),
    bids_per_round=(0, 4),
    raise_by=(1, 2),
)
SCALED = queries(hours=8, minutes=5, days=12)
FULL = queries(hours=5 * HOUR, minutes=HOUR // 6, days=48 * HOUR)


def run(plan: Plan, workload: AuctionWorkload, events: int, batch: int) -> list[Element]:
    """What a plan gives for a workload, the streams in step."""
    box = PlanBox(plan)
    ports = {name: port for port, name in enumerate(box.inputs)}
    out: list[Element] = []
    arriving = [event for event in take(generate(workload), events) if event[0] in ports]
    for i in range(0, len(arriving), batch):
        together = arriving[i : i + batch]
        for name, rows in by_stream(together).items():
            if name in ports:
                out += box.push(ports[name], list(chronons(rows)))[0]
        for port in ports.values():
            out += box.advance(port, together[-1][1])[0]
    for port in ports.values():
        out += box.end(port)[0]
    assert box.size() == 0
    return out


def meaning(plan: Plan, workload: AuctionWorkload, events: int) -> NormalForm:
    rows = by_stream(take(generate(workload), events))
    return specified(plan, {name: list(chronons(complete)) for name, complete in rows.items()})


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("query", SCALED)
def test_a_query_means_what_is_specified(query: str, batch: int) -> None:
    plan = SCALED[query]
    expected = meaning(plan, SMALL, 120)
    assert expected, "the workload is too small to have results"
    for chosen in (plan, signed_plan(plan)):
        outcome = compare(expected, normal_form(run(chosen, SMALL, 120, batch)))
        assert outcome, str(outcome)


@pytest.mark.parametrize("query", FULL)
def test_a_query_gives_the_same_by_intervals_and_by_signs(query: str) -> None:
    """Some hours of auctions, with windows as long as in the thesis."""
    workload = AuctionWorkload(duration=(1 * HOUR, 4 * HOUR))
    plan = FULL[query]
    by_intervals, by_signs = (run(chosen, workload, 6000, 100) for chosen in (plan, signed_plan(plan)))
    assert by_intervals, "the workload is too small to have results"
    outcome = compare(normal_form(by_intervals), normal_form(by_signs))
    assert outcome, str(outcome)


@pytest.mark.parametrize("begins_signed", [True, False])
@pytest.mark.parametrize("query", SCALED)
def test_a_query_is_migrated_to_the_other_form_and_back(query: str, begins_signed: bool) -> None:
    """By GenMig, each time after a third of the events; old results and new ones fit together."""
    plan = SCALED[query]
    forms = [signed_plan(plan), physical_plan(plan)]
    forms = [*forms, forms[0]] if begins_signed else [forms[1], *forms]
    results: list[Element] = []
    engine = Engine(forms[0], results.extend)
    arriving = [event for event in take(generate(SMALL), 120) if event[0] in engine.streams]
    third = len(arriving) // 3
    migrations = []
    for i, (name, time, row) in enumerate(arriving):
        if i in (third, 2 * third):
            migrations.append(engine.migrate(forms[i // third], replace_all=True))
        engine.push(name, list(chronons([(time, row)])))
    engine.close()
    assert [(len(one.parts), one.phase.value, one.origins().unmatched) for one in migrations] == [
        (1, "done", 0)
    ] * 2
    outcome = compare(meaning(plan, SMALL, 120), normal_form(results))
    assert outcome, str(outcome)
    running = {node.operator for node in engine.query().physical.nodes if _is_signed(node)}
    assert any("signed" in one.implementation for one in running) == begins_signed


@pytest.mark.parametrize("query", FULL)
def test_every_operator_of_a_query_has_a_signed_implementation(query: str) -> None:
    """Above the windows, and but for the converters at the ends."""
    raw = {"map"}  # below a window
    names = {n.operator.name for n in physical_plan(signed_plan(FULL[query])).nodes if n.inputs}
    assert all(name.startswith("signed-") or "signs" in name for name in names - raw)
    assert {n.operator.implementation for n in physical_plan(FULL[query]).nodes if _is_signed(n)} == set()


def _is_signed(node: object) -> bool:
    operator = getattr(node, "operator", None)
    return isinstance(operator, Physical) and "sign" in operator.implementation
