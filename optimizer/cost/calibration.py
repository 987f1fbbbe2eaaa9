"""Cost variables that fit what was measured, and the profile in which they are kept."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from midstream.optimizer.cost.units import STEPS, UnitCosts, unit_costs
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.finite import LARGEST

VERSION = 2
"""Of profiles. In those of version 1 the factors of windows and of aggregation belong to other formulas."""
TRUST = 1e-5
"""How much it weighs that a step takes what it took before: little, but runs may hardly depend on it."""
ROUNDS = 3000


class OutdatedProfileError(StatisticsError):
    """A cost profile was written by an earlier version, in which other formulas had its factors.

    Run `midstream calibrate` again.
    """


@dataclass(frozen=True)
class Timed:
    """An operator that was measured.

    formula     the name of its implementation's formula
    label       what was run
    steps       by step, how many times a chronon it is taken, by the formula
    measured    microseconds a chronon
    """

    formula: str
    label: str
    steps: Mapping[str, float]
    measured: float

    def predicted(self, units: UnitCosts) -> float:
        """Microseconds a chronon by these cost variables."""
        total = math.fsum(count * getattr(units, step) for step, count in self.steps.items())
        return total * units.factors.get(self.formula, 1.0)


def fit(runs: Sequence[Timed], before: UnitCosts | None = None) -> UnitCosts:
    """The cost variables that come nearest to what was measured, and for each formula the factor by which
    what its operators take differs from that in the median.

    The squares of relative errors are the least, none of the variables is negative, and each formula weighs
    the same. What is done in one loop takes less than the steps of which it is made: hence the factors.
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
    """By formula, what was measured as a multiple of what is predicted."""
    found: dict[str, list[float]] = {}
    for run in runs:
        if run.measured > 0 and (predicted := run.predicted(units)) > 0:
            found.setdefault(run.formula, []).append(run.measured / predicted)
    return dict(sorted(found.items()))


def _least_squares(runs: Sequence[Timed], start: Sequence[float]) -> list[float]:
    """By coordinates, each the best for the others, until nothing changes any more."""
    alike = {run.formula: sum(1 for one in runs if one.formula == run.formula) for run in runs}
    size = range(len(STEPS))
    # In units of what is known, so that all are of the same magnitude; A x = b where the gradient is 0.
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
    """Cost variables by which some operators take what was measured. The steps stay in proportion: they
    change as all operators do in the median, and the factors of the formulas that were measured do the rest.

    Other than by `fit`, little need be measured, such as the operators of one query.
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
    """What this machine says of itself."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{platform.machine()}, {platform.system()}, {python}"


@dataclass(frozen=True)
class Profile:
    """Cost variables with when and where they were measured."""

    units: UnitCosts
    date: str
    machine: str
    error: float
    """The median of the relative errors that were left."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "midstream_costs": VERSION,
            "date": self.date,
            "machine": self.machine,
            "error": self.error,
            "microseconds": {step: round(getattr(self.units, step), 6) for step in STEPS},
            "factors": dict(self.units.factors),
        }

    @classmethod
    def from_json(cls, data: object) -> Profile:
        """Read back what `to_json` gave. Raises StatisticsError for anything else, OutdatedProfileError for
        what it gave in an earlier version."""
        if isinstance(data, dict) and data.get("midstream_costs") in range(1, VERSION):
            raise OutdatedProfileError(
                f"found a cost profile of version {data['midstream_costs']}, expected version {VERSION}: "
                "formulas have changed since, and its factors are those of the former ones; "
                "run `midstream calibrate` again"
            )
        if not isinstance(data, dict) or data.get("midstream_costs") != VERSION:
            raise StatisticsError(
                f"found no cost profile of version {VERSION}, expected what calibrate writes"
            )
        steps = _costs(data.get("microseconds"), "microseconds")
        if unknown := sorted(steps.keys() - set(STEPS)):
            raise StatisticsError(f"microseconds: found {', '.join(unknown)}, expected {', '.join(STEPS)}")
        units = unit_costs(steps, _costs(data.get("factors", {}), "factors"))
        date, machine = (str(data.get(name, "")) for name in ("date", "machine"))
        left = _costs({"error": data.get("error", 0.0)}, "error")["error"]
        return cls(units, date, machine, left)

    @classmethod
    def read(cls, path: Path) -> Profile:
        """The profile in a file. Raises StatisticsError, with the name of the file, where there is none."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise StatisticsError(f"{path}: {error.strerror or error}") from error
        except OutdatedProfileError as error:
            raise OutdatedProfileError(f"{path}: {error}") from error
        except (ValueError, RecursionError, StatisticsError) as error:
            raise StatisticsError(f"{path}: {error}") from error


def _costs(found: object, part: str) -> dict[str, float]:
    """Numbers of 0 or more by name. Raises StatisticsError for anything else."""
    if isinstance(found, dict) and all(map(_is_cost, found.values())):
        return {str(name): float(value) for name, value in found.items()}
    raise StatisticsError(f"{part}: found {found!r}, expected numbers of 0 or more by name")


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST


def errors(runs: Iterable[Timed], units: UnitCosts) -> list[float]:
    """The relative errors of predictions."""
    return [abs(run.predicted(units) / run.measured - 1) for run in runs if run.measured]


def counted(price: Mapping[str, float]) -> dict[str, float]:
    """Steps that are taken at all."""
    return {step: count for step, count in price.items() if count}
