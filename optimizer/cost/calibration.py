"""Calibration: unit costs fitted to measured times, and the profile that stores them."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from midstream.optimizer.cost.units import STEPS, UnitCosts, unit_costs
from midstream.plans.values.artefacts import (
    ArtefactError,
    Header,
    artefact_text,
    bounded_bytes,
    parsed,
    read_artefact,
)
from midstream.plans.values.errors import StatisticsError

NAME = "midstream_costs"
VERSION = 3
"""Version of the profile format; earlier factors of windows and aggregation are of other formulas."""
HEADER: Header = {NAME: VERSION}
TRUST = 1e-5
"""Weight of the previous unit costs in the fit: small, but it decides about steps that few runs depend on."""
ROUNDS = 3000


MOST_BYTES = 1 << 20
"""The most bytes of a profile's file: a device or a pipe may have no end."""


class OutdatedProfileError(StatisticsError):
    """A cost profile was written by an earlier version, in which other formulas had its factors.

    Run `midstream calibrate` again.
    """


@dataclass(frozen=True)
class Timed:
    """A measured operator.

    formula     name of the formula of its implementation
    label       name of the run
    steps       by step, how many times a chronon the formula says that it is taken
    measured    microseconds a chronon
    """

    formula: str
    label: str
    steps: Mapping[str, float]
    measured: float

    def predicted(self, units: UnitCosts) -> float:
        """Microseconds a chronon, predicted from unit costs."""
        total = math.fsum(count * getattr(units, step) for step, count in self.steps.items())
        return total * units.factors.get(self.formula, 1.0)


def fit(runs: Sequence[Timed], before: UnitCosts | None = None) -> UnitCosts:
    """Fit unit costs to measured operators, and a factor for each formula.

    The fit minimises the squares of the relative errors; no unit cost is negative, and each formula has the
    same weight. Steps done in one loop take less time than their sum. So each formula has a factor: the
    median ratio of its measured to its predicted times.

    Raises   StatisticsError if no operator took any time.
    """
    known = before or UnitCosts()
    usable = [run for run in runs if run.measured > 0 and any(run.steps.values())]
    if not usable:
        raise StatisticsError("calibration: found no operator that took any time, expected some")
    plain = replace(known, factors={})
    scale = median(run.measured / run.predicted(plain) for run in usable)
    start = [scale * getattr(known, step) for step in STEPS]
    found = _least_squares(usable, start)
    units = unit_costs(dict(zip(STEPS, found, strict=True)))
    ratios = _ratios(usable, units)
    return replace(units, factors={name: round(median(found), 4) for name, found in ratios.items()})


def _ratios(runs: Iterable[Timed], units: UnitCosts) -> dict[str, list[float]]:
    """By formula, measured times as multiples of the predicted times."""
    found: dict[str, list[float]] = {}
    for run in runs:
        if run.measured > 0 and (predicted := run.predicted(units)) > 0:
            found.setdefault(run.formula, []).append(run.measured / predicted)
    return dict(sorted(found.items()))


def _least_squares(runs: Sequence[Timed], start: Sequence[float]) -> list[float]:
    """Least squares by coordinate descent: minimise over one variable at a time until none changes."""
    alike = {run.formula: sum(1 for one in runs if one.formula == run.formula) for run in runs}
    size = range(len(STEPS))
    # In units of the start values, so that all have the same magnitude; A x = b where the gradient is 0.
    a = [[TRUST if i == j else 0.0 for j in size] for i in size]
    b = [TRUST for _ in size]
    for run in runs:
        row = [run.steps.get(step, 0.0) * start[i] / run.measured for i, step in enumerate(STEPS)]
        for i in size:
            b[i] += row[i] / alike[run.formula]
            for j in size:
                a[i][j] += row[i] * row[j] / alike[run.formula]
    x = [1.0 for _ in size]
    for _ in range(ROUNDS):
        moved = 0.0
        for i in size:
            rest = b[i] - math.fsum(a[i][j] * x[j] for j in size if j != i)
            better = max(0.0, rest / a[i][i])
            moved, x[i] = max(moved, abs(better - x[i])), better
        if moved < 1e-9:
            break
    return [value * at for value, at in zip(x, start, strict=True)]


def corrected(before: UnitCosts, runs: Sequence[Timed]) -> UnitCosts:
    """Correct unit costs by some measured operators.

    All steps change by the same factor, the median ratio of all measured operators. The factors of the
    measured formulas absorb the remaining difference. Unlike `fit`, this needs few measurements, such as
    the operators of one query.
    """
    ratios = _ratios(runs, before)
    if not ratios:
        raise StatisticsError("calibration: found no operator that took any time, expected some")
    by_formula = {formula: median(found) for formula, found in ratios.items()}
    of_all = median(ratio for found in ratios.values() for ratio in found)
    factors = {
        formula: before.factors.get(formula, 1.0) * ratio / of_all for formula, ratio in by_formula.items()
    }
    steps = {step: of_all * getattr(before, step) for step in STEPS}
    return unit_costs(steps, {**before.factors, **factors})


def machine() -> str:
    """A description of this machine: processor, operating system and Python version."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{platform.machine()}, {platform.system()}, {python}"


@dataclass(frozen=True)
class Profile:
    """Unit costs with the date and the machine of their measurement."""

    units: UnitCosts
    date: str
    machine: str
    error: float
    """The median of the relative errors that the fit left."""

    def dumps(self) -> str:
        """The profile as JSON that `loads` reads."""
        file = _ProfileFile(
            date=self.date,
            machine=self.machine,
            error=self.error,
            microseconds={step: round(getattr(self.units, step), 6) for step in STEPS},
            factors=dict(self.units.factors),
        )
        return artefact_text(HEADER, file, indent=2) + "\n"

    @classmethod
    def loads(cls, text: str) -> Profile:
        """Read a profile from JSON.

        Raises   OutdatedProfileError for a profile of an earlier version, StatisticsError for other text.
        """
        try:
            data = parsed(text)
            if isinstance(data, dict) and (version := data.get(NAME)) in range(1, VERSION):
                raise OutdatedProfileError(
                    f"found a cost profile of version {version}, expected version {VERSION}: "
                    "formulas have changed since, and its factors belong to the old ones; "
                    "run `midstream calibrate` again"
                )
            file = read_artefact(data, HEADER, _ProfileFile)
        except ArtefactError as error:
            raise StatisticsError(f"{error}; `midstream calibrate` writes a cost profile") from error
        if unknown := sorted(file.microseconds.keys() - set(STEPS)):
            raise StatisticsError(f"microseconds: found {', '.join(unknown)}, expected {', '.join(STEPS)}")
        for part, costs in (("microseconds", file.microseconds), ("factors", file.factors)):
            for name, cost in costs.items():
                _require_cost(f"{part}.{name}", cost)
        _require_cost("error", file.error)
        return cls(unit_costs(file.microseconds, file.factors), file.date, file.machine, file.error)

    @classmethod
    def read(cls, path: Path) -> Profile:
        """Read a profile from a file.

        Raises   StatisticsError, with the name of the file, if it holds no profile.
        """
        try:
            return cls.loads(bounded_bytes(path, MOST_BYTES).decode("utf-8"))
        except OSError as error:
            raise StatisticsError(f"{path}: {error.strerror or error}") from error
        except OutdatedProfileError as error:
            raise OutdatedProfileError(f"{path}: {error}") from error
        except (ValueError, ArtefactError, StatisticsError) as error:
            raise StatisticsError(f"{path}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class _ProfileFile:
    date: str = ""
    machine: str = ""
    error: float = 0.0
    microseconds: dict[str, float]
    factors: dict[str, float] = field(default_factory=dict)


def _require_cost(place: str, cost: float) -> None:
    if cost < 0:
        raise StatisticsError(f"{place}: found {cost}, expected 0 or more")


def errors(runs: Iterable[Timed], units: UnitCosts) -> list[float]:
    """Relative errors of the predictions."""
    return [abs(run.predicted(units) / run.measured - 1) for run in runs if run.measured]


def counted(price: Mapping[str, float]) -> dict[str, float]:
    """The steps with a count above 0."""
    return {step: count for step, count in price.items() if count}
