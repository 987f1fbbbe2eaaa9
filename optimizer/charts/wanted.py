"""What shall be along a chart's dimensions: measures by their names, and ranges, given or learned."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from midstream.optimizer.charts.chart import ChartError, Dimension
from midstream.optimizer.charts.making import Changing
from midstream.optimizer.charts.measures import Measure, Rate, measure_named, measures_of
from midstream.optimizer.charts.ranges import STANDARD, LearnedRange, Range
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan

ALONG = re.compile(r"(?P<name>.*\))\s*(=\s*(?P<low>[^=]+?)\s*\.\.\s*(?P<high>[^=]+?)\s*)?", re.DOTALL)


@dataclass(frozen=True)
class Wanted:
    """What a dimension shall be: a measure by its name, and a range, if one is given."""

    name: str
    range: Range | None


def wanted(text: str) -> Wanted:
    """What --along says. Raises ChartError.

    >>> wanted("selectivity(city = 'Aarhus')=0..0.5"), wanted("rate(bids)").range
    (Wanted(name="selectivity(city = 'Aarhus')", range=(0.0, 0.5)), None)
    """
    match = ALONG.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        low, high = match["low"], match["high"]
        return Wanted(match["name"], None if low is None else (float(low), float(high)))
    except ValueError:
        raise ChartError(
            f"--along: found {text!r}, expected rate(STREAM) or selectivity(CONDITION), with a range as in "
            "rate(bids)=0.1..2 or without"
        ) from None


def measures_wanted(plan: Plan, along: Sequence[Wanted]) -> list[tuple[Wanted, Measure]]:
    """What changes; by default the rates of all streams. Raises ChartError where a plan has no such thing."""
    given = along or [Wanted(name, None) for name in measures_of([plan]) if name.startswith("rate(")]
    if not given:
        raise ChartError("chart: found a plan that reads no stream, expected one whose rates may change")
    measures = [measure_named(one.name, [plan]) for one in given]
    for i, measure in enumerate(measures):
        if measure in measures[:i]:
            raise ChartError(f"chart: found {measure.name} twice, expected each dimension once")
    return list(zip(given, measures, strict=True))


def changing_along(
    given: Sequence[tuple[Wanted, Measure]],
    base: Statistics,
    rounds: Sequence[Sequence[float]],
    *,
    parts: int,
    is_logarithmic: bool,
) -> Changing:
    """The dimensions. A range that is not given is learned from what the measures were, round by round; else
    it is up to twice what is known of a rate, or as far as is possible."""
    found = []
    for i, (one, measure) in enumerate(given):
        has_factors = is_logarithmic and isinstance(measure, Rate)
        range_ = one.range or _range(measure, base, [point[i] for point in rounds], has_factors)
        found.append((Dimension(measure.name, *range_, parts, has_factors), measure))
    return found


def _range(measure: Measure, known: Statistics, values: Sequence[float], is_logarithmic: bool) -> Range:
    usable = [value for value in values if math.isfinite(value) and (value > 0 or not is_logarithmic)]
    if usable:
        settings = replace(STANDARD, first=len(usable), kept=len(usable))
        learned = LearnedRange(measure.least, measure.most, settings, is_logarithmic=is_logarithmic)
        for value in usable:
            learned.see(value)
        assert learned.range is not None
        return learned.range
    if math.isfinite(measure.most):
        return measure.least, measure.most
    rate = measure.read(known)
    if rate is None or not 0 < rate < math.inf:
        raise ChartError(f"{measure.name}: found {rate}, expected a rate, or a range as in rate(bids)=0.1..2")
    return (rate / 10, rate * 10) if is_logarithmic else (0.0, 2 * rate)
