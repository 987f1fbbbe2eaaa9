"""Measurements of the state and the output of a plan's operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from midstream.arrivals import interleave, marked
from midstream.driving import Trial, drive
from midstream.engine import Engine
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Element

LOOKS = 200
"""The number of looks at the states of a plan, at equal distances."""


@dataclass(frozen=True)
class Measured:
    """Measurements of an operator while all windows were full.

    rate     results per chronon
    state    elements kept, on average over time
    bytes    their size, on average over time
    """

    rate: float
    state: float
    bytes: float


def measure(
    plan: Plan, streams: Mapping[str, Sequence[Element]], since: int, until: int, looks: int = LOOKS
) -> dict[Node, Measured]:
    """Run a physical plan element by element, and look at its operators between two instants.

    Cost     O(elements + looks × state).
    """
    engine = Engine(plan)
    instants = (since + (until - since) * look / looks for look in range(looks + 1))
    events = drive(Trial(engine), marked(interleave(streams, batch_size=1), instants))
    marks = (event for event in events if event[0] == "mark")
    next(marks)
    states: dict[Node, list[tuple[int, int]]] = {}
    with engine.watch() as read:
        for _ in islice(marks, looks):
            last = read()
            for seen in last:
                states.setdefault(seen.node, []).append((seen.state.elements, seen.state.bytes))
    emitted = {seen.node: seen.emitted for seen in last}
    return {
        node: Measured(
            emitted[node] / (until - since),
            sum(elements for elements, _ in seen) / looks,
            sum(size for _, size in seen) / looks,
        )
        for node, seen in states.items()
    }
