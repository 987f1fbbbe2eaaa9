"""`python -m midstream.benchmarks studies`: what it says."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midstream.benchmarks.commands import app
from midstream.benchmarks.studies import (
    STAGES,
    StudiesRun,
    Taken,
    processor_seconds,
    show_studies,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, as Linux has it")


def taken(elements: int, seconds: float) -> Taken:
    return Taken(elements, dict.fromkeys(STAGES, seconds), 2 << 30, 1 << 29)


@pytest.mark.parametrize(("seconds", "is_good"), [(40.0, True), (48.0, True), (49.0, False)])
def test_four_times_the_data_may_take_little_more_than_four_times_as_much(
    seconds: float, is_good: bool
) -> None:
    run = StudiesRun(taken(1_000_000, 10.0), taken(4_000_000, seconds))
    assert run.is_good == run.as_dict()["is_good"] == is_good
    console = Console(width=80, record=True, file=StringIO())
    show_studies(run, console)
    said = console.export_text()
    assert "4,000,000" in said and f"{seconds / 10:.1f} ×" in said and "2.0 GB" in said and "0.5 GB" in said


def test_what_ended_processes_took_counts() -> None:
    before = processor_seconds()
    subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
    assert processor_seconds() - before > 0.1


def test_elements_that_are_none() -> None:
    found = CliRunner().invoke(app, ["studies", "--elements", "0"])
    assert found.exit_code == 2
    assert "--elements: found 0, expected a positive integer" in found.stderr
