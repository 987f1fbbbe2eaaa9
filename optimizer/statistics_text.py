"""Statistics as text, for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from midstream.optimizer.statistics import Distribution, Statistics, StreamStatistics

MOST_VALUES = 5
"""Number of most frequent values of a column that are shown."""


def statistics_text(statistics: Statistics) -> str:
    """A paragraph for each stream, and the selectivities.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer")
    >>> of_s = StreamStatistics(d=4.0, l=1.0, distributions={"x": {7: 0.75, 8: 0.25}})
    >>> print(statistics_text(Statistics({s.node: of_s}, {s["x"] > 7: 0.25})))
    source s: an element every 4 chronons, valid for 1
      x: 7 75 %, 8 25 %
    x > 7: 25 %
    """
    return "\n".join(_lines(statistics))


def _lines(statistics: Statistics) -> Iterator[str]:
    for node, one in statistics.streams.items():
        yield f"{node.operator}: {_characteristics(one)}"
        for column, shares in one.distributions.items():
            yield f"  {column}: {_values(shares)}"
        if one.sample is not None:
            yield f"  rows in the sample: {len(one.sample.rows):,}"
    for column, shares in statistics.distributions.items():
        yield f"{column}, of any stream: {_values(shares)}"
    for condition, share in statistics.selectivities.items():
        yield f"{condition}: {100 * share:.3g} %"


def _characteristics(one: StreamStatistics) -> str:
    found = []
    if one.rate:
        length = "for ever" if math.isinf(one.l) else f"for {one.l:.4g}"
        found.append(f"an element every {one.d:.4g} chronons, valid {length}")
        if one.g > 1:
            found.append(f"timestamps are multiples of {one.g}")
        if one.even:
            found.append("distances and lengths are all the same")
    if one.always:
        found.append(f"{one.always:.4g} rows at every instant")
    return ", ".join(found) or "nothing came"


def _values(shares: Distribution) -> str:
    most = sorted(shares.items(), key=lambda one: -one[1])[:MOST_VALUES]
    shown = [f"{value!r} {100 * share:.3g} %" for value, share in most]
    rest = len(shares) - len(shown)
    return ", ".join(shown) + (f", and {rest:,} others" if rest else "") if shown else "no values"
