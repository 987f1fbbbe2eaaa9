"""Names of runs, times and numbers in reports."""

from __future__ import annotations

from midstream.scenarios.trials.simulator.results import BASELINE, Run, Simulation


def first_runs(simulation: Simulation) -> list[Run]:
    """The first repetition of each strategy, in order."""
    return [simulation.of(strategy)[0] for strategy in simulation.strategies]


def shown_name(strategy: str) -> str:
    """The name of a run in reports."""
    return "without migration" if strategy == BASELINE else strategy


def shown_time(simulation: Simulation, chronons: float | None) -> str:
    """A time in chronons, in a fitting unit."""
    if chronons is None:
        return "–"
    seconds = chronons / simulation.second
    for unit, length, least in (("d", 86_400, 2), ("h", 3_600, 2), ("min", 60, 10)):
        if abs(seconds) >= least * length:
            return f"{seconds / length:,.4g} {unit}"
    return f"{seconds:,.4g} s" if abs(seconds) >= 1 or not seconds else f"{seconds * 1000:,.3g} ms"


def shown_number(value: float) -> str:
    """A number with three significant digits, or with all digits before the point.

    >>> shown_number(12345.6), shown_number(0.01234)
    ('12,346', '0.0123')
    """
    return f"{value:,.3g}" if abs(value) < 1000 and value != int(value) else f"{value:,.0f}"
