"""`python -m midstream.benchmarks studies`: a small run, in the session of these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from midstream.benchmarks.studies import STAGES, Taken, measured_here

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, as Linux has it"),
]


def test_a_small_run(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_here(str(tmp_path), 1000)
    found = Taken(**json.loads(capsys.readouterr().out))
    assert 800 < found.elements < 1200
    assert found.java > 0 and found.workers > 0
    assert found.seconds.keys() == set(STAGES) and min(found.seconds.values()) > 0
