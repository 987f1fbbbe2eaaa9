"""Moving states: the new plan begins with the elements still valid on its inputs, and takes over at once.

GenMig waits until all elements that the old plan was given have expired. Where the elements that are still
valid are known, this wait is not needed: the split time lies just behind the starts of all elements so far,
and the new plan first gets the valid elements, cut at the split time, and builds its state from them.

They are known from a log. The log also tells which results came out before and are still valid: promises.
Otherwise they are known from the old plan's state, if a join keeps an input as it came. Then starts must tell
which plan a result belongs to, because the earlier results are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from midstream.migration.fork import fork
from midstream.migration.fuse import Fuse, Joiner
from midstream.migration.machine import Migration
from midstream.migration.preconditions import (
    require_of_elements,
    require_of_intervals,
    require_reducible,
    require_told_by_starts,
)
from midstream.migration.reference_point import ReferencePoint
from midstream.migration.split_time import horizons, split_time
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.operators.engine.running.log import Log
from midstream.operators.engine.running.plan_box import label
from midstream.operators.engine.running.queries import RunningQuery
from midstream.operators.joins.sweep_join import SweepJoin
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER, Batch, Time, chronon_end


@dataclass(frozen=True, slots=True)
class MovingStatesStrategy(Strategy):
    """Fork and join at a split time just behind the inputs, and begin with the elements that are still valid.

    These come from the log of windows and outputs, if one is kept; otherwise from the old plan's state.
    """

    name: str = "moving-states"

    needs_log: ClassVar[bool] = True
    """The log tells the valid elements and the results so far."""

    def replaces_all(self, query: RunningQuery) -> bool:
        """True where there is a log."""
        return query.is_logged

    def check(self, part: Subplan) -> None:
        """Without a log, accept only operators whose results start where an element starts."""
        require_of_intervals(part.change, require_reducible)
        if not part.query.is_logged:
            require_of_elements(part.change, require_told_by_starts)

    def plan(self, part: Part) -> Edit:
        """Split just behind the inputs, and take the valid elements from the log or the state."""
        if not isinstance(part, Subplan):
            raise MigrationRefused(
                f"{self.name} needs what a query's log or its operators keep, and a box does not show it"
            )
        split = _split(part)
        if part.query.is_logged:
            initial, promised = from_log(part, split)
            return Edit(part, split, initial=initial, promised=promised)
        kept = [_kept(join, port, split) for join, port in keepers(part, split)]
        return Edit(part, split, steps=1, initial=kept)

    def require_plan(self, part: Subplan) -> None:
        """Check the joins if there is no log; with a log, this is as `plan`."""
        if part.query.is_logged:
            self.plan(part)
        else:
            keepers(part, _split(part))

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Join by a Fuse if the log tells the earlier results; otherwise by starts."""
        split = edit.split
        forks = [fork(split) for _ in new.inputs]
        joiners: list[Joiner] = (
            [ReferencePoint(split) for _ in new.outputs]
            if edit.promised is None
            else [Fuse(split, said) for said in edit.promised]
        )
        return Migration(edit.part.box, new, split, reached, forks, joiners, initial=edit.initial)


def behind_progress(max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """An instant behind the starts of all elements and all results so far.

    The progress of an input that has ended is unknown, so the ends of its elements are used.

    >>> behind_progress([70, 90], [7, 9])
    9.5
    """
    pairs = zip(max_ends, reached, strict=True)
    return split_time(end if progress == FOREVER else progress for end, progress in pairs)


def _split(part: Subplan) -> Time:
    return max(behind_progress(part.max_ends, part.reached), split_time(horizons(part.box)))


def from_log(part: Subplan, split: Time) -> tuple[list[Batch], list[Batch]]:
    """The elements valid at the split time by input, and the results by output, from a query's log.

    Raises   MigrationRefused where the log was asked for too late.
    """
    outputs = {root: part.query.logs[name] for name, root in part.query.physical.outputs.items()}
    inputs = []
    for node in part.change.inputs:
        log = part.host.log(node)
        if log is None:
            raise MigrationRefused(
                f"there is no log of {label(node)}: one is kept of a query's windows, or of streams without "
                "one, unless other queries share them or they give positives and negatives; use genmig",
                operator=str(logical(node)),
            )
        inputs.append(log)
    return [_valid_from(log, split) for log in inputs], [
        _valid_from(outputs[root], split) for root in part.change.old
    ]


def _valid_from(log: Log, split: Time) -> Batch:
    if log.complete_from > split:
        when = "never will be" if log.complete_from == FOREVER else f"will be from {log.complete_from} on"
        raise MigrationRefused(
            f"the log of the query is not complete, and {when}, when all that came before it was asked for "
            f"has expired; found {chronon_end(split) - 1}"
        )
    return log.valid_from(split)


def keepers(part: Subplan, split: Time) -> list[tuple[SweepJoin, int]]:
    """By input, the join that keeps its elements, and the port.

    Only this join reads the input, and its other side is not past the split time. Elements that such a join
    has dropped do not matter: they have expired, or no condition can be true of them. The old plan gives the
    same results without them, and so does the new plan, which is equivalent.

    Raises   MigrationRefused, with the input and the operator whose state does not tell.
    """
    running = dict(part.box.operators())
    goes, _ = part.change.parts
    found = []
    for node in part.change.inputs:
        readers = [
            (reader, port) for reader in goes for port, child in enumerate(reader.inputs) if child == node
        ]
        joins = [(running.get(reader), port) for reader, port in readers]
        join, port = joins[0] if len(joins) == 1 else (None, 0)
        if not isinstance(join, SweepJoin) or join.reached[1 - port] >= split:
            names = (
                " and ".join(dict.fromkeys(str(logical(reader)) for reader, _ in readers))
                or "the running plan"
            )
            raise MigrationRefused(
                f"the elements still valid on {label(node)} cannot be recovered from the state of {names}; "
                "ask for a log by engine.keep_log()",
                operator=names,
            )
        found.append((join, port))
    return found


def _kept(join: SweepJoin, port: int, split: Time) -> Batch:
    """The elements that a join keeps of an input, from the split time on.

    Cost     O(elements that are kept).
    """
    kept = sorted((element for element in join.retained(port) if element[1] > split), key=lambda e: e[:2])
    return [(max(start, split), end, payload) for start, end, payload in kept]
