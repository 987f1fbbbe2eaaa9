"""The list of planted faults fits the code, and one that tests find is found."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def planted(source_tree: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program, which is not on the path of tests."""
    monkeypatch.syspath_prepend(source_tree / "tests")
    import planted

    return planted


def test_every_fault_can_be_planted(planted: Any, source_tree: Path) -> None:
    faults = planted.read(planted.FAULTS)
    assert len({fault.sentence for fault in faults}) == len(faults) > 20
    for fault in faults:
        ast.parse(fault.planted((source_tree / fault.file).read_text(encoding="utf-8")))


def test_what_is_not_there_once_is_told(planted: Any) -> None:
    fault = planted.Fault("f.py", "a wrong sign", "+", "-")
    assert fault.planted("a + b") == "a - b"
    for text, times in (("a - b", 0), ("a + b + c", 2)):
        with pytest.raises(ValueError, match=f"found '\\+' {times} times, expected once"):
            fault.planted(text)


@pytest.mark.slow
def test_the_test_that_finds_a_fault_is_named(planted: Any, tmp_path: Path) -> None:
    (tmp_path / "halving.py").write_text("def half(x): return x / 2\n")
    (tmp_path / "test_halving.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nfrom halving import half\n"
        "def test_half(): assert half(6) == 3\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow: \n    spark: \n")
    found, missed = (planted.Fault("halving.py", "", "x / 2", wrong) for wrong in ("x * 2", "x / 2.0"))
    assert (
        planted.hunt(found, tmp_path, ["test_halving.py"], ["fast"], 60).test == "test_halving.py::test_half"
    )
    assert planted.hunt(missed, tmp_path, ["test_halving.py"], ["fast"], 60).test is None
    assert (tmp_path / "halving.py").read_text() == "def half(x): return x / 2\n"
