"""Processor time of the autopilot, deciding included, beside fixed plans and a migration by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import wraps
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

import midstream as ms
from midstream.arrivals import Event, interleave
from midstream.benchmarks.deciding_cases import MADE, READ, Gain, Situation
from midstream.benchmarks.options import BenchmarkError
from midstream.driving import Command, Migrate, Trial, drive, without_garbage_collector
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import makes_results
from midstream.plans.values.errors import MigrationRefused

BATCH = 64
"""The number of elements, of all streams, in one turn."""

SHORT = 2.0
"""Seconds below which a run tells too little: a plan beside itself may differ by a tenth or more."""

DECIDING = 0.08
"""The largest share of a run's time that deciding and moves may take where nothing can be gained."""
BESIDE_FIRST: Mapping[Gain, float] = {"none": 1.1, "some": 1.1, "against": 1.5}
"""By the gain of other plans, the largest ratio to the time of the first plan."""
BESIDE_HAND = 1.1
"""The largest ratio to a migration by hand, where a window takes `WORTH` seconds, and there are `LONG`."""
WORTH, LONG = 0.1, 20.0
RESULTS = 1.3
"""The largest ratio to the best plan's results, beside those of the first plan until the move by hand."""
RESULTS_BESIDE = 1.05
"""The largest ratio to the first plan's results where another query runs beside."""

BY_HAND = 1.25
"""The instant of the migration by hand, in windows after the first element."""

PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "collect": (
        ("operators.engine.measuring.watching", "Watch.note"),
        ("autopilot.watching", "WatchedQuery.take"),
    ),
    "smooth": (("autopilot.learning", "Learning.take"), ("autopilot.learning", "Learning.statistics")),
    "search": (("autopilot.advising", "ByOptimizer.advise"),),
    "count": (("autopilot.watching", "WatchedQuery.spent"), ("autopilot.accounts", "Accounts.with_lately")),
    "migrate": (
        ("autopilot.watching", "EngineAutopilot.migrate"),
        ("autopilot.watching", "EngineAutopilot.strategies"),
    ),
    "look": (("operators.engine.measuring.watching", "Watch.look"),),
}
"""Parts of deciding, with the methods in which they are; a part's time is without the parts inside it."""


@dataclass(frozen=True)
class Run:
    """One run: processor seconds, counted intermediate results, moves, and seconds by part of deciding.

    `intermediate` are the results of all operators, each counted once, that the query does not give out. So
    a join that another query runs beside it counts in every plan, shared or not.
    """

    seconds: float
    intermediate: int
    results: int
    moves: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def deciding(self) -> float:
        """The seconds of all parts, migrations included."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Outcome:
    """Runs of a situation from one first plan.

    best, worst    the fixed plans of least and most processor time
    ratios         of pairs of adjacent runs: the autopilot beside the first plan, the best one, and by hand
    windows        the length of the streams
    is_beside      True if another query runs beside this one
    """

    situation: str
    first: str
    best: str
    worst: str
    fixed: Mapping[str, float]
    ratios: Mapping[str, float]
    pilot: Run
    intermediate: Mapping[str, int]
    gain: Gain
    windows: float
    is_beside: bool = False

    @property
    def misses(self) -> list[str]:
        """The limits that are not kept; none is told of runs that are too short."""
        took, pilot = self.fixed[self.first], self.pilot
        if took < SHORT:
            return []
        is_settled = self.gain == "none" or (self.gain == "some" and self.first == self.best)
        is_worth = self.gain == "some" and took / self.windows >= WORTH and self.windows >= LONG
        until_by_hand = min(1.0, BY_HAND / self.windows) * self.intermediate[self.first]
        most_results = RESULTS * self.intermediate[self.best] + until_by_hand
        if self.is_beside:
            most_results = RESULTS_BESIDE * self.intermediate[self.first]
        limits = [
            ("deciding", pilot.deciding / pilot.seconds, DECIDING, is_settled),
            ("/ first", self.ratios["first"], BESIDE_FIRST[self.gain], True),
            ("/ by hand", self.ratios.get("by hand", 0.0), BESIDE_HAND, is_worth),
            ("moves", pilot.moves, int(self.first != self.best), is_settled),
            ("results", pilot.intermediate, most_results, self.gain != "against"),
        ]
        return [
            f"{name}: {found:.4g}, at most {most:.4g}"
            for name, found, most, holds in limits
            if holds and found > most
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "misses": self.misses}


@dataclass(frozen=True)
class DecidingRun:
    """The outcomes of all situations."""

    outcomes: tuple[Outcome, ...]

    @property
    def is_good(self) -> bool:
        """True if every limit is kept."""
        return not any(one.misses for one in self.outcomes)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        outcomes = [one.as_dict() for one in self.outcomes]
        return {"format": "midstream-deciding", "version": 1, "outcomes": outcomes}


def run_fixed(situation: Situation, plan: Plan) -> Run:
    """Run one plan all the time."""
    return _run(situation, plan, lambda engine: None, None)


def run_by_hand(situation: Situation, plan: Plan, best: Plan) -> Run:
    """Run a plan, and migrate to the best one a window and a quarter after the first element."""
    at = situation.first + BY_HAND * situation.window

    def decide(event: Event) -> Iterator[Command]:
        if not waiting or event[0] != "push" or event[2][0][0] < at:
            return
        waiting.clear()
        yield Migrate(lambda engine: engine.migrate(best, "auto"))

    waiting = [True]
    return _run(situation, plan, lambda engine: None, decide)


def run_pilot(situation: Situation, plan: Plan, timed: bool = False, **options: Any) -> Run:
    """Run the autopilot from a plan; `timed` tells the time by parts, and takes some itself."""

    def begin(engine: ms.Engine) -> Any:
        return engine.autopilot(**options)

    if not timed:
        return _run(situation, plan, begin, None)
    with timers() as parts:
        found = _run(situation, plan, begin, None)
    return Run(found.seconds, found.intermediate, found.results, found.moves, dict(parts))


def _run(
    situation: Situation,
    plan: Plan,
    begin: Callable[[ms.Engine], Any],
    decide: Callable[[Event], Iterator[Command]] | None,
) -> Run:
    results = 0

    def count(batch: Sequence[Any]) -> None:
        nonlocal results
        results += len(batch)

    engine = ms.Engine()
    engine.add(plan, count)
    if situation.beside is not None:
        engine.add(situation.beside, lambda batch: None, "beside")
    with without_garbage_collector():
        began = process_time()
        pilot = begin(engine)
        trial = Trial(engine, decide)
        for _ in drive(trial, (("push", *one) for one in interleave(situation.streams, BATCH))):
            pass
        engine.close()
        seconds = process_time() - began
    moves = 0 if pilot is None else sum(events.get("move", 0) for events in pilot.summary.values())
    made = sum(number for node, number in engine.counters().emitted.items() if makes_results(node))
    return Run(seconds, made - results, results, moves)


@contextmanager
def timers() -> Iterator[Mapping[str, float]]:
    """Time the parts of deciding while the block runs."""
    from importlib import import_module

    spent: dict[str, float] = defaultdict(float)
    inside: list[float] = []
    before: list[tuple[type, str, Any]] = []

    def timed(part: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            inside.append(0.0)
            began = process_time()
            try:
                return method(*given, **named)
            finally:
                took = process_time() - began
                spent[part] += took - inside.pop()
                if inside:
                    inside[-1] += took

        return call

    for part, methods in PARTS.items():
        for module, name in methods:
            owner, _, attribute = name.partition(".")
            cls = getattr(import_module(f"midstream.{module}"), owner)
            before.append((cls, attribute, getattr(cls, attribute)))
            setattr(cls, attribute, timed(part, getattr(cls, attribute)))
    try:
        yield spent
    finally:
        for cls, attribute, method in before:
            setattr(cls, attribute, method)


def situations(names: str | None, data: Path | None) -> dict[str, Callable[[float], Situation]]:
    """The chosen situations, by name; recorded ones need the folder with data.

    Raises   BenchmarkError for an unknown name, and for a recorded one without data.
    """
    read = {} if data is None else {name: lambda _, of=of: of(data) for name, of in READ.items()}
    known = {**MADE, **read}
    chosen = list(known) if names is None else [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in known:
            needs = "; it is recorded and needs --data" if name in READ else ""
            expected = f"expected some of {', '.join(known)}{needs}"
            raise BenchmarkError(f"--cases: found {name!r}, {expected}", found=name)
    return {name: known[name] for name in chosen}


def measure_deciding(
    made: Mapping[str, Callable[[float], Situation]],
    scale: float,
    pairs: int,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> DecidingRun:
    """Measure situations of some length, each from its best and from its worst plan."""
    outcomes: list[Outcome] = []
    for number, (name, make) in enumerate(made.items()):
        advance(number, len(made))
        outcomes += _measured(name, make(scale), pairs)
    advance(len(made), len(made))
    return DecidingRun(tuple(outcomes))


def _measured(name: str, situation: Situation, pairs: int) -> list[Outcome]:
    fixed = {plan_name: run_fixed(situation, plan) for plan_name, plan in situation.plans.items()}
    best = min(fixed, key=lambda one: fixed[one].seconds)
    worst = max(fixed, key=lambda one: fixed[one].seconds)
    return [
        _outcome(name, situation, fixed, first, best, worst, pairs) for first in dict.fromkeys((worst, best))
    ]


def _outcome(
    name: str,
    situation: Situation,
    fixed: Mapping[str, Run],
    first: str,
    best: str,
    worst: str,
    pairs: int,
) -> Outcome:
    plans = situation.plans
    beside: dict[str, Callable[[], Run]] = {"first": lambda: run_fixed(situation, plans[first])}
    if first != best:
        beside["best"] = lambda: run_fixed(situation, plans[best])
        beside["by hand"] = lambda: run_by_hand(situation, plans[first], plans[best])
    ratios = {}
    for other, run in beside.items():
        found = []
        for _ in range(pairs):
            try:
                found.append(run_pilot(situation, plans[first]).seconds / run().seconds)
            except MigrationRefused:
                break
        if found:
            ratios[other] = median(found)
    return Outcome(
        name,
        first,
        best,
        worst,
        {one: run.seconds for one, run in fixed.items()},
        ratios,
        run_pilot(situation, plans[first], timed=True),
        {one: run.intermediate for one, run in fixed.items()},
        situation.gain,
        situation.windows,
        situation.beside is not None,
    )


def show_deciding(run: DecidingRun, console: Console) -> None:
    """Print a row for each first plan: seconds, ratios and moves; and the parts of deciding."""
    times = _table("first", "best", "pilot", "/ first", "/ best", "/ hand", "moves", "results")
    parts = _table(*PARTS)
    for one in run.outcomes:
        pilot, first = one.pilot, one.fixed[one.first]
        times.add_row(
            one.situation,
            one.first,
            *(f"{seconds:.2f}" for seconds in (first, one.fixed[one.best], pilot.seconds)),
            *(f"{one.ratios[of]:.2f}" if of in one.ratios else "" for of in ("first", "best", "by hand")),
            str(pilot.moves),
            f"{pilot.intermediate / max(1, one.intermediate[one.best]):.2f}",
        )
        shares = (f"{pilot.parts.get(part, 0.0) / first:.1%}" for part in PARTS)
        parts.add_row(one.situation, one.first, *shares)
    console.print(times)
    console.print("Seconds of the processor; results are intermediate ones, ÷ those of the best plan.\n")
    console.print(parts)
    console.print("Parts are shares of the time that the first plan takes by itself.\n")
    for one in run.outcomes:
        for miss in one.misses:
            console.print(f"Not kept: {one.situation}, from {one.first}: {miss}.")
    short = sum(one.fixed[one.first] < SHORT for one in run.outcomes)
    console.print(f"Limits are for runs of {SHORT:g} s; {short} of {len(run.outcomes)} were shorter.")


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("case", "first plan"):
        table.add_column(heading, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
