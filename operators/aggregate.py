"""Scalar aggregation, and grouping with aggregation, over interval streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from midstream.operators.accumulators import ACCUMULATORS, Accumulator
from midstream.operators.expiry import Expiry
from midstream.operators.operator import Operator
from midstream.plans.aggregates import AggregateCall
from midstream.plans.expressions import Col, Const, compile_rows
from midstream.plans.schema import Schema
from midstream.plans.streams import Batch, Element, Payload, Time

Segment = list[Any]
"""A result under construction: `[start, end or None, payload]`. An empty interval marks one that came to
nothing."""


class _Group:
    """The rows of one group that are valid now."""

    __slots__ = ("accumulators", "count", "key", "segment")

    def __init__(self, key: Payload, accumulators: list[Accumulator], segment: Segment) -> None:
        self.key = key
        self.accumulators = accumulators
        self.count = 0
        self.segment = segment


class Aggregate(Operator):
    """Aggregate functions of the valid elements, per group of equal keys; without keys, over all of them.

        aggregate(S)@t  =  { key ∘ f(G) | G a group of S@t }        (nothing where S@t is empty)

    The operator sweeps over application time. Wherever an element of a group starts or ends, the group's
    current segment closes with the value that held so far and a new one opens. Segments are queued as they
    open, which is in order of their starts, and leave from the front when closed: so no result needs sorting.

    Input    One port, ordered by start.
    Output   Ordered by start. A group's results are disjoint. A result leaves when its end is reached and no
             earlier segment is open.
    State    The valid elements; open segments and closed ones behind them.
    Cost     O(1) amortised per element where ends are ordered, else O(log n), whatever the window.
    Source   thesis, (8.9) and (8.15); Algorithms 9 and 10 are agreed with, but they touch every overlapping
             partial aggregate

    >>> from midstream.plans.aggregates import count, sum_
    >>> schema = Schema.of(item="string", price="integer")
    >>> per_item = Aggregate(["item"], [count(), sum_("price")], schema)
    >>> per_item.push(0, [(1, 8, ("c", 5)), (5, 11, ("a", 2)), (9, 10, ("a", 4))])
    [(1, 8, ('c', 1, 5)), (5, 9, ('a', 1, 2))]
    >>> per_item.end(0)
    [(9, 10, ('a', 2, 6)), (10, 11, ('a', 1, 2))]
    """

    def __init__(self, keys: Sequence[str], calls: Sequence[AggregateCall], schema: Schema) -> None:
        super().__init__()
        self._key: Callable[[Payload], Payload] = compile_rows([Col(key) for key in keys], schema)
        # A function without argument counts rows: it is given a value that is never unknown.
        arguments = [Const(True) if call.argument is None else call.argument for call in calls]
        self._arguments: Callable[[Payload], Payload] = compile_rows(arguments, schema)
        self._make = [ACCUMULATORS[call.function] for call in calls]
        self._groups: dict[Payload, _Group] = {}
        self._expiry: Expiry[tuple[_Group, Payload]] = Expiry()
        self._segments: deque[Segment] = deque()

    def _process(self, port: int, batch: Batch) -> Batch:
        groups, expiry = self._groups, self._expiry
        key_of, arguments_of = self._key, self._arguments
        for start, end, payload in batch:
            if expiry.next is not None and expiry.next <= start:
                self._expire(start)
            key = key_of(payload)
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(key, [make() for make in self._make], self._open(start))
            elif group.segment[0] < start:
                self._close(group, start)
            group.count += 1
            arguments = arguments_of(payload)
            for accumulator, value in zip(group.accumulators, arguments, strict=True):
                if value is not None:
                    accumulator.add(value, end)
            expiry.add(end, (group, arguments))
        self._expire(self.reached[0])
        return self._leave()

    def _open(self, start: Time) -> Segment:
        segment: Segment = [start, None, None]
        self._segments.append(segment)
        return segment

    def _close(self, group: _Group, end: Time) -> None:
        segment = group.segment
        start = segment[0]
        segment[2] = group.key + tuple([a.value(start) for a in group.accumulators])
        segment[1] = end
        group.segment = self._open(end)

    def _expire(self, time: Time) -> None:
        for end, (group, arguments) in self._expiry.expired(time):
            if group.segment[0] < end:
                self._close(group, end)
            group.count -= 1
            if not group.count:
                group.segment[1] = end
                del self._groups[group.key]
                continue
            for accumulator, value in zip(group.accumulators, arguments, strict=True):
                if value is not None:
                    accumulator.remove(value)

    def _leave(self) -> Batch:
        segments = self._segments
        out: Batch = []
        while segments and (end := segments[0][1]) is not None:
            start, _, payload = segments.popleft()
            if start < end:
                out.append((start, end, payload))
        return out

    def progress(self) -> Time:
        """The start of the first segment that has not left; that of the input where there is none."""
        return self._segments[0][0] if self._segments else self.reached[0]

    def size(self) -> int:
        """Valid elements, open segments, and closed ones that wait."""
        return len(self._expiry) + len(self._segments)

    def state(self) -> Iterable[Element]:
        """Valid elements, reduced to what is kept of them, and segments."""
        for end, (group, arguments) in self._expiry:
            yield group.segment[0], end, group.key + arguments
        for start, end, payload in self._segments:
            # An open segment's end is not known yet; that of its elements bounds it.
            yield start, start if end is None else end, payload
