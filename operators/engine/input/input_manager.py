"""The input of a source as an ordered stream with progress, and the elements that cannot be taken.

Sources promise different things. Declare the promise when the manager is made:

`slack=None`     The source is in order. Nothing waits.
`slack=d`        No element starts more than `d` chronons before one that came earlier. An element waits until
an element has come that starts `d` later, or a heartbeat that covers it.
`slack=FOREVER`  Any order, but the source sends heartbeats. Elements wait for those, or for the end.

A larger slack tolerates more disorder and costs latency and memory. An element that is late all the same is
an error; or it goes to a dead-letter sink, if there is one, with the reason, and is counted. It is late
although its validity may reach far beyond the progress: if only the part behind the progress were taken, the
results would match no order of arrival.

A silent source holds back all elements that wait for it. If an element arrives at most `delay` chronons after
its start, declare that, and report the present time by `tick(now)` as often as you like. The manager has no
clock of its own: it depends on its input alone, and so can be repeated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import itemgetter
from typing import Literal

from midstream.plans.values.errors import (
    DeclarationError,
    EndedError,
    IntervalError,
    LateElementError,
    MidstreamError,
    SchemaError,
    StreamOrderError,
)
from midstream.plans.values.finite import python_value
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Element, Time

Reason = Literal["late", "ended", "interval", "schema", "declaration"]

_REASONS: dict[type[MidstreamError], Reason] = {
    LateElementError: "late",
    StreamOrderError: "late",
    EndedError: "ended",
    IntervalError: "interval",
    SchemaError: "schema",
    DeclarationError: "declaration",
}

_ELEMENT = itemgetter(2)

_WORTH_SORTING = 8
"""The factor by which a batch may be shorter than the waiting elements, to be sorted together with them.

Most of these are in order already, so sorting costs a tenth of a heap per element, but for all waiting
elements.
"""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An element that was not taken, with the reason."""

    stream: str
    element: object
    """The element as it was delivered; with the reasons `interval` and `schema` it may be any object."""
    reason: Reason
    progress: Time
    """The progress of its stream when it was refused."""
    message: str
    """The message of the error that would have been raised."""


def dead_letter(stream: str, element: object, error: MidstreamError, progress: Time) -> DeadLetter:
    """The letter for an element that was refused with an error.

    >>> dead_letter("bids", (4, 4, ("a",)), IntervalError("stream bids: an empty interval"), 2).reason
    'interval'
    """
    return DeadLetter(stream, element, _REASONS[type(error)], progress, str(error))


class DeadLetters:
    """Passes refused elements to a sink, and counts them by reason; serves all streams of an engine.

    Input    The sink is a function of a non-empty list of letters. If it raises, none of the list is counted.

    >>> refused = []
    >>> letters = DeadLetters(refused.extend)
    >>> letters.take([dead_letter("bids", "?", IntervalError("expected (start, end, payload)"), 2)])
    >>> letters.counters(), refused[0].element
    ({'interval': 1}, '?')
    """

    def __init__(self, sink: Callable[[list[DeadLetter]], object]) -> None:
        self._sink = sink
        self._counts: Counter[Reason] = Counter()

    def take(self, letters: list[DeadLetter]) -> None:
        """Pass letters to the sink, unless the list is empty."""
        if letters:
            counts = Counter(letter.reason for letter in letters)
            self._sink(letters)
            self._counts.update(counts)

    def counters(self) -> dict[Reason, int]:
        """The number of letters by reason."""
        return dict(self._counts)


class _Waiting:
    """Elements in order of their starts, ties in order of arrival.

    Elements that arrive in order go to a queue, others to a heap. The starts in the heap lie before the
    queue's last, so among elements with equal starts those in the queue have arrived first. This is like
    Expiry; but elements contain their starts, and are put in order at the end, so no element moves up from
    the heap: with an Expiry, single elements would take half as long again.

    Cost     O(1) to add in order, else O(log n), or O(1) C steps where a batch is long enough to sort all.
    """

    __slots__ = ("_arrivals", "_heap", "_queue")

    def __init__(self) -> None:
        self._queue: deque[Element] = deque()
        self._heap: list[tuple[Time, int, Element]] = []
        self._arrivals = 0

    def release(self, fresh: Batch, bound: Time) -> Batch:
        """Take elements; return all that start at or before the bound, in order."""
        if _WORTH_SORTING * (len(fresh) - 1) > len(self):
            return self._sort(fresh, bound)
        queue, heap = self._queue, self._heap
        ready: Batch = []
        while queue and queue[0][0] <= bound:
            ready.append(queue.popleft())
        while heap and heap[0][0] <= bound:
            ready.append(heappop(heap)[2])
        for element in fresh:
            start = element[0]
            if start <= bound:
                ready.append(element)
            elif not queue or start >= queue[-1][0]:
                queue.append(element)
            else:
                self._arrivals += 1
                heappush(heap, (start, self._arrivals, element))
        if len(ready) > 1:
            ready.sort(key=START)
        return ready

    def _sort(self, fresh: Batch, bound: Time) -> Batch:
        merged = [*self._queue, *map(_ELEMENT, sorted(self._heap)), *fresh]
        merged.sort(key=START)
        split = bisect_right(merged, bound, key=START)
        self._queue = deque(merged[split:])
        self._heap.clear()
        del merged[split:]
        return merged

    def __len__(self) -> int:
        return len(self._queue) + len(self._heap)

    def __iter__(self) -> Iterator[Element]:
        yield from self._queue
        yield from map(_ELEMENT, self._heap)


class InputManager:
    """Orders the elements of a source, and tells the progress of the stream.

        output(S)  =  the elements of S that are not late, by start, ties in order of arrival
        progress   =  max(largest start - slack, largest heartbeat, largest now - delay)

    An element is late if it starts before the progress at its arrival. Neither the output nor lateness
    depends on batch boundaries. A heartbeat at t excludes starts before t, not at t.

    Input    Elements `(start, end, payload)` whose start is an integer; slack and delay in chronons.
    Output   Each event returns the elements that became ready, and the progress. No later element starts
             before it, and it may lie beyond the last of them: pass it on as a heartbeat. Where nothing can
             wait, an ordered batch is returned itself, not a copy.
    State    The elements that start after the progress; behind a slack those of the last `slack` chronons.
    Cost     Without slack a check in C loops; with it O(log n) per element that waits, less in long batches.
    Raises   LateElementError; plain StreamOrderError where neither slack nor delay is declared; EndedError.
             Then nothing of the batch was taken. The same if the dead-letter sink raises.
    Source   thesis, sections 13.5.2 to 13.5.4. There a heartbeat at t excludes t too, and slack is rejected
             because it drops elements; here none is dropped unseen.

    >>> bids = InputManager("bids", slack=3)
    >>> bids.push([(10, 11, "a"), (12, 13, "b"), (11, 12, "c")])
    ([], 9)
    >>> bids.push([(14, 15, "d")])
    ([(10, 11, 'a'), (11, 12, 'c')], 11)
    >>> try: bids.push([(10, 90, "e")])
    ... except LateElementError as error: print(error)
    stream bids: element (10, 90, 'e') starts at 10 after progress 11; declared: slack 3
    >>> bids.advance(14)
    ([(12, 13, 'b'), (14, 15, 'd')], 14)

    Heartbeats alone restore order, and a dead-letter sink takes elements that come too late for them:

    >>> refused = []
    >>> letters = DeadLetters(refused.extend)
    >>> asks = InputManager("asks", slack=FOREVER, letters=letters)
    >>> asks.push([(7, 8, "a"), (2, 3, "b")])
    ([], -inf)
    >>> asks.advance(5)
    ([(2, 3, 'b')], 5)
    >>> asks.push([(4, 5, "c"), (6, 7, "d")])
    ([], 5)
    >>> asks.end()
    ([(6, 7, 'd'), (7, 8, 'a')], inf)
    >>> [(letter.element, letter.reason, letter.progress) for letter in refused], letters.counters()
    ([((4, 5, 'c'), 'late', 5)], {'late': 1})

    A silent source, whose elements arrive within 4 chronons of their start:

    >>> trades = InputManager("trades", delay=4)
    >>> trades.push([(20, 21, "a")])
    ([(20, 21, 'a')], 20)
    >>> trades.tick(now=30)
    ([], 26)
    """

    def __init__(
        self,
        stream: str,
        slack: Time | None = None,
        delay: int | None = None,
        letters: DeadLetters | None = None,
    ) -> None:
        self.stream = stream
        self.progress: Time = BEGINNING
        """A lower bound of the starts of later elements of the output."""
        if slack is not None and slack != FOREVER:
            self._check("slack", slack, at_least=0)
        if delay is not None:
            self._check("delay", delay, at_least=0)
        self._declared = {
            name: bound for name, bound in (("slack", slack), ("delay", delay)) if bound is not None
        }
        self._slack: Time = 0 if slack is None else slack
        self.delay = delay
        self._letters = letters
        self._waiting = _Waiting()

    @property
    def is_plain(self) -> bool:
        """True if neither slack nor delay is declared: then nothing ever waits."""
        return not self._declared

    def push(self, batch: Batch, in_order: bool = False) -> tuple[Batch, Time]:
        """Take elements in order of arrival; `in_order` if they are known to be in order of starts.

        Then all of them start at or behind the progress.
        """
        if not batch:
            return [], self.progress
        if self._slack == 0 and (in_order or self._is_in_order(batch)):
            # Nothing waits, so the batch is ready as it is.
            self.progress = batch[-1][0]
            return batch, self.progress
        late, progress = self._survey(batch)
        if late:
            batch = self._without(late, batch)
        ready = self._waiting.release(batch, progress)
        self.progress = progress
        return ready, progress

    def advance(self, time: int) -> tuple[Batch, Time]:
        """A heartbeat: no later element starts before `time`; one without new information is ignored."""
        return self._reach(self._check("heartbeat", time))

    def tick(self, now: int) -> tuple[Batch, Time]:
        """Set the time to `now`: all elements that start before `now - delay` have arrived.

        It does the same as a heartbeat there, so a time that goes back is ignored.
        """
        now = self._check("time", now)
        if self.delay is None:
            raise IntervalError(
                f"stream {self.stream}: found time {now}, expected none where no delay is declared",
                stream=self.stream,
            )
        return self._reach(now - self.delay)

    def end(self) -> tuple[Batch, Time]:
        """End the stream, possibly again; all waiting elements are ready."""
        return self._reach(FOREVER)

    def size(self) -> int:
        """The number of waiting elements.

        Cost     O(1)
        """
        return len(self._waiting)

    def state(self) -> Iterable[Element]:
        """The waiting elements, in no particular order."""
        return iter(self._waiting)

    def progress_behind(self, element: Element, progress: Time) -> Time:
        """The progress behind an element that came at some progress, and was not late."""
        # No subtraction: an integer may be too large for arithmetic with FOREVER.
        return progress if self._slack == FOREVER else max(progress, element[0] - self._slack)

    def _reach(self, time: Time) -> tuple[Batch, Time]:
        if time <= self.progress:
            return [], self.progress
        self.progress = time
        return self._waiting.release([], time), time

    def _is_in_order(self, batch: Batch) -> bool:
        if len(batch) == 1:  # which pays for no list
            return batch[0][0] >= self.progress
        starts = list(map(START, batch))
        return starts[0] >= self.progress and sorted(starts) == starts

    def _survey(self, batch: Batch) -> tuple[dict[int, Time], Time]:
        """The late elements, each with the progress that it came after, and the progress behind the batch."""
        slack, progress = self._slack, self.progress
        # No subtraction: an integer may be too large for arithmetic with FOREVER.
        if slack == FOREVER:
            return {i: progress for i, element in enumerate(batch) if element[0] < progress}, progress
        late: dict[int, Time] = {}
        for i, element in enumerate(batch):
            start = element[0]
            if start < progress:
                late[i] = progress
            elif start - slack > progress:
                progress = start - slack
        return late, progress

    def _without(self, late: dict[int, Time], batch: Batch) -> Batch:
        """The batch without late elements, which go to the dead-letter sink."""
        errors = ((batch[i], self._refusal(batch[i], progress), progress) for i, progress in late.items())
        if self._letters is None:
            raise next(errors)[1]
        self._letters.take([dead_letter(self.stream, *letter) for letter in errors])
        return [element for i, element in enumerate(batch) if i not in late]

    def _refusal(self, element: Element, progress: Time) -> MidstreamError:
        stream = self.stream
        if progress == FOREVER:
            return EndedError(f"stream {stream}: an element arrived after the end", stream=stream)
        message = f"stream {stream}: element {element!r} starts at {element[0]} after progress {progress}"
        facts = {"stream": stream, "element": element, "progress": progress}
        if not self._declared:
            return StreamOrderError(message, **facts)
        declared = ", ".join(f"{name} {bound}" for name, bound in self._declared.items())
        return LateElementError(f"{message}; declared: {declared}", **facts, **self._declared)

    def _check(self, what: str, value: object, at_least: Time = BEGINNING) -> int:
        """The value, or that of NumPy's integer; raises IntervalError unless it is large enough."""
        if type(value) is not int:
            value = python_value(value)
        if type(value) is not int or value < at_least:
            expected = "an integer" if at_least == BEGINNING else "an integer from 0"
            raise IntervalError(
                f"stream {self.stream}: found {what} {value!r}, expected {expected}", stream=self.stream
            )
        return value
