"""The memory of this process."""

from __future__ import annotations

import sys
from pathlib import Path


def resident_bytes() -> int | None:
    """The current memory of this process; else its largest so far; None if the system tells neither.

    >>> resident_bytes() is None or resident_bytes() > 2**20
    True
    """
    return _told("VmRSS")


def peak_bytes() -> int | None:
    """The largest memory of this process so far; None if the system does not tell it.

    >>> peak_bytes() is None or peak_bytes() > 2**20
    True
    """
    return _told("VmHWM")


def _told(fact: str) -> int | None:
    """A fact about this process, in bytes, from Linux, else from getrusage.

    getrusage comes second, as its number is never less than the parent process's.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition(f"{fact}:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
