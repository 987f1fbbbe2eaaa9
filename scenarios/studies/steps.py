"""Progress of a command on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def steps(*names: str) -> Iterator[Callable[[], None]]:
    """Show on stderr, if that is a terminal, which step is under way; the block tells when one is done."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(names[0], total=len(names))
        following = iter([*names[1:], "done"])
        yield lambda: bar.update(task, advance=1, description=next(following))
