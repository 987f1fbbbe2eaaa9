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
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time

HALF_LIFE = 1.0
"""The time after which an element counts half, in windows: state is what came in the last window."""

STEADY = 0.1
"""The relative change of a rate up to which statistics are not published again, but for a long time."""

GROWN = 2
"""The factor by which a sample grows until statistics are published again."""

RENEWED = 8
"""The number of windows after which statistics are published again in any case."""

BURST, DEVIATIONS = 0.1, 4.0
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

    The statistics of a stream stay the same object until its rate changes by more than `STEADY`, its sample
    has grown by the factor `GROWN`, or for `RENEWED` windows, as new ones cost estimates of all that reads
    the stream. If other columns or conditions
    of a stream are required, it is learned anew, and what was published stays until half a half-life has
    passed.

    Cost     As `DecayedStatistics`, for each stream
    """

    def __init__(self) -> None:
        self._known: dict[Node, StreamStatistics] = {}
        """Statistics of streams until their elements come, and of relations."""
        self._begun: dict[str, int] = {}
        """By stream, the instant from which on elements have yet to be learned from."""
        self._looks: Looks | None = None
        self._sources: dict[str, _Source] = {}
        self._requirements: dict[Plan, Requirements] = {}
        self.efforts = Efforts()

    @property
    def nodes(self) -> dict[str, Node]:
        """The sources that are read, by stream."""
        return {stream: source.node for stream, source in self._sources.items()}

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
        self._begun = {stream: at for stream, at in self._begun.items() if stream in nodes}
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
        learned = DecayedStatistics(Plan(node), HALF_LIFE * looks.window, threshold=0.0, required=required)
        # Elements since the last look stay gathered, so that it does not matter when plans are taken.
        gathering = gathering or Gathering(node.operator, looks.step)
        gathering.columns = required.columns.get(node.operator.stream, ())
        published = self._known.get(node) if old is None else old.published
        return _Source(node, required, gathering, learned, published=published, is_again=old is not None)

    def expect(self, statistics: Mapping[Node, StreamStatistics]) -> None:
        """Take statistics of streams that hold until their first elements have come."""
        self._known |= statistics

    def state(self, relations: Mapping[Node, Observation]) -> None:
        """Take the observations of relations, whose statistics stay as they are."""
        self._known |= Statistics.from_observations(relations).streams

    def skip(self, stream: str, until: Time) -> None:
        """Learn from what came before an instant, and forget what came later: a new watch shows it again."""
        if BEGINNING < until < FOREVER and until >= self._begun.get(stream, until):
            if stream in self._sources:
                self._sources[stream].gathering.forget(int(until))
            self._gather(stream, int(until))

    def take(self, stream: str, batch: Batch, progress: Time) -> None:
        """Take elements of a stream between two looks."""
        if stream in self._sources:
            self._sources[stream].gathering.take(batch, progress)

    def learn(self, now: int, lately: Mapping[str, tuple[int, int]]) -> list[Node]:
        """Learn from the elements since the last look; returns the sources whose statistics have changed.

        `lately` holds the last chronons and the number of elements that came in these, by stream. A stream
        that has been learned from beyond `now` is left out, as others are behind it.
        """
        changed = []
        least = 0.0 if self._looks is None else HALF_LIFE * self._looks.window / 2
        for stream, source in self._sources.items():
            looked = self._begun.get(stream)
            if looked is not None and now <= looked:
                continue
            count = self._gather(stream, now)
            if source.since is None:
                continue
            if source.is_again and source.published is not None and now < source.since + least:
                continue
            new = source.learned.at(now).streams[source.node]
            # What is smoothed is slow to show a burst, or its end, and so is a long time since the last look.
            for passed, n in ((0 if looked is None else now - looked, count), lately.get(stream, (0, 0))):
                if passed and (is_burst(n, passed * new.rate) or is_burst(passed * new.rate, n)):
                    new = replace(new, d=passed / (n + 1))
            is_due = self._looks is None or now >= source.published_at + RENEWED * self._looks.window
            if new is not source.published and (is_due or not _is_alike(new, source.published)):
                source.published, source.published_at = new, now
                changed.append(source.node)
        return changed

    def _gather(self, stream: str, until: int) -> int:
        """Learn from the elements of a stream since it was learned from; returns their number."""
        looked, self._begun[stream] = self._begun.get(stream), until
        source = self._sources.get(stream)
        if source is None:
            return 0
        cell = source.gathering.cell(looked, until)
        if cell is None:
            return 0
        self.efforts.cells += 1
        self.efforts.rows += len(cell.rows)
        source.learned.take([cell])
        source.since = cell.start if source.since is None else source.since
        return cell.elements

    def knows(self, node: Node) -> bool:
        """True if anything is known of a source, other than that nothing has come."""
        source = self._sources.get(node.operator.stream) if isinstance(node.operator, Source) else None
        return node in self._known or (source is not None and source.published is not None)

    def statistics(self) -> Statistics:
        """The statistics of all streams; those of which nothing has come are silent."""
        return Statistics(
            {
                **self._known,
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
    """True if a rate is nearly the same, and the sample not much larger.

    A small sample tells little of how many different values there are.
    """
    if old is None or abs(new.rate - old.rate) > STEADY * old.rate:
        return False
    return _rows(new) < GROWN * max(1, _rows(old))


def _rows(statistics: StreamStatistics) -> int:
    return 0 if statistics.sample is None else len(statistics.sample.rows)
