"""Count-based and partitioned windows over chronon streams."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import lt

from midstream.operators.base.facts import count_window_facts
from midstream.operators.base.operator import Operator
from midstream.operators.base.row_groups import RowGroup
from midstream.operators.base.running import Running, operator_of
from midstream.operators.base.segment import Segment, closed
from midstream.operators.base.setting import Setting, WithSetting
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.algebra.operators import Ties
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col, compile_rows
from midstream.plans.values.errors import TieError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time


class _Queue:
    """The rows since the last advance of a window, as far as the next one can take them in."""

    __slots__ = ("_count", "_room_from", "_slide", "rows")

    def __init__(self, rows: int | None, slide: int) -> None:
        self.rows: list[Payload] = []
        self._count = 0
        self._slide = slide
        self._room_from = 1 if rows is None else slide - rows + 1
        """The number, since the last advance, of the first row for which the window will have room."""

    def advance(self, payload: Payload) -> Sequence[Payload]:
        """Take one more row; returns the rows that enter the window if it advances with this row."""
        self._count += 1
        if self._count < self._slide:
            if self._count >= self._room_from:
                self.rows.append(payload)
            return ()
        entering = (*self.rows, payload)
        self.rows.clear()
        self._count = 0
        return entering


class _RowWindow(Operator):
    """A window of rows, in which ties may be errors."""

    def __init__(self, ties: Ties) -> None:
        super().__init__()
        self._ties = ties
        self._latest: Time = BEGINNING

    def process(self, port: int, batch: Batch, progress: Time) -> Batch:
        """Process as every operator, but refuse ties."""
        if self._ties == "error" and batch:
            self._refuse_ties(batch)
        return super().process(port, batch, progress)

    @abstractmethod
    def _refuse_ties(self, batch: Batch) -> None:
        """Raise TieError where two rows have the same start and must not."""


class CountWindow(_RowWindow):
    """Keep the last `rows` rows of a chronon stream valid, all if None.

        window(N, A, S)@t  =  the last N of the first n rows of S,      n the last multiple of A up to S's
                                                                        rows until t
    A row is valid from the start of the row by which it enters to the start of that by which it leaves. Rows
    that are in the window at the end of the stream stay valid for ever.

    Input    A chronon stream, with one element per instant, or, if `ties` is "arrival", in a meaningful order
             of arrival.
    Output   Ordered by start. A row leaves when its end is known, which for an unbounded window is at once.
    State    The rows in the window, and those that wait for its next advance.
    Cost     O(1) amortised per element.
    Raises   TieError where two elements have the same start, unless `ties` is "arrival"; then nothing of the
             batch is taken.
    Source   thesis, Algorithms 13 and 19, with erratum 2: rows enter with the start of the one by which the
             window advances

    >>> window = CountWindow(2, slide=2)
    >>> window.push(0, [(1, 2, "b"), (3, 4, "a"), (4, 5, "c"), (7, 8, "a"), (10, 11, "b")])
    [(3, 7, 'b'), (3, 7, 'a')]
    >>> window.progress()
    7
    >>> window.end(0)
    [(7, inf, 'c'), (7, inf, 'a')]
    """

    def __init__(self, rows: int | None, slide: int = 1, ties: Ties = "error") -> None:
        super().__init__(ties)
        self._rows = rows
        self._queue = _Queue(rows, slide) if slide > 1 else None
        self._window: deque[Element] = deque()

    def _refuse_ties(self, batch: Batch) -> None:
        starts = [self._latest, *(element[0] for element in batch)]
        if not all(map(lt, starts, starts[1:])):
            at = next(at for before, at in pairwise(starts) if before == at)
            raise TieError(
                f'{self.name}: found two rows at {at}, expected one; declare ties="arrival" where the order '
                "of arrival is to decide which are the last",
                operator=self.name,
                at=at,
            )
        self._latest = starts[-1]

    def _process(self, port: int, batch: Batch) -> Batch:
        entering = batch if self._queue is None else self._advance(self._queue, batch)
        if self._rows is None:
            out: Batch = [(start, FOREVER, payload) for start, _, payload in entering]
        else:
            out = self._replace(self._rows, entering)
        if self.reached[0] == FOREVER:
            out += [(start, FOREVER, payload) for start, _, payload in self._window]
            self._window.clear()
            if self._queue:
                self._queue.rows.clear()
        return out

    def _advance(self, queue: _Queue, batch: Batch) -> Batch:
        return [(start, end, row) for start, end, payload in batch for row in queue.advance(payload)]

    def _replace(self, rows: int, entering: Batch) -> Batch:
        """Let each row replace the first one in a full window."""
        window = self._window
        out: Batch = []
        for element in entering:
            if len(window) == rows:
                start, _, payload = window.popleft()
                if start < element[0]:
                    out.append((start, element[0], payload))
            window.append(element)
        return out

    def progress(self) -> Time:
        """The start of the first row in the window; the progress of the input if it is empty."""
        return self._window[0][0] if self._window else self.reached[0]

    def size(self) -> int:
        """The number of rows in the window, and of waiting rows."""
        return len(self._window) + (len(self._queue.rows) if self._queue else 0)

    def state(self) -> Iterable[Element]:
        """The rows in the window, and the waiting rows; their ends are unknown, so FOREVER at most."""
        yield from ((start, FOREVER, payload) for start, _, payload in self._window)
        if self._queue:
            yield from ((self.reached[0], FOREVER, payload) for payload in self._queue.rows)


class PartitionedWindow(WithSetting, _RowWindow):
    """Keep the last `rows` rows of each group valid, all if None.

        window(keys, N, A, S)  =  union of window(N, A, G) for the groups G of S's rows that agree on keys

    If the number changes, a row that came when it was n leaves when n later rows of its group have come.
    Without keys, all rows are one group.

    Rows are listed as they enter, which is in order of their starts, and leave from the front of the list
    when their end is known. So a group without new rows holds back the others. If a row has been held for
    more than `delay` chronons when another one arrives, of any group, it is cut there, and its first part
    leaves. Heartbeats cut nothing: their number depends on how operators below batch their work, and results
    must not.

    Input    A chronon stream. In each group one element per instant, or, if `ties` is "arrival", a meaningful
             order of arrival.
    Output   Ordered by start.
    State    The rows in the windows, those with known ends that wait behind them, and those that wait for the
             next advance of their group's window.
    Cost     O(1) amortised per element and per result, however many groups there are.
    Raises   TieError where two elements of a group have the same start, unless `ties` is "arrival"; then
             nothing of the batch is taken.
    Source   thesis, Algorithm 14, without its priority queues, as the windows of all groups are one list; the
             delay is its Δ (lines 28 to 32), which it grants to one row at a time; 17.1.3

    >>> window = PartitionedWindow(["item"], 1, delay=5, schema=Schema.of(item="string"))
    >>> window.push(0, [(1, 2, ("b",)), (3, 4, ("a",)), (7, 8, ("a",))])
    [(1, 7, ('b',)), (3, 7, ('a',))]
    >>> window.end(0)
    [(7, inf, ('b',)), (7, inf, ('a',))]
    """

    def __init__(
        self,
        keys: Sequence[str],
        rows: int | None,
        slide: int = 1,
        ties: Ties = "error",
        delay: int | None = None,
        *,
        schema: Schema,
    ) -> None:
        super().__init__(ties)
        self.setting: Setting[Time] = Setting(FOREVER if rows is None else rows)
        self._slide = slide
        self._key: Callable[[Payload], Payload] = compile_rows([Col(key) for key in keys], schema)
        self._delay = delay
        self._groups: dict[Payload, RowGroup[Segment]] = {}
        self._waiting = 0
        """The number of rows that wait for an advance."""
        self._segments: deque[Segment] = deque()
        self._met: set[Payload] = set()
        """The groups with a row at the latest instant, where ties are errors."""

    def _refuse_ties(self, batch: Batch) -> None:
        starts = [self._latest, *(element[0] for element in batch)]
        at: Time = self._latest
        met: set[Payload] = set()
        if all(map(lt, starts, starts[1:])):
            at, met = starts[-1], {self._key(batch[-1][2])}
        else:
            for start, _, payload in batch:
                if start > at:
                    at, met = start, set()
                key = self._key(payload)
                if key in met or (at == self._latest and key in self._met):
                    group = f" of group {key!r}" if key else ""
                    raise TieError(
                        f"{self.name}: found two rows{group} at {at}, expected one; declare "
                        'ties="arrival" where the order of arrival is to decide which are the last',
                        operator=self.name,
                        at=at,
                        group=key,
                    )
                met.add(key)
        if at > self._latest:
            self._latest, self._met = at, met
        else:
            self._met |= met

    def _process(self, port: int, batch: Batch) -> Batch:
        out: Batch = []
        for rows, part in self.setting.parts(batch, self.reached[0]):
            take = self._enter if self._slide == 1 and rows != FOREVER else self._take
            for start, _, payload in part:
                if self._delay is not None:
                    self._cut(start, start - self._delay, out)
                take(start, payload, rows)
        if self.reached[0] == FOREVER:
            self._end()
        return out + closed(self._segments)

    def _enter(self, start: Time, payload: Payload, rows: Time) -> None:
        """Let a row enter its group's window at once, and others leave."""
        key = self._key(payload)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = RowGroup()
        segment: Segment = [start, None, payload]
        self._segments.append(segment)
        for gone in group.enter(segment, rows):
            gone[1] = start

    def _take(self, start: Time, payload: Payload, rows: Time) -> None:
        """Let a row enter its group's window, at once or with the next advance, and others leave."""
        key = self._key(payload)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = RowGroup()
        self._waiting -= len(group.waiting)
        entering = group.take(payload, rows, self._slide)
        self._waiting += len(group.waiting)
        for segment in group.leaving():
            segment[1] = start
        for leaves, row in entering:
            segment = [start, FOREVER if leaves == FOREVER else None, row]
            self._segments.append(segment)
            group.keep(leaves, segment)
        if rows == FOREVER and group.is_over(self._slide):
            del self._groups[key]

    def _cut(self, now: Time, until: Time, out: Batch) -> None:
        """Give out rows that started before a time; those without an end go on from now."""
        segments = self._segments
        while segments and segments[0][0] < until:
            segment = segments.popleft()
            start, end, payload = segment
            if end is None:
                out.append((start, now, payload))
                segment[0] = now
                segments.append(segment)
            elif start < end:
                out.append((start, end, payload))

    def _end(self) -> None:
        for group in self._groups.values():
            for segment in group.inside():
                segment[1] = FOREVER
        self._groups.clear()
        self._waiting = 0
        self._met.clear()

    def progress(self) -> Time:
        """The start of the first row that has not left; the progress of the input if there is none."""
        return self._segments[0][0] if self._segments else self.reached[0]

    def size(self) -> int:
        """The number of rows in the windows and behind them, and of those that wait for an advance."""
        return len(self._segments) + self._waiting

    def state(self) -> Iterable[Element]:
        """The rows in the windows and behind them, and those that wait; unknown ends are FOREVER."""
        for start, end, payload in self._segments:
            yield start, FOREVER if end is None else end, payload
        for group in self._groups.values():
            yield from ((self.reached[0], FOREVER, payload) for _, payload in group.waiting)


def _count_window(node: Node) -> Operator:
    rows, slide, ties, bounds = count_window_facts(node)
    if bounds is None:
        return CountWindow(rows, slide, ties)
    return PartitionedWindow((), rows, slide, ties, schema=node.inputs[0].schema)


def _partitioned_window(node: Node) -> Operator:
    operator = operator_of(node, logical.PartitionedWindow)
    return PartitionedWindow(
        operator.keys,
        operator.rows,
        operator.slide,
        operator.ties,
        operator.delay,
        schema=node.inputs[0].schema,
    )


RUNNING: Running = {
    facts.COUNT_WINDOW: _count_window,
    facts.PARTITIONED_WINDOW: _partitioned_window,
}
