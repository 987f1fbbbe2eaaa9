"""Input of the engines: the streams of a scenario, merged and cut into equal batches for every run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter

from midstream.arrivals import Event, event_of
from midstream.plans.values.streams import Batch
from midstream.scenarios.streams.delivery import Arrival, Kind
from midstream.scenarios.streams.generators import arrivals
from midstream.scenarios.trials.simulator.scenario import Scenario

QUICK, QUICK_FROM = 10, 1000
"""A first look takes every tenth element if there are more than `QUICK_FROM`."""


@dataclass(frozen=True, slots=True)
class Portion:
    """A batch of one stream, a heartbeat, or, with neither, the end of the stream.

    at      the instant at which its last element arrived
    """

    at: int
    stream: str
    batch: Batch | None = None
    heartbeat: int | None = None

    @property
    def event(self) -> Event:
        """The portion as an event of an engine."""
        if self.heartbeat is not None:
            return "advance", self.stream, self.heartbeat
        return event_of(self.stream, self.batch)


@dataclass(frozen=True, slots=True)
class Input:
    """All that arrives in a repetition.

    cuts        instants at which something may happen; no portion reaches over one
    buckets     the number of buckets of the grid that cover the duration, and elements that arrive after it
    """

    seed: int
    portions: tuple[Portion, ...]
    cuts: tuple[int, ...]
    buckets: int


def input_of(scenario: Scenario, seed: int, is_quick: bool = False) -> Input:
    """Generate or read the streams of a scenario.

    `is_quick` takes only a part of long streams.

    Raises   What the sources of the streams raise.
    """
    spec = scenario.spec
    streams = [
        list(arrivals(name, stream, scenario.second, seed, spec.duration))
        for name, stream in spec.streams.items()
    ]
    if is_quick and sum(map(len, streams)) > QUICK_FROM:
        streams = [list(thinned(stream)) for stream in streams]
    # At equal instants, the stream that the scenario names first comes first.
    merged = list(merge(*streams, key=attrgetter("at")))
    last = max((arrival.at for arrival in merged if arrival.kind == "element"), default=0)
    buckets = max(-(-spec.duration // scenario.every), last // scenario.every + 1)
    cuts = {i * scenario.every for i in range(1, buckets)}
    cuts |= {time for step in scenario.steps for time in (step.at, step.abort_at) if time is not None}
    cuts |= {change.at for change in spec.adjustments}
    cuts |= {query.at for query in scenario.queries if query.at}
    ordered = tuple(sorted(cuts))
    return Input(seed, tuple(portions(merged, spec.batch, ordered)), ordered, buckets)


def thinned(stream: Iterable[Arrival]) -> Iterator[Arrival]:
    """A stream with one element out of ten."""
    count = 0
    for arrival in stream:
        if arrival.kind == "element":
            count += 1
            if count % QUICK:
                continue
        yield arrival


def portions(arrived: Iterable[Arrival], size: int, cuts: Sequence[int]) -> Iterator[Portion]:
    """Arrivals in order, as portions: consecutive elements of one stream, up to `size`, and none over a cut.

    >>> arrived = [Arrival(at, "s", "element", (at, at + 1, ())) for at in (1, 2, 3, 5)]
    >>> for portion in portions([*arrived, Arrival(6, "s", "end", None)], 2, [3]):
    ...     print(portion.at, portion.batch)
    2 [(1, 2, ()), (2, 3, ())]
    5 [(3, 4, ()), (5, 6, ())]
    6 None
    """

    def together_with(one: Arrival) -> tuple[int, str, Kind]:
        return bisect_right(cuts, one.at), one.stream, one.kind

    for (_, stream, kind), group in groupby(arrived, together_with):
        together = list(group)
        if kind == "element":
            for i in range(0, len(together), size):
                part = together[i : i + size]
                yield Portion(part[-1].at, stream, batch=[one.what for one in part])  # type: ignore[misc]
        else:
            for one in together:
                yield Portion(one.at, stream, heartbeat=one.what if isinstance(one.what, int) else None)
