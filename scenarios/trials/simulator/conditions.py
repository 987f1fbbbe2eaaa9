"""Conditions that start a migration, on measurements such as `rate(bids) > 300 and state > 50`.

A condition is checked at the end of each bucket of the scenario's grid of application time, and is about that
bucket. So it is met at the same instant in every run.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from midstream.plans.values.schema import suggest


@dataclass(frozen=True, slots=True)
class Bucket:
    """Measurements of the last bucket.

    elements        by stream, the number that arrived
    state           of the whole engine at the end of the bucket, in elements
    latency         the mean latency of the results, in chronons; None without results
    """

    seconds: float
    elements: Mapping[str, int]
    results: int
    intermediate: int
    state: int
    latency: float | None


def _elements(bucket: Bucket, stream: str | None) -> int:
    return sum(bucket.elements.values()) if stream is None else bucket.elements[stream]


MEASURES: Mapping[str, Callable[[Bucket, str | None], float | None]] = {
    "rate": lambda bucket, stream: _elements(bucket, stream) / bucket.seconds,
    "selectivity": lambda bucket, stream: bucket.results / n if (n := _elements(bucket, stream)) else None,
    "intermediate": lambda bucket, stream: bucket.intermediate / bucket.seconds,
    "results": lambda bucket, stream: bucket.results / bucket.seconds,
    "state": lambda bucket, stream: bucket.state,
    "latency": lambda bucket, stream: bucket.latency,
}
"""Measures by name.

`rate` is in elements per second, of a stream or of all; `selectivity` is results per arrived element.
`intermediate` and `results` are per second; `state` is in elements, `latency` a mean in chronons.
"""

OF_A_STREAM = ("rate", "selectivity")

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_TERM = re.compile(
    r"\s*(?P<measure>\w+)\s*(?:\(\s*(?P<stream>\w*)\s*\))?"
    r"\s*(?P<comparison>>=|<=|>|<)\s*(?P<number>\d+(?:\.\d+)?)\s*"
)


@dataclass(frozen=True, slots=True)
class Term:
    """A measure compared with a number; not met if a lack of elements leaves it undefined."""

    measure: str
    stream: str | None
    comparison: str
    number: float

    def is_met(self, bucket: Bucket) -> bool:
        """True if the term holds for a bucket."""
        found = MEASURES[self.measure](bucket, self.stream)
        return found is not None and COMPARISONS[self.comparison](found, self.number)


@dataclass(frozen=True, slots=True)
class Condition:
    """Terms that must all be met.

    >>> condition = Condition.of("rate(a) > 5 and state < 100", ["a", "b"])
    >>> bucket = Bucket(2.0, {"a": 12, "b": 0}, results=3, intermediate=8, state=99, latency=None)
    >>> condition.is_met(bucket), Condition.of("latency < 10", []).is_met(bucket)
    (True, False)
    """

    text: str
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, text: str, streams: Collection[str]) -> Condition:
        """Read a condition.

        Raises   ValueError, saying what was expected.
        """
        return cls(text, tuple(_term(part, streams) for part in re.split(r"\band\b", text)))

    def is_met(self, bucket: Bucket) -> bool:
        """True if all terms hold for a bucket."""
        return all(term.is_met(bucket) for term in self.terms)


def _term(text: str, streams: Collection[str]) -> Term:
    match = _TERM.fullmatch(text)
    if match is None:
        raise ValueError(f"a measure, {', '.join(COMPARISONS)}, and a number, for example rate(bids) > 300")
    measure, stream = match["measure"], match["stream"] or None
    if measure not in MEASURES:
        raise ValueError(f"one of {', '.join(MEASURES)}, not {measure}{suggest(measure, MEASURES)}")
    if stream is not None and measure not in OF_A_STREAM:
        raise ValueError(f"{measure} without a stream: only {' and '.join(OF_A_STREAM)} may have one")
    if stream is not None and stream not in streams:
        raise ValueError(f"one of the streams {', '.join(streams)}, not {stream}{suggest(stream, streams)}")
    return Term(measure, stream, match["comparison"], float(match["number"]))
