"""The line of state: how far long work is, on the last line of a terminal."""

from __future__ import annotations

import io
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TextIO

from midstream.io.process_memory import resident_bytes

EVERY = 0.2
"""Seconds from one drawing to the next."""

INTERRUPTED = "^C"
"""The characters that a terminal shows behind the line for an interruption."""

MARGIN = 1 + len(INTERRUPTED)
"""The columns that are left free; in the last one a terminal may begin a new line."""

RECENT = 5.0
"""Seconds over which the rate is taken."""


Show = Callable[[Callable[[], "State"]], object]
"""Takes a function that gives the state of some work at any moment."""


@dataclass(frozen=True, slots=True)
class State:
    """The progress of some work.

    done       the amount of work so far, counted in `unit`
    total      the amount in the end, if it is known
    results    the number of results, if there are any
    at         the application time that has been reached
    """

    done: int = 0
    unit: str = "elements"
    total: int | None = None
    results: int | None = None
    at: str = ""


def state_line(state: State, rate: float | None, memory: int | None, width: int) -> str:
    """The state of some work on a line of at most `width` characters.

    Where there is too little room, whole parts are left out: first memory, then the rate, the time left, the
    application time and the results.

    >>> state = State(1_200_000, total=2_000_000, results=345, at="2026-11-28T19:00:00")
    >>> print(state_line(state, 100_000, 85 << 20, 100))
    1,200,000 elements   100,000/s   345 results   at 2026-11-28T19:00:00   89 MB   0:00:08 left
    >>> print(state_line(state, 100_000, 85 << 20, 60))
    1,200,000 elements   345 results   at 2026-11-28T19:00:00
    """
    left = None
    if state.total is not None and rate is not None and rate > 1e-3:
        left = max(0, state.total - state.done) / rate
    parts = [
        f"{state.done:,} {state.unit}",
        "" if rate is None else f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s",
        "" if state.results is None else f"{state.results:,} results",
        f"at {state.at}" if state.at else "",
        "" if memory is None else f"{memory / 1e6:,.0f} MB",
        "" if left is None else f"{_duration(left)} left",
    ]
    for least in (None, 4, 1, 5, 3, 2, 0):
        if least is not None:
            parts[least] = ""
        line = "   ".join(filter(None, parts))
        if len(line) <= width:
            break
    return line


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class StateLine:
    """Draws the line of state a few times a second, as the last line of the terminal.

    What is printed on the terminal meanwhile comes above it; all of that must pass through `above`.

    The function that gives the state is called in a thread of its own, so that time goes on while the work
    waits.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._state: Callable[[], State] | None = None
        self._line = ""
        self._seen: deque[tuple[float, int]] = deque()
        """Moments at which work had been done, and its amount by then."""
        self._lock = threading.RLock()
        self._shown = 0
        """The length of the line that is on the terminal."""
        self._is_free = True
        """True if the cursor is at the beginning of a line."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="state line", daemon=True)

    def __enter__(self) -> StateLine:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_over.set()
        self._thread.join()
        with self._lock:
            self._write(self._erasing())

    def show(self, state: Callable[[], State]) -> None:
        """Get the state from a function from now on; it is shown at once, however soon the work is done."""
        self._state = state
        self._draw(state)

    def above(self, text: bytes, write: Callable[[bytes], object]) -> None:
        """Write some text above the line, at once, so that the line does not flicker."""
        with self._lock:
            self._is_free = text.endswith(b"\n")
            write(self._erasing().encode() + text + self._drawn().encode())

    def _run(self) -> None:
        while not self._is_over.wait(EVERY):
            if self._state is not None:
                self._draw(self._state)

    def _draw(self, get: Callable[[], State]) -> None:
        with self._lock:
            state = get()
            rate = self._rate(monotonic(), state.done)
            self._line = state_line(state, rate, resident_bytes(), _width(self._terminal) - MARGIN)
            self._write(self._erasing() + self._drawn())

    def _rate(self, now: float, done: int) -> float | None:
        """The work a second, over the last seconds, or as long as it has taken to get on."""
        if not self._seen or self._seen[-1][1] != done:
            self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RECENT:
            self._seen.popleft()
        since, before = self._seen[0]
        return (done - before) / (now - since) if now > since else None

    def _erasing(self) -> str:
        """The characters that take the line off the terminal."""
        shown, self._shown = self._shown, 0
        return f"\r{' ' * (shown + len(INTERRUPTED))}\r" if shown else ""

    def _drawn(self) -> str:
        """The line, if there is a place for it."""
        line = self._line if self._is_free else ""
        self._shown = len(line)
        return line

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


class _Above(io.BufferedIOBase):
    """Bytes for the terminal on which a line of state stands; they are written when they are flushed."""

    def __init__(self, below: TextIO, line: StateLine) -> None:
        self._below, self._line = below, line
        self._waiting: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        self._waiting.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        data = b"".join(self._waiting)
        self._waiting.clear()
        if data:
            self._line.above(data, self._write)

    def _write(self, data: bytes) -> None:
        self._below.buffer.write(data)
        self._below.flush()

    def fileno(self) -> int:
        return self._below.fileno()

    def isatty(self) -> bool:
        return True


@contextmanager
def showing(*, beside_results: bool = False, form: str | None = None) -> Iterator[Show]:
    """Show the line of state during a block, if stderr is a terminal; the block tells how to get the state.

    `beside_results` is True if results go to standard output. Then there is no line beside a table, which
    draws itself, or where that is a pipe: who reads from it may print on the same terminal.
    """
    is_taken = beside_results and (form == "table" or _is_pipe(sys.stdout))
    if is_taken or not sys.stderr.isatty():
        yield lambda state: None
        return
    with ExitStack() as stack:
        line = stack.enter_context(StateLine(sys.stderr))
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream.isatty():
                above = io.TextIOWrapper(  # type: ignore[type-var]
                    _Above(stream, line),
                    stream.encoding,
                    stream.errors,
                    line_buffering=True,
                )
                stack.callback(_put_back, name, stream, above)
                setattr(sys, name, above)
        yield line.show


def _put_back(name: str, stream: TextIO, above: TextIO) -> None:
    above.flush()
    setattr(sys, name, stream)


def _is_pipe(stream: TextIO) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # no file of the system's
        return False


def _width(terminal: TextIO) -> int:
    try:
        return os.get_terminal_size(terminal.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
