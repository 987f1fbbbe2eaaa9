"""What-if studies on small streams whose best order is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.optimizer import INTERMEDIATE, MEMORY, CostModel, Sample, Statistics, StreamStatistics, price
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.counted_joins import CountedJoins
from midstream.scenarios.recordings.inner_joins import InnerJoin
from midstream.scenarios.stages.commands import app
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import PlanInput
from midstream.scenarios.streams.recorded.script import load_study

from .conftest import rows, write_study

pytestmark = pytest.mark.spark

BUCKET = 100
QUERY = """
    SELECT a.k, c.m FROM a WINDOW(RANGE 10 SECONDS), b WINDOW(RANGE 10 SECONDS), c WINDOW(RANGE 10 SECONDS)
    WHERE a.k = b.k AND b.m = c.m
"""


@pytest.fixture(scope="module")
def flipping(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Three streams with twenty elements in the first bucket and in the third; none in the second.

    In the first, a.k agrees with every b.k, and b.m with every second c.m; in the third it is the other way
    round. A fourth stream is empty.
    """
    early, late = range(0, 100, 5), range(200, 300, 5)
    streams = {
        "a": [(t, {"k": 1}) for t in early] + [(t, {"k": t % 2}) for t in late],
        "b": [(t, {"k": 1, "m": 1}) for t in (*early, *late)],
        "c": [(t, {"m": t % 2}) for t in early] + [(t, {"m": 1}) for t in late],
        "d": [],
    }
    file = write_study(tmp_path_factory.mktemp("flipping"), streams, "k INTEGER, m INTEGER, n INTEGER")
    every = load_study(str(file)).windowed(10)
    file.write_text(file.read_text() + QUERY)
    return replace(every, query=load_study(str(file)).query)


def windowed(name: str, *columns: str, length: int = 10) -> Stream:
    """A stream with some of its columns, windowed, under its own name."""
    return stream(name, dict.fromkeys(columns, "integer?")).alias(name).window(length)


def statistics_by_hand(plan: Plan, distributions: dict[str, dict[int, float]]) -> Statistics:
    """Twenty elements in a hundred chronons, each valid for ten."""
    return Statistics(
        {node: StreamStatistics(d=5.0, l=10.0, g=5) for node in input_nodes(plan)},
        distributions=distributions,
    )


def test_regret_is_what_the_best_order_of_each_bucket_saves(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    assert flipping.query is not None
    one, halves = {1: 1.0}, {0: 0.5, 1: 0.5}
    early = statistics_by_hand(flipping.query, {"a.k": one, "b.k": one, "b.m": one, "c.m": halves})
    late = statistics_by_hand(flipping.query, {"a.k": halves, "b.k": one, "b.m": one, "c.m": one})
    with (
        open_recording(spark, flipping, BUCKET) as recording,
        what_if(recording, flipping, flipping.query) as found,
    ):
        costs = rows(found.costs, "start", "plan")
    (prices,), plans = found.prices, found.plans
    first, second, third = prices.bests(slice(None))
    totals = {total.order.label: total for total in prices.totals}

    by_order = {order.order.label: plans[order.order.plans[0]] for order in totals.values()}
    assert set(by_order) == {"(a ⋈ b) ⋈ c", "(b ⋈ c) ⋈ a", "(a × c) ⋈ b"}
    # Starts that are 5 s apart or equal meet: 20 + 2 · 19 pairs; of every second element, 10 · 3 − 1.
    pairs = (InnerJoin(0, 1, (("a.k", "b.k"),)), InnerJoin(0, 2, ()), InnerJoin(1, 2, (("b.m", "c.m"),)))
    joins = CountedJoins(pairs, BUCKET)
    counted = [
        (early, joins.rates(plans, early, [58, 58, 29])),
        (late, joins.rates(plans, late, [29, 58, 58])),
    ]
    expected = {
        label: [CostModel(known, None, rates).price(plan).total for known, rates in counted]
        for label, plan in by_order.items()
    }
    best = [min(costs) for costs in zip(*expected.values(), strict=True)]
    for label, (cost_early, cost_late) in expected.items():
        total = totals[label]
        assert total.spent == pytest.approx(BUCKET * (cost_early + cost_late))
        assert total.regret == pytest.approx(BUCKET * (cost_early - best[0] + cost_late - best[1]))
        assert total.relative_regret == pytest.approx(total.regret / (BUCKET * sum(best)))
    assert prices.least == pytest.approx(BUCKET * sum(best))

    assert first.order is not None and third.order is not None
    assert (first.order.label, third.order.label) == ("(b ⋈ c) ⋈ a", "(a ⋈ b) ⋈ c")
    # What holding on to one of them loses in one bucket, holding on to the other loses in the other.
    assert totals["(a ⋈ b) ⋈ c"].regret == pytest.approx(totals["(b ⋈ c) ⋈ a"].regret)
    assert totals["(a ⋈ b) ⋈ c"].regret == pytest.approx(first.given_spent - first.spent)
    assert first.given_spent > first.spent
    assert third.given_spent == third.spent
    assert (prices.contested, prices.switches) == ((True, False, True), 1)

    assert (second.start, second.count, second.order, second.spent) == (100, 0, None, 0.0)
    assert len(costs) == 3 * len(plans)


def test_plans_with_conditions_are_priced_by_samples(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    one, other = windowed("b", "k", "m"), windowed("c", "m")
    below = stream("a", k="integer?")
    a = below.filter(below["k"] > 0).select(twice=col("k") * 2).window(50)
    plan = a.join(one, on=col("b.k") < col("twice")).join(other, on=[("b.m", "c.m")])
    plan = plan.filter(plan["c.m"].eq(1) & (plan["b.k"] > 0)).group_by("c.m").aggregate()
    with (
        open_recording(spark, flipping, BUCKET) as recording,
        what_if(recording, flipping, plan.plan()) as found,
    ):
        plans = found.plans
        costs = {row["plan"]: row["cost"] for row in rows(found.costs.where("start = 200"), "plan")}

    node_a, node_b, node_c = input_nodes(plans[0])
    # Of the twenty late rows of a, those at even times have k = 0.
    expected = Statistics(
        {
            node_a: StreamStatistics(d=10.0, l=50.0, g=5, sample=Sample(node_a.schema, [(2,)] * 10)),
            node_b: StreamStatistics(d=5.0, l=10.0, g=5, sample=Sample(node_b.schema, [(1, 1)] * 20)),
            node_c: StreamStatistics(d=5.0, l=10.0, g=5, sample=Sample(node_c.schema, [(1,)] * 20)),
        },
        distributions={"b.m": {1: 1.0}, "c.m": {1: 1.0}},
    )
    assert len(plans) > 10
    assert costs == {i: pytest.approx(price(one, expected).total) for i, one in enumerate(plans)}


def test_streams_without_elements(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.profile.report import profile_summary
    from midstream.scenarios.stages.profile.stream_profile import profile
    from midstream.scenarios.stages.what_if.report import what_if_summary
    from midstream.scenarios.stages.what_if.stage import what_if

    empty = replace(flipping.streams["d"], columns=Schema.of(n="integer?"))
    study = replace(flipping, streams={"d": empty, "e": replace(empty, name="e")}, query=None)
    query = windowed("d", "n").join(windowed("e", "n"), on=[("d.n", "e.n")]).plan()
    with open_recording(spark, study, BUCKET) as recording:
        with profile(recording, study) as profiled:
            summary = profile_summary(study, profiled, 10)
        with what_if(recording, study, query) as found:
            (told,) = what_if_summary(study, found, 10)["objectives"]
            assert told["orders"][0]["spent"] == 0.0
            assert (told["turns"], told["by_bucket"]) == ([], [])
            assert found.prices[0].stretches(5) == []
    assert [(stream["count"], stream["d"]) for stream in summary["streams"]] == [(0, None), (0, None)]
    assert [(pair["overlapping"], pair["selectivity"]) for pair in summary["pairs"]] == [(0, None)]
    assert summary["by_bucket"] == []


def test_how_long_and_how_full(spark: Any, flipping: Study) -> None:
    """For how long what came before is valid at the start of each bucket; elements of the fullest buckets."""
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import look_over

    a, b, d = (input_of(flipping, name, length) for name, length in (("a", 10), ("b", 120), ("d", 500)))
    with open_recording(spark, flipping, BUCKET) as recording:
        assert look_over(recording, (a,), 10) == ((0, 5, 0), (20,))
        assert look_over(recording, (b, a), 120) == ((0, 115, 15), (20, 20))
        assert look_over(recording, (d, b), 500) == ((0, 115, 15), (0, 20))
        assert look_over(recording, (d,), 500) == ((0, 0, 0), (0,))


def input_of(study: Study, name: str, length: int) -> PlanInput:
    window = windowed(name, "k", length=length).node
    return PlanInput(window, window.inputs[0], study.streams[name], length)


def test_one_stream_without_elements(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    query = windowed("a", "k").join(windowed("d", "n"), on=[("a.k", "d.n")]).plan()
    with open_recording(spark, flipping, BUCKET) as recording, what_if(recording, flipping, query) as found:
        plans = found.plans
        costs = [row["cost"] for row in rows(found.costs.where("plan = 0"), "start")]
    filled, empty = input_nodes(plans[0])
    known = Statistics({filled: StreamStatistics(d=5.0, l=10.0), empty: StreamStatistics(d=math.inf, l=10.0)})
    assert costs == [pytest.approx(price(plans[0], known).total), 0.0, costs[0]]


def test_what_was_known_before(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    assert flipping.query is not None
    with (
        open_recording(spark, flipping, BUCKET) as recording,
        what_if(recording, flipping, flipping.query, ["intermediate", "memory"], half_life=50) as found,
    ):
        lasting = found.lasting
    one, halves = {1: 1.0}, {0: 0.5, 1: 0.5}
    early = statistics_by_hand(flipping.query, {"a.k": one, "b.k": one, "b.m": one, "c.m": halves})
    # Before the third bucket, the first weighs 1/8 and the empty one 1/2: a fifth of the elements are left.
    weight = (1 / 8) / (1 / 8 + 1 / 2)
    later = Statistics(
        {node: StreamStatistics(d=5.0 / weight, l=10.0, g=5) for node in early.streams},
        distributions=early.distributions,
    )
    for prices, of in zip(found.prices, (INTERMEDIATE, MEMORY), strict=True):
        for order, by_past in zip(found.orders, prices.past, strict=True):
            plan = found.plans[order.plans[0]]
            expected = [0.0, *(of.of(price(plan, known)) for known in (early, later))]
            assert by_past == pytest.approx(expected)
    # The last elements start at 95 and at 295, and are valid for 10.
    assert lasting == (0, 5, 0)


def test_plans_are_searched_for_where_they_are_too_many(spark: Any, flipping: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.what_if.stage import what_if

    assert flipping.query is not None
    with open_recording(spark, flipping, BUCKET) as recording:
        with what_if(recording, flipping, flipping.query, limit=11) as found:
            some = found
        with what_if(recording, flipping, flipping.query, limit=12) as found:
            every = found
    assert (some.candidates.is_complete, some.candidates.searched) == (False, 3)
    assert (every.candidates.is_complete, every.candidates.searched) == (True, 0)
    assert len(every.plans) == 12
    assert some.plans[0] == every.plans[0]
    # One order is the best in no bucket, so it is not found.
    assert [order.label for order in some.orders] == ["(a ⋈ b) ⋈ c", "(b ⋈ c) ⋈ a"]
    assert some.prices[0].least == every.prices[0].least


def test_a_query_of_a_script_with_several(spark: Any, flipping: Study, tmp_path: Path) -> None:
    folder = Path(flipping.streams["a"].path).parents[1]
    script = tmp_path / "query.sql"
    script.write_text(
        f"""
        SET time_unit = 'seconds';
        CREATE STREAM a(t TIMESTAMP, k INT) ORDERED BY t SOURCE jsonl('a/*.jsonl');
        CREATE STREAM b(t TIMESTAMP, k INT, m INT) ORDERED BY t SOURCE jsonl('b/*.jsonl');
        CREATE STREAM c(t TIMESTAMP, m INT) ORDERED BY t SOURCE jsonl('c/*.jsonl');
        CREATE STREAM d(t TIMESTAMP, n INT) ORDERED BY t SOURCE tcp('nowhere', 1);
        SELECT d.n AS n FROM d WINDOW(RANGE 10 SECONDS);
        {QUERY}
        """,
        encoding="utf-8",
    )
    told = []
    for arguments in ([folder / "study.sql"], [script, "--query", "query_2", "--data", folder]):
        command = ["what-if", *map(str, arguments), "--bucket", "100s", "--json"]
        result = CliRunner().invoke(app, [*command, "--objective", "intermediate"])
        assert result.exit_code == 0, result.output
        told.append({**json.loads(result.stdout)["objectives"][0], "by_bucket": None})
    assert told[0] == told[1]
    assert len(told[0]["orders"]) == 3
