"""Progress of a command on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def steps(*names: str) -> Iterator[Callable[[], None]]:
    """Show the step under way on stderr, if that is a terminal; the block tells when a step is done."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(names[0], total=len(names))
        following = iter([*names[1:], "done"])
        yield lambda: bar.update(task, advance=1, description=next(following))


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Show the work under way and its time on stderr, if that is a terminal; the block names the work."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as line:
        task = line.add_task("", total=None)

        def tell(what: str) -> None:
            line.reset(task, description=what)

        yield tell
