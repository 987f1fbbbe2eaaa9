"""Objectives of the optimizer that compare plans, with the words and units that people read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from midstream.io.time_units import NANOSECONDS, Clock
from midstream.optimizer.cost.objective import WEIGHTS, Objective, objective_of

FLOWS = {"processing": "µs", "intermediate": "results"}
"""The costs that add up over time, by word, with their units; other costs are levels at each instant."""

LEVELS = {"memory": "bytes", "state": "elements", "latency": "µs", "buffers": "elements"}

WEIGHTED = "(weighted)"
"""The unit of a sum of several terms."""


@dataclass(frozen=True)
class Aim:
    """An objective with its name and unit.

    name      as the user wrote it, such as "processing" or "processing + 0.001 memory"
    unit      of a cost
    is_flow   true if costs are per chronon, so that they add up over time; else a cost is a level, reported
              as its mean over time

    >>> memory = aim_of("memory", Clock("s"))
    >>> memory.unit, memory.is_flow, memory.scale(60), aim_of("processing", Clock("s")).scale(60)
    ('bytes', False, 1, 60)
    """

    name: str
    objective: Objective
    unit: str
    is_flow: bool

    def scale(self, bucket: int) -> int:
        """The factor that turns a cost into that of a bucket."""
        return bucket if self.is_flow else 1

    def over_time(self, buckets: int) -> int:
        """The divisor that turns the sum over all buckets into the cost of the whole time."""
        return 1 if self.is_flow else max(1, buckets)


def aim_of(text: str, clock: Clock) -> Aim:
    """Read an objective, for streams whose chronons last as the clock says.

    Raises   StatisticsError for a text that is none.
    """
    objective = replace(objective_of(text), chronon=NANOSECONDS[clock.unit] / 1000)
    terms = {word: weight for word, name in WEIGHTS.items() if (weight := getattr(objective, name))}
    return Aim(text.strip(), objective, _unit(terms, clock), is_flow=terms.keys() <= FLOWS.keys())


def _unit(terms: dict[str, float], clock: Clock) -> str:
    if list(terms.values()) != [1.0]:
        return WEIGHTED
    (word,) = terms
    return f"{clock.unit} a result" if word == "rate" else (FLOWS | LEVELS)[word]
