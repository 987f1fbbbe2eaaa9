"""Plans in files."""

from __future__ import annotations

from pathlib import Path

from midstream.io.text_file import read_text
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import loads
from midstream.plans.values.errors import InputFileError, PlanFormatError

MOST_BYTES = 1 << 24
"""The largest size of a plan's file in bytes; programs write such files, too."""


def read_plan(file: Path) -> Plan:
    """Read a plan from a JSON file.

    Raises   InputFileError, naming the file and the reason.
    """
    try:
        return loads(read_text(file, MOST_BYTES))
    except PlanFormatError as error:
        raise InputFileError(f"{file}: {error}", path=file) from error
