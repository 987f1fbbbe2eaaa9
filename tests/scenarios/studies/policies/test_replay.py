"""What Spark counts and replays is what a collector, an autopilot and a count of pairs by hand say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.autopilot.costs.bill import Move, split_chronon
from midstream.autopilot.costs.series import CostSeries
from midstream.autopilot.settings import BALANCED, EAGER, Settings
from midstream.cli import app
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer import INTERMEDIATE
from midstream.optimizer.online.requirements import requirements
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import loads
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.plans.values.observations import Cell
from midstream.scenarios.stages.policies.replayed_autopilot import (
    Instant,
    ReplayedAutopilot,
    replay_autopilot,
)
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

from ..conftest import reversed_settings, write_study

pytestmark = pytest.mark.spark

WINDOW = 40
WINDOWS = ", ".join(f"{name} WINDOW(RANGE {WINDOW} SECONDS)" for name in "abc")
QUERY = f"SELECT a.k FROM {WINDOWS} WHERE a.k = b.k AND b.k = c.k;"
GRID = {"balanced": BALANCED, "eager": EAGER, "seldom": Settings(looks=3, doubt=0.0)}

Row = tuple[int, int, str | None, float]
"""When, and k, m and v."""


def recorded() -> dict[str, list[Row]]:
    """Three streams with ties, silence, and more than 40 elements in a cell; first a and b agree often, later
    b and c."""
    draw = Random(3)
    found: dict[str, list[Row]] = {}
    for name in "abc":
        times = [draw.randrange(-300, 500) for _ in range(160)] + [
            draw.randrange(900, 1000) for _ in range(60)
        ]
        times += [301] * 70 if name == "b" else []
        few = {"a": (3, 30), "b": (3, 3), "c": (30, 3)}[name]
        found[name] = [
            (t, draw.randrange(few[t > 200]), draw.choice([None, "x", "é"]), draw.randrange(9) / 8)
            for t in sorted(times)
        ]
    return found


@pytest.fixture(scope="module")
def streams() -> dict[str, list[Row]]:
    return recorded()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, streams: dict[str, list[Row]]) -> Study:
    shuffled = {
        name: [(t, {"k": k, "m": m, "v": v}) for t, k, m, v in Random(1).sample(rows, len(rows))]
        for name, rows in streams.items()
    }
    columns = "k INTEGER NOT NULL, m TEXT, v REAL NOT NULL"
    return load_study(str(write_study(tmp_path_factory.mktemp("replayed"), shuffled, columns, QUERY)))


def windowed(study: Study, name: str) -> Stream:
    """A stream of the study, windowed, under its own name."""
    return stream(name, study.streams[name].columns).alias(name).window(WINDOW)


def found_with(spark: Any, study: Study) -> Any:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.policies.stage import policies

    assert study.query is not None
    with open_recording(spark, study, 1) as recording:
        return policies(recording, study, study.query, GRID)


@pytest.fixture(scope="module")
def found(spark: Any, study: Study) -> Any:
    return found_with(spark, study)


@pytest.mark.spark(fast=True)
def test_what_plans_cost_is_counted(found: Any, streams: dict[str, list[Row]]) -> None:
    courses: CostSeries = found.courses
    assert (courses.window, courses.bucket, courses.starts[0]) == (WINDOW, WINDOW // 8, -300)
    assert sorted(courses.labels) == ["(a ⋈ b) ⋈ c", "(a ⋈ c) ⋈ b", "(b ⋈ c) ⋈ a"]
    assert courses.labels[0] == "(a ⋈ b) ⋈ c"
    for label, rates in zip(courses.labels, courses.rates, strict=True):
        counted = dict.fromkeys(courses.starts, 0)
        for (t, k, *_), (u, other, *_) in product(streams[label[1]], streams[label[5]]):
            if k == other and abs(t - u) < WINDOW:
                counted[max(t, u) // courses.bucket * courses.bucket] += 1
        assert rates == tuple(number / courses.bucket for number in counted.values())
        assert courses.counts is not None
        place = courses.labels.index(label)
        pairs = [
            (max(t, u), min(t, u) + WINDOW)
            for (t, k, *_), (u, other, *_) in product(streams[label[1]], streams[label[5]])
            if k == other and abs(t - u) < WINDOW
        ]
        for chronon, begun, alive in zip(
            courses.counts.chronons, courses.counts.begun[place], courses.counts.alive[place], strict=True
        ):
            assert begun == sum(start <= chronon for start, _ in pairs)
            assert alive == sum(start <= chronon < end for start, end in pairs)
    starts = sorted(t for rows in streams.values() for t, *_ in rows)
    for start, lasting in zip(courses.starts, courses.lasting, strict=True):
        before = [t for t in starts if t < start]
        assert lasting == (max(-1, before[-1] + WINDOW - start) if before else -1)


def test_cells_are_what_a_collector_tells(spark: Any, study: Study, streams: dict[str, list[Row]]) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.policies.cells import cells, instants
    from midstream.scenarios.streams.recorded.inputs import plan_inputs

    plan = study.query
    assert plan is not None
    step, columns = 5, requirements(plan).columns
    with open_recording(spark, study, 1) as recording:
        told = cells(recording, study, plan, plan_inputs(plan, study.streams), step)
        rows = [row.asDict() for row in told.orderBy("start", "stream").collect()]
    assert max(len(json.loads(row["told"] or '{"rows": []}')["rows"]) for row in rows) == 40
    expected = list(collected(plan, streams, step))
    assert len(expected) > 100
    assert list(instants(iter(rows), plan, columns, step)) == expected


def test_flights_are_those_of_one_autopilot_each(
    found: Any, study: Study, streams: dict[str, list[Row]]
) -> None:
    plan = study.query
    assert plan is not None
    for name, settings in GRID.items():
        replayed = ReplayedAutopilot(plan, settings, INTERMEDIATE)
        begun = list(replay_autopilot(replayed, collected(plan, streams, replayed.looks.step)))
        moves: tuple[Move, ...] = found.flights[name]
        assert [(move.at, move.strategy, move.until_split) for move in moves] == [
            (one.at, one.strategy, one.until_split) for one in begun
        ]
        assert moves
        # In all chronons in which they have their split times it was counted.
        courses: CostSeries = found.courses
        for move in moves:
            assert move.until_split is not None
            chronon = split_chronon(move.strategy, move.at, move.until_split)
            assert chronon is not None and courses.alive(move.to, chronon) is not None


def test_policies_do_not_depend_on_settings_or_partitions(spark: Any, study: Study, found: Any) -> None:
    with reversed_settings(spark):
        again = found_with(spark, study)
    assert again.courses.dumps() == found.courses.dumps()
    assert (again.flights, again.judged, again.least) == (found.flights, found.judged, found.least)
    assert again.recommended == found.recommended


def test_what_cannot_be_counted_is_priced_by_the_cost_model(spark: Any, study: Study, found: Any) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.policies.modelling import model_courses
    from midstream.scenarios.stages.policies.stage import policies

    counted: CostSeries = found.courses
    a, b, c = (windowed(study, name) for name in "abc")
    joined = a.join(b, on=[("a.k", "b.k")]).join(c, on=[("b.k", "c.k")])
    with open_recording(spark, study, 1) as recording:
        time, modelled = model_courses(recording, study, counted.plans, counted.labels, WINDOW)
        filtered = policies(
            recording, study, joined.filter(col("a.v") > col("b.v")).plan(), {"seldom": GRID["seldom"]}
        )
    assert (modelled.bucket, modelled.labels) == (WINDOW, counted.labels)
    # The results of joins of two inputs are counted there, too.
    assert modelled.totals == pytest.approx(counted.totals)
    assert (time.unit, time.totals) == ("µs of processing", pytest.approx(found.processing.totals))
    of_plans = filtered.courses
    assert (of_plans.unit, of_plans.bucket) == ("intermediate results by the cost model", WINDOW)
    assert len(of_plans.plans) > 2 and max(of_plans.totals) > min(of_plans.totals) > 0
    assert filtered.flights["seldom"]


def test_what_cannot_be_replayed_is_told(spark: Any, study: Study) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.policies.stage import policies

    plan = study.query
    assert plan is not None
    a, b = (windowed(study, name) for name in "ab")
    two = a.join(b, on=[("a.k", "b.k")]).plan()
    with open_recording(spark, study, 1) as recording:
        for given, grid, told in (
            (two, GRID, "found one order of joins only"),
            (plan, {}, "found no settings"),
        ):
            with pytest.raises(ArgumentError, match=told):
                policies(recording, study, given, grid)
    nothing = replace(study, since=5000)
    with (
        open_recording(spark, nothing, 1) as recording,
        pytest.raises(ArgumentError, match="found no element"),
    ):
        policies(recording, nothing, plan, GRID)


def test_the_command_recommends_settings_that_run_takes(
    spark: Any, study: Study, streams: dict[str, list[Row]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    file = str(Path(next(iter(study.streams.values())).path).parent.parent / "study.sql")
    given = [
        "study",
        "policies",
        file,
        "--grid",
        "balanced,eager",
        "--until",
        "600",
        "--output",
        str(tmp_path / "out"),
    ]
    told = CliRunner().invoke(app, given)
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert ("Let the autopilot decide, with the settings in autopilot.json" in words) != (
        "do not change it while it runs" in words
    )
    assert {one.name for one in (tmp_path / "out").iterdir()} == {
        "autopilot.json",
        "courses.json",
        "plan.json",
        "policies.json",
        "policies.png",
    }
    summary = json.loads((tmp_path / "out" / "policies.json").read_text())
    courses = CostSeries.loads((tmp_path / "out" / "courses.json").read_text())
    assert courses.end <= 600 and summary["recommended"] in ("balanced", "eager")
    advice, labels = summary["advice"], dict(zip(courses.labels, courses.plans, strict=True))
    plan = loads((tmp_path / "out" / "plan.json").read_text())
    assert plan == labels[courses.labels[0] if advice["changes"] else advice["recommended"]]
    monkeypatch.chdir(tmp_path)
    for name, rows in streams.items():
        lines = ["t,k", *(f"{t},{k}" for t, k, *_ in rows if t >= 0)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    script = "".join(f"CREATE STREAM {n}(k INT, t TIMESTAMP) ORDERED BY t TIME_UNIT s;\n" for n in "abc")
    (tmp_path / "q.sql").write_text(script + QUERY)
    sources = [word for name in "abc" for word in ("--source", f"{name}={name}.csv")]
    flown = CliRunner().invoke(app, ["run", "q.sql", *sources, "--autopilot", "out/autopilot.json"])
    assert flown.exit_code == 0, flown.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--grid", "eagre"], "found eagre, expected some of careful"),
        (["--grid", "none.json"], "found none.json, expected some of careful"),
        (["--strategy", "by-magic"], "there is no strategy by-magic"),
        (["--objective", "luck"], "luck"),
        (["--until", "noon"], "found 'noon', expected a"),
        (["--from", "9", "--until", "9"], "expected an end behind the beginning"),
    ],
)
def test_wrong_options_are_told_before_spark_starts(study: Study, options: list[str], told: str) -> None:
    file = str(Path(next(iter(study.streams.values())).path).parent.parent / "study.sql")
    done = CliRunner().invoke(app, ["study", "policies", file, *options])
    assert done.exit_code == 2 or isinstance(done.exception, MidstreamError)
    assert told in " ".join((done.output + str(done.exception)).replace("│", " ").split())


def collected(plan: Plan, streams: dict[str, list[Row]], step: int) -> Iterator[Instant]:
    """What a collector tells, if elements of one instant come in order of their values."""
    collector = Collector(plan.sources, requirements(plan).columns, step)

    def order(arrival: tuple[str, Row]) -> tuple[Any, ...]:
        name, (t, k, m, v) = arrival
        return t, name, k, m is not None, m or "", v

    arrived = sorted(((name, row) for name, rows in streams.items() for row in rows), key=order)
    for number, arrivals in groupby(arrived, key=lambda one: one[1][0] // step):
        last = 0
        for name, (last, *row) in arrivals:
            collector.take(name, [(last, last + 1, tuple(row))], last)
        found: list[Cell] = collector.cells((number + 1) * step)
        yield Instant((number + 1) * step, found, last + WINDOW)
