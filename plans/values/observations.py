"""What a running plan tells about its inputs: the facts from which statistics are estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.plans.values.streams import Element, Time


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one input of a plan.

    `recent` holds the last elements, as many as the observer keeps; `progress` is the time up to which the
    input is complete.
    """

    count: int
    progress: Time
    max_end: Time
    recent: Sequence[Element]
