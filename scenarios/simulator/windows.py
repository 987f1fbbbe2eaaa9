"""What was measured while migrations were under way, and of the same time without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from midstream.plans.plan import Plan
from midstream.scenarios.simulator.meter import longest_pause
from midstream.scenarios.simulator.results import Totals
from midstream.scenarios.simulator.run import Outcome


def with_windows(outcome: Outcome, stayed: Outcome, alones: Mapping[Plan, Outcome]) -> Totals:
    """A run's totals with those of the migrations' time.

    stayed      the first plan without migration
    alones      each plan from the beginning, without migration
    """
    if not outcome.moves:
        return outcome.totals
    moving_to: dict[int, Plan] = {}
    for move in outcome.moves:
        # Of migrations under way at once, the last one has the newest plan.
        moving_to |= dict.fromkeys(range(len(outcome.cpu))[move.first : move.beyond], move.plan)
    moving = sum(outcome.cpu[i] for i in moving_to)
    old = sum(stayed.cpu[i] for i in moving_to)
    new = sum(alones[plan].cpu[i] for i, plan in moving_to.items())
    first, beyond = outcome.moves[0].first, max(moving_to, default=outcome.moves[-1].first - 1) + 1
    return replace(
        outcome.totals,
        longest_pause_moving=longest_pause(outcome.giving, outcome.spans),
        longest_pause_stayed=longest_pause(stayed.giving, outcome.spans),
        cpu_beginning=sum(move.cpu for move in outcome.moves),
        cpu_moving=moving,
        cpu_window_old_alone=old,
        cpu_window_new_alone=new,
        cpu_ratio=moving / (old + new) if old + new else None,
        speed_before=_speed(outcome, range(first)),
        speed_moving=_speed(outcome, moving_to),
        speed_after=_speed(outcome, range(beyond, len(outcome.cpu))),
    )


def _speed(outcome: Outcome, portions: Iterable[int]) -> float | None:
    """Results per second of processing."""
    some = list(portions)
    seconds = sum(outcome.cpu[i] for i in some)
    return sum(outcome.counts[i] for i in some) / seconds if seconds else None
