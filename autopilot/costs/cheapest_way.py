"""The cheapest schedule of plans over time, where each move has a cost: a dynamic program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Offer(Generic[P, M]):
    """A move that may begin at an instant.

    after   the number of a later instant, at which the move is over and the new plan runs alone
    cost    the total cost until that instant
    move    the caller's name for the move
    """

    old: P
    new: P
    after: int
    cost: float
    move: M


@dataclass(frozen=True, slots=True)
class Cheapest(Generic[P, M]):
    """The cheapest schedule: the first plan, the total cost, and the moves in order."""

    start: P
    cost: float
    moves: tuple[Offer[P, M], ...]


@dataclass(slots=True)
class _Way(Generic[P, M]):
    """The cheapest schedule up to an instant: its cost, its number of moves, and its last step."""

    cost: float
    moves: int = 0
    before: tuple[int, P] | None = None
    offer: Offer[P, M] | None = None

    def is_better(self, other: _Way[P, M]) -> bool:
        """True if this one costs less, or the same with fewer moves."""
        return (self.cost, self.moves) < (other.cost, other.moves)


def cheapest_way(
    plans: Sequence[P],
    end: int,
    alone: Callable[[P, int], float],
    offers: Callable[[int], Iterable[Offer[P, M]]],
) -> Cheapest[P, M]:
    """The cheapest schedule from instant 0 to instant `end`, with any plan at first.

    alone    the cost of a plan from an instant, by its number, to the next one
    offers   the moves that may begin at an instant

    Cost     O(end · plans + offers), and the calls.

    >>> rates = {"a": [1, 9, 9], "b": [5, 1, 1]}
    >>> def offers(i):
    ...     return [Offer(x, y, i + 1, rates[y][i] + 2, f"{x} to {y}") for x, y in ("ab", "ba")] if i else []
    >>> cheapest = cheapest_way("ab", 3, lambda plan, i: rates[plan][i], offers)
    >>> cheapest.start, cheapest.cost, [offer.move for offer in cheapest.moves]
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
    plan = min(ways, key=lambda last: (ways[last][end].cost, ways[last][end].moves))
    cost, at, moves = ways[plan][end].cost, end, list[Offer[P, M]]()
    while (way := ways[plan][at]).before is not None:
        at, plan = way.before
        if way.offer is not None:
            moves.append(way.offer)
    return Cheapest(plan, cost, tuple(reversed(moves)))
