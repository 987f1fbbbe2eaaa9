"""The demonstration: a query starts with a poor join order, and gets a better one while its elements flow.

The query runs as it was written for the first half of the elements. Then the optimizer chooses a plan from
measurements of the streams, and a migration moves to it. The same elements also go through the plan as
written, to the end: both outputs must mean the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from time import perf_counter
from typing import Any

from midstream.arrivals import Event, interleave
from midstream.driving import Command, Migrate, Trial, drive
from midstream.engine import Engine
from midstream.io.progress import Progress
from midstream.migration.machine import Phase
from midstream.migration.preconditions import require_exchangeable
from midstream.migration.report import MigrationReport, report
from midstream.migration.transition import Transition
from midstream.operators.engine.measuring.counting import Counters
from midstream.optimizer import Choice, Statistics, optimize, price
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_to_json
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import BEGINNING, Element, chronons, is_ordered
from midstream.plans.values.verdicts import SHOWN_DIFFERENCES, Equivalence
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.queries import interest_in_new_sellers
from midstream.scenarios.streams.nexmark.workload import (
    AuctionWorkload,
    by_stream,
    take,
)
from midstream.scenarios.trials.demonstration.departures import common_destinations, departures

EVENTS = 200_000
"""The number of generated events of the auction workload, with closings, which the query does not read."""


@dataclass(frozen=True, slots=True)
class DemoScenario:
    """A query as it was written, with complete streams for it; a chronon is a second.

    Of all streams together, `batch_size` consecutive elements arrive at once. `seed` is None if nothing is
    generated.
    """

    name: str
    question: str
    plan: Plan
    streams: Mapping[str, Iterable[Element]]
    batch_size: int
    seed: int | None = None


def auctions(seed: int | None = None, events: int = EVENTS) -> DemoScenario:
    """The generated auction workload, with the query for interest in new sellers."""
    workload = AuctionWorkload() if seed is None else AuctionWorkload(seed=seed)
    streams = by_stream(take(generate(workload), events))
    plan = interest_in_new_sellers().plan()
    return DemoScenario(
        name="auctions",
        question="per category, the last hour's bids on auctions of new sellers: how many, and the highest",
        plan=plan,
        streams={source.stream: list(chronons(streams[source.stream])) for source in plan.sources},
        batch_size=100,
        seed=workload.seed,
    )


def flights(folder: Path) -> DemoScenario:
    """Recorded departures from three airports, with the query for common destinations within an hour.

    Raises   InputFileError for a folder or a file that is not as expected.
    """
    streams = {airport: list(elements) for airport, elements in departures(folder).items()}
    if not any(streams.values()):
        raise InputFileError(f"{folder}: found no departure from {', '.join(streams)}", path=folder)
    return DemoScenario(
        name="departures",
        question="per destination, how many triples of departures the last hour had, and the largest delay",
        plan=common_destinations().plan(),
        streams=streams,
        batch_size=20,
    )


@dataclass(frozen=True, slots=True)
class Phases:
    """Counts before the migration, during it, and after it."""

    before: int
    during: int
    after: int


@dataclass(frozen=True, slots=True)
class IntermediateRates:
    """Intermediate results per 1,000 elements.

    `before` counts the old plan until the migration begins, `after` the new plan since the migration was
    done, and `after_without` the old plan over the same last elements in the run without migration; None
    where there were no elements.
    """

    before: float | None
    after: float | None
    after_without: float | None


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A plan and its estimated cost: microseconds of processing per second of application time."""

    plan: Plan
    cost: float

    def as_dict(self) -> dict[str, Any]:
        """The cost, the drawing, and the JSON form of the plan."""
        return {"cost": self.cost, "tree": str(self.plan), "plan": plan_to_json(self.plan)}


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The outcome of the demonstration.

    `considered` counts the subplans that the optimizer priced. `elements_per_second` is by wall-clock time,
    for the run with the migration and the optimizer.
    """

    scenario: DemoScenario
    old: PricedPlan
    new: PricedPlan
    considered: int
    elements: Phases
    results: Phases
    intermediate: IntermediateRates
    migration: MigrationReport
    elements_per_second: float
    equivalence: Equivalence
    is_ordered: bool

    @property
    def is_equivalent(self) -> bool:
        """True if the output is in order and equivalent to that without migration, with nothing unmatched."""
        return bool(self.equivalence) and self.is_ordered and not self.migration.unmatched

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "scenario": self.scenario.name,
            "question": self.scenario.question,
            "seed": self.scenario.seed,
            "equivalent": self.is_equivalent,
            "checks": {
                "same_snapshots": bool(self.equivalence),
                "in_order": self.is_ordered,
                "unmatched": self.migration.unmatched,
                "differences": list(map(str, self.equivalence.differences[:SHOWN_DIFFERENCES])),
            },
            "elements": asdict(self.elements),
            "results": asdict(self.results),
            "intermediate_per_1000": asdict(self.intermediate),
            "migration": self.migration.as_dict(),
            "plans": {"considered": self.considered, "old": self.old.as_dict(), "new": self.new.as_dict()},
            "elements_per_second": self.elements_per_second,
        }


def demonstrate(
    scenario: DemoScenario, target: Plan | None = None, progress: Progress = lambda n, total: None
) -> Demonstration:
    """Run a scenario with a migration in mid-stream, and without, and compare the results.

    `target` is the plan to migrate to; by default the optimizer's choice.

    Raises   MigrationRefused where `target` cannot take the place of the scenario's plan.

    >>> demonstration = demonstrate(auctions(seed=1, events=20_000))
    >>> demonstration.is_equivalent, demonstration.new.cost < demonstration.old.cost
    (True, True)
    """
    plan = scenario.plan
    if target is not None:
        require_exchangeable(plan, target)
    events, total = _events(scenario)
    choices: list[tuple[Statistics, Choice, Counters]] = []

    def begin(engine: Engine) -> Transition:
        statistics, begun = Statistics.from_observations(engine.observe()), engine.counters()
        choice = optimize(plan, statistics)
        choices.append((statistics, choice, begun))
        # All results are compared in the end, so a wrong target is detected.
        proof = choice.proof if target is None else equivalent(plan, target, steps=0)
        return engine.migrate(
            choice.plan if target is None else target, proof=proof, unproved="accept", note=False
        )

    def decide(event: Event) -> Iterable[Command]:
        return [Migrate(begin)] if event[0] == "mark" else ()

    results: tuple[list[Element], list[Element]] = ([], [])
    moved = Trial(Engine(plan, results[0].extend), decide, perf_counter)
    stayed = Trial(Engine(plan, results[1].extend))
    counted: tuple[Counters, Counters] | None = None
    elements = 0
    for kind, _, batch in drive(stayed, drive(moved, events)):
        if kind == "push":
            elements += len(batch)
            progress(elements, total)
            if counted is None and any(move.migration.phase is Phase.DONE for move in moved.moves):
                counted = moved.engine.counters(), stayed.engine.counters()
    ((statistics, choice, begun),), (move,) = choices, moved.moves
    ended, alone = moved.engine.counters(), stayed.engine.counters()
    done, met = counted or (ended, alone)
    new = move.migration.request.plan
    return Demonstration(
        scenario=scenario,
        old=PricedPlan(plan, choice.original_cost.total),
        new=PricedPlan(new, price(new, statistics).total),
        considered=choice.considered,
        elements=Phases(begun.elements, done.elements - begun.elements, ended.elements - done.elements),
        results=Phases(begun.results, done.results - begun.results, ended.results - done.results),
        intermediate=IntermediateRates(
            before=_per_1000(Counters(0, 0, 0, {}), begun),
            after=_per_1000(done, ended),
            after_without=_per_1000(met, alone),
        ),
        migration=report(move.migration),
        elements_per_second=total / moved.seconds,
        equivalence=equivalent(*results),
        is_ordered=is_ordered(results[0]),
    )


def _events(scenario: DemoScenario) -> tuple[list[Event], int]:
    """All events, with a mark behind half of the elements, and the number of elements."""
    arrivals = list(interleave(scenario.streams, scenario.batch_size))
    counts = list(accumulate((len(batch) for _, batch in arrivals), initial=0))
    events: list[Event] = [("push", *arrival) for arrival in arrivals]
    events.insert(max(1, bisect_left(counts, counts[-1] // 2)), ("mark", "", BEGINNING))
    return [*events, *(("end", stream, None) for stream in scenario.streams)], counts[-1]


def _per_1000(since: Counters, until: Counters) -> float | None:
    elements = until.elements - since.elements
    return 1000 * (until.intermediate - since.intermediate) / elements if elements else None
