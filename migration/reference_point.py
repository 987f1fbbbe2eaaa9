"""GenMig with the reference-point method: the start of a result tells which plan it belongs to.

Source   thesis, 29.4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from midstream.migration.fork import fork
from midstream.migration.fuse import Origins, behind_split
from midstream.migration.machine import Migration
from midstream.migration.preconditions import (
    require_of_elements,
    require_of_intervals,
    require_reducible,
    require_start_preserving,
)
from midstream.migration.split_time import behind_inputs
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.plans.values.streams import Batch, Element, Time, chronon_end


@dataclass(frozen=True, slots=True)
class ReferencePointStrategy(Strategy):
    """Fork; take results that start before the split time from the old plan, all others from the new one."""

    name: str = "genmig-reference-point"

    def check(self, part: Subplan) -> None:
        """Accept only operators whose results start where an element starts."""
        require_of_intervals(part.change, require_reducible)
        require_of_elements(part.change, require_start_preserving)

    def plan(self, part: Part) -> Edit:
        """Split behind the inputs; there is no fuse."""
        return Edit(part, behind_inputs(part.box, part.max_ends), steps=1)

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Set up a fork at each input, and a reference point at each output."""
        forks = [fork(edit.split) for _ in new.inputs]
        joiners = [ReferencePoint(edit.split) for _ in new.outputs]
        return Migration(edit.part.box, new, edit.split, reached, forks, joiners)


class ReferencePoint:
    """Take a new result only if it starts after the split time; the old plan gives all others, uncut.

    It is right only where every operator preserves starts: a result then starts exactly at the split time if
    all its elements started before it. No results need to be matched.

    Output   Ordered by start: old results as they come, behind them the new ones.
    State    New results, and old ones from beyond the split time, until the old plan has ended.
    Bound    New results that start after the split time, and old ones that do.
    Cost     O(1) per element.
    Source   thesis, 29.4.1, with erratum 13

    >>> point = ReferencePoint(split=4.5)
    >>> point.process([(2, 9, "b")], [(4.5, 9, "b"), (7, 8, "c")], 7)
    [(2, 9, 'b')]
    >>> point.complete([(3, 8, "d")], 7)
    [(3, 8, 'd'), (7, 8, 'c')]
    """

    def __init__(self, split: Time) -> None:
        self._split = split
        self._beyond: Batch = []
        self._later: Batch = []
        self._is_old_done = False
        self.origins = Origins()
        self.bound = 0

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Join results of both plans, given the new plan's progress; old results only before `complete`."""
        later = [element for element in new if element[0] > self._split]
        self.bound += len(later)
        if self._is_old_done:
            self.origins.new += len(later)
            return later
        self._later += later
        beyond = [element for element in old if element[0] > self._split]
        self.bound += len(beyond)
        self._beyond += beyond
        out = old[: len(old) - len(beyond)]
        self.origins.old += len(out)
        return out

    def complete(self, remaining: Batch, new_progress: Time) -> Batch:
        """Take the results that the old plan gave when it was ended, all inputs being past the split time."""
        self._is_old_done = True
        self._beyond.clear()
        out = [element for element in remaining if element[0] < self._split]
        self.origins.old += len(out)
        self.origins.new += len(self._later)
        out += self._later
        self._later = []
        return out

    def abandon(self) -> Batch:
        """Return the old plan's results that are still held, as it goes on alone; before `complete` only."""
        out, self._beyond, self._later = self._beyond, [], []
        self.origins.old += len(out)
        return out

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """A lower bound of the starts of later results."""
        if old_progress < self._split:
            return old_progress  # it has not ended, and what it gives comes out at once
        if self._is_old_done:
            return chronon_end(max(new_progress, self._split))
        return behind_split(self._split, old_progress, new_progress, self._beyond, self._later)

    def __len__(self) -> int:
        return len(self._beyond) + len(self._later)

    def __iter__(self) -> Iterator[Element]:
        return chain(self._beyond, self._later)
