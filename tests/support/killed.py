"""Processes that die in the middle of what they do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def killed_at(instant: int, act: Callable[[], object]) -> bool:
    """Act in another process that dies at its so-many-th call of the operating system; whether it got that
    far."""
    child = os.fork()
    if child == 0:
        called = 0

        def count(event: str, arguments: object) -> None:
            nonlocal called
            if event.startswith(("os.", "open", "shutil.", "pathlib.", "fcntl.")):
                called += 1
                if called == instant:
                    os._exit(9)

        try:
            sys.addaudithook(count)
            act()
            os._exit(0)
        finally:
            os._exit(3)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9)
    return status == 9
