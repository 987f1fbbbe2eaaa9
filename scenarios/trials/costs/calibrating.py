"""Runs of our operators from which cost variables are estimated."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from statistics import median

from midstream.optimizer import price
from midstream.optimizer.cost.calibration import Profile, Timed, counted, errors, fit, machine
from midstream.optimizer.cost.units import STEPS, unit_costs
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.values.errors import StatisticsError
from midstream.scenarios.trials.costs.comparing import elements_of, outermost
from midstream.scenarios.trials.costs.grid import QUERIES, Setting, plan_at
from midstream.scenarios.trials.costs.processing import processing
from midstream.scenarios.trials.costs.streams import source_statistics

FITTED = (Setting(1.0, 1.0, 200, 1, 20, 10_000), Setting(1.0, 1.0, 1500, 1, 300, 10_000))
HELD_OUT = (Setting(1.0, 2.0, 600, 1, 80, 10_000),)
"""Settings that are left out of the fit, to tell its errors elsewhere."""
QUICK = 3_000
"""The number of elements for a first look."""
TURNS = 3
"""The number of rounds in which each operator is measured."""
REPETITIONS = 2
"""The number of measurements in a row within a round."""
NOTHING = dict.fromkeys(STEPS, 0.0)


def timed(name: str, setting: Setting) -> Timed:
    """Measure the outermost operator of a query of the grid."""
    plan = plan_at(QUERIES[name], setting)
    streams = elements_of(setting, plan)
    known = source_statistics(plan, streams, setting.until)
    node = outermost(plan)
    steps = {}
    for step in STEPS:
        by_this_step = unit_costs({**NOTHING, step: 1.0})
        steps[step] = price(plan, known, by_this_step).operators[node].cost
    measured = processing(plan, streams, setting.since, setting.until, REPETITIONS)[node]
    return Timed(implementation_of(node).formula, name, counted(steps), measured)


def calibrate(
    is_quick: bool, advance: Callable[[int, int], object]
) -> tuple[Profile, list[Timed], list[Timed]]:
    """Measure all operators, and fit the cost variables.

    Returns the profile, the runs that went into the fit, and the runs that were held out. Each operator is
    measured in a process of its own: earlier runs leave gaps in memory, and filling them slows down by up to
    half operators that do little but make rows.

    Cost     two or three minutes.
    Raises   StatisticsError where a process ends before its time.
    """
    points = [
        (name, replace(setting, elements=QUICK) if is_quick else setting)
        for setting in (*FITTED, *HELD_OUT)
        for name in QUERIES
    ]
    runs: list[list[Timed]] = [[] for _ in points]
    context = _fresh()
    # All in turn, and then all again, so that a temporary load of the machine affects each operator once.
    for turn in range(TURNS):
        for i, (name, setting) in enumerate(points):
            runs[i].append(_timed_apart(context, name, setting))
            advance(turn * len(points) + i + 1, TURNS * len(points))
    # The least time counts, as other work of the machine only adds to it.
    least = [min(found, key=lambda run: run.measured) for found in runs]
    size = len(FITTED) * len(QUERIES)
    fitted, held_out = least[:size], least[size:]
    units = fit(fitted)
    date, left = datetime.now(UTC).date().isoformat(), errors(held_out, units)
    return Profile(units, date, machine(), round(median(left), 4) if left else 0.0), fitted, held_out


def _fresh() -> BaseContext:
    """The context that starts fresh processes.

    Where the system can, they are copies of a process that has only imported this module.
    """
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _timed_apart(context: BaseContext, name: str, setting: Setting) -> Timed:
    # When the parent is interrupted, it waits for the process, which need not report that itself.
    unimpressed = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        with ProcessPoolExecutor(1, mp_context=context, initializer=unimpressed) as pool:
            return pool.submit(timed, name, setting).result()
    except BrokenProcessPool as error:
        raise StatisticsError(
            f"calibrate: the process that measured {name} was ended from outside, for want of memory perhaps"
        ) from error
