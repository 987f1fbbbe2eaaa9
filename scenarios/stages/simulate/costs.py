"""Cost variables fitted to the times of operators on slices of recorded streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median

from midstream.optimizer.cost.calibration import Profile, Timed, errors, fit
from midstream.optimizer.cost.units import STEPS, UnitCosts
from midstream.plans.values.errors import StatisticsError

HELD_OUT = 4
"""One in so many slices is left out of the regression, to measure its error on other slices."""


@dataclass(frozen=True)
class TimedSlice:
    """The times that the operators of some plans took on one slice, and the machine."""

    slice: int
    machine: str
    runs: tuple[Timed, ...]


def fit_near(runs: Sequence[Timed], before: UnitCosts) -> UnitCosts:
    """The regression of `calibrate`, for measurements of the operators of one query only.

    Each step counts once more with its earlier cost, scaled to the speed of this machine. Otherwise steps
    that these operators hardly take, or always take together, could get any cost, and so could the prices of
    other queries.

    Raises   StatisticsError where no operator took any time.
    """
    plain = replace(before, factors={})
    speed = [run.measured / known for run in runs if (known := run.predicted(plain)) and run.measured > 0]
    if not speed:
        raise StatisticsError("calibration: found no operator that took any time, expected some")
    priors = {f"as before: {step}": step for step in STEPS}
    assumed = [
        Timed(name, name, {step: 1.0}, median(speed) * getattr(before, step)) for name, step in priors.items()
    ]
    units = fit([*runs, *assumed], before)
    measured = {name: factor for name, factor in units.factors.items() if name not in priors}
    return replace(units, factors={**before.factors, **measured})


def profile_from(slices: Sequence[TimedSlice], before: UnitCosts) -> Profile:
    """The cost profile that fits the measurements of all machines, as `midstream calibrate` makes it.

    The error is that on slices left out of the regression; of few slices, that on all of them.

    Raises   StatisticsError where no operator took any time.
    """
    ordered = sorted(slices, key=lambda one: one.slice)
    held_out = [run for one in ordered[HELD_OUT - 1 :: HELD_OUT] for run in one.runs]
    fitted = [run for i, one in enumerate(ordered) if (i + 1) % HELD_OUT or not held_out for run in one.runs]
    units = fit_near(fitted, before)
    left = errors(held_out or fitted, units)
    machines: Mapping[str, None] = dict.fromkeys(one.machine for one in ordered)
    return Profile(
        units,
        datetime.now(UTC).date().isoformat(),
        "; ".join(sorted(machines)),
        round(median(left), 4) if left else 0.0,
    )
