"""A run with an autopilot, whose decisions are printed, written to a file, or drawn as a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from midstream.autopilot.looks import largest_window
from midstream.autopilot.records import Record
from midstream.autopilot.settings import NAMED
from midstream.commands.decision_records import DecisionFiles
from midstream.engine import Engine
from midstream.io.distinct_files import PossibleUse
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
        pilot = engine.autopilot(settings=self.settings, queries=names, every=self.every)
        files = DecisionFiles("--autopilot-chart", self.decisions, self.chart)
        told: set[str] = set()

        def tell(record: Record) -> None:
            """Print all decisions except those of a look to keep the plan."""
            if record.event != "stay" or record.at is None:
                told.add(record.query)
                self.tell(f"autopilot: {record.text(instant)}")

        with files.of(pilot, tell, draw):
            yield max(1, min(window for window in windows.values() if window is not None) // SHARE)
            pilot.stop()
            if self.decisions is None:
                for name in [name for name in pilot.summary if name not in told]:
                    self.tell(f"autopilot: {name}: the query stays with its plan: no look found a better one")
