"""How long a search by every rule there is takes for the auction queries of NEXMark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.engine import Engine
from midstream.optimizer import Choice, optimize
from midstream.optimizer.rules import ALL_STAGES, RULES, Rule, Stage
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.nexmark.generator import generate
from midstream.scenarios.nexmark.scripts import SCRIPTS, SLOW_AUCTIONS, run_script

MARK = 0.5
"""The time that a search by every rule may take, in seconds of the processor."""

TIMES = 3
"""How often each search is timed."""

EVENTS = 4_000
"""How many events statistics and samples are of."""


@dataclass(frozen=True, slots=True)
class AuctionFigures:
    """Searches for one query's best plan, by the rules that are tried by default, and by every rule."""

    query: str
    seconds_default: float
    seconds_all: float
    considered: int
    """Plans and parts of plans that were priced, by every rule."""
    gain: float
    """What the given plan costs, in terms of the best one by every rule."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "query": self.query,
            "seconds_default": self.seconds_default,
            "seconds_all": self.seconds_all,
            "mark_seconds": MARK,
            "considered": self.considered,
            "gain": self.gain,
        }


@dataclass(frozen=True, slots=True)
class AuctionsRun:
    """All that was measured."""

    queries: tuple[AuctionFigures, ...]

    @property
    def is_good(self) -> bool:
        """Whether every search was fast enough."""
        return all(one.seconds_all < MARK for one in self.queries)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"good": self.is_good, "queries": [one.as_dict() for one in self.queries]}


def measure_auctions(
    advance: Callable[[int, int], None] = lambda done, total: None, queries: Iterable[int] = SCRIPTS
) -> AuctionsRun:
    """Search the best plan of each query by its number."""
    numbers, figures = list(queries), list[AuctionFigures]()
    for number in numbers:
        figures.append(_measured(number))
        advance(len(figures), len(numbers))
    return AuctionsRun(tuple(figures))


def _measured(number: int) -> AuctionFigures:
    plan, engine = run_query(number)
    _, default = _searched(plan, engine, RULES)
    choice, every = _searched(plan, engine, ALL_STAGES)
    gain = choice.original_cost.total / choice.cost.total
    return AuctionFigures(f"q{number}", default, every, choice.considered, gain)


def _searched(plan: Plan, engine: Engine, rules: Sequence[Rule | Stage]) -> tuple[Choice, float]:
    """What is chosen by what the engine knows, and the least time of several.

    Each time with statistics of its own: samples keep what was computed of them.
    """
    times = []
    for _ in range(TIMES):
        statistics = engine.statistics()
        begin = process_time()
        choice = optimize(plan, statistics, rules=rules)
        times.append(process_time() - begin)
    return choice, min(times)


def run_query(number: int) -> tuple[Plan, Engine]:
    """A query, and an engine that has run it over generated auctions."""
    events = list(islice(generate(SLOW_AUCTIONS), EVENTS))
    query, engine = run_script(SCRIPTS[number].read_text(encoding="utf-8"), events)
    return query.plan, engine


def show_auctions(run: AuctionsRun, console: Console) -> None:
    """What was measured, as a table, and the verdict."""
    table = Table("query", "default rules", "every rule", "aim", "considered", "given / best")
    for one in run.queries:
        times = (f"{seconds:.3f} s" for seconds in (one.seconds_default, one.seconds_all))
        table.add_row(one.query, *times, f"{MARK} s", f"{one.considered:,}", f"{one.gain:.2f}")
    console.print(table)
    verdict = "kept" if run.is_good else "not kept"
    console.print(Text(f"Less than {MARK} s for every query, by every rule: {verdict}."))
