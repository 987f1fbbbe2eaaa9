"""Hypothesis strategies for arrivals around a migration: elements that start or end near the split time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.streams import FOREVER, Batch, Element, Time
from midstream.testing.streams import elements, rows

LATEST = 30
"""Elements start at this instant at the latest, because the specification computes every snapshot."""

GAPS = (0, 0, 1, 1, 2, 4, 7, "the mark", "behind the mark")
"""Gaps from one element to the next, at most longer than the windows.

The mark is the chronon of the split time, or of the next migration's split time.
"""

LENGTHS = (1, 1, 2, 3, 6, 9, "to the mark", "past the mark")


def relations_for(plan: Plan) -> st.SearchStrategy[dict[str, list[Element]]]:
    """Rows for all relations of a plan."""
    constants = st.lists(rows(2), max_size=4).map(constant)
    temporal = elements(rows(2), forever=False, max_size=4)
    return st.fixed_dictionaries(
        {one.relation: constants if one.is_constant else temporal for one in plan.relations}
    )


ELEMENTS = st.tuples(st.sampled_from(GAPS), st.sampled_from(LENGTHS), rows(2))
"""Steps from an element to the next: the gap before it, its length, its row."""


def placed(steps: Sequence[tuple[int | str, int | str, Any]], time: int, mark: int, chronons: bool) -> Batch:
    """Elements after an instant, given by steps; those that would start after LATEST are left out."""
    batch: Batch = []
    for gap, length, row in steps:
        time = later(gap, time, mark)
        if time > LATEST:
            break
        end: Time = time + 1
        if not chronons:
            ends = {"to the mark": mark, "past the mark": mark + 1, "for ever": FOREVER}
            end = ends[length] if isinstance(length, str) else time + length
        batch.append((time, max(end, time + 1), row))
    return batch


def later(gap: int | str, time: int, mark: int) -> int:
    """The start of the next element after a gap."""
    if isinstance(gap, str):
        return max(time, mark if gap == "the mark" else mark + 1)
    return time + gap
