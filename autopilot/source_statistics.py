"""The statistics of the streams of queries that come and go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from midstream.autopilot.budget import Efforts
from midstream.autopilot.gathering import Gathering
from midstream.autopilot.looks import Looks
from midstream.optimizer import Statistics
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.decayed_stream import SILENT
from midstream.optimizer.online.requirements import Requirements, requirements
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.streams import Batch, Time

HALF_LIFE = 1.0
"""The time after which an element counts half, in windows: state is what came in the last window."""

STEADY = 0.1
"""The relative change of a rate up to which statistics are not published again, but for a long time."""

RENEWED = 8
"""The number of windows after which statistics are published again in any case."""

BURST, DEVIATIONS = 0.2, 4.0
"""The excess of elements that is a burst: a share of what was expected, and standard deviations."""


@dataclass(slots=True)
class _Source:
    """A stream: its elements since the last look, its smoothed statistics, and those published last."""

    node: Node
    required: Requirements
    gathering: Gathering
    learned: DecayedStatistics
    since: int | None = None
    """The first look with elements; None before."""
    published: StreamStatistics | None = None
    published_at: int = 0
    is_again: bool = False
    """True if the stream has been learned before, so that what was published may stay for a while."""


class SourceStatistics:
    """Learns about each stream by itself, as far as some queries require it.

    The statistics of a stream stay the same object until its rate changes by more than `STEADY`, or for
    `RENEWED` windows, as new ones cost estimates of all that reads the stream. If other columns or conditions
    of a stream are required, it is learned anew, and what was published stays until half a half-life has
    passed.

    `before` are statistics of streams that are taken until their first elements have come.

    Cost     As `DecayedStatistics`, for each stream
    """

    def __init__(self, before: Mapping[Node, StreamStatistics]) -> None:
        self._before = before
        self._looks: Looks | None = None
        self._sources: dict[str, _Source] = {}
        self._requirements: dict[Plan, Requirements] = {}
        self.efforts = Efforts()

    @property
    def nodes(self) -> list[Node]:
        """The sources that are read."""
        return [source.node for source in self._sources.values()]

    def set_plans(self, plans: Iterable[Plan], looks: Looks) -> None:
        """Learn what these plans require, at such looks."""
        is_same, self._looks = self._looks == looks, looks
        known, self._requirements = self._requirements, {}
        nodes: dict[str, Node] = {}
        columns: dict[str, set[str]] = {}
        conditions: dict[str, dict[Expression, None]] = {}
        for plan in plans:
            if plan in self._requirements:
                continue
            asked = self._requirements[plan] = known.get(plan) or requirements(plan)
            for node in plan.nodes:
                if isinstance(node.operator, Source):
                    nodes.setdefault(node.operator.stream, node)
            for stream, names in asked.columns.items():
                columns.setdefault(stream, set()).update(names)
            for stream, parts in asked.conditions.items():
                conditions.setdefault(stream, {}).update(dict.fromkeys(parts))
        before, self._sources = self._sources, {}
        for stream, node in nodes.items():
            pairs = tuple(((stream, name), (stream, name)) for name in sorted(columns.get(stream, ())))
            of_stream = tuple(sorted(conditions.get(stream, ()), key=str))
            required = Requirements(pairs, {stream: of_stream} if of_stream else {})
            old = before.get(stream)
            if is_same and old is not None and old.required == required and old.node == node:
                self._sources[stream] = old
            else:
                gathering = old.gathering if is_same and old is not None and old.node == node else None
                self._sources[stream] = self._source(node, required, looks, old, gathering)

    def _source(
        self,
        node: Node,
        required: Requirements,
        looks: Looks,
        old: _Source | None,
        gathering: Gathering | None,
    ) -> _Source:
        assert isinstance(node.operator, Source)
        learned = DecayedStatistics(Plan(node), HALF_LIFE * looks.window, required=required)
        # Elements since the last look stay gathered, so that it does not matter when plans are taken.
        gathering = gathering or Gathering(node.operator, looks.step)
        gathering.columns = required.columns.get(node.operator.stream, ())
        published = self._before.get(node) if old is None else old.published
        return _Source(node, required, gathering, learned, published=published, is_again=old is not None)

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Take elements of a stream between two looks."""
        if stream in self._sources:
            self._sources[stream].gathering.take(batch, progress)

    def learn(self, now: int, looked: int | None) -> list[Node]:
        """Learn from the elements since the last look; returns the sources whose statistics have changed."""
        changed = []
        least = 0.0 if self._looks is None else HALF_LIFE * self._looks.window / 2
        for source in self._sources.values():
            cells = [*filter(None, [source.gathering.cell(looked, now)])]
            self.efforts.cells += len(cells)
            self.efforts.rows += sum(len(cell.rows) for cell in cells)
            source.learned.take(cells)
            if source.since is None:
                if not cells:
                    continue
                source.since = min(cell.start for cell in cells)
            if source.is_again and source.published is not None and now < source.since + least:
                continue
            new = source.learned.at(now).streams[source.node]
            if looked is not None:
                # What is smoothed is slow to show a burst, or its end.
                passed, count = now - looked, sum(cell.elements for cell in cells)
                if is_burst(count, passed * new.rate) or is_burst(passed * new.rate, count):
                    new = replace(new, d=passed / (count + 1))
            is_due = self._looks is None or now >= source.published_at + RENEWED * self._looks.window
            if new is not source.published and (is_due or not _is_alike(new, source.published)):
                source.published, source.published_at = new, now
                changed.append(source.node)
        return changed

    def knows(self, node: Node) -> bool:
        """True if anything is known of a source, other than that nothing has come."""
        source = self._sources.get(node.operator.stream) if isinstance(node.operator, Source) else None
        return node in self._before or (source is not None and source.published is not None)

    def statistics(self) -> Statistics:
        """The statistics of all streams; those of which nothing has come are silent."""
        return Statistics(
            {
                **self._before,
                **{one.node: one.published or SILENT for one in self._sources.values()},
            }
        )


def is_burst(count: float, expected: float) -> bool:
    """True if there are more elements than chance explains.

    >>> is_burst(130, 100), is_burst(150, 100), is_burst(5, 1)
    (False, True, False)
    """
    return count > (1 + BURST) * expected and count > expected + DEVIATIONS * math.sqrt(expected + 1)


def _is_alike(new: StreamStatistics, old: StreamStatistics | None) -> bool:
    return old is not None and abs(new.rate - old.rate) <= STEADY * old.rate
