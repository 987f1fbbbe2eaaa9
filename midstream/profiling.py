"""Cost profiles from measurements of running operators."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from statistics import median

from midstream.operators.engine.measuring.metadata import Metadata
from midstream.optimizer import CostModel, Statistics, UnitCosts
from midstream.optimizer.cost.calibration import Profile, Timed, corrected, counted, errors, machine
from midstream.optimizer.cost.units import STEPS, unit_costs, units_in_use
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.values.errors import StatisticsError

_NOTHING = dict.fromkeys(STEPS, 0.0)


def timings(measured: Iterable[Metadata], statistics: Statistics) -> list[Timed]:
    """The times that `engine.watch()` measured for operators, with their steps in the cost model.

    `statistics` are those of the streams at that time, from `engine.statistics()`. Sources, and operators
    that have not had two elements yet, are left out.
    """
    models = {step: CostModel(statistics, unit_costs({**_NOTHING, step: 1.0})) for step in STEPS}
    found = []
    for one in measured:
        if not one.node.inputs or one.microseconds is None or not one.input_rate:
            continue
        try:
            steps = {step: model.estimate(one.node).cost for step, model in models.items()}
        except StatisticsError:
            continue
        formula = implementation_of(one.node).formula
        found.append(
            Timed(formula, str(one.node.operator), counted(steps), one.microseconds * one.input_rate)
        )
    return found


def profile_of(
    measured: Iterable[Metadata], statistics: Statistics, before: UnitCosts | None = None
) -> Profile:
    """Make a cost profile from measurements of running operators.

    Store it in a file for everything that prices plans: then decisions depend on the file, and not on the
    present speed of the machine. `before` are the cost variables to correct; by default those in use.

    Raises   StatisticsError where no operator took any time.

    >>> import midstream as ms
    >>> s = ms.stream("s", x="integer").window(60)
    >>> engine = ms.Engine(s.filter(s["x"] > 3).distinct())
    >>> with engine.watch() as read:
    ...     engine.push("s", [(t, t + 1, (t % 7,)) for t in range(1000)])
    ...     profile = profile_of(read(), engine.statistics())
    >>> sorted(profile.units.factors)
    ['distinct', 'filter', 'time_window']
    """
    runs = timings(measured, statistics)
    units = corrected(before or units_in_use(), runs)
    date = datetime.now(UTC).date().isoformat()
    return Profile(units, date, machine(), round(median(errors(runs, units)), 4))
