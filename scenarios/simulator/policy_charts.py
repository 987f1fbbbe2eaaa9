"""The picture of what the policies of a scenario cost."""

from __future__ import annotations

from matplotlib.figure import Figure

from midstream.scenarios.simulator.course_charts import costs_and_plans
from midstream.scenarios.simulator.courses import Course, Times
from midstream.scenarios.simulator.panels import unit_for
from midstream.scenarios.simulator.results import Simulation


def regret(simulation: Simulation) -> Figure:
    """What each policy has cost so far in the first repetition, and which plan ran when."""
    unit, scale = unit_for(simulation, simulation.duration)
    times = Times(0, simulation.every, simulation.duration, f"application time, {unit}", scale)
    return costs_and_plans(courses(simulation), times)


def courses(simulation: Simulation) -> list[Course]:
    """Of the first repetition."""
    return [
        Course(one.policy, one.kind, one.start, one.spent, one.migrations)
        for one in simulation.judged
        if one.repetition == 0 and one.start is not None
    ]
