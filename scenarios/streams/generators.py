"""The streams of a scenario, generated or read from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile
from random import Random

from midstream.io.sources.rows import Row
from midstream.scenarios.streams.delivery import Arrival, delivered
from midstream.scenarios.streams.distributions import Draw, drawing
from midstream.scenarios.streams.instants import instants
from midstream.scenarios.streams.stream_spec import Recorded, StreamSpec, Trace
from midstream.scenarios.streams.traces import recorded_rows


def arrivals(name: str, spec: StreamSpec, second: int, seed: int, duration: int) -> Iterator[Arrival]:
    """The arrivals on a stream; equal arguments give equal arrivals, whatever other streams there are.

    name        of the stream; its randomness depends on the seed and on this alone
    spec        as the scenario describes it; the path of a trace leads to the file from here
    second      how many chronons a second has
    duration    of the scenario, in chronons: no element starts there or later

    Output   In order of arrival; the end comes once, last.
    State    What is out of order or held up; one batch of a recorded stream.
    Raises   As `recorded_rows`.

    >>> from midstream.scenarios.streams.stream_spec import Regular, Uniform
    >>> columns = {"item": Uniform(values="uniform", low=0, high=9)}
    >>> bids = StreamSpec(columns=columns, arrivals=Regular(process="constant", rate=2), lag=100)
    >>> for arrival in arrivals("bids", bids, second=1000, seed=1, duration=1000):
    ...     print(arrival.at, arrival.kind, arrival.what)
    100 element (0, 1, (7,))
    600 element (500, 501, (8,))
    1100 end None
    """
    rows = takewhile(lambda row: row[0] < duration, _rows(name, spec, second, seed, duration))
    return delivered(name, spec, islice(rows, spec.count), _random(seed, name, "disorder"), duration)


def _rows(name: str, spec: StreamSpec, second: int, seed: int, duration: int) -> Iterator[Row]:
    process = spec.arrivals
    recorded = {own: values for own, values in spec.columns.items() if isinstance(values, Recorded)}
    draws = {
        own: drawing(values, _random(seed, name, f"column {own}"))
        for own, values in spec.columns.items()
        if own not in recorded
    }
    if not isinstance(process, Trace):
        starts = instants(process, second, _random(seed, name, "arrivals"), duration)
        return ((start, tuple([draw(start) for draw in draws.values()])) for start in starts)
    read = recorded_rows(name, process, recorded, second)
    if not draws:
        return read
    return _mixed(read, list(spec.columns), list(recorded), draws)


def _mixed(
    read: Iterator[Row], columns: list[str], recorded: list[str], draws: dict[str, Draw]
) -> Iterator[Row]:
    for start, values in read:
        by_name = dict(zip(recorded, values, strict=True))
        yield start, tuple([draws[own](start) if own in draws else by_name[own] for own in columns])


def _random(seed: int, name: str, purpose: str) -> Random:
    # One generator for each purpose, so that the draws for one column do not change those for another.
    return Random(f"{seed}/{name}/{purpose}")
