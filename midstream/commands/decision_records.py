"""Decisions of a run: printed, written to a file, or drawn as a chart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from midstream.io.new_file import NewFile
from midstream.io.output import TextOutput
from midstream.io.requirements import require_libraries


class Told(Protocol):
    """A record of a decision."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        ...


R = TypeVar("R", bound=Told)


class Decides(Protocol[R]):
    """Decides while queries run, and tells."""

    @property
    def decisions(self) -> list[R]:
        """The records so far."""
        ...

    def listen(self, listener: Callable[[R], object]) -> None:
        """Pass every further record to a function."""
        ...


@dataclass(frozen=True)
class DecisionFiles:
    """The files for decisions; without one for the records, these are printed.

    option      the option that asks for the chart, for messages
    decisions   a file for every decision, as JSON lines
    chart       a file for a chart
    """

    option: str
    decisions: Path | None
    chart: Path | None

    @contextmanager
    def of(
        self,
        decides: Decides[R],
        show: Callable[[R], object],
        draw: Callable[[Sequence[R], str], bytes],
        facts: Callable[[], Mapping[str, Any]] = dict,
    ) -> Iterator[None]:
        """Record the decisions of a block; the chart is drawn at its end.

        The file also has `facts` about the process at the time of each decision.
        """
        if self.chart is not None:
            require_libraries(("matplotlib",), "plot", f"{self.option} needs")
        with ExitStack() as stack:
            kept: list[R] = []
            listeners: list[Callable[[R], object]] = [] if self.chart is None else [kept.append]
            if self.decisions is not None:
                listeners.append(stack.enter_context(_lines(self.decisions, facts)))
            else:
                listeners.append(show)
            for listener in listeners:
                for record in decides.decisions:  # those of the beginning
                    listener(record)
                decides.listen(listener)
            drawing = None if self.chart is None else stack.enter_context(NewFile(self.chart))
            yield
            if drawing is not None and self.chart is not None:
                drawing.write(draw(kept, self.chart.suffix))


@contextmanager
def _lines(path: Path, facts: Callable[[], Mapping[str, Any]]) -> Iterator[Callable[[Told], object]]:
    """A function that writes decisions to a file, where readers see them at once."""
    written = 0

    def write(record: Told) -> None:
        nonlocal written
        output.write(json.dumps({**record.as_dict(), **facts()}) + "\n")
        output.flush()
        written += 1

    file = NewFile(path, describe=lambda: f"{written:,} decisions" if written else "")
    with file, closing(TextOutput(file.place, file.name)) as output:
        yield write
