"""Windows that give signed streams: the beginning of the positive-negative approach."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from midstream.operators.base.facts import count_window_facts, time_window_facts
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running, operator_of
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, compile_rows
from midstream.plans.values.errors import TieError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time


class SignedTimeWindow(IntervalsToSigns):
    """Give a positive when a row enters the window of `size` chronons, and a negative when it leaves.

        window(w, S)@t  =  sum of S@u for t - w < u <= t

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

    def __init__(self, size: int | None, slide: int = 1) -> None:
        super().__init__()
        self._size = size
        self._slide = slide
        self._rows: deque[Element] = deque()

    def _process(self, port: int, batch: Batch) -> Batch:
        if self._slide > 1:
            batch = self._enter(batch)
        elif self._size is None:
            batch = [(time, FOREVER, row) for time, _, row in batch]
        else:
            size = self._size
            batch = [(time, time + size, row) for time, _, row in batch]
        return super()._process(port, batch)

    def _enter(self, batch: Batch) -> Batch:
        """The rows that the window has reached."""
        rows, reached = self._rows, self.reached[0]
        # A window that moves by more than its size skips rows.
        rows.extend(row for row in (self._valid(*element) for element in batch) if row[0] < row[1])
        entering: Batch = []
        while rows and rows[0][0] <= reached:
            entering.append(rows.popleft())
        return entering

    def _valid(self, time: Time, end: Time, row: Payload) -> Element:
        """A row with the validity that the window gives it."""
        left = FOREVER if self._size is None else self._moved(time + self._size)
        return self._moved(time), left, row

    def _moved(self, time: Time) -> Time:
        """The first instant, at or after a time, at which the window moves."""
        return -(-(time + 1) // self._slide) * self._slide - 1

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


class _Rows:
    """The rows of one group: those in the window, and those that came since it moved."""

    __slots__ = ("arrived", "fresh", "valid")

    def __init__(self, rows: int | None) -> None:
        self.valid: deque[Payload] = deque()
        self.fresh: deque[Payload] = deque(maxlen=rows)
        self.arrived = 0
        """The number of rows since the window moved; of these, only the last ones can enter it."""

    def __len__(self) -> int:
        return len(self.valid) + len(self.fresh)


class SignedPartitionedWindow(Operator):
    """Give a positive when a row enters its group's window of `rows` rows, and a negative when it leaves.

        window(S)@t  =  for each key, the last rows of S until t with that key

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
        self._limit = rows
        self._slide = slide
        self._ties = ties
        self._key: Callable[[Payload], Payload] = compile_rows([Col(key) for key in keys], schema)
        self._groups: dict[Payload, _Rows] = {}
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
        for time, _, row in batch:
            key = self._key(row)
            group = self._groups.pop(key, None) or _Rows(self._limit)
            self._kept -= len(group)
            out += self._enter(group, time, row)
            self._kept += len(group)
            if len(group):
                self._groups[key] = group
        if self.reached[0] == FOREVER:
            # Valid rows stay valid: they need no negative.
            self._groups.clear()
            self._kept = 0
        return out

    def _enter(self, group: _Rows, time: Time, row: Payload) -> Batch:
        group.fresh.append(row)
        group.arrived += 1
        if group.arrived < self._slide:
            return []
        valid, fresh = group.valid, list(group.fresh)
        group.fresh.clear()
        group.arrived = 0
        out: Batch = []
        if self._limit is not None:
            while len(valid) + len(fresh) > self._limit:
                out.append((time, -1, valid.popleft()))
            valid.extend(fresh)
        out += [(time, 1, entering) for entering in fresh]
        return out

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
            for row in chain(group.valid, group.fresh):
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
    facts.SIGNED_COUNT_WINDOW: lambda node: SignedCountWindow(*count_window_facts(node)),
    facts.SIGNED_PARTITIONED_WINDOW: _partitioned_window,
}
