"""Swap: a plan replaces another at once, if the operators that only one of them has are stateless.

    changed(S before + S after)  =  changed(S before) + changed(S after)        snapshot by snapshot

A part without state gives the same results for all elements together as for each alone. So the old part
answers for the elements that it was given, with their full validity, the new part for later ones, and nothing
runs twice. This holds for time windows as well, so they may be moved along stateless operators (thesis,
10.3.2). Operators that both plans have go on with their state.
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
from midstream.operators.base.box import Box
from midstream.operators.base.output import OrderedOutput
from midstream.operators.base.setting import WithSetting
from midstream.operators.engine.graph.host import Host
from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time


@dataclass(frozen=True, slots=True)
class SwapStrategy(Strategy):
    """Replace stateless operators at once."""

    name: str = "swap"

    def check_plans(self, old: Plan, new: Plan) -> None:
        """Allow a window at another place on its path."""
        require_same_answers(old, new)
        require_same_windows(old, new)

    def check(self, part: Subplan) -> None:
        """Accept stateless operators and time windows that no other query needs."""
        require_of_intervals(part.change, require_stateless)
        require_private(part.host, part.query.name, part.change)

    def loses(self, old: Box) -> int:
        """All elements that the Box keeps.

        From outside, a result that waits for the sake of order looks like state that later results depend on.
        """
        return max(old.size(), sum(1 for _ in old.state()))

    def plan(self, part: Part) -> Edit:
        """Let the new plan take over at the least progress of the inputs."""
        return Edit(part, min(part.reached, default=BEGINNING), steps=0)

    def new_part(self, part: Subplan) -> NewPart:
        """Run all new operators with the others from the beginning; the Box only passes their results on."""
        host, change = part.host, part.change
        complete = host.new_box(change.new, change.inputs)
        for port, progress in enumerate(part.reached):
            complete.advance(port, progress)
        # Operators of other queries stay; those of this query have been ended.
        gone, _ = change.parts
        coming = complete.operators()
        operators = {node: new for node, new in coming if node not in host.operators or node in gone}
        inputs = tuple(dict.fromkeys(complete.plan.outputs.values()))
        reached = [complete.progress_of(node) for node in inputs]
        return NewPart(host.new_box(change.new, inputs), inputs, reached, operators)

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Set up a handover at each output, which gives the results of both plans in order."""
        forks = [EVERYTHING] * len(new.inputs)
        joiners = [Handover() for _ in new.outputs]
        return Swap(edit.part.box, new, edit.split, reached, forks, joiners)


class Handover:
    """Merge results that the old plan held back for the sake of order with those of the new plan.

    Output   Ordered by start.
    State    Results that the old plan held, until no earlier result of the new one can come.
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
        """An upper bound of the elements held at any time so far."""
        return self.origins.old + self.origins.new

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Take results of the new plan, and its progress."""
        self.origins.new += len(new)
        # The last result of the new plan may be ahead of its progress.
        return self._waiting.release(new, max(new_progress, new[-1][0]) if new else new_progress)

    def complete(self, remaining: Batch, new_progress: Time) -> Batch:
        """Take the results that the old plan held back."""
        self.origins.old += len(remaining)
        return self._waiting.release(remaining, BEGINNING)

    def abandon(self) -> Batch:
        """Return nothing: a swap is over at once."""
        return []

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """A lower bound of the starts of later results."""
        return min([new_progress, *(start for start, _, _ in self._waiting)])

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._waiting)


class Swap(Migration):
    """A Box that has moved from an old Box to a new one, and gives out the results held back.

    The phase `moving` is skipped. The swap is `draining` until the results held back have come out, mostly at
    once. The Boxes need not have the same inputs, and in an engine they have not: the new plan's operators
    run with all others from the beginning, and the new Box passes on their results.

    Input    As the new Box.
    Output   Snapshot-equivalent to the old Box alone, and ordered, if both are equivalent and stateless.
    State    That of the new Box, and the results that wait.
    Source   thesis, 27 and 29.6
    """

    is_patient = False

    def begin(self) -> list[Batch]:
        """End the old Box, and tell the new one the progress of the inputs."""
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
        """The largest end of the waiting results, which must come out before a later split time."""
        return max((end for joiner in self._joiners for _, end, _ in joiner), default=BEGINNING)


def require_private(host: Host, query: str, change: Change) -> None:
    """Refuse to remove operators that others need, or that lose state by a swap.

    An operator loses state if it was resized while it ran, or if it holds elements that one of the plans also
    gets by another path.

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
            fault = (
                f"repeat the elements that {name} of the new plan holds, as the old plan has already got them"
            )
        elif node not in needed:
            fault = f"lose the elements that {name} holds, as the new plan does not have this operator"
        else:
            fault = f"lose or repeat the elements that {name} holds, as one of the plans also reads its input"
        instead = (
            REPLACE if any(isinstance(logical(one), TimeWindow) for one in (*gone, *coming)) else "use genmig"
        )
        raise MigrationRefused(f"swap would {fault}; {instead}", operator=str(name))
    for node in gone:
        operator = operators.get(node)
        if isinstance(operator, WithSetting) and len(operator.setting.history) > 1:
            raise MigrationRefused(
                f"{logical(node)} of the old plan was adjusted while it ran, and a new one would not know "
                "from when on; add the new plan as another query",
                operator=str(logical(node)),
            )
