"""The ordered output against a slow model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.base.output import OrderedOutput
from midstream.plans.values.streams import FOREVER, Element


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 4)),
        max_size=12,
    )
)
def test_output_leaves_in_order_and_no_later_than_it_may(calls: list[tuple[list[int], int]]) -> None:
    """Each call releases all that starts at or before its bound, and nothing else; ties stay as they came."""
    output = OrderedOutput()
    held: list[Element] = []
    bound = number = 0
    for offsets, step in calls:
        fresh: list[Element] = []
        for offset in offsets:
            fresh.append((bound + offset, bound + offset + 1, number))
            number += 1
        bound += step
        waiting = sorted([*held, *fresh], key=lambda e: e[0])
        expected = [e for e in waiting if e[0] <= bound]
        held = [e for e in waiting if e[0] > bound]
        assert output.release(fresh, bound) == expected
        assert len(output) == len(held)
        assert sorted(output) == sorted(held)
    assert output.release([], FOREVER) == held
