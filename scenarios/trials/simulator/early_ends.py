"""Warnings about streams that end before the scenario does, so that figures cover less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.properties import logical
from midstream.plans.values.streams import Time
from midstream.scenarios.trials.simulator.input import Input
from midstream.scenarios.trials.simulator.results import Run
from midstream.scenarios.trials.simulator.scenario import Scenario


def early_ends(scenario: Scenario, arriving: Input, runs: Sequence[Run]) -> tuple[str, ...]:
    """For a repetition, messages that name the events before which its streams end.

    These events are the ends of the first window and of the first measured step, adjustments, planned
    migrations, and the split time of each migration that began.
    """
    starts = [start for portion in arriving.portions for start, _, _ in portion.batch or ()]
    if not starts:
        return ("no stream has an element, so that nothing is compared",)
    first, last = min(starts), max(starts)
    unit = scenario.unit.name
    late = [what for what, end in _ends(scenario, first, runs) if end > last]
    return tuple(f"the streams end at {last:,} {unit}, before {what}" for what in dict.fromkeys(late))


def _ends(scenario: Scenario, first: Time, runs: Iterable[Run]) -> Iterator[tuple[str, Time]]:
    unit = scenario.unit.name
    sizes = [
        operator.size
        for plan in scenario.plans.values()
        for node in plan.nodes
        if isinstance(operator := logical(node), TimeWindow) and operator.size is not None
    ]
    if sizes:
        yield f"the first window of {max(sizes):,} {unit} is over", first + max(sizes) - 1
    yield f"the first step of {scenario.every:,} {unit} that is measured is over", scenario.every - 1
    for change in scenario.spec.adjustments:
        yield f"a window or granule changes at {change.at:,}", change.at
    for step in scenario.steps:
        if step.at is not None:
            yield f"the migration to {step.to} begins at {step.at:,}", step.at
    for run in runs:
        for move in run.migrations:
            if move.split is not None and move.aborted is None and move.began is not None:
                way = f"the migration to {move.to} by {run.strategy}"
                yield f"{way} is over, whose split time is {move.split:,}", move.split - 1
