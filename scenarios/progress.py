"""Progress of long work, shown on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on stderr while a block runs, if that is a terminal; the block tells (done, total),
    and None for a total that is not known."""
    from rich.console import Console
    from rich.progress import Progress

    # Console.is_terminal would be true wherever colours are asked for.
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
