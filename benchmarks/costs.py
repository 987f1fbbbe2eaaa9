"""Predictions of the cost model for states and rates, beside measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from midstream.io.progress import counted
from midstream.scenarios.trials.costs.comparing import (
    CostComparison,
    compare,
    compare_whole,
    error,
    median_error,
)
from midstream.scenarios.trials.costs.grid import QUERIES, SETTINGS, SMALL, TABLE, plan_at

OF_OPERATORS, OF_PLANS = 0.1, 0.2
"""The largest median errors of predictions for an operator and for a whole plan, as shares."""


@dataclass(frozen=True)
class Predictions:
    """All points of the grid, for every stateful operator and every plan of Table 24.1."""

    operators: tuple[CostComparison, ...]
    plans: tuple[CostComparison, ...]

    @property
    def is_good(self) -> bool:
        """True if the median errors are within their limits."""
        return all(
            max(median_error(one.rate for one in found), median_error(one.state for one in found)) <= most
            for points, most in ((self.operators, OF_OPERATORS), (self.plans, OF_PLANS))
            for found in by_name(points).values()
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "good": self.is_good,
            **{
                part: [
                    {"name": name, "points": len(found), **_medians(found)}
                    for name, found in by_name(points).items()
                ]
                for part, points in (("operators", self.operators), ("plans", self.plans))
            },
        }


def by_name(points: Sequence[CostComparison]) -> dict[str, list[CostComparison]]:
    """The points of each query."""
    found: dict[str, list[CostComparison]] = {}
    for point in points:
        found.setdefault(point.name, []).append(point)
    return found


def _medians(found: Sequence[CostComparison]) -> dict[str, float]:
    return {
        what: round(median(error(getattr(one, what)) for one in found), 4)
        for what in ("rate", "state", "bytes")
    }


def predict(is_quick: bool, advance: Callable[[int, int], object]) -> Predictions:
    """Compare predictions with measurements at all points, or at a few."""
    settings = SMALL if is_quick else SETTINGS
    step = counted(advance, len(settings) * (len(QUERIES) + len(TABLE)))
    operators: list[CostComparison] = []
    plans: list[CostComparison] = []
    for queries, found in ((QUERIES, operators), (TABLE, plans)):
        for name, query in queries.items():
            for setting in settings:
                plan = plan_at(query, setting)
                if queries is QUERIES:
                    found.append(compare(name, setting, plan))
                else:
                    found.append(compare_whole(name, setting, plan)[0])
                step()
    return Predictions(tuple(operators), tuple(plans))


def show_predictions(run: Predictions, console: Console) -> None:
    """Print a table with a line for each operator and plan."""
    for title, points in (("Operators", run.operators), ("Plans of Table 24.1", run.plans)):
        table = Table(title=title, box=box.SIMPLE_HEAD, caption="median error of what is predicted")
        for column in ("", "points", "results", "elements kept", "bytes"):
            table.add_column(column, justify="left" if not column else "right")
        for name, found in by_name(points).items():
            medians = [f"{100 * share:.1f} %" for share in _medians(found).values()]
            table.add_row(name, str(len(found)), *medians)
        console.print(table)
