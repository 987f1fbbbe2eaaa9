"""Requests for the dimensions of a chart: measures by their names, and ranges, given or learned."""

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
class DimensionRequest:
    """A request for a dimension: a measure by its name, and a range, or None to learn it."""

    name: str
    range: Range | None


def dimension_request(text: str) -> DimensionRequest:
    """Read a value of --along; raises ChartError.

    >>> dimension_request("selectivity(city = 'Aarhus')=0..0.5"), dimension_request("rate(bids)").range
    (DimensionRequest(name="selectivity(city = 'Aarhus')", range=(0.0, 0.5)), None)
    """
    match = ALONG.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        low, high = match["low"], match["high"]
        return DimensionRequest(match["name"], None if low is None else (float(low), float(high)))
    except ValueError:
        raise ChartError(
            f"--along: found {text!r}, expected rate(STREAM) or selectivity(CONDITION), with a range as in "
            "rate(bids)=0.1..2 or without"
        ) from None


def requested_measures(
    plan: Plan, along: Sequence[DimensionRequest]
) -> list[tuple[DimensionRequest, Measure]]:
    """The requested measures, by default the rates of all streams; raises ChartError for unknown ones."""
    requested = along or [
        DimensionRequest(name, None) for name in measures_of([plan]) if name.startswith("rate(")
    ]
    if not requested:
        raise ChartError("chart: found a plan that reads no stream, expected one whose rates may change")
    measures = [measure_named(one.name, [plan]) for one in requested]
    for i, measure in enumerate(measures):
        if measure in measures[:i]:
            raise ChartError(f"chart: found {measure.name} twice, expected each dimension once")
    return list(zip(requested, measures, strict=True))


def changing_along(
    requested: Sequence[tuple[DimensionRequest, Measure]],
    base: Statistics,
    rounds: Sequence[Sequence[float]],
    *,
    parts: int,
    is_logarithmic: bool,
) -> Changing:
    """The requested dimensions.

    A range that is not given is learned from the values of the measure, round by round. Without values, it is
    up to twice the known rate, or as wide as possible.
    """
    found = []
    for i, (one, measure) in enumerate(requested):
        has_factors = is_logarithmic and isinstance(measure, Rate)
        range_ = one.range or _range(measure, base, [point[i] for point in rounds], has_factors)
        found.append((Dimension(measure.name, *range_, parts, has_factors), measure))
    return found


def _range(measure: Measure, known: Statistics, values: Sequence[float], is_logarithmic: bool) -> Range:
    usable = [value for value in values if math.isfinite(value) and (value > 0 or not is_logarithmic)]
    if usable:
        settings = replace(STANDARD, first=len(usable), history=len(usable))
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
