"""Times of searches by all rules for the best plans of NEXMark's auction queries."""

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
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.scripts import SCRIPTS, SLOW_AUCTIONS, run_script

MARK = 0.5
"""The most time that a search by all rules may take, in CPU seconds."""

TIMES = 3
"""The number of times that each search is measured."""

EVENTS = 4_000
"""The number of events behind statistics and samples."""


@dataclass(frozen=True, slots=True)
class AuctionFigures:
    """Searches for the best plan of one query, by the default rules and by all rules."""

    query: str
    seconds_default: float
    seconds_all: float
    considered: int
    """The number of plans and subplans that were priced, by all rules."""
    gain: float
    """The cost of the original plan as a multiple of that of the best plan by all rules."""

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
    """All measurements."""

    queries: tuple[AuctionFigures, ...]

    @property
    def is_good(self) -> bool:
        """True if every search was fast enough."""
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
    """The choice from the engine's statistics, and the least time of several searches.

    Each search has statistics of its own, as samples cache what was computed from them.
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
    """Print the measurements as a table, and the verdict."""
    table = Table("query", "default rules", "every rule", "aim", "considered", "given / best")
    for one in run.queries:
        times = (f"{seconds:.3f} s" for seconds in (one.seconds_default, one.seconds_all))
        table.add_row(one.query, *times, f"{MARK} s", f"{one.considered:,}", f"{one.gain:.2f}")
    console.print(table)
    verdict = "kept" if run.is_good else "not kept"
    console.print(Text(f"Less than {MARK} s for every query, by every rule: {verdict}."))
