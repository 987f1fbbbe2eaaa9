"""Swap: a plan takes the place of another at once, where what they do not have in common is stateless.

    changed(S before + S after)  =  changed(S before) + changed(S after)        snapshot by snapshot

A part without state says the same of all elements together as of each alone. So the old one answers for the
elements that it was given, with their full validity, the new one for those that come, and nothing runs twice.
That holds of time windows as well, which is why they may be moved along stateless operators (thesis, 10.3.2).
What both plans have in common goes on with its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from midstream.migration.changes import Change
from midstream.migration.fork import EVERYTHING
from midstream.migration.fuse import Origins
from midstream.migration.holders import read_around
from midstream.migration.machine import Migration, Phase
from midstream.migration.preconditions import (
    REPLACE,
    require_of_intervals,
    require_same_answers,
    require_same_windows,
    require_stateless,
)
from midstream.migration.strategy import Edit, NewPart, Part, Strategy, Subplan
from midstream.operators.base.adjustable import Adjustable
from midstream.operators.base.box import Box
from midstream.operators.base.output import OrderedOutput
from midstream.operators.engine.host import Host
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time


@dataclass(frozen=True, slots=True)
class SwapStrategy(Strategy):
    """Replace what is stateless at once."""

    name: str = "swap"

    def check_plans(self, old: Plan, new: Plan) -> None:
        """Windows may be in another place on the same way."""
        require_same_answers(old, new)
        require_same_windows(old, new)

    def check(self, part: Subplan) -> None:
        """Stateless operators and time windows, which nobody else needs."""
        require_of_intervals(part.change, require_stateless)
        require_private(part.host, part.query.name, part.change)

    def loses(self, old: Box) -> int:
        """From outside, nobody can tell results that wait for the sake of order from what later results
        depend on."""
        return max(old.size(), sum(1 for _ in old.state()))

    def plan(self, part: Part) -> Edit:
        """The new plan takes over where the inputs are."""
        return Edit(part, min(part.reached, default=BEGINNING), steps=0)

    def new_part(self, part: Subplan) -> NewPart:
        """All new operators run with the others from the beginning, and the Box passes on what they give."""
        host, change = part.host, part.change
        complete = host.new_box(change.new, change.inputs)
        for port, progress in enumerate(part.reached):
            complete.advance(port, progress)
        # What another query runs already stays; what this one runs has been ended.
        gone, _ = change.parts
        coming = complete.operators()
        operators = {node: one for node, one in coming if node not in host.operators or node in gone}
        inputs = tuple(dict.fromkeys(complete.plan.outputs.values()))
        reached = [complete.progress_of(node) for node in inputs]
        return NewPart(host.new_box(change.new, inputs), inputs, reached, operators)

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Both plans' results come out in order."""
        forks = [EVERYTHING] * len(new.inputs)
        joiners = [Handover() for _ in new.outputs]
        return Swap(edit.part.box, new, edit.split, reached, forks, joiners)


class Handover:
    """Results that the old plan held back for the sake of order, and those of the new plan, in order.

    Output   Ordered by start.
    State    What the old plan held, as far as the new one may still come before it.
    Bound    The results of both.
    Cost     O(1) per result that comes in order, else O(log n).

    >>> handover = Handover()
    >>> handover.complete([(5, 9, "a"), (7, 9, "b")], 4)
    []
    >>> handover.process([], [(6, 8, "c")], 6)
    [(5, 9, 'a'), (6, 8, 'c')]
    """

    def __init__(self) -> None:
        self._waiting = OrderedOutput()
        self.origins = Origins()

    @property
    def bound(self) -> int:
        """It has never held more elements than this."""
        return self.origins.old + self.origins.new

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Results of the new plan, and its progress."""
        self.origins.new += len(new)
        # The last result of the new plan may be ahead of the progress that it tells.
        return self._waiting.release(new, max(new_progress, new[-1][0]) if new else new_progress)

    def complete(self, rest: Batch, new_progress: Time) -> Batch:
        """What the old plan held back."""
        self.origins.old += len(rest)
        return self._waiting.release(rest, BEGINNING)

    def abandon(self) -> Batch:
        """A swap is over at once; nothing can be abandoned."""
        return []

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
        return min([new_progress, *(start for start, _, _ in self._waiting)])

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._waiting)


class Swap(Migration):
    """A Box that has moved from an old Box to a new one, and gives out what the old one held back.

    The phase `moving` is skipped; it is `draining` until what was held has come out, mostly at once. The
    Boxes need not have the same inputs, and in an engine they have not: the new plan's operators run with all
    others from the beginning, and the new Box passes on what they give.

    Input    As the new Box.
    Output   Snapshot-equivalent to the old Box alone, and ordered, if both mean the same and are stateless.
    State    That of the new Box, and what waits.
    Source   thesis, 27 and 29.6
    """

    is_patient = False

    def begin(self) -> list[Batch]:
        """End the old Box, and tell the new one how far the inputs are."""
        assert self.old is not None
        self.inputs = self.new.inputs
        ended = [self.old.end(port) for port in range(len(self.old.inputs))]
        self._drop_old()
        self.phase = Phase.DRAINING
        for output, joiner in enumerate(self._joiners):
            joiner.complete([element for results in ended for element in results[output]], BEGINNING)
        self.observer.measure(*self._sizes())
        return super().begin()

    def _is_over(self) -> bool:
        return not self.held()

    def horizon(self) -> Time:
        """What waits must come out before a later split time."""
        return max((end for joiner in self._joiners for _, end, _ in joiner), default=BEGINNING)


def require_private(host: Host, query: str, change: Change) -> None:
    """Refuse to take away operators that others need, or that know more than their plan tells, and to go on
    below those that hold what one of the plans gets on another way.

    Raises   MigrationRefused, with the operator and the reason.
    """
    shared = host.shared(query)
    operators = host.operators
    gone, coming = change.parts
    needed = {below for root in change.new for below in root.walk()}
    for node in [*gone, *change.inputs]:
        if node in shared and node not in needed:
            raise MigrationRefused(
                f"{logical(node)} of the old plan runs for other queries too, which must keep it",
                operator=str(logical(node)),
            )
    is_proved = change.means_the_same_over(change.inputs)
    for node in read_around(change, operators):
        if is_proved and node not in coming:
            continue
        name = logical(node)
        if node in coming:
            fault = f"give again what {name} of the new plan holds, which the old plan has had"
        elif node not in needed:
            fault = f"lose what {name} holds, which the new plan does not have"
        else:
            fault = f"lose or give again what {name} holds, as one of the plans reads around it"
        instead = (
            REPLACE if any(isinstance(logical(one), TimeWindow) for one in (*gone, *coming)) else "use genmig"
        )
        raise MigrationRefused(f"swap would {fault}; {instead}", operator=str(name))
    for node in gone:
        operator = operators.get(node)
        if isinstance(operator, Adjustable) and len(operator.history) > 1:
            raise MigrationRefused(
                f"{logical(node)} of the old plan was resized while it ran, and a new one would not know "
                "from when on; add the new plan as another query",
                operator=str(logical(node)),
            )
