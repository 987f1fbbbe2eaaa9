"""Scalar aggregation, and grouping with aggregation, over interval streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from midstream.operators.aggregation.aggregate_loop import generate
from midstream.operators.aggregation.segments import Segments
from midstream.operators.aggregation.valid_rows import ValidRows
from midstream.operators.base.facts import aggregate_facts
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import aggregation as facts
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch, Element, Payload, Time


class Aggregate(Operator):
    """Aggregate functions of the valid elements, per group of equal keys; without keys, over all of them.

        aggregate(S)@t  =  { key ∘ f(G) | G a group of S@t }        (nothing where S@t is empty)

    The operator sweeps over application time. Where an element of a group starts or ends, the group's current
    segment closes with the value so far, and a new one opens. Segments are queued as they open, which is in
    order of their starts, and leave from the front when closed, so no result needs sorting.

    Input    One port, ordered by start.
    Output   Ordered by start. A group's results are disjoint. A result leaves when its end is reached and no
             earlier segment is open.
    State    A partial aggregate for each group and end of the valid elements, or two if some of these came
             behind a later end; each element where a function needs it by itself, as a median does. Open
             segments and closed ones behind them.
    Cost     Amortised, per element: O(1) where ends are ordered, else O(log n), whatever the window. Median,
             top-k, and a user's function of distinct values without inverse need O(log n) in any case.
    Source   thesis, (8.9) and (8.15); Algorithms 9 and 10 give the same results, but touch every overlapping
             partial aggregate

    >>> from midstream.plans.expressions.aggregates import count, sum_
    >>> schema = Schema.of(item="string", price="integer")
    >>> per_item = Aggregate(["item"], [count(), sum_("price")], schema)
    >>> per_item.push(0, [(1, 8, ("c", 5)), (5, 11, ("a", 2)), (9, 10, ("a", 4))])
    [(1, 8, ('c', 1, 5)), (5, 9, ('a', 1, 2))]
    >>> per_item.end(0)
    [(9, 10, ('a', 2, 6)), (10, 11, ('a', 1, 2))]
    """

    def __init__(self, keys: Sequence[str], calls: Sequence[AggregateCall], schema: Schema) -> None:
        super().__init__()
        self._loop = generate(keys, calls, schema)
        self._keys = len(keys)
        self._groups: dict[Any, Any] = {}
        """The groups with valid rows, by key: the value of one column, or a tuple of several."""
        self._valid = ValidRows()
        self._segments = Segments(len(keys) + len(calls))

    def _process(self, port: int, batch: Batch) -> Batch:
        return self._loop(batch, self.reached[0], self._groups, self._valid, self._segments)

    def progress(self) -> Time:
        """The start of the first segment that has not left; the input's progress if there is none."""
        if not self._groups:
            return self.reached[0]
        return self._segments.first_start if self._keys else self._groups[()].start

    def size(self) -> int:
        """The number of partial aggregates, of open segments, and of closed ones that wait."""
        return len(self._valid) + (len(self._segments) if self._keys else len(self._groups))

    def state(self) -> Iterable[Element]:
        """The partial aggregates, each with its key, and the segments."""
        alone = None if self._keys else self._groups.get(())
        for end, group, entry in self._valid.parts(alone):
            yield group.start, end, self._key(group) + entry
        if self._keys:
            yield from self._segments
        elif alone is not None:
            # An open segment's end is not known yet; that of its elements bounds it.
            yield alone.start, alone.start, None

    def _key(self, group: Any) -> Payload:
        return (group.key,) if self._keys == 1 else group.key


RUNNING: Running = {
    facts.AGGREGATE: lambda node: Aggregate(*aggregate_facts(node)),
}
