"""A run within a budget, whose decisions are printed, written to a file, or drawn as a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from midstream.autopilot.budget_records import BudgetRecord
from midstream.autopilot.looks import largest_window
from midstream.commands.autopilot_options import SHARE
from midstream.commands.decision_records import DecisionFiles
from midstream.engine import Engine
from midstream.io.distinct_files import PossibleUse
from midstream.io.process_memory import resident_bytes
from midstream.plans.values.streams import Time


@dataclass(frozen=True)
class BudgetOptions:
    """The options of a budget for the queries of a script.

    memory      bytes as text, such as 100MB; None for no limit
    processor   the share of a processor, such as 30%; None for no limit
    reserve     the share of the budget that stays free
    decisions   a file for every decision, as JSON lines; without it, decisions are printed
    chart       a file for a chart of memory and processing beside the budget
    tell        prints a line
    chronon     the microseconds of a chronon
    every       the time between looks, in chronons; None for a part of the largest window
    """

    memory: str | None
    processor: str | None
    reserve: float
    decisions: Path | None
    chart: Path | None
    tell: Callable[[str], object]
    chronon: float
    every: int | None = None

    @property
    def reads(self) -> list[PossibleUse]:
        """The files that are read: none."""
        return []

    @property
    def writes(self) -> list[PossibleUse]:
        """The files that are written."""
        return [("--budget-decisions", self.decisions), ("--budget-chart", self.chart)]

    @contextmanager
    def over(self, engine: Engine, instant: Callable[[Time], str]) -> Iterator[int]:
        """Keep an engine's queries within the budget during a block.

        The block gets the number of chronons by which streams should be ahead of each other at most.
        `instant` shows times.

        Raises   ArgumentError where the budget is none.
        """
        from midstream.commands.budget_chart import draw

        budget = engine.budget(
            memory=self.memory,
            processor=self.processor,
            reserve=self.reserve,
            chronon=self.chronon,
            every=self.every,
        )
        windows = [largest_window(query.plan) or self.every for query in engine.queries.values()]
        files = DecisionFiles("--budget-chart", self.decisions, self.chart)
        with files.of(
            budget,
            lambda record: self._print(record, instant),
            lambda records, form: draw(records, form, resident_bytes()),
            lambda: {"resident": resident_bytes()},
        ):
            yield max(1, min(window for window in windows if window is not None) // SHARE)
            budget.stop()

    def _print(self, record: BudgetRecord, instant: Callable[[Time], str]) -> None:
        """Print all decisions but those that change nothing."""
        if record.event != "stay":
            self.tell(f"budget: {record.text(instant)}")
