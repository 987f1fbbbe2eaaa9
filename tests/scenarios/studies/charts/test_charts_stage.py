"""Charts of recorded streams are those of `midstream chart`, over what was recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from midstream import studies
from midstream.autopilot.chart_advising import ByChart
from midstream.cli import app
from midstream.commands.charting import made_chart, read_seen
from midstream.optimizer.charts.chart import Chart, ChartError
from midstream.optimizer.charts.dimension_requests import dimension_request, requested_measures
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.cost.objective import PROCESSING
from midstream.optimizer.statistics_file import read_statistics
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

from ..conftest import reversed_settings

BUCKET = 200
TOLD = ["rate(a)", "selectivity(b.m = c.m)=0..0.5"]
ALONG = [dimension_request(one) for one in TOLD]


@pytest.fixture
def study(drifting: Path) -> Study:
    return load_study(str(drifting))


def recorded(study: Study, stream: str) -> list[dict[str, Any]]:
    files = sorted(Path(study.streams[stream].path).parent.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def by_hand(study: Study) -> dict[int, tuple[float, float]]:
    """By bucket in which all streams have elements: the rate of a, and how often m agrees."""
    found = {}
    for start in range(-600, 2600, BUCKET):
        a, b, c = ([r for r in recorded(study, s) if start <= r["t"] < start + BUCKET] for s in "abc")
        if a and b and c:
            counts = Counter(r["m"] for r in b), Counter(r["m"] for r in c)
            agree = sum(n * counts[1][value] for value, n in counts[0].items()) / (len(b) * len(c))
            found[start] = (len(a) / BUCKET, agree)
    return found


@pytest.mark.spark(fast=True)
def test_a_chart_is_that_of_one_process(spark: Any, study: Study, tmp_path: Path) -> None:
    from midstream.scenarios.recordings.recording import open_recording
    from midstream.scenarios.stages.charts.charts_stage import STAGE
    from midstream.scenarios.stages.charts.stage import charts

    plan = study.query
    assert plan is not None
    result = studies.charts(spark, study, along=TOLD, parts=4, bucket="200s", output=tmp_path)
    found, summary = result.value, result.summary
    with open_recording(spark, study, BUCKET) as recording:
        with reversed_settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"}):
            again = charts(recording, study, plan, ALONG, parts=4, partitions=5)
        with pytest.raises(ChartError, match=r"rate\(a\): found 101 parts, expected 1 to 100"):
            charts(recording, study, plan, ALONG, parts=101)
    assert (again.chart, again.statistics, again.trajectory) == (
        found.chart,
        found.statistics,
        found.trajectory,
    )

    # What was measured is what is in the files.
    measures = [measure for _, measure in requested_measures(plan, ALONG)]
    assert found.seen.rounds(measures) == {
        start: pytest.approx(point) for start, point in by_hand(study).items()
    }
    counts = {one.stream: len(recorded(study, one.stream)) for one in plan.sources}
    assert {n.operator.stream: s.rate for n, s in found.statistics.streams.items()} == {  # type: ignore[attr-defined]
        name: pytest.approx(n / (len(found.starts) * BUCKET)) for name, n in counts.items()
    }
    assert len(found.chart.plans) > 1

    # The optimizer, asked in this process, gives the same chart, place by place.
    changing = list(zip(found.chart.dimensions, measures, strict=True))
    assert found.chart == ask_optimizer(plan, found.statistics, changing)

    # What was written is what `midstream chart` makes of what was written beside it; an advisor loads it.
    assert {file.name for file in tmp_path.iterdir()} == {*STAGE.files}
    chart = Chart.loads((tmp_path / STAGE.files[0]).read_text())
    stats, seen = (
        read_statistics(tmp_path / STAGE.files[1], [plan]),
        read_seen(tmp_path / STAGE.files[2], [plan]),
    )
    assert chart == made_chart(
        plan, stats, ALONG, seen, parts=4, is_logarithmic=False, objective=PROCESSING, tell=lambda *_: None
    )
    advised = {ByChart(chart).advise(plan, one) is not None for one in seen}
    assert advised == {True}
    assert (summary["places"], summary["rounds"]) == (16, len(found.trajectory.steps))
    assert sum(one["places"] for one in summary["plans"]) == 16


def refused(*given: str) -> str:
    result: Result = CliRunner().invoke(app, ["study", "charts", *given], env={"COLUMNS": "200"})
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr


def test_wrong_calls(drifting: Path, tmp_path: Path) -> None:
    study = str(drifting)
    assert "expected one of rate(a)" in refused(study, "--along", "rate(z)")
    for parts in ("0", "101"):
        assert "Invalid value for" in refused(study, "--parts", parts)
    assert "found 'rate'" in refused(study, "--along", "rate")
    assert "--objective" in refused(study, "--objective", "beauty")
    assert "nowhere.json" in refused(study, "--stats", str(tmp_path / "nowhere.json"))
