"""Advice of studies: which order to run, and if the autopilot is to change it, by processor time.

Every stage that compares ways to run a query makes an `Advice` of them, which decides for all pages, commands
and files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from midstream.autopilot.settings import BALANCED

BUDGET: float = BALANCED.budget or 0.0
"""The largest share of the processor time of the running plans that deciding takes."""

MIGRATION = 10_000.0
"""The microseconds that it takes to prove, prepare and compile a migration, whatever the query costs.

Measured: 5 to 21 ms for joins of three and four streams.
"""

WORTH = 0.01
"""The least saving, as a share of the cost, for which another way is recommended."""

MICROSECONDS = "µs"
"""The unit of processor time."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way to run a query, with its cost.

    name       of the order; of a way that changes orders, its policy or settings
    cost       of all plans that ran, those of migrations included, in the unit that decides; without what
               deciding takes, and what it takes to begin a migration
    results    their intermediate results; None where these are not known
    moves      the number of migrations; None for an order that stays
    is_given   true for the order as written
    """

    name: str
    cost: float
    results: float | None = None
    moves: int | None = None
    is_given: bool = False

    @property
    def changes(self) -> bool:
        """True for a way that changes orders while the query runs."""
        return self.moves is not None


@dataclass(frozen=True)
class Advice:
    """The way to run a query that costs least, among orders that stay and ways that change orders.

    unit      of costs: microseconds of processor time, unless another objective was asked for
    budget    the largest share of the cost of the running plans that deciding takes
    """

    alternatives: tuple[Alternative, ...]
    unit: str = MICROSECONDS
    budget: float = BUDGET

    def cost(self, way: Alternative) -> float:
        """The cost of a way; with the most that deciding takes, and the begin of each migration."""
        if way.moves is None:
            return way.cost
        return way.cost * (1 + self.budget) + (way.moves * MIGRATION if self._is_time else 0.0)

    @cached_property
    def as_written(self) -> Alternative:
        """The order as written."""
        return next(way for way in self.alternatives if way.is_given)

    @cached_property
    def order(self) -> Alternative:
        """The order that costs least if it stays: the one as written unless another saves enough."""
        best = min((way for way in self.alternatives if not way.changes), key=self.cost)
        return best if self._is_worth(best, self.as_written) else self.as_written

    @cached_property
    def changing(self) -> Alternative | None:
        """The cheapest way that changes orders; None where none is known."""
        return min((way for way in self.alternatives if way.changes), key=self.cost, default=None)

    @cached_property
    def chosen(self) -> Alternative:
        """The recommended way: the order that stays unless changing it saves enough."""
        changing = self.changing
        return changing if changing is not None and self._is_worth(changing, self.order) else self.order

    @cached_property
    def rival(self) -> Alternative:
        """The way that the chosen one is compared with: the order as written, or the next best to it."""
        if self.chosen != self.as_written:
            return self.as_written
        return min((way for way in self.alternatives if way != self.chosen), key=self.cost)

    @cached_property
    def by_results(self) -> Alternative | None:
        """The way with the fewest intermediate results, if that is clearly fewer than the chosen way has."""
        known = [way for way in self.alternatives if way.results is not None]
        if self.chosen.results is None or not known:
            return None
        best = min(known, key=lambda way: (way.results or 0.0, way.changes))
        assert best.results is not None
        return best if best.results < self.chosen.results * (1 - WORTH) else None

    def _is_worth(self, way: Alternative, other: Alternative) -> bool:
        return self.cost(way) < self.cost(other) * (1 - WORTH)

    def as_dict(self) -> dict[str, Any]:
        """The advice as plain data for JSON; `advice_from` reads it."""
        return {
            "recommended": self.chosen.name,
            "changes": self.chosen.changes,
            "order": self.order.name,
            "unit": self.unit,
            "budget": self.budget,
            "alternatives": [asdict(way) for way in self.alternatives],
        }

    def lines(self, settings: str) -> list[str]:
        """The advice for people, the recommendation first; empty where nothing costs anything.

        settings    says where the settings of the autopilot are, behind "Let the autopilot decide, "
        """
        if not any(way.cost for way in self.alternatives):
            return []
        told = [self._recommendation(settings), self._about_changing(), self._about_results()]
        return [line for line in told if line]

    @property
    def _is_time(self) -> bool:
        return self.unit == MICROSECONDS

    def _recommendation(self, settings: str) -> str:
        way, order, given = self.chosen, self.order, self.as_written
        if way.changes:
            return (
                f"Let the autopilot decide, {settings}: {self._with_deciding(way)}, "
                f"{self._beside(way, order)} {order.name}, the best order that stays"
                f"{_counted(way, order)}."
            )
        if way.is_given:
            return (
                f"Keep the order as written, {way.name}, and do not change it while it runs: no other order "
                f"takes clearly less than its {self._shown(way.cost)}{_counted(way)}."
            )
        return (
            f"Run {way.name}, and do not change it while it runs: it takes {self._shown(way.cost)}, "
            f"{self._beside(way, given)} the order as written{_counted(way, given)}."
        )

    def _about_changing(self) -> str:
        """The cost of changing orders where that is not recommended."""
        way = self.changing
        if way is None or self.chosen.changes:
            return ""
        return (
            f"To change it would not pay: {self._with_deciding(way)}, {self._beside(way, self.chosen)} "
            f"{self.chosen.name}{_counted(way, self.chosen)}."
        )

    def _about_results(self) -> str:
        """The way with the fewest intermediate results where that is another one."""
        fewest, way = self.by_results, self.chosen
        if fewest is None or fewest.results is None or way.results is None:
            return ""
        decides = "processor time decides, as users pay that" if self._is_time else "the cost decides"
        return (
            f"Intermediate results alone would choose otherwise: {fewest.name} has "
            f"{compared(fewest.results, way.results, 'more', 'fewer')} than {way.name}; {decides}."
        )

    def _with_deciding(self, way: Alternative) -> str:
        migrations = "1 migration" if way.moves == 1 else f"{way.moves:,} migrations"
        return (
            f"{way.name} takes up to {self._shown(self.cost(way))}, {migrations} and {self.budget:.0%} for "
            "deciding included"
        )

    def _shown(self, cost: float) -> str:
        if not self._is_time:
            return f"{_number(cost)} {self.unit}"
        shown = f"{cost / 1e6:.3g} s" if cost >= 1e6 else f"{cost / 1e3:.3g} ms"
        return f"{shown} of processor time"

    def _beside(self, way: Alternative, other: Alternative) -> str:
        cost, of = self.cost(way), self.cost(other)
        return compared(cost, of, "more than", "less than") if of else f"{self._shown(cost)} more than"


def advice_from(data: dict[str, Any]) -> Advice:
    """The advice that `as_dict` wrote."""
    return Advice(tuple(Alternative(**way) for way in data["alternatives"]), data["unit"], data["budget"])


def _counted(way: Alternative, other: Alternative | None = None) -> str:
    """The intermediate results of a way, beside those of another."""
    if way.results is None or (other is not None and other.results is None):
        return ""
    shown = f", and {_number(way.results)} intermediate results"
    if other is None or other.results is None:
        return shown
    return f"{shown}, {compared(way.results, other.results, 'more', 'fewer')}"


def _number(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 1000 else f"{amount:.4g}"


def compared(amount: float, reference: float, more: str, less: str) -> str:
    """An amount beside another: the difference in percent, or how many times it is, if twice or more.

    >>> compared(90.0, 100.0, "more", "fewer"), compared(250.0, 100.0, "more", "fewer")
    ('10.0% fewer', '2.5 times as many')
    >>> compared(250.0, 100.0, "more than", "less than"), compared(3.0, 0.0, "more", "fewer")
    ('2.5 times that of', 'instead of none')
    """
    if not reference:
        return "instead of none" if amount else "none either"
    share = amount / reference - 1
    if share >= 1:
        return f"{amount / reference:,.1f} times {'that of' if more.endswith('than') else 'as many'}"
    return f"{abs(share):.1%} {more if share > 0 else less}"
