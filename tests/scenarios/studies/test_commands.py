"""Commands from end to end, and the same results, to the last digit, wherever Spark runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.serialise import loads
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.recordings.pricing import show_cost
from midstream.scenarios.stages.commands import app
from midstream.scenarios.stages.what_if.switching_costs import BY_PAST
from midstream.scenarios.streams.recorded.script import load_study

from .conftest import MORE, keeps_nothing, reversed_settings, what_if_all, write

pytestmark = pytest.mark.spark

COURSES = ("1-processing.json", "1-processing-past.json", "2-memory.json", "2-memory-past.json")


def read_table(folder: Path, *order: str) -> list[dict[str, Any]]:
    import pyarrow.dataset as ds

    rows: list[dict[str, Any]] = ds.dataset(folder, partitioning="hive").to_table().to_pylist()
    return sorted(rows, key=lambda row: [row[name] for name in order])


def read_json(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def test_profile_on_one_core(
    on_one_core: tuple[Path, str, str], found_folder: Path, profile_here: dict[str, Any]
) -> None:
    folder, _, _ = on_one_core
    assert read_json(folder / "profile.json") == profile_here["summary"]
    assert read_table(folder / "streams", "start", "stream") == profile_here["streams"]
    assert read_table(folder / "pairs", "start", "pair") == profile_here["pairs"]
    require_same_files(folder, found_folder, "streams", "pairs", "columns")


def test_what_if_on_one_core(
    on_one_core: tuple[Path, str, str], found_folder: Path, what_if_here: dict[str, Any]
) -> None:
    folder, _, _ = on_one_core
    assert read_json(folder / "what-if.json") == what_if_here["summary"]
    assert read_table(folder / "costs", "objective", "start", "plan") == what_if_here["costs"]
    assert read_table(folder / "best", "objective", "start") == sorted(
        what_if_here["best"], key=lambda row: (row["objective"], row["start"])
    )
    written = [(folder / "courses" / name).read_text("utf-8").rstrip() for name in COURSES]
    assert written == what_if_here["courses"]
    assert (folder / "courses.json").read_text("utf-8").rstrip() == what_if_here["courses"][0]
    require_same_files(folder, found_folder, "costs", "best", "courses", "plans")


def without_times(found: Any) -> Any:
    """Plain data without what depends on the machine."""
    if isinstance(found, dict):
        return {key: without_times(one) for key, one in found.items() if key not in TIMES}
    return list(map(without_times, found)) if isinstance(found, list) else found


TIMES = ("cpu", "cpu_stayed", "costs")


def require_same_files(folder: Path, expected: Path, *names: str) -> None:
    """Require the same files in both folders below these names, with the same bytes."""
    for name in names:
        files = {file.relative_to(expected) for file in (expected / name).rglob("*") if file.is_file()}
        assert files == {file.relative_to(folder) for file in (folder / name).rglob("*") if file.is_file()}
        assert files
        for file in files:
            assert (folder / file).read_bytes() == (expected / file).read_bytes(), file


def require_same_runs(folder: Path, expected: Path) -> None:
    """Require the same of the engine's runs but for the times that the machine took."""
    summaries = [read_json(one / "simulate.json") for one in (folder, expected)]
    runs = [read_table(one / "runs", "to", "at") for one in (folder, expected)]
    for both in (summaries, runs):
        assert without_times(both[0]) == without_times(both[1])
    assert len(runs[0]) == summaries[0]["runs"] > 1


def test_the_others_on_two_cores(
    written_on_one_core: Path, spark: Any, drifting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with reversed_settings(spark):  # other numbers of partitions, too
        for name in MORE:
            write(name, drifting)
    require_same_files(tmp_path, written_on_one_core, "charts", "policies")
    require_same_runs(tmp_path / "simulate", written_on_one_core / "simulate")
    policies = read_json(tmp_path / "policies" / "policies.json")
    assert policies["contested"] and policies["moves"]["balanced"]
    assert len(read_json(tmp_path / "charts" / "charts.json")["plans"]) > 0


def test_killed_executors_change_no_byte(written_by_executors: Path, written_on_one_core: Path) -> None:
    require_same_files(written_by_executors, written_on_one_core, "found", "charts", "policies")
    require_same_runs(written_by_executors / "simulate", written_on_one_core / "simulate")


def test_neither_settings_of_the_session_nor_where_runs_begin_matter(
    spark: Any, drifting: Path, what_if_here: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from midstream.scenarios.stages.what_if import stage

    assert len(what_if_here["best"]) < 2 * stage.RUN  # two objectives, one run
    monkeypatch.setattr(stage, "RUN", 8)
    with reversed_settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"}):
        assert what_if_all(spark, drifting, 100) == what_if_here
    assert keeps_nothing(spark)


def test_what_is_compared_says_something(profile_here: dict[str, Any], what_if_here: dict[str, Any]) -> None:
    summary = what_if_here["summary"]
    for found in summary["objectives"]:
        assert found["switches"] > 0
        assert 0 < found["contested"] < summary["buckets"]
        past = next(turn for turn in found["turns"] if turn["name"] == BY_PAST)
        assert found["least"] < past["free"] < past["genmig"]["spent"]
        assert past["genmig"]["moves"] > 0
    assert len(what_if_here["costs"]) == 2 * summary["plans"] * summary["buckets"]
    assert all(pair["matched"] for pair in profile_here["summary"]["pairs"])
    assert len(profile_here["pairs"]) == 3 * summary["buckets"]


def test_profile_prints_tables(on_one_core: tuple[Path, str, str], profile_here: dict[str, Any]) -> None:
    _, text, _ = on_one_core
    summary = profile_here["summary"]
    assert f"{summary['pairs'][0]['overlapping']:,}" in text
    assert f"… and {summary['buckets'] - 3} more buckets" in text


def test_json_is_all_that_what_if_prints(on_one_core: tuple[Path, str, str]) -> None:
    folder, _, text = on_one_core
    assert json.loads(text) == read_json(folder / "what-if.json")


def test_plans_and_chart_are_written(on_one_core: tuple[Path, str, str], drifting: Path) -> None:
    folder, _, text = on_one_core
    study = load_study(str(drifting))
    assert study.query is not None
    plans = [loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("plans/*.json"))]
    assert len(plans) == json.loads(text)["orders"]
    assert all(plan.schema == study.query.schema for plan in plans)
    assert (folder / "orders.png").read_bytes().startswith(b"\x89PNG")


def test_what_if_of_a_plan_in_a_file(
    on_one_core: tuple[Path, str, str], spark: Any, drifting: Path, what_if_here: dict[str, Any]
) -> None:
    folder, _, _ = on_one_core
    assert spark is not None  # the commands use the session that there is
    study = load_study(str(drifting))
    assert study.query is not None
    labels = [order.label for order in group_by_order(enumerate_plans(study.query))]
    for order in (0, 1):
        plan = folder / "plans" / f"order-{order}.json"
        result = CliRunner().invoke(app, ["what-if", str(drifting), "--plan", str(plan), "--bucket", "100s"])
        assert result.exit_code == 0, result.output
        least = show_cost(what_if_here["summary"]["objectives"][0]["least"])
        assert f"Always the best order would have cost {least} µs" in " ".join(result.output.split())
        assert max(map(len, result.output.splitlines())) <= 80
        assert f"{labels[order]} (as written)" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bucket", "3"], "expected a whole number with a unit"),
        (["--bucket", "15ms"], "expected a whole number of seconds"),
        (["--bucket", "90s", "--plan", "no.json"], "no.json: No such file"),
        (["--bucket", "90s", "--objective", "speed"], "objective: found 'speed', expected one or more of"),
        (["--bucket", "2s"], "found a half-life of 80 chronons, expected 1 to 16, or longer buckets"),
        (["--bucket", "90s", "--half-life", "15m"], "found a half-life of 900 chronons"),
        (
            ["--bucket", "90s", "--query", "top"],
            "found no query top, expected the name of one of them: query_1",
        ),
    ],
)
def test_bad_options(options: list[str], message: str, drifting: Path) -> None:
    result = CliRunner().invoke(app, ["what-if", str(drifting), *options])
    assert result.exit_code != 0
    told = result.output.replace("│", " ") + str(result.exception)
    assert message in " ".join(told.split())
