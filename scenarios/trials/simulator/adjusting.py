"""Changes of windows, granules and samples while a scenario's plans run."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.engine import Engine
from midstream.plans.algebra.operators import Granularity, Logical, Sample, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_plan
from midstream.scenarios.trials.simulator.scenario_spec import AdjustmentSpec


def adjusted_nodes(plan: Plan, change: AdjustmentSpec) -> list[Node]:
    """The time windows, granularity conversions or samples of a plan that an adjustment changes."""
    kind = _change_of(change)[0]
    return [
        node
        for node in logical_plan(plan).nodes
        if isinstance(logical(node), kind) and (change.stream is None or _reads(node, change.stream))
    ]


def adjust(engine: Engine, changes: Iterable[AdjustmentSpec]) -> None:
    """Carry out changes in an engine's query.

    Raises   PlanError where the engine refuses a change.
    """
    for change in changes:
        setting = _change_of(change)[1]
        engine.adjust(dict.fromkeys(adjusted_nodes(engine.plan, change), setting), at=change.at)


def _change_of(change: AdjustmentSpec) -> tuple[type[Logical], float]:
    """The kind of operators that an adjustment changes, and their new setting."""
    if change.window is not None:
        return TimeWindow, change.window
    if change.granule is not None:
        return Granularity, change.granule
    assert change.share is not None
    return Sample, change.share


def _reads(node: Node, stream: str) -> bool:
    return any(isinstance(one.operator, Source) and one.operator.stream == stream for one in node.walk())
