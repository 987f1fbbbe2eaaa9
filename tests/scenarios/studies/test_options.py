"""What commands about recorded streams have in common: no Spark is started before what is given fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream.cli import app

STUDIED = (("what-if",), ("charts",), ("policies",), ("simulate",), ("verify-run", "results.csv"))
"""Commands that study a plan, with their other arguments."""


def refused(*given: str) -> str:
    result = CliRunner().invoke(app, ["study", *given], env={"COLUMNS": "200"})
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr


@pytest.mark.parametrize("command", STUDIED, ids=lambda command: command[0])
def test_there_must_be_a_plan(command: tuple[str, ...], drifting: Path, tmp_path: Path) -> None:
    name, *more = command
    without = tmp_path / "study.toml"
    without.write_text(drifting.read_text().partition("[query]")[0])
    expected = "study study: found no query and no --plan, expected one of them"
    assert expected in refused(name, str(without), *more)


@pytest.mark.parametrize("command", STUDIED, ids=lambda command: command[0])
def test_a_plan_must_fit_the_streams(command: tuple[str, ...], drifting: Path, tmp_path: Path) -> None:
    name, *more = command
    plan = tmp_path / "plan.json"
    plan.write_text(ms.dumps(ms.stream("d", k="integer").window(40).plan()))
    expected = f"{plan}: the plan reads stream d, expected one of a, b, c"
    assert expected in refused(name, str(drifting), *more, "--plan", str(plan))
