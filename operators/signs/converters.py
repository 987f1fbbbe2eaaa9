"""Converters from intervals to signs and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain

from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running
from midstream.operators.base.segment import Segment, closed
from midstream.operators.signs.alignment import Alignment, NetChanges
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.values.errors import IntervalError
from midstream.plans.values.streams import BEGINNING, END, FOREVER, Batch, Element, Payload, Time


class IntervalsToSigns(Operator):
    """Give a positive where the validity of an element begins, and a negative where it ends.

        (s, e, p)  →  (s, 1, p), (e, -1, p)        no negative where e is FOREVER

    Output   Positives leave at once, negatives when the progress reaches their time.
    State    The negatives that wait.
    Cost     O(1) per element where ends are ordered, else O(log n).
    Source   thesis, 14.1 and 17.3

    >>> convert = IntervalsToSigns()
    >>> convert.push(0, [(1, 8, "c"), (5, 11, "a"), (9, 10, "a")])
    [(1, 1, 'c'), (5, 1, 'a'), (8, -1, 'c'), (9, 1, 'a')]
    >>> convert.end(0)
    [(10, -1, 'a'), (11, -1, 'a')]
    """

    def __init__(self) -> None:
        super().__init__()
        self._negatives: Expiry[Payload] = Expiry()
        self.last_end: Time = BEGINNING
        """The largest end of all elements that have begun."""

    def _process(self, port: int, batch: Batch) -> Batch:
        negatives = self._negatives
        ends = negatives.ends
        self.last_end = max([self.last_end, *map(END, batch)])
        out: Batch = []
        for start, end, payload in batch:
            if ends and ends[0] <= start:
                out += [(time, -1, gone) for time, gone in negatives.expired(start)]
            out.append((start, 1, payload))
            if end != FOREVER:
                negatives.add(end, payload)
        out += [(time, -1, gone) for time, gone in negatives.expired(self.reached[0])]
        return out

    def outstanding(self) -> Iterable[Payload]:
        """The payloads that have begun and will end."""
        return (payload for _, payload in self._negatives)

    def size(self) -> int:
        """The number of waiting negatives."""
        return len(self._negatives)

    def state(self) -> Iterable[Element]:
        """The waiting negatives, as elements that are valid from now until their ends."""
        return ((self.reached[0], end, payload) for end, payload in self._negatives)


class SignsToIntervals(Operator):
    """Join each positive with the negative that ends it.

        (s, 1, p), (e, -1, p)  →  (s, e, p)        the oldest s that is open when p ends at e

    Positives and negatives of a payload at one instant cancel out, in any order of arrival: its validity goes
    on. So an instant is processed when it is over.

    Output   Ordered by start. A result leaves when its end is known and no earlier one is open.
    State    The open results, those behind the first of them, and the elements of the instant that is not
             over.
    Cost     O(1) amortised per element.
    Raises   IntervalError where a payload ends that is not valid.
    Source   thesis, 17.3

    >>> convert = SignsToIntervals()
    >>> convert.push(0, [(1, 1, "c"), (5, 1, "a"), (8, -1, "c"), (8, 1, "a"), (9, -1, "a")])
    [(1, 8, 'c')]
    >>> convert.push(0, [(9, 1, "a"), (11, -1, "a"), (12, 1, "b")])
    [(5, 11, 'a')]
    >>> convert.end(0)
    [(8, inf, 'a'), (12, inf, 'b')]
    """

    def __init__(self) -> None:
        super().__init__()
        self._inputs = Alignment(1)
        self._open: dict[Payload, deque[Segment]] = {}
        self._segments: deque[Segment] = deque()

    def _process(self, port: int, batch: Batch) -> Batch:
        self._inputs.put(port, batch)
        progress = self.reached[0]
        for time, (changes,) in self._inputs.instants(progress):
            self._apply(time, changes)
        if progress == FOREVER:
            for segment in chain.from_iterable(self._open.values()):
                segment[1] = FOREVER
            self._open.clear()
        return closed(self._segments)

    def _apply(self, time: Time, changes: NetChanges) -> None:
        for payload, change in changes.items():
            if change > 0:
                begun: list[Segment] = [[time, None, payload] for _ in range(change)]
                self._open.setdefault(payload, deque()).extend(begun)
                self._segments.extend(begun)
            else:
                self._close(time, payload, -change)

    def _close(self, time: Time, payload: Payload, count: int) -> None:
        oldest = self._open.get(payload, ())
        if len(oldest) < count:
            raise IntervalError(
                f"{self.name}: {payload!r} ends {count} times at {time}, expected {len(oldest)} or fewer, as "
                "no more are valid",
                operator=self.name,
                payload=payload,
                time=time,
            )
        assert isinstance(oldest, deque)
        for _ in range(count):
            oldest.popleft()[1] = time
        if not oldest:
            del self._open[payload]

    def progress(self) -> Time:
        """The start of the first result that has not left; the input's progress if there is none."""
        first: Time = self._segments[0][0] if self._segments else self.reached[0]
        return first

    def size(self) -> int:
        """The number of open results, of waiting results, and of waiting elements."""
        return len(self._segments) + len(self._inputs)

    def state(self) -> Iterable[Element]:
        """The open results, the waiting results, and the waiting elements."""
        for start, end, payload in self._segments:
            yield start, FOREVER if end is None else end, payload
        yield from self._inputs


RUNNING: Running = {
    facts.INTERVALS_TO_SIGNS: lambda node: IntervalsToSigns(),
    facts.SIGNS_TO_INTERVALS: lambda node: SignsToIntervals(),
}
