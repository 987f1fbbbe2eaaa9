"""The orders that the optimizer chooses for real streams are hardly worse than the best ones in hindsight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from orders_in_hindsight import Hindsight, Recorded, compare_orders

from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.recorded import flights, packets, roads


def keys(case: Case) -> dict[str, Recorded]:
    """The streams of a case, each element with the value by which it is joined."""
    return {name: [(time, str(key)) for time, (key,) in rows] for name, rows in case.streams.items()}


def told(seen: Hindsight) -> str:
    """What the comparison says, if it is not as expected."""
    return f"{seen.buckets} buckets: {seen}"


@pytest.mark.parametrize(
    ("read", "at_most"),
    [pytest.param(flights, 1.03, marks=pytest.mark.slow), (packets, 1.10), (roads, 1.10)],
    ids=["nycflights13", "splus_net_packet", "aarhus_city"],
)
def test_orders_chosen_by_statistics_of_the_bucket_itself(
    shared_data: Path, read: Callable[[Path], Case], at_most: float
) -> None:
    case = read(shared_data)
    seen = compare_orders(keys(case), case.window, case.bucket)
    assert 1.0 <= seen.chosen <= at_most, told(seen)
    assert seen.chosen <= min(seen.fixed.values()), told(seen)
    assert seen.chosen <= min(seen.predicted, seen.repeated), told(seen)


def test_counts_of_orders_are_what_they_really_give() -> None:
    """The best order changes: at first it begins with a and b, then with a and c, which have no pair."""
    streams = {
        "a": [(0, "x"), (3, "y"), (20, "x")],
        "b": [(1, "x"), (21, "x"), (25, "x")],
        "c": [(2, "x"), (4, "y"), (23, "x")],
    }
    seen = compare_orders(streams, window=3, length=10)
    assert seen.buckets == 2
    # a and b begin to be valid together at 1 and at 21, a and c at 2 and 4, b and c at 2, 23 and 25.
    pairs = {"ab": 2.0, "ac": 2.0, "bc": 3.0}
    assert seen.fixed == {frozenset(pair): count / (1 + 0) for pair, count in pairs.items()}
