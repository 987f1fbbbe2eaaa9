"""Runs of our operators from which cost variables are estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median

from midstream.optimizer import price
from midstream.optimizer.cost.calibration import Profile, Timed, counted, errors, fit, machine
from midstream.optimizer.cost.units import STEPS, unit_costs
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import Element
from midstream.scenarios.costs.comparing import elements_of, outermost
from midstream.scenarios.costs.grid import QUERIES, Setting, plan_at
from midstream.scenarios.costs.processing import processing
from midstream.scenarios.costs.streams import source_statistics

FITTED = (Setting(1.0, 1.0, 200, 1, 20, 10_000), Setting(1.0, 1.0, 1500, 1, 300, 10_000))
HELD_OUT = (Setting(1.0, 2.0, 600, 1, 80, 10_000),)
"""Of these settings nothing goes into the fit: they tell how good it is elsewhere."""
QUICK = 3_000
"""So many elements are a first look."""
TURNS = 2
"""So often each operator is measured."""
REPETITIONS = 2
"""So often one right after the other."""
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
    measured = _measured(setting, plan, streams)
    return Timed(implementation_of(node).formula, label, counted(steps), measured)


def timed_again(before: Timed, setting: Setting, plan: Plan) -> Timed:
    """The same measured once more: what counts is the least, as what else the machine does can only make it
    longer."""
    found = _measured(setting, plan, elements_of(setting, plan))
    return replace(before, measured=min(before.measured, found))


def _measured(setting: Setting, plan: Plan, streams: Mapping[str, Sequence[Element]]) -> float:
    return processing(plan, streams, setting.since, setting.until, REPETITIONS)[outermost(plan)]


def calibrate(
    is_quick: bool, advance: Callable[[int, int], object]
) -> tuple[Profile, list[Timed], list[Timed]]:
    """Measure all operators, and fit the cost variables: the profile, the runs that went into it, and those
    that did not.

    Cost     a minute or two.
    """
    points = [
        (name, replace(setting, elements=QUICK) if is_quick else setting)
        for setting in (*FITTED, *HELD_OUT)
        for name in QUERIES
    ]
    runs: list[Timed] = []
    # All in turn, and then all again: something else that goes on for a while meets each operator once.
    for turn in range(TURNS):
        for i, (name, setting) in enumerate(points):
            plan = plan_at(QUERIES[name], setting)
            if turn:
                runs[i] = timed_again(runs[i], setting, plan)
            else:
                runs.append(timed(name, setting, plan))
            advance(turn * len(points) + i + 1, TURNS * len(points))
    size = len(FITTED) * len(QUERIES)
    fitted, held_out = runs[:size], runs[size:]
    units = fit(fitted)
    date = datetime.now(UTC).date().isoformat()
    return Profile(units, date, machine(), _middle(errors(held_out, units))), fitted, held_out


def _middle(numbers: Sequence[float]) -> float:
    return round(median(numbers), 4) if numbers else 0.0
