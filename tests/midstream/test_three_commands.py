"""From an empty environment to the results of a file that nobody declared: the commands of the guide."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "*.egg-info", ".*_cache", ".hypothesis", "__pycache__"
)


@pytest.mark.slow
def test_the_three_commands_of_the_guide_work_in_an_empty_environment(root: Path, tmp_path: Path) -> None:
    """Install, ask a file and get Parquet, and ask it in Python and get a DataFrame."""
    text = (root / "docs/own-data.md").read_text(encoding="utf-8")
    _, install, ask, program, *_ = re.split(r"(?m)^    (?=pip install|midstream sql|python -c)", text)
    install, ask, program = (command.partition("\n")[0] for command in (install, ask, program))
    assert install == 'pip install "midstream[duckdb,pandas]"'

    sources = tmp_path / "sources"
    shutil.copytree(root, sources, ignore=LEFT_OUT, symlinks=True)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    inside = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": f"{tmp_path / 'empty' / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    lines = ["country;ordered_at;amount"]
    lines += [f"{('DK', 'SE')[n % 2]};{20 + n // 6}.11.2026 10:{n % 6}0;{n},5" for n in range(30)]
    (tmp_path / "orders.csv").write_text("\n".join(lines), encoding="latin-1")

    def run(command: str) -> str:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=inside, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(install.replace("midstream[", f"{sources}["))
    run(ask)
    rows = "import pyarrow.parquet as pq; print(pq.read_table('results.parquet').num_rows)"
    assert int(run(f'python -c "{rows}"')) == 30
    shown = run(program)
    assert shown.split()[:4] == ["start", "end", "country", "amount"]
    assert len(shown.splitlines()) == 1 + len(lines[1:]) and "28.5" in shown
