"""What commands about recorded streams have in common: no Spark is started before what is given fits."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream.cli import app
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.stages.base.command_options import is_small
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.script import load_study

STUDIED = (("what-if",), ("charts",), ("policies",), ("simulate",), ("verify-run", "results.csv"))
"""Commands that study a plan, with their other arguments."""


def refused(*given: str) -> str:
    result = CliRunner().invoke(app, ["study", *given], env={"COLUMNS": "200"})
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr


@pytest.mark.parametrize("command", STUDIED, ids=lambda command: command[0])
def test_there_must_be_a_plan(command: tuple[str, ...], drifting: Path, tmp_path: Path) -> None:
    name, *more = command
    without = tmp_path / "study.sql"
    without.write_text(drifting.read_text().partition("SELECT")[0])
    expected = "study study: found no query and no plan, expected one of them"
    assert expected in refused(name, str(without), *more)


@pytest.mark.parametrize("command", STUDIED, ids=lambda command: command[0])
def test_a_plan_must_fit_the_streams(command: tuple[str, ...], drifting: Path, tmp_path: Path) -> None:
    name, *more = command
    plan = tmp_path / "plan.json"
    plan.write_text(ms.dumps(ms.stream("d", k="integer").window(40).plan()))
    expected = f"{plan}: the plan reads stream d, expected one of a, b, c"
    assert expected in refused(name, str(drifting), *more, "--plan", str(plan))


REPLAYING = ("profile", "what-if", "charts", "policies", "simulate")


@pytest.mark.spark
@pytest.mark.parametrize("name", REPLAYING)
def test_a_part_of_the_time_is_read(name: str, drifting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from midstream.scenarios.recordings import recording
    from midstream.scenarios.spark import session

    asked: list[Study] = []

    def noted(spark: Any, study: Study, bucket: int) -> Any:
        asked.append(study)
        raise MidstreamError("enough")

    monkeypatch.setattr(session, "spark_session", lambda *_, **__: nullcontext(object()))
    monkeypatch.setattr(recording, "open_recording", noted)
    assert "enough" in refused(name, str(drifting), "--from", "700", "--until", "1800")
    assert [(study.since, study.until) for study in asked] == [(700, 1800)]


@pytest.mark.parametrize("name", REPLAYING)
def test_a_part_of_the_time_has_a_length(name: str, drifting: Path) -> None:
    told = refused(name, str(drifting), "--from", "700", "--until", "700")
    assert "expected an end behind the beginning" in told


@pytest.mark.spark
@pytest.mark.parametrize(("small", "expected"), [(1 << 20, "QUICK"), (0, "LOCAL")])
def test_java_compiles_less_where_little_is_read(
    small: int, expected: str, drifting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from midstream.scenarios.spark import session
    from midstream.scenarios.stages.base import command_options as options

    asked: list[str] = []

    def noted(master: str, settings: dict[str, str]) -> Any:
        asked.append(settings[session.JAVA])
        raise MidstreamError("enough")

    monkeypatch.setattr(session.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(session, "started", noted)
    monkeypatch.setattr(session, "archive_options", lambda: ["-XX:SharedArchiveFile=kept"])
    monkeypatch.setattr(options, "SMALL", small)
    assert "enough" in refused("profile", str(drifting), "--master", "local[1]")
    assert asked == [f"{getattr(session, expected)} -XX:SharedArchiveFile=kept"]


def test_what_cannot_be_listed_is_not_small(drifting: Path) -> None:
    study = load_study(str(drifting))
    assert is_small(study)
    for path in ("nowhere/*.csv", "s3://bucket/streams"):
        elsewhere = {name: replace(stream, path=path) for name, stream in study.streams.items()}
        assert not is_small(replace(study, streams=elsewhere))
