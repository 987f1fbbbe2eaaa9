"""Costs of the engine's autopilot on streams that change, with the limits that it must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.autopilot.costs.bill import best_fixed
from midstream.benchmarks.options import BenchmarkError
from midstream.scenarios.trials.policies.case import Case, Order
from midstream.scenarios.trials.policies.generated import FLIPS, GENERATED
from midstream.scenarios.trials.policies.on_engine import fly
from midstream.scenarios.trials.policies.recorded import RECORDED

CASES = (*RECORDED, *GENERATED)

By = Literal["auto", "genmig"]
"""The strategies by which the autopilot may migrate: the cheapest one, or GenMig alone."""

SEEDS = 20
"""The number of streams on which an autopilot must stay still, where there is nothing to gain."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Limits for the autopilot from its worst first order, with the default settings.

    of            the reference: the best fixed order, or the best order of each bucket
    auto, genmig  the largest multiple of the reference, by strategy; None without a limit
    with_first    True adds, for the most expensive order, its cost in the first bucket to the limit
    below_fixed   True if it must cost less than every fixed order
    once          True if it may move once, and from the best order not at all
    seeds         the number of streams
    """

    of: Literal["fixed", "hindsight"] = "fixed"
    auto: float | None = None
    genmig: float | None = None
    with_first: bool = False
    below_fixed: bool = False
    once: bool = False
    seeds: int = 1

    def multiple(self, by: By) -> float | None:
        """The largest multiple that is allowed."""
        return self.auto if by == "auto" else self.genmig


AIMS: Mapping[str, Aim] = {
    "roads": Aim(auto=0.55, genmig=0.70),
    "flights": Aim(auto=1.05, genmig=1.05, with_first=True),
    "packets": Aim(auto=0.85, genmig=1.10),
    **dict.fromkeys(
        ("selectivity-flip", "rate-burst", "slow-drift"), Aim("hindsight", 1.10, 1.15, below_fixed=True)
    ),
    "periodic-50": Aim("hindsight", 1.15, 1.25),
    "periodic-100": Aim("hindsight", 1.10, 1.15),
    **{f"flips-{windows:g}": Aim(auto=1.3, genmig=1.3) for windows in FLIPS},
    "stationary-150": Aim(once=True, seeds=SEEDS),
    "stationary-16": Aim(auto=1.03, genmig=1.03),
    "situations": Aim(),
    "crowds": Aim(),
}
"""Limits by case, none for the last two, which influenced no choice of settings."""


@dataclass(frozen=True, slots=True)
class PilotRun:
    """An autopilot's run from one first order, over one stream.

    cost       intermediate results of all plans that ran
    fixed      those of the best fixed order; `hindsight`, those of the best order of each bucket
    allowed    the largest cost that is allowed; None without a limit
    moves      the number of migrations that it began; `allowed_moves`, the largest number allowed
    """

    case: str
    seed: int
    first: Order
    by: By
    cost: int
    fixed: int
    hindsight: int
    allowed: float | None
    moves: int
    allowed_moves: int | None
    seconds: float

    @property
    def is_good(self) -> bool:
        """True if it keeps its limits."""
        dear = self.allowed is not None and self.cost > self.allowed
        return not dear and (self.allowed_moves is None or self.moves <= self.allowed_moves)


@dataclass(frozen=True, slots=True)
class AutopilotRun:
    """All runs of the autopilot."""

    runs: tuple[PilotRun, ...]

    @property
    def is_good(self) -> bool:
        """True if every run keeps its limits."""
        return all(one.is_good for one in self.runs)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        runs = [{**asdict(one), "good": one.is_good} for one in self.runs]
        return {"format": "midstream-autopilot", "version": 2, "good": self.is_good, "runs": runs}


def chosen_cases(names: str | None, data: Path | None) -> list[str]:
    """The cases to run: by default the generated ones, and with data also the recorded ones.

    Raises   BenchmarkError for an unknown name, and for a recorded case without data.
    """
    if names is None:
        return list(CASES if data is not None else GENERATED)
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in chosen:
        if name not in CASES:
            raise BenchmarkError(f"--cases: found {name!r}, expected some of {', '.join(CASES)}", found=name)
        if name in RECORDED and data is None:
            raise BenchmarkError(
                f"--cases: found {name}, which is recorded; expected its folder, with --data", found=name
            )
    return chosen


def case_of(name: str, data: Path | None, seed: int) -> Case:
    """A case by its name; a recorded one needs the folder with data."""
    if name in GENERATED:
        return GENERATED[name](seed)
    assert data is not None
    return RECORDED[name](data)


def all_runs(names: Sequence[str], data: Path | None, seed: int) -> Sequence[Callable[[], PilotRun]]:
    """Runs from each first order of each case, once by each strategy; each can have its own process."""
    found: list[Callable[[], PilotRun]] = []
    for name in names:
        for one in range(seed, seed + AIMS[name].seeds):
            for order in case_of(name, data, one).orders:
                found += [partial(run_autopilot, name, data, one, order, by) for by in get_args(By)]
    return found


def run_autopilot(name: str, data: Path | None, seed: int, first: Order, by: By) -> PilotRun:
    """Let the engine's autopilot decide over one stream."""
    case, aim = case_of(name, data, seed), AIMS[name]
    best = best_fixed(case.costs)
    fixed, beyond = case.costs.totals[best], case.hindsight
    outcome = fly(case, first, "genmig" if by == "genmig" else "moving-states")
    return PilotRun(
        name,
        seed,
        first,
        by,
        outcome.total,
        fixed,
        beyond,
        _allowed(aim, case, first, by, fixed, beyond),
        outcome.moves,
        (0 if first == case.orders[best] else 1) if aim.once else None,
        outcome.seconds,
    )


def _allowed(aim: Aim, case: Case, first: Order, by: By, fixed: int, beyond: int) -> float | None:
    multiple = aim.multiple(by)
    if multiple is None:
        return None
    allowed = multiple * (fixed if aim.of == "fixed" else beyond)
    number, costs = case.orders.index(first), case.costs
    if aim.with_first and costs.totals[number] == max(costs.totals):
        allowed += costs.spent(number, case.first, case.first + case.bucket)
    # Costs are whole numbers.
    return min(allowed, fixed - 1) if aim.below_fixed else allowed


def measure_autopilot(
    names: Sequence[str],
    data: Path | None,
    seed: int,
    workers: int,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> AutopilotRun:
    """Run the autopilot on all cases, several at a time; the number of workers does not change results."""
    calls, found = all_runs(names, data, seed), list[PilotRun]()
    with ProcessPoolExecutor(workers) as pool:
        for one in pool.map(_call, calls):
            found.append(one)
            advance(len(found), len(calls))
    return AutopilotRun(tuple(found))


def _call(run: Callable[[], PilotRun]) -> PilotRun:
    return run()


def show_autopilot(run: AutopilotRun, console: Console) -> None:
    """Print for each case and strategy the run that comes nearest to its limit, and the verdict."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("case", no_wrap=True)
    table.add_column("by", no_wrap=True)
    for heading in ("cost", "aim", "/ fixed", "/ hindsight", "moves", "kept"):
        table.add_column(heading, justify="right", no_wrap=True)
    for case, by in dict.fromkeys((one.case, one.by) for one in run.runs):
        runs = [one for one in run.runs if (one.case, one.by) == (case, by)]
        worst = max(runs, key=_nearness)
        aim = "" if worst.allowed is None else f"{worst.allowed:,.0f}"
        ratios = (f"{worst.cost / of:.2f}" if of else "" for of in (worst.fixed, worst.hindsight))
        moves = str(max(one.moves for one in runs))
        kept = f"{sum(one.is_good for one in runs)}/{len(runs)}"
        table.add_row(case, by, f"{worst.cost:,}", aim, *ratios, moves, kept)
    console.print(table)
    console.print(Text(f"Every promise: {'kept' if run.is_good else 'not kept'}."))


def _nearness(one: PilotRun) -> tuple[bool, float]:
    return not one.is_good, one.cost / (one.allowed or one.fixed or 1)
