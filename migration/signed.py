"""GenMig for inputs that are signed streams.

Signed elements are not cut. The new plan gets the elements that begin after the migration's beginning, with
their negatives, at once. The split time lies behind the ends of all elements that began earlier. So from the
split time on the new plan has all that is valid, and its results for earlier instants are dropped:

    out@t  =  old@t for t < split, new@t for t >= split

Source   thesis, 29.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from midstream.migration.fork import Fork
from midstream.migration.fuse import Fuse
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.planner import form
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Batch, Payload, Time


def require_known_ends(host: Host, inputs: Iterable[Node]) -> None:
    """Refuse signed inputs without known end timestamps for the elements that are valid.

    Raises   MigrationRefused, with the operator.
    """
    for node in inputs:
        is_known = form(node) == "intervals" or isinstance(host.operators.get(node), IntervalsToSigns)
        if not is_known and host.emitted(node):
            raise MigrationRefused(
                f"{node.operator} gives positive and negative elements, and does not know when those that "
                "are valid will end; use a time window, or a physical plan with windows of intervals",
                operator=str(node.operator),
            )


def valid_by_input(host: Host, inputs: Sequence[Node]) -> dict[int, Counter[Payload]]:
    """By signed input, the number of valid copies of each payload: begun, and not ended."""
    operators = host.operators
    return {
        port: Counter(one.outstanding() if isinstance(one := operators[node], IntervalsToSigns) else ())
        for port, node in enumerate(inputs)
        if form(node) == "signs"
    }


def signed_fork(valid: Counter[Payload]) -> Fork:
    """Give the new plan the positives that come, and the negatives that belong to them.

        new  =  S since the migration began - the ends of what is `valid` then

    Copies of one payload cannot be told apart, so a negative is taken to end the copy that began first. By
    the split time all old copies have ended, whatever the order, so from then on the multisets are right. At
    no time has a payload ended more often than it has begun.

    State    By payload, the number of old copies that have not ended.
    Cost     O(1) per element.

    >>> fork = signed_fork(Counter(["a"]))
    >>> fork([(5, 1, "a"), (7, -1, "a"), (8, 1, "b")], 8)
    [(5, 1, 'a'), (8, 1, 'b')]
    >>> fork([(9, -1, "a")], 9)
    [(9, -1, 'a')]
    """

    def those_that_began_since(batch: Batch, progress: Time) -> Batch:
        if not valid:
            return batch
        out: Batch = []
        for element in batch:
            _, sign, payload = element
            if sign > 0 or payload not in valid:
                out.append(element)
            else:
                valid[payload] -= 1
                if not valid[payload]:
                    del valid[payload]
        return out

    return Fork(those_that_began_since)


class CutFuse(Fuse):
    """A Fuse for a new plan with uncut input: the new plan's results are cut at the split time first.

    The new plan's results for earlier instants lack the elements from before the migration, and the old plan
    gives them.

    >>> fuse = CutFuse(split=4.5)
    >>> fuse.process([(2, 9, "b")], [(3, 4, "a"), (3, 9, "b"), (6, 7, "b")], 6)
    [(2, 9, 'b')]
    >>> fuse.complete([], 6)
    [(6, 7, 'b')]
    """

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Join results of both plans, given the new plan's progress; old results only before `complete`."""
        split = self._split
        cut = [(max(start, split), end, payload) for start, end, payload in new if end > split]
        return super().process(old, cut, new_progress)
