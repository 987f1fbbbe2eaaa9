"""GenMig with a split time behind the latest end timestamp in the old plan's state.

This is earlier than the end of the last input element where the plan drops elements, or has already given out
all their results.

Source   thesis, 29.4.2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse
from midstream.migration.holders import read_around
from midstream.migration.machine import Migration
from midstream.migration.preconditions import require_of_intervals, require_reducible
from midstream.migration.split_time import behind_inputs, behind_state
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.plans.values.streams import Time


@dataclass(frozen=True, slots=True)
class EndTimestampStrategy(Strategy):
    """Fork and fuse at a split time behind the old plan's state."""

    name: str = "genmig-end-timestamp"

    def check(self, part: Subplan) -> None:
        """Accept any snapshot-reducible operators over streams of intervals."""
        require_of_intervals(part.change, require_reducible)

    def plan(self, part: Part) -> Edit:
        """Split behind the old plan's state, or behind its inputs where an operator is read around.

        A change reads around an operator if the old plan has already got an element by one path that is still
        to come by another. Then the old plan's state alone does not tell how long it must answer.
        """
        if isinstance(part, Subplan) and any(read_around(part.change, part.host.operators)):
            return Edit(part, behind_inputs(part.box, part.max_ends))
        return Edit(part, behind_state(part.box, part.max_ends))

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Fork each input and fuse each output, as GenMig does."""
        forks = [fork(edit.split) for _ in new.inputs]
        joiners = [Fuse(edit.split) for _ in new.outputs]
        return Migration(edit.part.box, new, edit.split, reached, forks, joiners)
