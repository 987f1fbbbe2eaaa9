"""Progress of long work, shown on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from midstream.console.state_line import State, showing


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show the state of some work during a block: the amount done, the rate, the memory and the time left.

    The block calls the function with (done, total); an unknown total is None.
    """
    state = State(unit=what)

    def advance(done: int, total: int | None) -> None:
        nonlocal state
        state = State(done, what, total)

    with showing() as show:
        show(lambda: state)
        yield advance


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Show the work under way and its time on stderr, if that is a terminal; the block names the work."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as line:
        task = line.add_task("", total=None)

        def tell(what: str) -> None:
            line.reset(task, description=what)

        yield tell
