"""Random engines within a budget: nothing raises, nothing warns, and memory keeps within the limit."""

from __future__ import annotations

from collections import Counter

import pytest
from within_budget import SEEN, is_kept, large, small


def test_a_budget_never_ends_a_run() -> None:
    for number in range(12):
        small(number)


@pytest.mark.slow
@pytest.mark.parametrize("first", [100, 200])
def test_a_budget_never_ends_a_run_whatever_happens_beside_it(first: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(first, first + 80):
        seen += small(number)
    assert [state for state in SEEN if not seen[state]] == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 7))
def test_a_budget_keeps_its_promise(number: int) -> None:
    assert is_kept(large(number))
