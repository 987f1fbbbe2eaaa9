"""The budget of an autopilot: deciding takes at most a share of the time that the query itself takes.

    a look comes when    share · work since the last one  ≥  the cost of the last one
    work                 =  counted elements and results · microseconds of one
    cost of a look       =  counted steps of deciding · microseconds of each

Both are counted, and priced by stored costs. No clock is read, so that decisions are a function of the
elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from statistics import median
from typing import NamedTuple

from midstream.optimizer.cost.model import CostModel
from midstream.optimizer.cost.units import STEPS, UnitCosts, units_in_use
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan


@dataclass(slots=True)
class Efforts:
    """The number of steps of deciding so far.

    checks        instants at which it was asked if a look is paid for
    looks         looks: advice, decision, record
    cells, rows   cells of streams that were collected and smoothed, and the rows of their samples
    priced        operators that were priced
    searches      searches for other plans
    considered    subplans that these compared
    moved         operators of plans to which migrations were prepared, proved and begun
    """

    checks: int = 0
    looks: int = 0
    cells: int = 0
    rows: int = 0
    priced: int = 0
    searches: int = 0
    considered: int = 0
    moved: int = 0

    def price(self, plans: Iterable[Plan]) -> None:
        """Count the operators of plans that are priced."""
        self.priced += sum(len(plan.nodes) for plan in plans)

    def cost(self, units: UnitCosts | None = None) -> float:
        """Microseconds, by the costs of single steps on a machine with these unit costs.

        >>> Efforts(looks=2).cost(UnitCosts()) == 2 * COSTS["looks"]
        True
        """
        steps = math.fsum(COSTS[field.name] * getattr(self, field.name) for field in fields(self))
        return speed(units or units_in_use()) * steps


COSTS = {
    "checks": 60.0,
    "looks": 300.0,
    "cells": 60.0,
    "rows": 1.8,
    "priced": 80.0,
    "searches": 1500.0,
    "considered": 250.0,
    "moved": 600.0,
}
"""Microseconds of one step of deciding, on the machine of the default unit costs."""


class Work(NamedTuple):
    """The work of a running plan, in microseconds; the defaults are a guess, before the plan is priced.

    step      of an element of a source, or a result of any operator, on the average
    element   of an element of a source, with all the results that it leads to
    """

    step: float = 0.3
    element: float = 1.0


CHECKING = 0.2
"""The share of the budget that asking if a look is paid for may take."""


def speed(units: UnitCosts) -> float:
    """The costs of a machine as a multiple of the default ones."""
    plain = UnitCosts()
    ratios = (getattr(units, step) / getattr(plain, step) for step in STEPS)
    return float(median(ratios))


def work_of(plan: Plan, model: CostModel) -> Work:
    """The work of a plan by a cost model, on the average of its operators."""
    rates = {node: model.estimate(node).rate for node in logical_plan(plan).nodes}
    elements = math.fsum(rate for node, rate in rates.items() if not node.inputs)
    steps, cost = math.fsum(rates.values()), model.price(plan).total
    return Work(cost / steps, cost / elements) if 0 < elements <= steps < math.inf else Work()


def expected_cost(plan: Plan, units: UnitCosts | None) -> float:
    """Microseconds that the first look at a plan is expected to take, with a search."""
    nodes = len(plan.nodes)
    return Efforts(looks=1, searches=1, priced=2 * nodes, considered=2 * nodes).cost(units)


class Budget:
    """Tells when the next look is paid for.

    share      of the query's processor time that deciding may take
    step       the chronons from instant to instant of the grid
    window     the size of the query's largest window, in chronons
    expected   the expected cost of the first look, in microseconds
    check      the cost of asking if a look is paid for, in microseconds
    deciders   the number of those who decide now, and have equal parts of the share

    The first look comes when the first window is over, if it costs no more than that window of the query.

    >>> budget = Budget(0.05, step=10, window=80, expected=50.0, check=1.0)
    >>> budget.is_paid(work=60.0)                               # the first one
    True
    >>> budget.pay(80, cost=20.0, work=60.0)                    # so much has deciding taken by then
    >>> budget.is_paid(work=70.0), budget.pause(90, work=70.0)      # after a window at most, at first
    (False, 8)
    >>> budget.is_paid(work=460.0)
    True
    """

    def __init__(
        self,
        share: float,
        step: int,
        window: int,
        expected: float,
        check: float,
        deciders: Callable[[], int] = lambda: 1,
    ) -> None:
        self._of_all, self._step, self._window, self._check = share, step, window, check
        self._deciders = deciders
        self._owed = expected
        self._paid = self._before = 0.0
        """The cost of deciding, and the work, by the last look."""
        self._begun: int | None = None
        """The first instant at which somebody asked."""
        self._asked: tuple[int, float] | None = None
        """The last instant at which somebody asked, and the work by then."""

    @property
    def _share(self) -> float:
        return self._of_all / self._deciders()

    def is_paid(self, work: float) -> bool:
        """True if the work of the query so far, in microseconds, has paid for the last look."""
        if self._asked is None and work >= self._owed:
            return True
        return self._share * (work - self._before) >= self._owed

    def pay(self, now: int, cost: float, work: float) -> None:
        """Take note of a look, and of the cost of deciding so far and the work so far, in microseconds."""
        self._owed, self._paid, self._before = cost - self._paid, cost, work
        self._asked = now, work

    def pause(self, now: int, work: float) -> int:
        """The number of instants after which to ask again: when the look is paid for at the present rate.

        It is sooner where asking is cheap beside the query, as a burst may pay for it earlier; and in any
        case once as much time has passed as since the first instant.
        """
        since, before = self._asked or (now - self._window, 0.0)
        self._asked = now, work
        if self._begun is None:
            self._begun = now
        rate = (work - before) / max(1, now - since)
        if rate <= 0:
            return max(1, self._window // self._step)
        missing = self._owed / self._share - (work - self._before)
        until_paid = missing / rate
        until_cheap = self._check / (CHECKING * self._share * rate)
        until_asked = max(self._window, min(until_cheap, now - self._begun))
        return max(1, math.ceil(min(until_paid, until_asked) / self._step))
