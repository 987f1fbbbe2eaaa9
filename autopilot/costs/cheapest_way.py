"""The cheapest way through time among plans that take turns, where each move costs: a dynamic program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Offer(Generic[P, M]):
    """A move that may begin at an instant.

    after   the number of the instant, a later one, at which it is over and the new plan runs alone
    cost    all that is paid until then
    move    whatever the caller calls it
    """

    old: P
    new: P
    after: int
    cost: float
    move: M


@dataclass(frozen=True, slots=True)
class Cheapest(Generic[P, M]):
    """What to begin with, the moves in order, and what that costs in all."""

    start: P
    cost: float
    moves: tuple[Offer[P, M], ...]


@dataclass(slots=True)
class _Way(Generic[P, M]):
    """The cheapest way to an instant: what it cost, by how many moves, and its last step."""

    cost: float
    moves: int = 0
    before: tuple[int, P] | None = None
    offer: Offer[P, M] | None = None

    def is_better(self, other: _Way[P, M]) -> bool:
        """Of equal costs, fewer moves are better."""
        return (self.cost, self.moves) < (other.cost, other.moves)


def cheapest_way(
    plans: Sequence[P],
    end: int,
    alone: Callable[[P, int], float],
    offers: Callable[[int], Iterable[Offer[P, M]]],
) -> Cheapest[P, M]:
    """The cheapest way from instant 0 to instant `end`, with any plan at first.

    alone    what a plan costs from an instant to the next one, by the instant's number
    offers   the moves that may begin at an instant

    Cost     O(end · plans + offers), and the calls.

    >>> rates = {"a": [1, 9, 9], "b": [5, 1, 1]}
    >>> def offers(i):
    ...     return [Offer(x, y, i + 1, rates[y][i] + 2, f"{x} to {y}") for x, y in ("ab", "ba")] if i else []
    >>> found = cheapest_way("ab", 3, lambda plan, i: rates[plan][i], offers)
    >>> found.start, found.cost, [offer.move for offer in found.moves]
    ('a', 5, ['a to b'])
    """
    ways: dict[P, list[_Way[P, M]]] = {
        plan: [_Way(0), *(_Way(float("inf")) for _ in range(end))] for plan in plans
    }

    def reach(plan: P, at: int, way: _Way[P, M]) -> None:
        if way.is_better(ways[plan][at]):
            ways[plan][at] = way

    for i in range(end):
        for offer in offers(i):
            before = ways[offer.old][i]
            reach(
                offer.new,
                offer.after,
                _Way(before.cost + offer.cost, before.moves + 1, (i, offer.old), offer),
            )
        for plan in plans:
            way = ways[plan][i]
            reach(plan, i + 1, _Way(way.cost + alone(plan, i), way.moves, (i, plan)))
    return _traced(ways, end)


def _traced(ways: dict[P, list[_Way[P, M]]], end: int) -> Cheapest[P, M]:
    plan = min(ways, key=lambda one: (ways[one][end].cost, ways[one][end].moves))
    cost, at, moves = ways[plan][end].cost, end, list[Offer[P, M]]()
    while (way := ways[plan][at]).before is not None:
        at, plan = way.before
        if way.offer is not None:
            moves.append(way.offer)
    return Cheapest(plan, cost, tuple(reversed(moves)))
