"""Intervals of sampled selectivities hold the truth nine times out of ten."""

from __future__ import annotations

import pytest

from midstream.optimizer.sampling.drawing import Drawn
from midstream.optimizer.sampling.intervals import CONFIDENCE, share_of_rows
from midstream.scenarios.trials.sampling.coverage import DRAWS, coverage
from midstream.scenarios.trials.sampling.populations import POPULATIONS


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize(("name", "size"), [("zipf", 1000), ("bursts", 1000), ("heavy", 500), ("zipf", 200)])
def test_intervals_of_pairs_cover_the_truth(name: str, size: int, share: float) -> None:
    found = coverage(POPULATIONS[name](size, 1), share)
    assert found.covered >= CONFIDENCE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zipf", "bursts", "heavy"])
def test_pairs_are_clustered_in_what_is_tested(name: str) -> None:
    """If pairs were independent, the intervals of independent pairs would cover just as well."""
    found = coverage(POPULATIONS[name](1000, 1), 0.2, draws=100)
    assert found.poisson < 0.75


@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize("name", ["zipf", "bursts"])
def test_intervals_of_pairs_are_of_use(name: str, share: float) -> None:
    """An interval from 0 to 1 covers everything."""
    found = coverage(POPULATIONS[name](1000, 1), share, draws=50)
    assert found.open < 0.1
    assert found.width < (2 if share == 0.05 else 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize(("rows", "holding"), [(200, 10), (1000, 100), (1000, 500), (1000, 30)])
def test_intervals_of_predicates_cover_the_truth(rows: int, holding: int, share: float) -> None:
    found = 0
    for draw in range(DRAWS):
        drawn = Drawn(f"rows {draw}", share)
        sample = [row for row in range(rows) if drawn(row)]
        found += holding / rows in share_of_rows(sum(row < holding for row in sample), len(sample))
    assert found / DRAWS >= CONFIDENCE
