"""Exact costs of plans at every instant, from the validity of each intermediate result."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from midstream.autopilot.costs.bill import Account, Bill, Move, Moved, split_chronon
from midstream.plans.values.errors import ArgumentError


class ExactCosts:
    """The intermediate results of several plans over the same arrivals.

    results    by plan, the validity [start, end) of each of its intermediate results, if it runs all the time
    instants   the instants of arrivals, in order, each once; between them nothing is decided
    window     the validity of an element, in chronons

    If results start with the latest of the elements behind them, and end with the first of them (filters,
    maps, unions, joins), a plan that begins later, with the elements valid from a split time on, gives those
    of its results that are valid behind it.

    Raises   ArgumentError if there are no arrivals.

    >>> costs = ExactCosts([[(3, 10), (1, 9), (8, 12)]], [1, 3, 8], window=9)
    >>> costs.spent(0, 1, 8), costs.alive(0, 9), costs.totals
    (2, 2, (3,))
    """

    def __init__(
        self, results: Sequence[Iterable[tuple[int, int]]], instants: Sequence[int], window: int
    ) -> None:
        if not instants:
            raise ArgumentError("costs: found no arrivals, expected some")
        self.results = tuple(sorted(of_plan) for of_plan in results)
        self.instants, self.window = instants, window
        self._starts = [[start for start, _ in of_plan] for of_plan in self.results]
        self._ends = [sorted(end for _, end in of_plan) for of_plan in self.results]

    @property
    def end(self) -> int:
        """An instant behind all starts."""
        return self.instants[-1] + 1

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The total cost of each plan, if it runs all the time."""
        return tuple(map(len, self.results))

    def spent(self, plan: int, since: int, until: int) -> int:
        """The number of results of a plan that start in [since, until).

        Cost     O(log n)
        """
        starts = self._starts[plan]
        return max(0, bisect_left(starts, until) - bisect_left(starts, since))

    def alive(self, plan: int, chronon: int) -> int:
        """The number of results of a plan that are valid in a chronon.

        Cost     O(log n)
        """
        return bisect_right(self._starts[plan], chronon) - bisect_right(self._ends[plan], chronon)

    def both_run(self, move: Move) -> tuple[int, int]:
        """The end of the time in which both plans of a migration run, and the results of the new one by then.

        Cost     O(log n)
        """
        number = bisect_left(self.instants, move.at)
        last_end = self.instants[number - 1] + self.window if number else move.at - 1
        chronon = split_chronon(move.strategy, move.at, max(-1, last_end - move.at))
        if chronon is None:
            raise ArgumentError(f"costs: found strategy {move.strategy!r}, expected genmig or moving-states")
        return chronon + 1, self.alive(move.to, chronon)

    def spent_before(self, bill: Bill) -> Callable[[int], int]:
        """A function of an instant: the number of intermediate results before it, of all plans that ran.

        Before the first start it is 0, and behind the last one the total of the bill.
        """
        account = Account(self, bill.start)
        parts: list[tuple[int, int, int, Moved | None]] = []
        for moved in bill.moves:
            parts.append((account.since, int(account.spent(account.since)), account.running, None))
            parts.append((moved.at, int(account.spent(moved.at)), account.running, moved))
            account.move(Move(moved.at, moved.new, moved.strategy))
        parts.append((account.since, int(account.spent(account.since)), account.running, None))
        starts = [start for start, *_ in parts]

        def before(time: int) -> int:
            i = bisect_right(starts, time) - 1
            if i < 0:
                return 0
            start, known, plan, moved = parts[i]
            results = known + self.spent(plan, start, time)
            if moved is not None:  # the results of the new plan by then
                results += self._reaching(moved.new, moved.at, time, moved.until - 1)
            return results

        return before

    def _reaching(self, plan: int, since: int, until: int, chronon: int) -> int:
        """The number of results of a plan that start in [since, until) and are valid behind a chronon."""
        first, beyond = bisect_left(self._starts[plan], since), bisect_left(self._starts[plan], until)
        return sum(end > chronon for _, end in self.results[plan][first:beyond])
