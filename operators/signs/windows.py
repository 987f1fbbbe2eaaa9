"""Windows that give signed streams: the beginning of the positive-negative approach."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from midstream.operators.base.facts import count_window_facts, time_window_facts
from midstream.operators.base.operator import Operator
from midstream.operators.base.row_groups import RowGroup
from midstream.operators.base.running import Running, operator_of
from midstream.operators.base.setting import Setting, WithSetting
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.algebra.operators import Bounds
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, compile_rows
from midstream.plans.values.errors import TieError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time, later


class SignedTimeWindow(WithSetting, IntervalsToSigns):
    """Give a positive when a row enters the window of `size` chronons, and a negative when it leaves.

        window(w, S)@t  =  sum of S@u for t - w(u) < u <= t,        w(u) the size in force at u

    With a slide of a, t is replaced by the last instant before it at which the window moves: one of a - 1, 2a
    - 1, and so on.

    Input    A chronon stream.
    State    The negatives that wait; with a slide, also the rows that the window has not reached.
    Cost     O(1) per element.
    Source   thesis, 14.2.1; 17.1 for the slide

    >>> window = SignedTimeWindow(50)
    >>> window.push(0, [(1, 2, "b"), (3, 4, "a"), (51, 52, "c")])
    [(1, 1, 'b'), (3, 1, 'a'), (51, -1, 'b'), (51, 1, 'c')]
    >>> SignedTimeWindow(10, slide=10).push(0, [(1, 2, "b"), (3, 4, "a"), (9, 10, "c")])
    [(9, 1, 'b'), (9, 1, 'a'), (9, 1, 'c')]
    """

    def __init__(self, size: int | None, slide: int = 1, bounds: Bounds | None = None) -> None:
        super().__init__()
        self.setting: Setting[Time] = Setting(FOREVER if size is None else size)
        self._slide = slide
        self._rows: deque[Element] = deque()

    def _process(self, port: int, batch: Batch) -> Batch:
        parts = self.setting.parts(batch, self.reached[0])
        if self._slide > 1:
            return super()._process(port, self._enter(parts))
        return super()._process(
            port, [(time, later(time, size), row) for size, part in parts for time, _, row in part]
        )

    def _enter(self, parts: Iterable[tuple[Time, Batch]]) -> Batch:
        """The rows that the window has reached."""
        rows, reached = self._rows, self.reached[0]
        valid = (
            (self._moved(time), self._moved(later(time, size)), row)
            for size, part in parts
            for time, _, row in part
        )
        # A window that moves by more than its size skips rows.
        rows.extend(row for row in valid if row[0] < row[1])
        entering: Batch = []
        while rows and rows[0][0] <= reached:
            entering.append(rows.popleft())
        return entering

    def _moved(self, time: Time) -> Time:
        """The first instant, at or after a time, at which the window moves."""
        return time if time == FOREVER else -(-(time + 1) // self._slide) * self._slide - 1

    def progress(self) -> Time:
        """The instant at which the window moves next."""
        reached = self.reached[0]
        return reached if self._slide == 1 or reached in (BEGINNING, FOREVER) else self._moved(reached)

    def size(self) -> int:
        """The number of waiting negatives and rows."""
        return super().size() + len(self._rows)

    def state(self) -> Iterable[Element]:
        """The waiting negatives and rows."""
        return chain(super().state(), self._rows)


class SignedPartitionedWindow(WithSetting):
    """Give a positive when a row enters its group's window of `rows` rows, and a negative when it leaves.

        window(S)@t  =  for each key, the last rows of S until t with that key

    If the number of rows changes, a row that came when it was n leaves when n later rows of its group have
    come.

    A row enters when it arrives, and another one of its group leaves. The end of its validity is not needed,
    so nothing waits, and no group holds back another. With a slide of A, A rows enter at once.

    Input    A chronon stream; at most one row per group and timestamp, unless the order of arrival is to
             decide.
    State    The rows in the windows; with a slide, also those that come next. An unbounded window has none.
    Cost     O(1) amortised per row.
    Raises   TieError where two rows of a group have the same timestamp; then nothing of the batch was taken.
    Source   thesis, 14.2.1; 17.2 for the slide

    >>> window = SignedPartitionedWindow(1, ["k"], Schema.of(k="string", v="integer"))
    >>> window.push(0, [(1, 2, ("a", 5)), (3, 4, ("b", 6)), (4, 5, ("a", 7))])
    [(1, 1, ('a', 5)), (3, 1, ('b', 6)), (4, -1, ('a', 5)), (4, 1, ('a', 7))]
    """

    def __init__(
        self,
        rows: int | None,
        keys: Sequence[str],
        schema: Schema,
        slide: int = 1,
        ties: logical.Ties = "error",
    ) -> None:
        super().__init__()
        self.setting: Setting[Time] = Setting(FOREVER if rows is None else rows)
        self._slide = slide
        self._ties = ties
        self._key: Callable[[Payload], Payload] = compile_rows([Col(key) for key in keys], schema)
        self._groups: dict[Payload, RowGroup[Payload]] = {}
        self._kept = 0
        self._seen: tuple[Time, set[Payload]] = (FOREVER, set())
        """The instant of the last row, and the keys that have one at it."""

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """Process as every operator, but refuse ties."""
        if self._ties == "error":
            self._refuse_ties(batch, progress)
        return super().process(port, batch, progress)

    def _process(self, port: int, batch: Batch) -> Batch:
        out: Batch = []
        for rows, part in self.setting.parts(batch, self.reached[0]):
            for time, _, row in part:
                self._take(time, row, rows, out)
        if self.reached[0] == FOREVER:
            # Valid rows stay valid: they need no negative.
            self._groups.clear()
            self._kept = 0
        return out

    def _take(self, time: Time, row: Payload, rows: Time, out: Batch) -> None:
        """Let a row enter its group's window, at once or with the next advance, and others leave."""
        key = self._key(row)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = RowGroup()
        self._kept -= len(group.waiting)
        entering = group.take(row, rows, self._slide)
        leaving = group.leaving()
        self._kept += len(group.waiting) - len(leaving)
        out += [(time, -1, gone) for gone in leaving]
        for leaves, coming in entering:
            out.append((time, 1, coming))
            if leaves != FOREVER:
                group.keep(leaves, coming)
                self._kept += 1
        if group.is_over(self._slide):
            del self._groups[key]

    def _refuse_ties(self, batch: Batch, progress: Time) -> None:
        last, seen = self._seen
        fresh: set[Payload] = set()
        for time, _, row in batch:
            if time != last:
                last, seen, fresh = time, set(), set()
            if (key := self._key(row)) in seen or key in fresh:
                raise TieError(
                    f"{self.name}: found two rows at {time}, expected one; the second is {row!r}",
                    operator=self.name,
                    at=time,
                    row=row,
                )
            fresh.add(key)
        seen |= fresh
        # No later row can tie with one from before the progress.
        self._seen = (last, seen) if last == progress else (FOREVER, set())

    def size(self) -> int:
        """The number of rows in the state."""
        return self._kept

    def state(self) -> Iterable[Element]:
        """The rows in the state; their ends are not known."""
        for group in self._groups.values():
            for row in chain(group.inside(), (row for _, row in group.waiting)):
                yield self.reached[0], FOREVER, row


class SignedCountWindow(SignedPartitionedWindow):
    """Give a positive when a row enters the window of the last `rows` rows, and a negative when it leaves.

        window(S)@t  =  the last rows of S until t

    Input, State, Cost, Raises, Source    as SignedPartitionedWindow, with one group

    >>> window = SignedCountWindow(2)
    >>> window.push(0, [(1, 2, "b"), (3, 4, "a"), (4, 5, "c")])
    [(1, 1, 'b'), (3, 1, 'a'), (4, -1, 'b'), (4, 1, 'c')]
    """

    def __init__(self, rows: int | None, slide: int = 1, ties: logical.Ties = "error") -> None:
        super().__init__(rows, (), Schema(()), slide, ties)


def _partitioned_window(node: Node) -> Operator:
    operator = operator_of(node, logical.PartitionedWindow)
    schema = node.inputs[0].schema
    return SignedPartitionedWindow(operator.rows, operator.keys, schema, operator.slide, operator.ties)


RUNNING: Running = {
    facts.SIGNED_TIME_WINDOW: lambda node: SignedTimeWindow(*time_window_facts(node)),
    facts.SIGNED_COUNT_WINDOW: lambda node: SignedCountWindow(*count_window_facts(node)[:3]),
    facts.SIGNED_PARTITIONED_WINDOW: _partitioned_window,
}
