"""What an engine's autopilot is made of: statistics while streams flow, an advisor, and who decides."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

from midstream.autopilot.accounts import Accounts, counts, prices_of, unit_of
from midstream.autopilot.advice import Advisor
from midstream.autopilot.advising import ByOptimizer
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.crew import Crew
from midstream.autopilot.settings import NAMED, Settings
from midstream.migration.migrate import obstacle
from midstream.operators.engine.collecting import Collector
from midstream.operators.engine.host import Host
from midstream.operators.engine.queries import RunningQuery
from midstream.optimizer import Objective, Statistics
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.restarting_statistics import RestartingStatistics
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.arguments import wrong
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import Batch, Time

LONGEST = 1 << 16
"""Letters of a file of settings: a device without an end is not read to its end."""


class Learning:
    """Statistics of what a query reads, learned cell by cell: such as decide; and where they are asked for,
    others that forget so fast that they tell of the last window or so."""

    def __init__(
        self,
        host: Host,
        query: RunningQuery,
        step: int,
        window: int,
        half_life: float,
        *,
        tells_lately: bool = True,
    ) -> None:
        plan, constant = query.plan, _of_relations(host, query)
        self._statistics = RestartingStatistics(plan, half_life, window, constant=constant)
        self.memory = float(max(window, step))
        """After so many chronons the others count 1 / e."""
        self._fast: DecayedStatistics | None = None
        if tells_lately:
            self._fast = DecayedStatistics(plan, log(2) * self.memory, threshold=0.0, constant=constant)
        self._collector = Collector(plan.sources, self._statistics.columns, step)
        self._nodes = {
            node.operator.stream: node
            for node in logical_plan(plan).nodes
            if isinstance(node.operator, Source)
        }
        self.arrived = dict.fromkeys(self._nodes.values(), 0)
        """By source, how many elements have come before the last look."""

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Something came."""
        self._collector.take(stream, batch, progress)

    def known(self, now: int) -> Statistics | None:
        """By what starts before an instant; None within a window of the first element."""
        cells = self._collector.cells(now)
        for cell in cells:
            self.arrived[self._nodes[cell.stream]] += cell.elements
        self._statistics.take(cells)
        if self._fast is not None:
            self._fast.take(cells)
        return self._statistics.at(now)

    def lately(self, now: int) -> Statistics:
        """By what came lately; to be asked behind `known`, and only where they are kept."""
        assert self._fast is not None
        return self._fast.at(now)


def crew_for(
    host: Host,
    query: RunningQuery,
    window: int,
    step: int,
    *,
    advisor: Advisor[Plan, Statistics] | None,
    objective: Objective,
    settings: Settings,
) -> Crew[Statistics]:
    """Who flies a query whose largest window has a size, with a time from look to look."""

    def in_the_way(plan: Plan) -> str | None:
        return obstacle(host, plan, query.name)

    who = ByOptimizer(objective, obstacle=in_the_way) if advisor is None else advisor
    unit, half_life = unit_of(who), settings.half_life * window
    is_counted = unit is not None and counts(unit)
    learning = Learning(host, query, step, window, half_life, tells_lately=is_counted)
    accounts = None if unit is None else Accounts(unit, learning, prices_of(who))
    return Crew(Autopilot(query.plan, window, settings), who, learning, accounts)


def settings_of(given: Any) -> Settings:
    """Settings by name, from a file, or as they are.

    Raises   ArgumentError where there are none.

    >>> settings_of("careful").doubt
    2.0
    """
    if isinstance(given, Settings):
        return given
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    expected = f"{', '.join(NAMED)}, settings, or a file of them"
    if not isinstance(given, str | Path):
        raise wrong("autopilot: settings", given, expected)
    try:
        with open(given, encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        why = suggest(str(given), NAMED) or f", which cannot be read: {error.strerror or error}"
        raise ArgumentError(f"autopilot: settings: found {given}{why}; expected {expected}") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"autopilot: settings: {given} is no text; expected {expected}") from error
    if len(text) > LONGEST:
        raise ArgumentError(f"autopilot: settings: {given} is too long for settings; expected {expected}")
    try:
        return Settings.loads(text)
    except ArgumentError as error:
        raise ArgumentError(f"autopilot: {given}: {error}") from error


def _of_relations(host: Host, query: RunningQuery) -> dict[Node, StreamStatistics]:
    """Of relations all is known from the beginning."""
    try:
        observed = host.observe(query.name)
    except StatisticsError:
        return {}
    rows = {node: one for node, one in observed.items() if isinstance(node.operator, Relation)}
    return dict(Statistics.from_observations(rows).streams) if rows else {}
