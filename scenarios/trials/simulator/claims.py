"""Claims: statements of a scenario about its figures, such as `duration(genmig) = 10 s ± 1%`.

    claim   =  side {comparison side} [± number %] [throughout [from instant to instant]]
    side    =  [number *] figure(run) [from instant to instant]  |  number  |  number unit

A claim about CPU compares medians; any other claim must hold in every repetition. With `throughout` the
figures are series. They are compared at the end of each bucket in which all migrating runs of the claim
migrate, or, where plans run alone, at the end of every bucket; possibly only of a part of the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

from midstream.plans.values.schema import suggest
from midstream.scenarios.trials.simulator.conditions import COMPARISONS
from midstream.scenarios.trials.simulator.results import (
    FIGURES,
    HINDSIGHT,
    OF_BUDGETS,
    OF_POLICIES,
    OF_PROCESSING,
    TIMES,
    Checked,
    Run,
    Series,
    Simulation,
    figure_of,
)
from midstream.scenarios.trials.simulator.words import shown_number, shown_time

SERIES: Mapping[str, Callable[[Run], Sequence[float | None]]] = {
    "state": lambda run: run.series.state,
    "results": lambda run: list(accumulate(run.series.results)),
    "intermediate": lambda run: list(accumulate(run.series.intermediate)),
    "bytes": lambda run: _measured(run.series.bytes),
    "predicted_state": lambda run: run.series.predicted_state,
    "predicted_bytes": lambda run: run.series.predicted_bytes,
    "limit": lambda run: run.series.limit,
    "target": lambda run: run.series.target,
    "precision": lambda run: run.series.precision,
    "queries": lambda run: run.series.queries,
}
"""Figures that can be compared throughout: state, cumulative counts of results, and those of budgets."""

SPANS: Mapping[str, Callable[[Series, slice], float | None]] = {
    "state": lambda series, buckets: _mean(series.state[buckets]),
    "predicted_state": lambda series, buckets: _mean(series.predicted_state[buckets]),
    "bytes": lambda series, buckets: _mean(series.bytes[buckets]),
    "predicted_bytes": lambda series, buckets: _mean(series.predicted_bytes[buckets]),
    "precision": lambda series, buckets: _mean(series.precision[buckets]),
    "queries": lambda series, buckets: _mean(series.queries[buckets]),
    "limit": lambda series, buckets: _mean(series.limit[buckets]),
    "elements": lambda series, buckets: sum(series.elements[buckets]),
    "results": lambda series, buckets: sum(series.results[buckets]),
    "predicted_results": lambda series, buckets: (
        sum(expected) if (expected := series.predicted_results[buckets]) else None
    ),
    "intermediate": lambda series, buckets: sum(series.intermediate[buckets]),
    "emitted": lambda series, buckets: sum(series.emitted[buckets]),
    "cpu": lambda series, buckets: _growth(series.cpu, buckets),
    "predicted_cpu": lambda series, buckets: _growth(series.predicted_cpu, buckets),
}
"""Figures of a part of the time: an increase for counts and CPU, a mean over bucket ends for all else."""

OF_RATES = ("peak_output",)
"""Figures that are small, and hardly differ, where elements are few."""

_OF_LIMITS = ("limit", "target", "bytes", "precision", "queries", "predicted_bytes", "predicted_state")

_FIGURE = re.compile(
    r"(?:(?P<factor>\d+(?:\.\d+)?)\s*\*\s*)?(?P<figure>\w+)\s*\(\s*(?P<run>[^()]+?)\s*\)"
    r"(?:\s+from\s+(?P<since>\S.*?)\s+to\s+(?P<until>\S.*))?"
)
_THROUGHOUT = re.compile(r"\bthroughout(?:\s+from\s+(?P<since>\S.*?)\s+to\s+(?P<until>\S.*))?$")
_TOLERANCE = re.compile(r"±\s*(\d+(?:\.\d+)?)\s*%\s*$")
_COMPARISON = re.compile(r"\s*(<=|>=|<|>|=)\s*")
_SYNTAX = "two sides or more with one of <=, >=, <, >, = between them, for example duration(genmig) <= 10 s"


@dataclass(frozen=True, slots=True)
class Side:
    """A number, or a multiple of a figure of a run or of its part `[since, until)`, in chronons."""

    number: float
    figure: str | None = None
    run: str | None = None
    span: tuple[int, int] | None = None

    @property
    def is_of_cpu(self) -> bool:
        """True if it differs between runs of one scenario."""
        return self.figure is not None and (self.figure in OF_PROCESSING or "cpu" in self.figure)


@dataclass(frozen=True, slots=True)
class Claim:
    """Sides, and the comparisons between them.

    `tolerance` is the relative difference that `=` allows, as a share of the right side; `during` is the part
    of the time that a comparison throughout is about, None for all of it.

    >>> claim = Claim.of("duration(genmig) = 10 ± 1%", ["genmig"], int)
    >>> claim.sides == (Side(1.0, "duration", "genmig"), Side(10.0))
    True
    >>> claim.comparisons, claim.tolerance
    (('=',), 0.01)
    """

    text: str
    sides: tuple[Side, ...]
    comparisons: tuple[str, ...]
    tolerance: float = 0.0
    is_throughout: bool = False
    during: tuple[int, int] | None = None

    @classmethod
    def of(cls, text: str, runs: Collection[str], chronons: Callable[[str], int]) -> Claim:
        """Read a claim about some runs.

        `runs` are the names of all runs; `chronons` reads a time with a unit.

        Raises   ValueError, saying what was expected.
        """
        rest = text.strip()
        throughout = _THROUGHOUT.search(rest)
        is_throughout, during = throughout is not None, None
        if throughout is not None:
            rest = rest[: throughout.start()].rstrip()
            if throughout["since"]:
                during = (chronons(throughout["since"]), chronons(throughout["until"]))
        tolerance = _TOLERANCE.search(rest)
        parts = _COMPARISON.split(rest[: tolerance.start()].rstrip() if tolerance else rest)
        comparisons = tuple(parts[1::2])
        if not comparisons or not all(parts):
            raise ValueError(_SYNTAX)
        if tolerance and set(comparisons) != {"="}:
            raise ValueError("± with = only")
        sides = tuple(_side(part, is_throughout, runs, chronons) for part in parts[::2])
        if all(side.figure is None for side in sides):
            raise ValueError("a figure of a run, for example duration(genmig)")
        return cls(
            text.strip(),
            sides,
            comparisons,
            float(tolerance[1]) / 100 if tolerance else 0.0,
            is_throughout,
            during,
        )

    @property
    def is_of_cpu(self) -> bool:
        """True if it depends on the machine."""
        return any(side.is_of_cpu for side in self.sides)

    @property
    def is_of_rates(self) -> bool:
        """True if a first look, at a tenth of the elements, cannot check it."""
        return (
            self.is_of_cpu
            or self.during is not None
            or any(side.figure in (*OF_RATES, *OF_BUDGETS, *_OF_LIMITS) or side.span for side in self.sides)
        )

    def check_spans(self, every: int, duration: int) -> None:
        """Raise ValueError, saying what was expected, unless spans consist of buckets of the grid."""
        for since, until in filter(None, (self.during, *(side.span for side in self.sides))):
            if not 0 <= since < until <= duration or since % every or until % every:
                raise ValueError(
                    f"instants in order of time up to {duration} that are multiples of the grid, {every}"
                )

    def check(self, simulation: Simulation) -> Checked:
        """Check the claim against a simulation.

        A claim counts as not measured if a run is missing or has no such figure.
        """
        rows = self._throughout(simulation) if self.is_throughout else self._totals(simulation)
        if not rows or any(value is None for row in rows for value in row.values):
            return Checked(self.text, "not measured", "")
        worst = min(rows, key=self._margin)
        return Checked(
            self.text,
            "holds" if self._margin(worst) >= 0 else "does not hold",
            f"{self._shown(worst, simulation)}{worst.where}",
        )

    def _totals(self, simulation: Simulation) -> list[_Row]:
        columns = [_column(side, simulation) for side in self.sides]
        if not all(columns):
            return []
        if self.is_of_cpu:
            return [_Row([_median(column) for column in columns])]
        several = simulation.repetitions > 1
        rows = zip(*columns, strict=True)
        return [_Row(row, f", repetition {i + 1}" if several else "") for i, row in enumerate(rows)]

    def _throughout(self, simulation: Simulation) -> list[_Row]:
        rows = []
        names = [side.run for side in self.sides if side.run is not None]
        for repetition in range(simulation.repetitions):
            runs = {name: run for name in names for run in simulation.of(name)[repetition : repetition + 1]}
            moved = [run for run in runs.values() if run.migrations]
            if len(runs) < len(set(names)) or not (moved or simulation.compares_plans):
                return []
            series = [
                None if side.figure is None else SERIES[side.figure](runs[side.run or ""])
                for side in self.sides
            ]
            for i in range(min(len(one) for one in series if one is not None)):
                end = (i + 1) * simulation.every
                if self.during is not None and not self.during[0] < end <= self.during[1]:
                    continue
                if all(_is_moving(run, end) for run in moved):
                    values = [
                        side.number if one is None else _times(side.number, one[i])
                        for side, one in zip(self.sides, series, strict=True)
                    ]
                    rows.append(_Row(values, f" at {shown_time(simulation, end)}"))
        return rows

    def _margin(self, row: _Row) -> float:
        """The least distance from breaking the claim, relative to the right side; below 0 if it is broken."""
        found = []
        for comparison, (left, right) in zip(self.comparisons, pairwise(row.values), strict=True):
            assert left is not None and right is not None
            scale = abs(right) or 1.0
            distance = abs(right - left) / scale
            if comparison == "=":
                found.append(self.tolerance - distance)
            else:
                found.append(distance if COMPARISONS[comparison](left, right) else -distance or -1.0)
        return min(found)

    def _shown(self, row: _Row, simulation: Simulation) -> str:
        figures = {side.figure for side in self.sides if side.figure is not None}
        are_times = not self.is_throughout and figures <= set(TIMES)
        shown = [
            shown_time(simulation, value) if are_times else shown_number(value or 0) for value in row.values
        ]
        signs = (
            [*self.comparisons, ""] if self._margin(row) >= 0 else [*("but" for _ in self.comparisons), ""]
        )
        return " ".join(f"{value} {sign}" for value, sign in zip(shown, signs, strict=True)).strip()


@dataclass(frozen=True, slots=True)
class _Row:
    """Values that are compared with each other, one for each side."""

    values: Sequence[float | None]
    where: str = ""


def _column(side: Side, simulation: Simulation) -> list[float | None]:
    """A value for each repetition; empty if the run is missing."""
    if side.figure is None:
        return [side.number] * simulation.repetitions
    found: list[float | None]
    if side.figure in OF_POLICIES:
        found = [getattr(one, side.figure) for one in simulation.costs_of(side.run or "")]
    else:
        found = [_figure(side, run, simulation.every) for run in simulation.of(side.run or "")]
    return [_times(side.number, value) for value in found]


def _figure(side: Side, run: Run, every: int) -> float | None:
    assert side.figure is not None
    if side.span is None:
        return figure_of(run, side.figure)
    since, until = side.span
    return SPANS[side.figure](run.series, slice(since // every, until // every))


def _times(number: float, value: float | None) -> float | None:
    return None if value is None else number * value


def _measured(values: Sequence[float | None]) -> Sequence[float | None]:
    """The series, or nothing where it was not measured."""
    return () if None in values else values


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _growth(series: Sequence[float], buckets: slice) -> float | None:
    return [0.0, *series][buckets.stop] - [0.0, *series][buckets.start] if series else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _is_moving(run: Run, time: int) -> bool:
    return any(move.asked < time and (move.ended is None or time <= move.ended) for move in run.migrations)


def _side(text: str, is_throughout: bool, runs: Collection[str], chronons: Callable[[str], int]) -> Side:
    match = _FIGURE.fullmatch(text)
    if match is None:
        try:
            return Side(float(text))
        except ValueError:
            return Side(chronons(text))
    figure, run = match["figure"], match["run"]
    if is_throughout and match["since"]:
        raise ValueError("either throughout or a part of the time")
    known: Collection[str] = SERIES if is_throughout else SPANS if match["since"] else FIGURES
    if known is FIGURES and HINDSIGHT in runs:
        known = (*OF_POLICIES, *FIGURES)
    if figure not in known:
        raise ValueError(f"one of {', '.join(known)}, not {figure}{suggest(figure, known)}")
    if run not in runs:
        raise ValueError(f"one of the runs {', '.join(runs)}, not {run}{suggest(run, runs)}")
    span = (chronons(match["since"]), chronons(match["until"])) if match["since"] else None
    return Side(float(match["factor"] or 1), figure, run, span)


def checked(
    claims: Iterable[Claim], simulation: Simulation, *, is_quick: bool = False
) -> tuple[Checked, ...]:
    """Check all claims; a first look leaves out claims about CPU and rates."""
    return tuple(
        Checked(claim.text, "not measured", "") if is_quick and claim.is_of_rates else claim.check(simulation)
        for claim in claims
    )
