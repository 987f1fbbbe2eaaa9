"""Facts of a bucket are what one would count by hand, and bounded however many values there are."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from midstream.io.time_units import Clock
from midstream.optimizer import CostModel, enumerate_plans
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.pricing import InputFacts, bucket_statistics
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs, questions, value_groups

from .conftest import reversed_settings

pytestmark = pytest.mark.spark

SCHEMA = Schema.of(k="integer", x="float?")
BUCKET = 100
Rows = list[tuple[int, int, float | None]]


def study_of(names: str) -> tuple[Study, Plan]:
    streams = {name: RecordedStream(name, name, "csv", "t", {}, SCHEMA, 30) for name in names}
    query, *others = (stream(name, SCHEMA).alias(name).window(30) for name in names)
    for before, name, other in zip(names, names[1:], others, strict=False):
        query = query.join(other, on=[(f"{before}.k", f"{name}.k")])
    plan = query.group_by("a.x").aggregate().plan()
    return Study("s", "s", Clock("s"), streams, plan), plan


def facts_of(
    spark: Any, names: str, lists: dict[str, Rows], kept: int, fullest: Sequence[int] | None = None
) -> list[dict[Any, InputFacts]]:
    """What is gathered of each bucket."""
    from midstream.scenarios.recordings.facts import gather, read_facts
    from midstream.scenarios.recordings.recording import Recording, StreamTotals

    study, plan = study_of(names)
    frames = {
        name: spark.createDataFrame(rows, "time long, c0 long, c1 double").repartition(3)
        for name, rows in lists.items()
    }
    totals = {name: StreamTotals(len(rows), min(rows)[0], max(rows)[0], 1) for name, rows in lists.items()}
    inputs, asked, groups = plan_inputs(plan, study.streams), questions(plan), value_groups(plan)
    recording, of_inputs = Recording(spark, frames, totals, BUCKET), [asked[one.node] for one in inputs]
    found = gather(recording, inputs, of_inputs, groups, kept, fullest)
    return [read_facts(row["facts"], input_nodes(plan), groups) for row in found.orderBy("start").collect()]


def counted(lists: dict[str, Rows], start: int) -> dict[str, dict[str, Counter[Any]]]:
    """The same by hand."""
    found: dict[str, dict[str, Counter[Any]]] = defaultdict(lambda: {"k": Counter(), "x": Counter()})
    for name, rows in lists.items():
        for time, k, x in rows:
            if start <= time < start + BUCKET:
                found[name]["k"][k] += 1
                found[name]["x"].update([] if x is None else [x])
    return found


def drawn(names: str, values: int) -> dict[str, Rows]:
    draw = random.Random(3)
    return {
        name: [
            (
                draw.randrange(-100, 300),
                draw.choice([0, draw.randrange(values)]),
                draw.choice([None, 0.0, -0.0, 2.5]),
            )
            for _ in range(400)
        ]
        for name in names
    }


def test_facts_are_those_of_a_loop(spark: Any) -> None:
    lists = drawn("ab", 9)
    with reversed_settings(spark):
        found = facts_of(spark, "ab", lists, 100)
    for i, facts in enumerate(found):
        expected = counted(lists, BUCKET * (i - 1))
        for name, known in zip("ab", facts.values(), strict=True):
            assert known.count == expected[name]["k"].total()
            assert known.frequencies[f"{name}.k"] == expected[name]["k"]
            assert known.distinct[f"{name}.k"] == len(expected[name]["k"])
        (first, _) = facts.values()
        assert first.frequencies["a.x"] == expected["a"]["x"]


@pytest.mark.parametrize("kept", [25, 30])
def test_how_full_buckets_are_decides_no_facts(spark: Any, kept: int) -> None:
    """Both buckets have twenty and ten elements, with thirty different values."""
    lists: dict[str, Rows] = {
        "a": [(t, t, None) for t in range(0, 200, 5)],
        "b": [(t, -1 - t, None) for t in range(0, 200, 10)],
    }
    assert facts_of(spark, "ab", lists, kept, (20, 10)) == facts_of(spark, "ab", lists, kept)


def test_of_many_values_few_are_kept_and_joins_of_two_cost_the_same(spark: Any) -> None:
    lists = drawn("ab", 250)
    _, plan = study_of("ab")
    nodes = dict.fromkeys(input_nodes(plan), 30), dict.fromkeys(input_nodes(plan), 1)
    all_kept, few_kept = (facts_of(spark, "ab", lists, kept) for kept in (1000, 16))
    for i, (every, few) in enumerate(zip(all_kept, few_kept, strict=True)):
        expected = counted(lists, BUCKET * (i - 1))
        for name, known in zip("ab", few.values(), strict=True):
            assert len(known.frequencies[f"{name}.k"]) <= 16 < len(expected[name]["k"])
            assert known.distinct[f"{name}.k"] == len(expected[name]["k"])
            heaviest = expected[name]["k"].most_common(1)[0]
            assert known.frequencies[f"{name}.k"][heaviest[0]] == heaviest[1]
        rates = []
        for facts in (every, few):
            model = CostModel(bucket_statistics(facts, *nodes, BUCKET))
            rates.append([model.price(one).operators for one in enumerate_plans(plan)])
        for one, other in zip(*rates, strict=True):
            joins = [node for node in one if node.operator.symbol == "⋈"]
            assert joins
            assert [other[node].rate for node in joins] == pytest.approx([one[node].rate for node in joins])
