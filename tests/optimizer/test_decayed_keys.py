"""Counts of many values: pairs are kept up, and few counts stand for many."""

from __future__ import annotations

import math
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.online.decayed_keys import DecayedKeys, EqualPairs, fewer_keys

counts = st.dictionaries(st.integers(0, 30), st.integers(1, 4), max_size=12)
steps = st.lists(st.tuples(st.integers(0, 2), counts, st.sampled_from([0.5, 1.0, 3.0])), max_size=12)


@given(steps, st.integers(2, 8))
def test_pairs_are_kept_up_while_values_come(
    steps: list[tuple[int, dict[int, int], float]], most: int
) -> None:
    columns = [DecayedKeys(name, most) for name in "abc"]
    pairs = {(i, j): EqualPairs(columns[i], columns[j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    for i, new, weight in steps:
        columns[i].add(new, weight)
        assert len(columns[i].counts) <= 2 * most
        for (one, other), found in pairs.items():
            theirs = columns[other].counts
            exact = math.fsum(n * theirs.get(value, 0.0) for value, n in columns[one].counts.items())
            assert found.number == pytest.approx(exact)


def test_what_has_decayed_is_forgotten() -> None:
    keys = DecayedKeys("s.x")
    keys.add({1: 4, 2: 1}, 1.0)
    keys.scale(0.25, least=0.5)
    assert keys.counts == {1: 1.0}


@given(
    st.dictionaries(st.integers(), st.floats(0.01, 100), min_size=1, max_size=60),
    st.integers(1, 40),
    st.randoms(use_true_random=False),
)
def test_heavy_values_stay_as_they_are(found: dict[int, float], most: int, random: Random) -> None:
    kept = fewer_keys(found, most, random)
    assert kept.keys() <= found.keys()
    if len(found) <= most:
        assert kept == found
        return
    light = min(kept.values(), default=math.inf)
    for value, count in found.items():
        assert value not in kept or kept[value] == pytest.approx(max(count, light))
        if count > light:
            assert kept[value] == count


def test_sums_and_pairs_are_right_on_average() -> None:
    one = {k: 1 + 40 / (1 + k) for k in range(400)}
    other = {k: 1 + 30 / (1 + k % 200) for k in range(100, 500)}
    exact = sum(n * other.get(k, 0.0) for k, n in one.items())
    sums, pairs, sizes = [], [], []
    for seed in range(400):
        mine, theirs = fewer_keys(one, 60, Random(2 * seed)), fewer_keys(other, 60, Random(2 * seed + 1))
        sums.append(sum(mine.values()))
        sizes.append(len(mine))
        pairs.append(sum(n * theirs.get(k, 0.0) for k, n in mine.items()))
    assert mean(sums) == pytest.approx(sum(one.values()), rel=0.02)
    assert mean(pairs) == pytest.approx(exact, rel=0.05)
    assert mean(sizes) == pytest.approx(60, rel=0.02)
