"""Tables of a simulation: the comparison of strategies, policies, claims, and each migration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from midstream.scenarios.reports.contents import Cell, Mark, Report, Section, Table
from midstream.scenarios.trials.simulator.results import (
    AMOUNTS,
    HINDSIGHT,
    OF_BUDGETS,
    OF_POLICIES,
    OF_PROCESSING,
    TIMES,
    Run,
    Simulation,
    Spread,
    alone,
)
from midstream.scenarios.trials.simulator.words import first_runs, shown_name, shown_number, shown_time

VERDICTS = {
    "equal": Mark("✓ equal", "good", "the same results, in order"),
    "unordered": Mark(
        "✓ unordered",
        "off",
        "the same results as without migration; order is given up by the scenario",
    ),
    "different": Mark("✗ different", "bad", "other results than meant"),
    "refused": Mark("– refused", "off", "the migration was refused"),
}

FINDINGS = {
    "holds": Mark("✓ holds", "good"),
    "does not hold": Mark("✗ does not hold", "bad"),
    "not measured": Mark("– not measured", "off"),
}

POLICIES = "Policies"

OF_MACHINE = "CPU is that of this machine and differs from run to run."

PAUSES = (
    "Pauses are the longest times without a result: in all, during the migration, and in that time without "
    "a migration. State is in elements."
)


def sections(simulation: Simulation) -> Iterator[Section]:
    """The outcome of a simulation, for a terminal and for a page."""
    if simulation.judged:
        yield Section(POLICIES, Report(list(_unequal(simulation)), tables=[_policies(simulation)]))
    if simulation.runs:
        yield Section("Comparison", Report(list(_notes(simulation)), tables=_comparison(simulation)))
    if simulation.claims:
        yield Section("Claims", Report(tables=[_claims(simulation)]))


def _comparison(simulation: Simulation) -> list[Table]:
    """Results and times of each strategy, and its processing."""
    policies = simulation.policies
    names = [
        shown_policy(one.strategy) if one.strategy in policies else shown_name(one.strategy)
        for one in simulation.compared
    ]
    verdicts = [VERDICTS[one.verdict] for one in simulation.compared]
    titles, figures = _figures(simulation, {**AMOUNTS, **TIMES, **OF_BUDGETS})
    rows: list[tuple[Cell, ...]] = [
        (name, verdict, *row) for name, verdict, row in zip(names, verdicts, figures, strict=True)
    ]
    note = " ".join((PAUSES, *_medians(simulation)))
    tables = [Table("Results", ("", "verdict", *titles), rows, 2, note)]
    titles, figures = _figures(simulation, OF_PROCESSING)
    if titles:
        note = f"{OF_MACHINE} It includes the work of policies." if simulation.judged else OF_MACHINE
        processing = [(name, *row) for name, row in zip(names, figures, strict=True)]
        tables.append(Table("Processing, in CPU seconds", ("", *titles), processing, note=note))
    return tables


def _figures(simulation: Simulation, headings: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """The headings of those figures that a run has, and the figures of each strategy."""
    shown = [
        name
        for name in headings
        if any(name in one.figures and one.figures[name].median is not None for one in simulation.compared)
    ]
    figures = [
        [_spread(simulation, one.figures.get(name), is_time=name in TIMES) for name in shown]
        for one in simulation.compared
    ]
    return [headings[name] for name in shown], figures


def _medians(simulation: Simulation) -> Iterator[str]:
    if simulation.repetitions > 1:
        yield (
            f"Medians of {simulation.repetitions} repetitions, each with streams of its own; below them the "
            "least and the largest."
        )


def _spread(simulation: Simulation, spread: Spread | None, *, is_time: bool = False) -> str:
    """The median and, if runs differ, the least and the largest value below it."""
    if spread is None or spread.median is None or spread.least is None or spread.largest is None:
        return "–"
    median, least, largest = (
        shown_time(simulation, value) if is_time else shown_number(value)
        for value in (spread.median, spread.least, spread.largest)
    )
    return median if spread.least == spread.largest else f"{median}\n{least} … {largest}"


def _notes(simulation: Simulation) -> Iterator[str]:
    """Sentences on unexpected events of runs, and on streams."""
    yield from (f"Note: {early}" for early in simulation.early_ends)
    reference = "of the reference plan" if simulation.compares_plans else "without migration"
    for run in simulation.runs:
        is_asked = run.strategy in simulation.compared_strategies and run.strategy not in simulation.policies
        for note in _events(run, reference, is_asked=is_asked):
            yield f"{shown_name(run.strategy)}, repetition {run.repetition + 1}: {note}"


def _events(run: Run, reference: str, *, is_asked: bool) -> Iterator[str]:
    if run.refused is not None:
        yield f"was refused: {run.refused}"
    elif is_asked and not run.migrations:
        yield "no condition was met, so nothing was migrated"
    for move in run.migrations:
        if move.unmatched:
            yield f"{move.unmatched} fragments of results found no other half"
        if move.reason:
            yield move.reason
    if not run.is_ordered:
        is_allowed = run.verdict == "unordered"
        yield "results overtake each other" + (", as the scenario lets them" if is_allowed else "")
    if run.differences:
        differences = "; ".join(run.differences)
        yield f"results differ from those {reference}, which are on the right: {differences}"


def _policies(simulation: Simulation) -> Table:
    """The costs of each policy, by replay or as the engine counted them."""
    rows = []
    for name in simulation.policies:
        first = next(one for one in simulation.judged if one.policy == name)
        figures = [
            ""
            if name == HINDSIGHT and figure == "moves"
            else _spread(simulation, simulation.spread_of(name, figure))
            for figure in OF_POLICIES
        ]
        rows.append((shown_policy(name), *figures, "" if first.kind == "fixed" else first.start or ""))
    notes = [
        "Intermediate results are those of all plans that run, at all times; during a migration both plans "
        "count. A policy starts with the plan that is the worst one for it, unless the scenario names "
        "another. Totals are also shown relative to the fixed plan that costs least, and to the clairvoyant "
        "that has the same strategies.",
        *_medians(simulation),
    ]
    if simulation.unpriced is not None:
        notes.append(
            f"The engine counted all of it. Without a replay there is no clairvoyant: {simulation.unpriced}."
        )
    titles = ("policy", *OF_POLICIES.values(), "starts with")
    return Table("Costs of policies", titles, rows, note=" ".join(notes))


def _unequal(simulation: Simulation) -> Iterator[str]:
    """Sentences on policies whose counts by the engine and by replay differ."""
    for one in simulation.judged:
        if not one.is_equal:
            yield (
                f"{one.policy}, repetition {one.repetition + 1}: "
                f"the engine counted {one.counted:,} intermediate results, the replay {one.total:,}"
            )


def _claims(simulation: Simulation) -> Table:
    rows = [(one.claim, one.measured, FINDINGS[one.finding]) for one in simulation.claims]
    note = "Measured is the case that comes closest to breaking the claim; of CPU, medians."
    return Table("", ("claim", "measured", ""), rows, 2, note)


def migrations(simulation: Simulation) -> Report:
    """The course of each migration of the first repetition."""
    titles = (
        "strategy", "to", "began", "split", "over", "phase",
        "results of\nthe old plan", "of the\nnew", "put\ntogether", "largest\nstate, old", "new", "held",
    )  # fmt: skip
    rows = []
    facts = []
    for run in first_runs(simulation):
        for moved in run.migrations:
            rows.append(
                (
                    run.strategy,
                    moved.to,
                    *(shown_time(simulation, time) for time in (moved.asked, moved.split, moved.ended)),
                    moved.phase if not moved.unmatched else f"{moved.phase}, {moved.unmatched:,} unmatched",
                    *map(shown_number, (moved.results_old, moved.results_new, moved.results_fused)),
                    *map(shown_number, (moved.peak_old, moved.peak_new, moved.peak_held)),
                )
            )
            if moved.condition is not None:
                facts.append(f"{run.strategy}: began when {moved.condition}")
    if not rows:
        return Report(["No strategy migrated."])
    return Report(facts, tables=[Table("", titles, rows, 2)])


def shown_policy(name: str) -> str:
    """The name of a policy as tables show it.

    >>> shown_policy("A and B first alone"), shown_policy("hindsight")
    ('A and B first, all the time', 'hindsight by bucket, moves free')
    """
    if name == HINDSIGHT:
        return "hindsight by bucket, moves free"
    plan = name.removesuffix(alone(""))
    return name if plan == name else f"{plan}, all the time"
