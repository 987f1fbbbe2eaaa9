"""Runs of our operators from which cost variables are estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median

from midstream.optimizer import price
from midstream.optimizer.cost.calibration import Profile, Timed, counted, errors, fit, machine
from midstream.optimizer.cost.units import STEPS, unit_costs
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.costs.comparing import elements_of, outermost
from midstream.scenarios.costs.grid import QUERIES, Setting, plan_at
from midstream.scenarios.costs.processing import processing
from midstream.scenarios.costs.streams import source_statistics

FITTED = (Setting(1.0, 1.0, 200, 1, 20, 10_000), Setting(1.0, 1.0, 1500, 1, 300, 10_000))
HELD_OUT = (Setting(1.0, 2.0, 600, 1, 80, 10_000),)
"""Of these settings nothing goes into the fit: they tell how good it is elsewhere."""
QUICK = 3_000
"""So many elements are a first look."""
NOTHING = dict.fromkeys(STEPS, 0.0)


def timed(label: str, setting: Setting, plan: Plan) -> Timed:
    """Measure the outermost operator of a plan."""
    streams = elements_of(setting, plan)
    known = source_statistics(plan, streams, setting.until)
    node = outermost(plan)
    steps = {}
    for step in STEPS:
        by_this_step = unit_costs({**NOTHING, step: 1.0})
        steps[step] = price(plan, known, by_this_step).operators[node].cost
    measured = processing(plan, streams, setting.since, setting.until)[node]
    return Timed(implementation_of(node).formula, label, counted(steps), measured)


def calibrate(
    is_quick: bool, advance: Callable[[int, int], object]
) -> tuple[Profile, list[Timed], list[Timed]]:
    """Measure all operators, and fit the cost variables: the profile, the runs that went into it, and those
    that did not.

    Cost     a minute or two.
    """
    done, total = 0, len(QUERIES) * (len(FITTED) + len(HELD_OUT))
    found: list[list[Timed]] = [[], []]
    for runs, settings in zip(found, (FITTED, HELD_OUT), strict=True):
        for name, query in QUERIES.items():
            for setting in settings:
                chosen = replace(setting, elements=QUICK) if is_quick else setting
                runs.append(timed(name, chosen, plan_at(query, chosen)))
                done += 1
                advance(done, total)
    fitted, held_out = found
    units = fit(fitted)
    date = datetime.now(UTC).date().isoformat()
    return Profile(units, date, machine(), _middle(errors(held_out, units))), fitted, held_out


def _middle(numbers: Sequence[float]) -> float:
    return round(median(numbers), 4) if numbers else 0.0
