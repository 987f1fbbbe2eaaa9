"""What the engine's autopilot decides of streams that are generated costs little more than the best order."""

from __future__ import annotations

from typing import get_args

import pytest

from midstream.autopilot.costs.bill import Bill, best_fixed
from midstream.autopilot.costs.policies import replay
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.generated import adversarial, stationary
from midstream.scenarios.trials.policies.piloted import Piloted
from midstream.scenarios.trials.policies.policy import How


@pytest.mark.parametrize("how", [pytest.param(get_args(How)[0], marks=pytest.mark.slow), *get_args(How)[1:]])
def test_flips_as_fast_as_a_migration_cost_little_more_than_one_order(how: How) -> None:
    """The guard keeps what break-even alone makes 1.66."""
    flips = adversarial(3)
    best = min(flips.costs.totals)
    assert max(bill_from(flips, order, how).total for order in range(2)) <= 1.1 * best


@pytest.mark.slow
@pytest.mark.parametrize("how", get_args(How))
def test_where_nothing_changes_it_moves_once_at_most(how: How) -> None:
    calm = stationary(150, seed=104)
    for order in range(2):
        assert len(bill_from(calm, order, how).moves) == (order != best_fixed(calm.costs))


def bill_from(case: Case, order: int, how: How) -> Bill:
    """What it costs from an order on."""
    return replay(case.costs, Piloted(case, order, how), order)
