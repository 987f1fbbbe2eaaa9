"""The console script `midstream`: it hears interruptions before it imports anything large."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line. Until it is there, which takes a tenth of a second, an interruption just ends."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A job in the background ignores them.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from midstream.cli import main as command_line

    command_line()


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"midstream: interrupted\n")
    os._exit(130)
