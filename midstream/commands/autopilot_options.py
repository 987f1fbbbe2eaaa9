"""A run with an autopilot, whose decisions are printed, written to a file, or drawn as a chart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from midstream.autopilot.looks import largest_window
from midstream.autopilot.records import Record
from midstream.autopilot.settings import NAMED
from midstream.engine import Engine
from midstream.io.distinct_files import PossibleUse
from midstream.io.new_file import NewFile
from midstream.io.output import TextOutput
from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.streams import Time

SHARE = 16
"""Recorded streams may be ahead of each other by the smallest window divided by this number."""


@dataclass(frozen=True)
class AutopilotOptions:
    """The options of an autopilot for the queries of a script.

    settings    careful, balanced, eager, or a file
    decisions   a file for every decision, as JSON lines; without it, decisions are printed
    chart       a file for a chart of plan costs
    tell        prints a line
    every       the time between looks, in chronons; None for a part of each query's largest window
    """

    settings: str
    decisions: Path | None
    chart: Path | None
    tell: Callable[[str], object]
    every: int | None = None

    @property
    def reads(self) -> list[PossibleUse]:
        """The files that are read."""
        return [] if self.settings in NAMED else [("--autopilot", self.settings)]

    @property
    def writes(self) -> list[PossibleUse]:
        """The files that are written."""
        return [("--decisions", self.decisions), ("--autopilot-chart", self.chart)]

    @contextmanager
    def over(self, engine: Engine, instant: Callable[[Time], str]) -> Iterator[int]:
        """Let an autopilot watch an engine's queries with a time window during a block.

        If `every` is given, it watches all queries. The block gets the number of chronons by which streams
        should be ahead of each other at most. `instant` shows times.

        Raises   MidstreamError where no query can be watched.
        """
        from midstream.commands.autopilot_chart import draw

        windows = {name: largest_window(query.plan) or self.every for name, query in engine.queries.items()}
        names = [name for name, window in windows.items() if window is not None]
        if not names:
            raise MidstreamError(
                "--autopilot: found no query with a time window, by which it chooses when to look; expected "
                "one, or --every"
            )
        if self.chart is not None:
            require_libraries(("matplotlib",), "plot", "--autopilot-chart needs")
        with ExitStack() as stack:
            pilot = engine.autopilot(settings=self.settings, queries=names, every=self.every)
            kept: list[Record] = []
            listeners: list[Callable[[Record], object]] = []
            if self.chart is not None:
                listeners.append(kept.append)
            if self.decisions is not None:
                listeners.append(stack.enter_context(_decisions(self.decisions)))
            else:
                listeners.append(lambda record: self._print(record, instant))
            for listener in listeners:
                for record in pilot.decisions:  # those of the beginning
                    listener(record)
                pilot.listen(listener)
            drawing = None if self.chart is None else stack.enter_context(NewFile(self.chart))
            yield max(1, min(window for window in windows.values() if window is not None) // SHARE)
            pilot.stop()
            if drawing is not None and self.chart is not None:
                drawing.write(draw(kept, self.chart.suffix))

    def _print(self, record: Record, instant: Callable[[Time], str]) -> None:
        """Print all decisions except those of a look to keep the plan."""
        if record.event != "stay" or record.at is None:
            self.tell(f"autopilot: {record.text(instant)}")


@contextmanager
def _decisions(path: Path) -> Iterator[Callable[[Record], object]]:
    """A function that writes decisions to a file, where readers see them at once."""
    written = 0

    def write(record: Record) -> None:
        nonlocal written
        output.write(json.dumps(record.as_dict()) + "\n")
        output.flush()
        written += 1

    file = NewFile(path, describe=lambda: f"{written:,} decisions" if written else "")
    with file, closing(TextOutput(file.place, file.name)) as output:
        yield write
