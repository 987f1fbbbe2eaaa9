"""How well a chart follows what changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from midstream.optimizer.charts.chart import Chart, Place


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of rounds in which a chart chose the plan.

    hits        rounds in which that was the best one
    moves       how often a round was at another place than the one before
    switches    how often it had another plan
    """

    rounds: int
    hits: int
    moves: int
    switches: int

    @property
    def fidelity(self) -> float | None:
        """The share of hits; None without rounds."""
        return self.hits / self.rounds if self.rounds else None


def follow(chart: Chart, rounds: Iterable[tuple[Sequence[float], int]]) -> Followed:
    """Let a chart choose in each round; told are the point as it was estimated, and the plan that was best.

    Source   OM, Algorithm 2 and 5.1
    """
    count = hits = moves = switches = 0
    before: tuple[Place, int] | None = None
    for point, best in rounds:
        place = chart.place(point)
        chosen = chart.number_at(place)
        count += 1
        hits += chosen == best
        if before is not None:
            moves += place != before[0]
            switches += chosen != before[1]
        before = place, chosen
    return Followed(count, hits, moves, switches)
