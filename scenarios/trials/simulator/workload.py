"""The workload of a scenario: its random queries, when they come, and the terms of its budgets."""

from __future__ import annotations

from collections.abc import Iterator

from midstream.autopilot.budget_terms import BudgetTerms
from midstream.optimizer.allocation.forecast import CHRONON
from midstream.optimizer.allocation.limits import limits_of
from midstream.scenarios.trials.costs.random_queries import RandomQueries
from midstream.scenarios.trials.simulator.scenario_spec import BudgetSpec, WorkloadSpec


def random_queries(spec: WorkloadSpec) -> RandomQueries:
    """The terms by which queries and streams are drawn."""
    (least, most), (finest, coarsest), (slow, fast) = spec.windows, spec.granules, spec.rates
    return RandomQueries(
        spec.seed,
        windows=(least, most),
        granules=(finest, coarsest),
        rates=(slow, fast),
        number=spec.streams,
        heartbeats=spec.heartbeats,
    )


def coming(spec: WorkloadSpec) -> Iterator[tuple[int, range]]:
    """The instants at which queries come, in order, each with the numbers of these queries.

    >>> later = [{"at": 60, "until": 80, "every": 10, "share": 0.2}, {"at": 70, "share": 1.0}]
    >>> ranges = {"windows": [1, 9], "granules": [1, 2], "rates": [1, 2]}
    >>> list(coming(WorkloadSpec.model_validate({"queries": 10, "later": later, **ranges})))
    [(0, range(0, 10)), (60, range(10, 12)), (70, range(12, 14)), (70, range(14, 24))]
    """
    times = [(0, spec.queries)]
    for later in spec.later:
        until, every = (later.at + 1, 1) if later.until is None else (later.until, later.every or 1)
        times += [(at, max(1, round(later.share * spec.queries))) for at in range(later.at, until, every)]
    first = 0
    for at, number in sorted(times, key=lambda one: one[0]):
        yield at, range(first, first + number)
        first += number


def terms_of(spec: BudgetSpec, chronon: float = CHRONON) -> BudgetTerms:
    """The terms of a budget; a chronon lasts so many microseconds.

    Raises   ArgumentError for a limit, a share or a weight that is none.
    """
    limits = limits_of("budget", spec.memory, spec.processor, chronon)
    return BudgetTerms(limits, spec.rule, spec.weights, spec.reserve, spec.threshold, chronon)
