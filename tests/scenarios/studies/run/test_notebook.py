"""The notebook among the examples: its cells run one after the other, and say what they should."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")

pytestmark = pytest.mark.spark


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; gives the value of its last line, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_the_cells_run(spark: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "examples" / "study.ipynb"
    if not file.is_file():
        pytest.skip("the examples are not next to the tests")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    shown = [run_cell(cell["source"], names) for cell in cells if cell["cell_type"] == "code"]
    assert names["spark"] is spark
    counts = shown[1]
    assert {*counts} == {"orders", "clicks", "payments"} and min(counts.values()) > 500
    assert "10 m" in shown[2]._repr_html_()
    assert shown[3] == counts
    assert len(shown[4]) == 6
    assert "(as written)" in shown[5]._repr_html_()
    assert shown[6].endswith("less than the order as written")
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
