"""Plans in files."""

from __future__ import annotations

from pathlib import Path

from midstream.plans.errors import InputFileError, PlanFormatError
from midstream.plans.plan import Plan
from midstream.plans.serialise import loads


def read_plan(file: Path) -> Plan:
    """A plan from a JSON file. Raises InputFileError, naming the file and the reason."""
    try:
        return loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"{file}: {error.strerror or error}", path=file) from error
    except (PlanFormatError, UnicodeDecodeError) as error:
        raise InputFileError(f"{file}: {error}", path=file) from error
