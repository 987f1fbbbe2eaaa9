"""Costs of plans by when each of their intermediate results is valid: exact at every instant."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from midstream.autopilot.costs.bill import Account, Bill, Move, Moved, split_chronon
from midstream.plans.values.errors import ArgumentError


class ExactCosts:
    """The intermediate results of several plans over the same arrivals.

    results    by plan, when each of its intermediate results is valid, [start, end), if it runs all the time
    instants   when elements arrive, in order, each once; between them nothing is decided
    window     for how long an element is valid

    Where results start with the latest of the elements behind them, and end with the first of them (filters,
    maps, unions, joins), a plan that begins later, with what is valid from a split time on, gives those of
    them that are valid behind it.

    Raises   ArgumentError where nothing arrives.

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
        """An instant behind all that starts."""
        return self.instants[-1] + 1

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The cost of each plan in all, if it runs all the time."""
        return tuple(map(len, self.results))

    def spent(self, plan: int, since: int, until: int) -> int:
        """The number of results of a plan that start in [since, until). O(log n)."""
        starts = self._starts[plan]
        return max(0, bisect_left(starts, until) - bisect_left(starts, since))

    def alive(self, plan: int, chronon: int) -> int:
        """The number of results of a plan that are valid in a chronon. O(log n)."""
        return bisect_right(self._starts[plan], chronon) - bisect_right(self._ends[plan], chronon)

    def both_run(self, move: Move) -> tuple[int, int]:
        """The end of the time in which both plans of a migration run, and the results of the new one by then.

        Cost     O(log n)
        """
        number = bisect_left(self.instants, move.at)
        last_end = self.instants[number - 1] + self.window if number else move.at - 1
        chronon = split_chronon(move.strategy, max(move.at - 1, last_end), move.at)
        if chronon is None:
            raise ArgumentError(f"costs: found strategy {move.strategy!r}, expected genmig or moving-states")
        return chronon + 1, self.alive(move.to, chronon)

    def spent_before(self, bill: Bill) -> Callable[[int], int]:
        """The number of intermediate results of all plans that ran, before an instant.

        Before all time it is 0, and behind all that starts the total of the bill.
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
            given = known + self.spent(plan, start, time)
            if moved is not None:  # what the new plan has given by then
                given += self._reaching(moved.new, moved.at, time, moved.until - 1)
            return given

        return before

    def _reaching(self, plan: int, since: int, until: int, chronon: int) -> int:
        """The number of results of a plan that start in [since, until) and are valid behind a chronon."""
        first, beyond = bisect_left(self._starts[plan], since), bisect_left(self._starts[plan], until)
        return sum(end > chronon for _, end in self.results[plan][first:beyond])
