"""The policies that decide among the orders of a case, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from midstream.autopilot.costs.policies import ChartChoice, LastBest, Periodic, Policy
from midstream.scenarios.trials.policies.break_even import LOOKS, ByBreakEven
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.piloted import Piloted
from midstream.scenarios.trials.policies.policy import How


def repeat_last_best(case: Case, start: int, how: How) -> Policy:
    """Moves at the end of each bucket to the order that was best in it; the running one among equals."""
    return Periodic(LastBest(), case.costs.spent, len(case.orders), case.first, case.bucket, how)


def by_chart(case: Case, start: int, how: How, k: int = 10) -> Policy:
    """Moves by a chart of `k` parts over the latest results of orders, a few times per window."""
    orders, step = len(case.orders), max(1, case.window // LOOKS)
    chart = ChartChoice(orders, k, case.window / step)
    return Periodic(chart, case.costs.spent, orders, case.first, step, how)


def by_break_even(case: Case, start: int, how: How) -> Policy:
    """Moves when that pays over the horizon."""
    return ByBreakEven(case, how)


ITEMS: Mapping[str, Callable[..., Policy]] = {
    "repeat last best": repeat_last_best,
    "break-even": by_break_even,
    "autopilot": Piloted,
    "chart": by_chart,
}
"""Functions that make a policy for one run over a case, from the number of an order, with a strategy."""
