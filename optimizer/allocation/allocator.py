"""Forecasts and allocations for queries that come and go, with statistics that change."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any, Generic, TypeVar

from midstream.optimizer.allocation.allocating import Rule, allocate, scaled
from midstream.optimizer.allocation.curves import (
    FRACTIONS,
    At,
    Curve,
    GroupCosts,
    LeverGroup,
    Use,
    best_nodes,
    groups,
    total,
)
from midstream.optimizer.allocation.limits import Limits
from midstream.optimizer.cost.model import CostModel
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, levers_of, logical_plan

Q = TypeVar("Q", bound=Hashable)

REFINEMENTS = 16
"""The largest number of allocations of which the exact use is computed."""

LOYAL = 0.2
"""The share of precision that queries may miss to keep their parts of the present settings."""

FULL = 0.95
"""The share of the limits from which on an allocation that is within them is good enough."""

MARGIN = 0.999
"""The share of the limits for which an allocation is made again: settings are whole numbers."""


@dataclass(frozen=True, slots=True)
class Allocation(Generic[Q]):
    """Settings for all levers of some queries, with the use of resources that they lead to.

    fits        True if the use is within the limits; otherwise all settings are at their least
    settings    the new setting of each lever that changes, by the nodes of the plans
    use         the expected use with these settings
    precision   by query, the expected precision of its results
    better      the levers among `settings` of queries all of whose levers that change get better settings
    uses        the expected use of queries that share levers
    """

    fits: bool
    settings: Mapping[Node, Any]
    use: Use
    precision: Mapping[Q, float]
    better: frozenset[Node] = frozenset()
    uses: Mapping[tuple[Q, ...], Use] = field(default_factory=dict)


@dataclass(slots=True)
class _Query:
    """A query: its plan, and that with the best setting of all levers, which no adjustment changes."""

    plan: Plan
    best: Plan
    levers: Mapping[Node, Node]
    """The levers of `best`, by those of `plan`."""
    sources: frozenset[Node]


class Allocator(Generic[Q]):
    """Estimates the use of queries, and gives their levers settings within limits.

    What has not changed is not estimated again: a query with new settings keeps its curve, and new statistics
    of a stream concern the queries that read it.

    Cost     The first allocation prices each operator at some settings; later ones those of queries that have
             come, or whose streams have changed. Besides, O(groups · log groups).
    """

    def __init__(self, statistics: Statistics, units: UnitCosts | None = None) -> None:
        self._statistics, self._units = statistics, units
        self._queries: dict[Q, _Query] = {}
        self._is_grouped = True
        self._nodes = {node: node for node in statistics.streams}
        """Equal nodes as one object, which is faster to look up."""
        self._costs: dict[LeverGroup[Q], GroupCosts[Q]] = {}
        self._model = CostModel(statistics, units)
        self._time = 1.0
        self._estimated = 0
        """The number of operators that were estimated of queries that have gone."""

    def set_plans(self, plans: Mapping[Q, Plan]) -> None:
        """Take the queries with their present plans; those that are not among them have gone."""
        before, self._queries = self._queries, {}
        is_same = before.keys() == plans.keys()
        if not before.keys() <= plans.keys():
            there = (one.best for query, one in before.items() if query in plans)
            self._nodes = {node: node for plan in there for node in plan.nodes}
        for query, plan in plans.items():
            old = before.get(query)
            if old is not None and old.plan is plan:
                self._queries[query] = old
                continue
            new = self._queries[query] = _query(plan, self._nodes)
            is_same = is_same and old is not None and old.best == new.best
        if not is_same:
            self._is_grouped = False

    def set_statistics(self, statistics: Statistics, changed: Iterable[Node]) -> None:
        """Take new statistics, which differ in those of some sources."""
        self._statistics = statistics
        self._model = CostModel(statistics, self._units)
        stale = frozenset(changed)
        for group, costs in self._costs.items():
            if any(not stale.isdisjoint(self._sources(query)) for query in group.queries):
                costs.reprice(self._model)

    @property
    def statistics(self) -> Statistics:
        """The statistics by which everything is estimated."""
        return self._statistics

    @property
    def estimated(self) -> int:
        """The number of operators that were estimated so far, each time that they were."""
        return self._estimated + sum(costs.estimated for costs in self._costs.values())

    @property
    def best_plans(self) -> dict[Q, Plan]:
        """The plans of all queries, with the best setting of each lever."""
        return {query: one.best for query, one in self._queries.items()}

    @property
    def is_best(self) -> bool:
        """True if no lever could have a better setting."""
        return all(
            lever_of(lever).setting == lever_of(best).setting
            for one in self._queries.values()
            for lever, best in one.levers.items()
        )

    def uncorrected(self) -> dict[tuple[Q, ...], Use]:
        """By queries that share levers, their use with their present settings, without corrections."""
        return {
            costs.group.queries: use.corrected(1 / costs.state, 1 / costs.time)
            for costs, (use, _) in self._at_present()
        }

    def states(self) -> dict[tuple[Q, ...], float]:
        """By queries that share levers, the correction of their state, as a multiple of the estimate."""
        return {costs.group.queries: costs.state for costs in self._all_costs()}

    def correct(self, states: Mapping[tuple[Q, ...], float], time: float) -> None:
        """Correct the estimates, by what was seen as a multiple of them.

        `states` are of queries that share levers; the others keep their corrections. `time` is of all.
        """
        self._time = time
        for costs in self._all_costs():
            costs.state, costs.time = states.get(costs.group.queries, costs.state), time

    def use(self) -> Use:
        """The use of all queries with their present settings."""
        return total(self.uses().values())

    def uses(self) -> dict[tuple[Q, ...], Use]:
        """By queries that share levers, their use with their present settings."""
        return {costs.group.queries: use for costs, (use, _) in self._at_present()}

    def precision(self) -> dict[Q, float]:
        """By query, the expected precision of its results with the present settings."""
        return dict(_by_query(self._at_present()))

    def least(self) -> Use:
        """The use of all queries with the least setting of each lever."""
        return total(costs.at_fraction(0.0)[0] for costs in self._all_costs())

    def allocate(
        self,
        limits: Limits,
        rule: Rule = "precision",
        weights: Mapping[Q, float] | None = None,
        *,
        is_loyal: bool = False,
    ) -> Allocation[Q]:
        """Settings for all levers so that the queries keep within limits, and use nearly all of these.

        If it `is_loyal`, all queries keep their parts of the present settings unless others are better by
        more than `LOYAL`: small changes of estimates would exchange them again and again, and after each
        exchange more is held for a while.
        """
        costs = self._all_costs()
        curves = [_curve(one, weights or {}) for one in costs]
        best = self._nearest(limits, lambda target: allocate(curves, target, rule))
        if not best.fits or not is_loyal or rule != "precision":
            return best
        present = self._fractions()
        near = self._nearest(limits, lambda target: scaled(curves, target, present))
        of_query = {query: (weights or {}).get(query, 1.0) for query in self._queries}
        gain, kept = (math.fsum(w * one.precision[q] for q, w in of_query.items()) for one in (best, near))
        return near if kept >= (1 - LOYAL) * gain else best

    def _nearest(self, limits: Limits, propose: Callable[[Limits], Sequence[float] | None]) -> Allocation[Q]:
        """The allocation within limits that is nearest to them, of those that are proposed for some limits.

        Proposals rely on uses between the fractions of a curve, which are interpolated; that of the settings
        themselves is computed. Where it exceeds the limits, or leaves much of them, less or more is proposed:
        by the error of the last proposal at first, and then by halving the range between one that fits and
        one that does not.
        """
        costs = self._all_costs()
        least = self._allocation([0.0] * len(costs), limits)
        if not least.fits:
            return least
        best, most, share, low, high = least, 0.0, 1.0, 0.0, math.inf
        for number in range(REFINEMENTS):
            fractions = propose(limits.times(share))
            if fractions is None:  # it is less than the least settings take
                low = max(low, share)
                share = (low + high) / 2 if high < math.inf else 2 * share
                continue
            allocation = self._allocation(fractions, limits)
            excess = limits.excess(allocation.use)
            if allocation.fits:
                low = share
                if excess >= most:
                    best, most = allocation, excess
                is_best = all(f == 1.0 for f, one in zip(fractions, costs, strict=True) if one.group.levers)
                if excess >= FULL or is_best:
                    break
            else:
                high = share
            follows = share * MARGIN / excess if excess > 0 else math.inf
            is_inside = low < follows < high and number < REFINEMENTS // 3
            share = follows if is_inside else (low + min(high, 2 * low + 1)) / 2
        return best

    def _fractions(self) -> list[float]:
        """The fraction of its bounds at which each group is at present; on the average of its levers."""
        present = {
            best: _fraction(lever, lever_of(best).setting)
            for one in self._queries.values()
            for lever, best in one.levers.items()
        }
        of_groups = ([present[lever] for lever in costs.group.levers] for costs in self._all_costs())
        return [math.fsum(some) / len(some) if some else 1.0 for some in of_groups]

    def _allocation(self, fractions: Sequence[float], limits: Limits) -> Allocation[Q]:
        pairs = list(zip(self._all_costs(), fractions, strict=True))
        at = [(costs, costs.at_fraction(fraction)) for costs, fraction in pairs]
        use = total(use for _, (use, _) in at)
        new = {lever: one for costs, f in pairs for lever, one in costs.settings(f).items()}
        settings = {
            lever: setting
            for one in self._queries.values()
            for lever, best in one.levers.items()
            if best in new and (setting := new[best].setting) != lever_of(lever).setting
        }
        group_of = {lever: number for number, (costs, _) in enumerate(pairs) for lever in costs.group.levers}
        worse = {
            group_of[best]
            for one in self._queries.values()
            for lever, best in one.levers.items()
            if lever in settings and not _is_better(lever, settings[lever], lever_of(best).setting)
        }
        better = frozenset(
            lever
            for one in self._queries.values()
            for lever, best in one.levers.items()
            if lever in settings and group_of[best] not in worse
        )
        uses = {costs.group.queries: one for costs, (one, _) in at}
        return Allocation(limits.hold(use), settings, use, dict(_by_query(at)), better, uses)

    def _all_costs(self) -> list[GroupCosts[Q]]:
        if not self._is_grouped:
            self._is_grouped = True
            everybody = groups({query: one.best for query, one in self._queries.items()})
            before = self._costs
            self._costs = {
                group: before.pop(group) if group in before else self._new(group) for group in everybody
            }
            self._estimated += sum(costs.estimated for costs in before.values())
        return list(self._costs.values())

    def _new(self, group: LeverGroup[Q]) -> GroupCosts[Q]:
        costs = GroupCosts(group, self._model)
        costs.time = self._time
        return costs

    def _sources(self, query: Q) -> frozenset[Node]:
        one = self._queries.get(query)
        return frozenset() if one is None else one.sources

    def _at_present(self) -> list[tuple[GroupCosts[Q], At]]:
        present = {
            best: lever_of(lever) for one in self._queries.values() for lever, best in one.levers.items()
        }
        return [
            (costs, costs.at({lever: present[lever] for lever in costs.group.levers}))
            for costs in self._all_costs()
        ]


def _fraction(lever: Node, best: float) -> float:
    bounds = lever_of(lever).bounds
    least = min(bounds, key=lambda bound: -abs(best - bound)) if bounds is not None else best
    return 1.0 if least == best else 1 - abs(best - lever_of(lever).setting) / abs(best - least)


def _is_better(lever: Node, new: float, best: float) -> bool:
    present: float = lever_of(lever).setting
    return abs(best - new) < abs(best - present)


def _curve(costs: GroupCosts[Q], weights: Mapping[Q, float]) -> Curve:
    at = [costs.at_fraction(fraction) for fraction in FRACTIONS]
    of_query = [weights.get(query, 1.0) for query in costs.group.queries]
    return Curve([use for use, _ in at], [math.fsum(map(mul, of_query, shares)) for _, shares in at])


def _by_query(at: Iterable[tuple[GroupCosts[Q], At]]) -> Iterator[tuple[Q, float]]:
    for costs, (_, shares) in at:
        yield from zip(costs.group.queries, shares, strict=True)


def _query(plan: Plan, shared: dict[Node, Node]) -> _Query:
    """A query with the best setting of each lever."""
    meaning = logical_plan(plan)
    best = best_nodes(meaning, shared)
    return _Query(
        plan,
        Plan({name: best[root] for name, root in meaning.outputs.items()}),
        {lever: best[lever] for lever in levers_of(meaning)},
        frozenset(node for node in best.values() if isinstance(node.operator, Source)),
    )
