"""Compare the runs of a scenario with their expected results, and sum up repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import is_ordered as is_in_order
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES
from midstream.scenarios.trials.simulator.results import (
    FIGURES,
    Run,
    StrategySummary,
    Verdict,
    figure_of,
    spread,
)
from midstream.scenarios.trials.simulator.run import RunOutcome


@dataclass(frozen=True)
class NamedOutcome:
    """The outcome of a run by name, beside the outcome that it is compared with.

    expected     the outcome of the run without migration
    is_ordered   True if its results must be in order
    """

    strategy: str
    outcome: RunOutcome
    expected: RunOutcome
    is_ordered: bool = True


def compared_runs(ran: Sequence[NamedOutcome], repetition: int, seed: int) -> list[Run]:
    """Runs of one repetition, each with the verdict on its results."""
    expected = {id(one.expected): one.expected for one in ran}
    forms = {key: normal_form(outcome.results) for key, outcome in expected.items()}
    return [_compared_run(one, forms[id(one.expected)], repetition, seed) for one in ran]


def _compared_run(one: NamedOutcome, form: NormalForm, repetition: int, seed: int) -> Run:
    outcome = one.outcome
    equivalence = compare(form if outcome is one.expected else normal_form(outcome.results), form)
    has_order = is_in_order(outcome.results)
    moves = tuple(move.as_result() for move in outcome.moves)
    is_same = bool(equivalence) and not any(move.unmatched for move in moves)
    verdict: Verdict = "refused" if outcome.refused else "equal" if has_order else "unordered"
    if not is_same or (one.is_ordered and not has_order):
        verdict = "different"
    return Run(
        strategy=one.strategy,
        repetition=repetition,
        seed=seed,
        refused=outcome.refused,
        migrations=moves,
        series=outcome.series,
        totals=outcome.totals,
        verdict=verdict,
        is_ordered=has_order,
        adjustments=outcome.adjusted,
        errors=outcome.errors,
        differences=tuple(map(str, equivalence.differences[:SHOWN_DIFFERENCES])),
    )


def compared(runs: Sequence[Run]) -> tuple[StrategySummary, ...]:
    """Compare every strategy over its repetitions."""
    by_strategy: dict[str, list[Run]] = {}
    for one in runs:
        by_strategy.setdefault(one.strategy, []).append(one)
    return tuple(_compared(strategy, of_it) for strategy, of_it in by_strategy.items())


def _compared(strategy: str, runs: Sequence[Run]) -> StrategySummary:
    verdicts = {one.verdict for one in runs}
    worst: Sequence[Verdict] = ("different", "refused", "unordered", "equal")
    return StrategySummary(
        strategy=strategy,
        runs=len(runs),
        verdict=next(verdict for verdict in worst if verdict in verdicts),
        refused=next((one.refused for one in runs if one.refused), None),
        figures={name: spread([figure_of(one, name) for one in runs]) for name in FIGURES},
    )
