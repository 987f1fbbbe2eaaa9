"""Moving states: the new plan begins with what is still valid on its inputs, and so can take over at once.

GenMig waits until all that the old plan has been given has expired. Where the elements that are still valid
are known, that need not be waited for: the split time is just behind what the inputs have let in, and the new
plan is given those elements first, cut there, from which it makes its state.

They are known from a log, which also tells what results were given out before and are still valid: promises.
Or the state of the old plan has them: that of a join in which an input is kept as it came. Then starts must
tell which plan a result belongs to, as the results given out before are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.migration.changes import Change
from midstream.migration.split_time import split_time
from midstream.operators.engine.host import Host
from midstream.operators.engine.log import Log
from midstream.operators.engine.plan_box import PlanBox, label
from midstream.operators.joins.sweep_join import SweepJoin
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER, Batch, Time, chronon_end


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the time behind the split time when a part of a plan is exchanged."""

    initial: Sequence[Batch] = ()
    """Per input, the elements that came before, as the new plan is to have them."""
    given: Sequence[Batch] | None = None
    """Per output, the results that were given out before, where that matters."""

    @property
    def copied(self) -> int:
        """How many elements the new plan is given to begin with."""
        return sum(map(len, self.initial))


def nothing(*_: object) -> Known:
    """Nothing, and nothing needs to be: the split time is behind all that."""
    return Known()


def behind_progress(max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """An instant behind the starts of all elements so far, and of all results.

    How far an input was when it ended is not known; its elements' ends are.

    >>> behind_progress([70, 90], [7, 9])
    9.5
    """
    pairs = zip(max_ends, reached, strict=True)
    return split_time(end if progress == FOREVER else progress for end, progress in pairs)


def from_log(host: Host, query: str, change: Change, old: PlanBox, split: Time) -> Known:
    """What the log of a query tells.

    Raises   MigrationRefused where something of what is needed came before the log was asked for.
    """
    chosen = host.query(query)
    outputs = {root: chosen.logs[name] for name, root in chosen.physical.outputs.items()}
    inputs = [host.log(node) for node in change.inputs]
    for node, log in zip(change.inputs, inputs, strict=True):
        if log is None:
            raise MigrationRefused(
                f"there is no log of {label(node)}, which other queries share or which gives positive and "
                "negative elements; use genmig",
                operator=str(logical(node)),
            )
    logs = [log for log in inputs if log is not None]
    return Known(
        [_valid_from(log, split) for log in logs], [_valid_from(outputs[root], split) for root in change.old]
    )


def _valid_from(log: Log, split: Time) -> Batch:
    if log.complete_from > split:
        when = "never will be" if log.complete_from == FOREVER else f"will be from {log.complete_from} on"
        raise MigrationRefused(
            f"the log of the query is not complete, and {when}, when all that came before it was asked for "
            f"has expired; found {chronon_end(split) - 1}"
        )
    return log.valid_from(split)


def from_state(host: Host, query: str, change: Change, old: PlanBox, split: Time) -> Known:
    """What the old plan keeps of its inputs, where it is enough: each input is read by one join, whose other
    side is not past the split time.

    What such a join does not keep is of no consequence: it has expired, or no condition can be true of it.
    The old plan says the same without it, and so does the new one, which means the same.

    Raises   MigrationRefused, with the input and the operator whose state does not tell.
    """
    running = old.operators()
    goes, _ = change.parts
    initial = []
    for node in change.inputs:
        readers = [(one, port) for one in goes for port, child in enumerate(one.inputs) if child == node]
        found = [_kept(running.get(one), port, split) for one, port in readers]
        batch = found[0] if len(found) == 1 else None
        if batch is None:
            names = " and ".join(dict.fromkeys(str(logical(one)) for one, _ in readers)) or "the running plan"
            raise MigrationRefused(
                f"the elements still valid on {label(node)} cannot be recovered from the state of {names}; "
                "ask for a log by engine.keep_log()",
                operator=names,
            )
        initial.append(batch)
    return Known(initial)


def _kept(operator: object, port: int, split: Time) -> Batch | None:
    """What a join has of an input from the split time on; None where the state does not tell."""
    if not isinstance(operator, SweepJoin) or operator.reached[1 - port] >= split:
        return None
    kept = sorted((element for element in operator.kept(port) if element[1] > split), key=lambda e: e[:2])
    return [(max(start, split), end, payload) for start, end, payload in kept]
