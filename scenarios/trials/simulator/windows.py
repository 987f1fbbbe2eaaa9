"""Measurements during migrations, and of the same time without them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from midstream.plans.algebra.plan import Plan
from midstream.scenarios.trials.simulator.results import Totals
from midstream.scenarios.trials.simulator.run import RunOutcome
from midstream.scenarios.trials.simulator.run_record import longest_pause, processing, speed

K = TypeVar("K")


def cheaper(outcome: RunOutcome, again: RunOutcome, every: int) -> RunOutcome:
    """The least processing of each arrival and each migration, of two equal runs.

    Other work of the machine only adds to the time. `every` is the length of a bucket.
    """
    moves = tuple(
        replace(
            move,
            move=replace(move.move, seconds=min(move.move.seconds, other.move.seconds)),
            cpu_aborting=min(move.cpu_aborting, other.cpu_aborting),
        )
        for move, other in zip(outcome.moves, again.moves, strict=True)
    )
    return _with_cpu(replace(outcome, moves=moves), list(map(min, outcome.cpu, again.cpu)), every)


def alike(outcomes: Mapping[K, RunOutcome], every: int) -> dict[K, RunOutcome]:
    """Outcomes with the least processing wherever equal plans run by themselves.

    While no migration is under way, runs with the same physical plan do the same work for the same
    arrivals. So only the differences between migrations remain.
    """
    least: dict[Plan, list[float]] = {}
    for one in outcomes.values():
        for plan, portions in _by_themselves(one):
            known = least.setdefault(plan, [math.inf] * len(one.cpu))
            known[portions] = map(min, known[portions], one.cpu[portions])
    found = {}
    for key, one in outcomes.items():
        cpu = list(one.cpu)
        for plan, portions in _by_themselves(one):
            cpu[portions] = least[plan][portions]
        found[key] = _with_cpu(one, cpu, every)
    return found


def _by_themselves(outcome: RunOutcome) -> Iterator[tuple[Plan, slice]]:
    """The physical plans that ran by themselves, with their portions."""
    ends = [first for first, _ in outcome.running[1:]]
    for (first, plan), beyond in zip(outcome.running, [*ends, len(outcome.cpu)], strict=True):
        if plan is not None:
            yield plan, slice(first, beyond)


def _with_cpu(outcome: RunOutcome, cpu: Sequence[float], every: int) -> RunOutcome:
    series = replace(outcome.series, cpu=processing(cpu, outcome.moves, outcome.taken, every))
    total = series.cpu[-1]
    totals = replace(outcome.totals, cpu=total, speed=speed(outcome.totals.results, total))
    return replace(outcome, cpu=cpu, series=series, totals=totals)


def with_windows(outcome: RunOutcome, stayed: RunOutcome, alones: Mapping[Plan, RunOutcome]) -> Totals:
    """A run's totals with those of the migrations' time.

    stayed      the first plan without migration
    alones      each plan from the beginning, without migration
    """
    if not outcome.moves:
        return outcome.totals
    moving_to: dict[int, Plan] = {}
    ending = {
        move.beyond - 1 for move in outcome.moves if move.beyond is not None and move.beyond > move.first
    }
    for move in outcome.moves:
        # Of migrations under way at once, the last one has the newest plan.
        moving_to |= dict.fromkeys(range(len(outcome.cpu))[move.first : move.beyond], move.plan)
    ended = sum(outcome.cpu[i] for i in ending)
    for i in ending:
        del moving_to[i]
    moving = sum(outcome.cpu[i] for i in moving_to)
    old = sum(stayed.cpu[i] for i in moving_to)
    new = sum(alones[plan].cpu[i] for i, plan in moving_to.items())
    first = outcome.moves[0].first
    beyond = max(len(outcome.cpu) if move.beyond is None else move.beyond for move in outcome.moves)
    return replace(
        outcome.totals,
        longest_pause_moving=longest_pause(outcome.giving, outcome.spans),
        longest_pause_stayed=longest_pause(stayed.giving, outcome.spans),
        cpu_beginning=sum(move.move.seconds for move in outcome.moves),
        cpu_ending=ended,
        cpu_moving=moving,
        cpu_window_old_alone=old,
        cpu_window_new_alone=new,
        cpu_ratio=moving / (old + new) if old + new else None,
        speed_before=_speed(outcome, range(first)),
        speed_moving=_speed(outcome, moving_to),
        speed_after=_speed(outcome, range(beyond, len(outcome.cpu))),
    )


def _speed(outcome: RunOutcome, portions: Iterable[int]) -> float | None:
    """Results per second of processing."""
    some = list(portions)
    seconds = sum(outcome.cpu[i] for i in some)
    return speed(sum(outcome.counts[i] for i in some), seconds)
