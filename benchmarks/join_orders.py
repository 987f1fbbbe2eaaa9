"""Time and quality of searches for join orders, also where they cannot consider all orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.benchmarks.landscapes import Topology, landscape
from midstream.benchmarks.least_cost import least_cost
from midstream.io.progress import counted
from midstream.optimizer import Choice, CostModel, optimize
from midstream.optimizer.rules import ALL_STAGES, RULES, Rule, Stage
from midstream.optimizer.search.join_orders import order_joins
from midstream.optimizer.search.join_problem import JoinProblem, problem_of

NEAR_MARK = 1.05
"""The largest cost of a chosen order, as a multiple of that of the best order."""

LONGER = 10
"""The length of the search for a reference order, as a multiple, where the best order is unknown."""

LARGEST_CLIQUE = 15
"""The largest number of inputs that are all linked for which the best order is computed."""


@dataclass(frozen=True, slots=True)
class Joins:
    """A kind of landscape; `mark` is the most time that an exact search may take, in CPU seconds."""

    topology: Topology
    size: int
    one_key: bool = False
    mark: float | None = None

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"{self.topology} {self.size}{', one key' if self.one_key else ''}"

    def problem(self, seed: int) -> JoinProblem:
        """A join problem of this kind."""
        plan, statistics = landscape(self.topology, self.size, seed, one_key=self.one_key)
        problem = problem_of(plan.root, CostModel(statistics))
        assert problem is not None
        return problem

    @property
    def best_is_known(self) -> bool:
        """True if the best order can be computed."""
        return self.size <= LARGEST_CLIQUE or (self.topology == "star" and not self.one_key)


EXACT = (
    Joins("chain", 8, mark=0.1),
    Joins("chain", 20, mark=0.6),
    Joins("star", 10, mark=0.8),
    Joins("clique", 8, mark=0.8),
    Joins("clique", 10, mark=4.0),
    Joins("star", 12, mark=4.0),
)
NEAR = (
    Joins("clique", 15),
    Joins("star", 15, one_key=True),
    Joins("star", 20),
    Joins("star", 20, one_key=True),
)


@dataclass(frozen=True, slots=True)
class ExactFigures:
    """Searches of all orders, with their times by the default rules and by all rules.

    considered  the largest number of subplans that were priced by the default rules
    is_exact    True if the default rules left nothing out
    to_default  the largest cost of a result by all rules, as a multiple of that by the default rules; with
                all rules there is much more to consider, and some of it is left out
    """

    joins: Joins
    seconds: tuple[float, ...]
    seconds_all: tuple[float, ...]
    considered: int
    is_exact: bool
    to_default: float

    @property
    def is_good(self) -> bool:
        """True if the best order was found both times."""
        return self.is_exact and self.to_default <= 1 + 1e-9

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "joins": self.joins.name,
            "seconds": list(self.seconds),
            "seconds_all": list(self.seconds_all),
            "mark_seconds": self.joins.mark,
            "considered": self.considered,
            "exact": self.is_exact,
            "to_default": self.to_default,
        }


@dataclass(frozen=True, slots=True)
class NearFigures:
    """Searches of limited time: costs relative to the best and to the original order, by landscape."""

    joins: Joins
    to_best: tuple[float, ...]
    to_given: tuple[float, ...]

    @property
    def is_good(self) -> bool:
        """True if no cost exceeds the limit, or the cost of the original order."""
        return max(self.to_best) <= NEAR_MARK and max(self.to_given) <= 1 + 1e-9

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "joins": self.joins.name,
            "best_is_known": self.joins.best_is_known,
            "to_best": list(self.to_best),
            "to_given": list(self.to_given),
        }


@dataclass(frozen=True, slots=True)
class OrdersRun:
    """All measurements."""

    seconds: float
    exact: tuple[ExactFigures, ...]
    near: tuple[NearFigures, ...]

    @property
    def is_good(self) -> bool:
        """True if searches of all orders find the best one, and the others come near."""
        return all(one.is_good for one in self.exact) and all(one.is_good for one in self.near)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "good": self.is_good,
            "seconds": self.seconds,
            "exact": [one.as_dict() for one in self.exact],
            "near": [one.as_dict() for one in self.near],
        }


def measure_orders(
    landscapes: int,
    seconds: float,
    advance: Callable[[int, int], None] = lambda done, total: None,
    exact: Sequence[Joins] = EXACT,
    near: Sequence[Joins] = NEAR,
) -> OrdersRun:
    """Search the orders of `landscapes` landscapes of each kind, and in large ones for `seconds` each."""
    step = counted(advance, landscapes * (2 * len(exact) + len(near)))
    return OrdersRun(
        seconds,
        tuple(_exactly(joins, landscapes, step) for joins in exact),
        tuple(_nearly(joins, landscapes, seconds, step) for joins in near),
    )


def _exactly(joins: Joins, landscapes: int, step: Callable[[], object]) -> ExactFigures:
    default, every = (
        [_searched(joins, seed, rules, step) for seed in range(landscapes)] for rules in (RULES, ALL_STAGES)
    )
    return ExactFigures(
        joins,
        tuple(seconds for _, seconds in default),
        tuple(seconds for _, seconds in every),
        max(choice.considered for choice, _ in default),
        all(choice.is_complete for choice, _ in default),
        max(
            by_all.cost.total / choice.cost.total
            for (choice, _), (by_all, _) in zip(default, every, strict=True)
        ),
    )


def _searched(
    joins: Joins, seed: int, rules: Sequence[Rule | Stage], step: Callable[[], object]
) -> tuple[Choice, float]:
    """The choice and the CPU seconds of a search.

    It has samples of its own, as samples cache what was computed from them.
    """
    plan, statistics = landscape(joins.topology, joins.size, seed, one_key=joins.one_key)
    begin = process_time()
    choice = optimize(plan, statistics, rules=rules)
    seconds = process_time() - begin
    step()
    return choice, seconds


def _nearly(joins: Joins, landscapes: int, seconds: float, step: Callable[[], object]) -> NearFigures:
    to_best, to_given = [], []
    for seed in range(landscapes):
        given, found = searched(joins.problem(seed), seconds)
        if joins.best_is_known:
            best = least_cost(joins.problem(seed), joins.topology, joins.one_key)
        else:
            _, best = searched(joins.problem(seed), LONGER * seconds)
        to_best.append(found / best)
        to_given.append(found / given)
        step()
    return NearFigures(joins, tuple(to_best), tuple(to_given))


def searched(problem: JoinProblem, seconds: float) -> tuple[float, float]:
    """The cost of the original order, and of the order found within `seconds` CPU seconds."""
    begin = process_time()
    search = order_joins(problem, budget=None)
    given = found = next(search).cost
    while process_time() - begin < seconds:
        try:
            found = next(search).cost
        except StopIteration as end:
            return given, end.value.cost
    return given, found


def show_orders(run: OrdersRun, console: Console) -> None:
    """Print the measurements as tables, and the verdict."""
    table = Table("seconds", "median", "most", "all rules", "most", "aim", "subplans", "exact", "cost")
    for one in run.exact:
        measured = (one.seconds, one.seconds_all)
        times = (f"{seconds:.3f}" for each in measured for seconds in (median(each), max(each)))
        aim = f"{one.joins.mark}"
        found = (f"{one.considered:,}", "yes" if one.is_exact else "no", f"{one.to_default:.4f}")
        table.add_row(one.joins.name, *times, aim, *found)
    console.print(table)
    table = Table("joins", "of the best, median", "at the most", "of the given, at the most", "the best is")
    for each in run.near:
        ratios = (median(each.to_best), max(each.to_best), max(each.to_given))
        known = "computed" if each.joins.best_is_known else f"found in {LONGER * run.seconds:g} s"
        table.add_row(each.joins.name, *(f"{ratio:.4f}" for ratio in ratios), known)
    console.print(table)
    verdict = "kept" if run.is_good else "not kept"
    mark = f"at most {NEAR_MARK:.2f} times the best, and never above the given"
    console.print(Text(f"Within {run.seconds:g} s, {mark}: {verdict}."))
