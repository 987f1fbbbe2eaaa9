"""The queries of the Stream Query Repository as scripts: q1.sql to q11.sql, in its numbering."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SCRIPTS: Mapping[int, Path] = {number: Path(__file__).with_name(f"q{number}.sql") for number in range(1, 12)}
"""The files by number."""
