"""Scalar aggregation, and grouping with aggregation, over signed streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from midstream.operators.base.facts import aggregate_facts
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.operators.functions.accumulator import Accumulator
from midstream.operators.signs.accumulators import accumulator_by_sign, keeps_values
from midstream.operators.signs.alignment import Alignment, NetChanges
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Col, Const, compile_rows
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time


class _Group:
    """The state of the functions of one group, and its present result."""

    __slots__ = ("accumulators", "count", "result")

    def __init__(self, accumulators: list[Accumulator]) -> None:
        self.accumulators = accumulators
        self.count = 0
        self.result: Payload | None = None


class SignedAggregate(Operator):
    """Aggregate functions of the valid rows, per group of equal keys; without keys, over all of them.

        aggregate(S)@t  =  { key ∘ f(G) | G a group of S@t }        (nothing where S@t is empty)

    At the end of an instant, the result of each group that changed is replaced by the new one. Not before,
    because the result of half the changes of an instant has never been valid.

    Input    One port, ordered by time.
    Output   Net changes: a result that stays the same is not touched. A result leaves when its first instant
             is over, however long it will be valid.
    State    Per group, its result and the state of the functions: for some a number, for others every value;
             and the elements of the instant that is not over.
    Cost     O(log n) per element, O(1) where every function has an inverse.
    Source   thesis, 14.2.4 and Example 14.1

    >>> from midstream.plans.expressions.aggregates import sum_
    >>> total = SignedAggregate([], [sum_("x")], Schema.of(x="integer"))
    >>> total.push(0, [(1, 1, (2,)), (5, 1, (7,)), (5, -1, (2,))])        # 9 never holds
    [(1, 1, (2,))]
    >>> total.advance(0, 6)
    [(5, -1, (2,)), (5, 1, (7,))]
    """

    def __init__(self, keys: Sequence[str], calls: Sequence[AggregateCall], schema: Schema) -> None:
        super().__init__()
        self._key: Callable[[Payload], Payload] = compile_rows([Col(key) for key in keys], schema)
        # A function without argument counts rows: its argument is a value that is never NULL.
        arguments = [Const(True) if call.argument is None else call.argument for call in calls]
        self._arguments: Callable[[Payload], Payload] = compile_rows(arguments, schema)
        self._calls = tuple(calls)
        self._keeps_rows = any(map(keeps_values, calls))
        self._inputs = Alignment(1)
        self._groups: dict[Payload, _Group] = {}
        self._rows = 0

    def _process(self, port: int, batch: Batch) -> Batch:
        self._inputs.put(port, batch)
        out: Batch = []
        for time, (changes,) in self._inputs.instants(self.reached[0]):
            for key, group in self._changed(changes).items():
                self._renew(time, key, group, out)
        if self.reached[0] == FOREVER:
            # Present results stay valid: they need no negative.
            self._groups.clear()
            self._rows = 0
        return out

    def _changed(self, changes: NetChanges) -> dict[Payload, _Group]:
        """Let values enter and leave; returns their groups."""
        changed = {}
        for row, change in changes.items():
            key = self._key(row)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group([accumulator_by_sign(call) for call in self._calls])
            changed[key] = group
            group.count += change
            self._rows += change
            for accumulator, value in zip(group.accumulators, self._arguments(row), strict=True):
                if value is None:
                    continue
                for _ in range(change):
                    accumulator.add(value, FOREVER)
                for _ in range(-change):
                    accumulator.remove(value)
        return changed

    def _renew(self, time: Time, key: Payload, group: _Group, out: Batch) -> None:
        result = None
        if group.count:
            result = key + tuple([accumulator.value(time) for accumulator in group.accumulators])
        else:
            del self._groups[key]
        if result == group.result:
            return
        if group.result is not None:
            out.append((time, -1, group.result))
        if result is not None:
            out.append((time, 1, result))
        group.result = result

    def size(self) -> int:
        """The number of groups, of rows if all values are kept, and of waiting elements."""
        return len(self._groups) + (self._rows if self._keeps_rows else 0) + len(self._inputs)

    def state(self) -> Iterable[Element]:
        """The results of groups, the keys of rows if all values are kept, and the waiting elements.

        Their ends are not known, so they are FOREVER.
        """
        now = self.reached[0]
        for key, group in self._groups.items():
            yield now, FOREVER, group.result
            if self._keeps_rows:
                yield from [(now, FOREVER, key)] * group.count
        yield from self._inputs


RUNNING: Running = {
    facts.SIGNED_AGGREGATE: lambda node: SignedAggregate(*aggregate_facts(node)),
}
