"""Values that are not kept are accounted for by some that are."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.scenarios.recordings.remaining_values import GroupTotal, spread_remaining

columns = st.integers(1, 4).flatmap(
    lambda members: st.lists(
        st.lists(st.integers(0, 6), min_size=members, max_size=members).filter(any), min_size=9, max_size=60
    )
)


def total_of(counts: list[list[int]]) -> GroupTotal:
    members = len(counts[0])
    return GroupTotal(
        tuple(sum(each[i] for each in counts) for i in range(members)),
        tuple(sum(1 for each in counts if each[i]) for i in range(members)),
        {(i, j): sum(each[i] * each[j] for each in counts) for i, j in combinations(range(members), 2)},
    )


@given(counts=columns, kept=st.integers(4, 40))
def test_elements_are_exact_and_pairs_in_all(counts: list[list[int]], kept: int) -> None:
    counts.sort(key=sum, reverse=True)
    total = total_of(counts)
    members = len(counts[0])
    shown = spread_remaining(counts[:kept], total)
    assert len(shown) == len(counts[:kept])
    assert all(n >= -1e-9 for each in shown for n in each)
    exact = len(shown) - len(shown) // 4
    assert shown[:exact] == counts[:exact]
    spare = len(shown) // 4
    if spare - (spare // 2 if members > 1 else 0) >= members:  # one of each at least
        assert [sum(each[i] for each in shown) for i in range(members)] == pytest.approx(total.elements)
    if spare >= 2:
        pairs = sum(each[i] * each[j] for each in shown for i, j in total.agreeing)
        assert pairs == pytest.approx(sum(total.agreeing.values()))


def test_of_two_columns_the_pairs_are_exact_however_little_tails_agree() -> None:
    one = Counter({value: 1 for value in range(10_000)} | {-1: 10_000})
    other = Counter({value: 1 for value in range(9_990, 20_000)} | {-1: 5_000})
    values = sorted(one | other, key=lambda value: (-one[value] - other[value], value))
    counts = [[one[value], other[value]] for value in values]
    shown = spread_remaining(counts[:1000], total_of(counts))
    assert math.fsum(a * b for a, b in shown) == pytest.approx(10_000 * 5_000 + 10)
    assert [math.fsum(side) for side in zip(*shown, strict=True)] == pytest.approx([20_000, 15_010])
