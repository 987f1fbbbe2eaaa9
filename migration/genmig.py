"""GenMig: both plans run side by side until all elements that the old plan was given have expired.

    new inputs   what is valid from the split time on
    result       old@t for t < split, new@t for t >= split, each put together with its other half

The old plan gets all elements and answers. The split time lies behind the end of every element so far. GenMig
is right for any two equivalent plans of snapshot-reducible operators. Inputs may be signed streams.

Source   thesis, chapter 29
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse
from midstream.migration.machine import Migration
from midstream.migration.preconditions import require_of_operators, require_reducible
from midstream.migration.signed import CutFuse, require_known_ends, signed_fork, valid_by_input
from midstream.migration.split_time import behind_inputs
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.plans.values.streams import Time


@dataclass(frozen=True, slots=True)
class GenMigStrategy(Strategy):
    """Fork and fuse at a split time behind all that the inputs have had."""

    name: str = "genmig"

    def check(self, part: Subplan) -> None:
        """Any operators that are snapshot-reducible."""
        require_of_operators(part.change, require_reducible)
        require_known_ends(part.host, part.change.inputs)

    def plan(self, part: Part) -> Edit:
        """The split time is behind the inputs."""
        signed = valid_by_input(part.host, part.change.inputs) if isinstance(part, Subplan) else {}
        return Edit(part, behind_inputs(part.box, part.max_ends), signed=signed)

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """A signed input is forked whole."""
        signed, split = edit.signed, edit.split
        ports = range(len(new.inputs))
        forks = [signed_fork(signed[port]) if port in signed else fork(split) for port in ports]
        joiners = [CutFuse(split) if signed else Fuse(split) for _ in new.outputs]
        return Migration(edit.part.box, new, split, reached, forks, joiners)
