"""The entrance of a stream: every element is checked, and order restored where that is declared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any

from midstream.operators.compile.checks import Checks
from midstream.operators.engine.input.input_manager import DeadLetter, DeadLetters, InputManager, dead_letter
from midstream.operators.engine.input.key_checks import KeyChecks
from midstream.operators.engine.input.reference_checks import ReferenceCheck, ReferenceChecks, report
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import ROWS, require_callable, require_elements, require_mapping, shown
from midstream.plans.values.errors import (
    ArgumentError,
    DeclarationError,
    IntervalError,
    MidstreamError,
    PlanError,
    SchemaError,
)
from midstream.plans.values.finite import python_value
from midstream.plans.values.schema import Type, suggest
from midstream.plans.values.streams import BEGINNING, END, FOREVER, Batch, Chronons, Element, Time
from midstream.plans.values.unit_words import ImplausibleTime, advice, implausible, usual_until

ELEMENTS = "a list of elements (start, end, payload)"


class Entrance:
    """The checks of one stream, and its progress.

    Elements are tuples `(start, end, payload)` with integer timestamps, of the declared schema, and chronons
    unless the stream was declared to bring intervals. A wrong element raises, and nothing of the batch is
    taken; or it goes to the dead letters, if there are any, and the other elements are taken.

    Integers in columns of floats are taken as the nearest floats.

    Cost     O(columns) per element, in one generated loop, which checks the order as well; a second loop
             converts integers to floats.
    """

    __slots__ = (
        "_in_floats",
        "_is_told",
        "_keys",
        "_letters",
        "_look",
        "_max_end",
        "checks",
        "last",
        "manager",
        "source",
        "usual_until",
    )

    def __init__(
        self,
        source: Source,
        slack: Time | None = None,
        delay: int | None = None,
        letters: DeadLetters | None = None,
    ) -> None:
        self.source = source
        self.manager = InputManager(source.stream, slack, delay, letters)
        """Orders the stream, and knows its progress."""
        self._letters = letters
        self.checks = Checks(source.columns, intervals=source.intervals)
        self._look = self.checks.look()
        self._in_floats = self.checks.in_floats()
        self._keys = KeyChecks(f"stream {source.stream}", source.columns, source.keys)
        self._max_end: Time = BEGINNING
        self._is_told = False
        self.usual_until: Time = FOREVER if source.unit is None else BEGINNING
        """The start before which elements need no check of their time unit.

        The check warns if a time is unlikely in the declared unit. Elements before this instant have been
        checked, or need not be.
        """
        self.last: Element | None = None
        """The last element of a chronon stream that is in order: none ended later."""

    @property
    def is_plain(self) -> bool:
        """True if elements are in order as they come, and no keys are declared."""
        return self.manager.is_plain and not self._keys

    @property
    def progress(self) -> Time:
        """A lower bound of the starts of later elements that are let in."""
        return self.manager.progress

    @property
    def max_end(self) -> Time:
        """The largest end of an element that was let in."""
        return self._max_end if self.last is None else max(self._max_end, self.last[1])

    def push(self, elements: Iterable[Any]) -> tuple[Batch, Time]:
        """Take elements; returns those that are ready, in order, and the progress."""
        if elements.__class__ is not list:
            require_elements("push", elements, ELEMENTS)
        batch = list(elements)
        if batch and self.source.unit is not None:
            self._look_at_times(elements.unit if isinstance(elements, Chronons) else None, batch)
        try:
            is_sound, in_order, integers = self._look(batch, self.manager.progress)
        except Exception:  # an odd value may raise anything when it is checked
            is_sound = in_order = False
        if not is_sound:
            batch, integers = self._sift(batch), True
        if integers:
            batch = self._in_floats(batch)
        if not self._keys:
            ready = self.manager.push(batch, in_order)
        else:
            try:
                batch = self._unique(batch)
                ready = self.manager.push(batch)
            except BaseException:
                self._keys.give_back()
                raise
            self._keys.keep(ready[1])
        # In a chronon stream that is in order, later elements end no earlier than these.
        if batch and not self.source.intervals and ready[0] is batch:
            self.last = batch[-1]
        elif batch:
            self._max_end = max(self._max_end, *map(END, batch))
        return ready

    def count_in(self, source: Source) -> None:
        """Replace the source by an equal one whose time unit is known, or declared and not assumed."""
        self.source = source
        self.usual_until = BEGINNING

    def _look_at_times(self, said: str | None, batch: Batch) -> None:
        """Refuse times in another unit, or in an undeclared one; warn once of times that are far from now."""
        stream, unit = self.source.stream, self.source.unit
        assert unit is not None
        if said is not None and said != unit:
            raise IntervalError(
                f"stream {stream}: found time in {said}, expected {unit}, as in the query",
                stream=stream,
            )
        is_assumed = self.source.is_assumed
        try:
            times = [int(start) for start, _, _ in (batch if is_assumed else (batch[0], batch[-1]))]
        except (TypeError, ValueError):
            return  # the next check refuses what is no element
        if is_assumed and said is None:
            found, expected = advice(times)
            raise IntervalError(f"stream {stream}: found {found}, expected {expected}", stream=stream)
        if not self._is_told and (odd := implausible(times, unit)):
            self._is_told = True
            warnings.warn(f"stream {stream}: {odd}", ImplausibleTime, stacklevel=2)
        if not is_assumed:
            self.usual_until = FOREVER if self._is_told else usual_until(unit)

    def _unique(self, batch: Batch) -> Batch:
        """The elements that break no key.

        An element that is late takes no key: the manager refuses it.
        """
        letters, keys, manager = self._letters, self._keys, self.manager
        kept: Batch = []
        refused: list[DeadLetter] = []
        progress = manager.progress
        for element in batch:
            if element[0] >= progress:
                try:
                    keys.take(element)
                except DeclarationError as error:
                    if letters is None:
                        raise
                    refused.append(dead_letter(self.source.stream, element, error, progress))
                    continue
                progress = manager.progress_behind(element, progress)
            kept.append(element)
        if letters is not None:
            letters.take(refused)
        return kept

    def _sift(self, batch: list[Any]) -> Batch:
        """The elements that can be taken, where the quick check was not sure of all.

        Numbers of NumPy become Python's, but in columns of any type, which may hold any value.
        """
        own = [self._of_python(element) for element in batch]
        try:
            self._check(own)
            return own
        except MidstreamError:
            if self._letters is None:
                raise
        sound, refused = [], []
        for element, one in zip(batch, own, strict=True):
            try:
                self._check([one])
                sound.append(one)
            except MidstreamError as error:
                refused.append(dead_letter(self.source.stream, element, error, self.manager.progress))
        self._letters.take(refused)
        return sound

    def _of_python(self, element: Any) -> Any:
        """An element with Python's values in place of NumPy's; what is no element itself."""
        if type(element) is not tuple or len(element) != 3:
            return element
        start, end, row = element
        if type(row) is tuple and len(row) == len(self.source.columns):
            row = tuple(
                value if column.type is Type.ANY else python_value(value)
                for value, column in zip(row, self.source.columns, strict=True)
            )
        return python_value(start), python_value(end), row

    def _check(self, batch: list[Any]) -> None:
        stream = self.source.stream
        try:
            if set(map(type, batch)) != {tuple}:
                raise TypeError
            starts, ends, payloads = map(list, zip(*batch, strict=True))
        except (TypeError, ValueError):
            raise IntervalError(
                f"stream {stream}: found {shown(_odd(batch))}, "
                f"expected elements (start, end, payload), each a tuple{_of_rows(batch)}",
                stream=stream,
            ) from None
        if set(map(type, starts)) != {int} or not set(map(type, ends)) <= {int, float}:
            odd = next(e for e in batch if type(e[0]) is not int or type(e[1]) not in (int, float))
            raise IntervalError(
                f"stream {stream}: {odd!r} has timestamps that are no integers; expected"
                f" integers{_hint(odd)}",
                stream=stream,
                element=odd,
            )
        if self.source.intervals:
            odd_ones = (e for e in batch if not e[0] < e[1] or (type(e[1]) is float and e[1] != FOREVER))
            expected = "an end after the start, an integer or FOREVER"
        else:
            odd_ones = (e for e in batch if e[1] != e[0] + 1 or type(e[1]) is not int)
            expected = "a chronon: an end one after the start"
        if (bad := next(odd_ones, None)) is not None:
            raise IntervalError(
                f"stream {stream}: found {bad!r}, expected {expected}", stream=stream, element=bad
            )
        try:
            self.source.columns.check(payloads)
        except SchemaError as error:
            raise SchemaError(f"stream {stream}: {error}", stream=stream) from error


class Entrances(dict[str, Entrance]):
    """The entrances of all streams, by name.

    They stay when queries go, so that a stream cannot go back in time for the next query.
    """

    def __init__(
        self,
        slack: Mapping[str, Time] | None = None,
        delay: Mapping[str, int] | None = None,
        dead_letters: Callable[[list[DeadLetter]], object] | None = None,
    ) -> None:
        if dead_letters is not None:
            require_callable("dead_letters", dead_letters, "a function that takes a list of dead letters")
        for name, declared in (("slack", slack), ("delay", delay)):
            require_mapping(name, declared or {}, "chronons by the name of the stream: {'bids': 5}")
        self.letters = None if dead_letters is None else DeadLetters(dead_letters)
        self._slack = dict(slack or {})
        self._delay = dict(delay or {})
        self.references = ReferenceChecks(self.letters)
        """The checks of declared references between streams."""

    def enter(self, sources: Iterable[Source], query: str) -> None:
        """Make an entrance for each stream.

        Raises   PlanError where a stream is known with another declaration.
        """
        for source in sources:
            known = self.get(source.stream)
            if known is None:
                slack, delay = self._slack.get(source.stream), self._delay.get(source.stream)
                self[source.stream] = Entrance(source, slack, delay, self.letters)
            elif unlike := known.source.unlike_unit(source):
                raise PlanError(
                    f"query {query}: {unlike}: those that run, and this one", stream=source.stream
                )
            elif known.source != source:
                raise PlanError(
                    f"query {query}: found stream {_declared(source)}, expected it as it is known: "
                    f"{_declared(known.source)}",
                    stream=source.stream,
                )
            elif source.unit is not None and (known.source.unit is None or known.source.is_assumed):
                known.count_in(source)

    def require_known(self, streams: Sequence[str]) -> None:
        """Raise ArgumentError if slack or delay is declared for a stream that is not one of these."""
        for what, declared in (("slack", self._slack), ("delay", self._delay)):
            for name in declared:
                if name not in streams:
                    raise ArgumentError(
                        f"{what}: found stream {name!r}, expected one that the plan reads, of "
                        f"{', '.join(streams)}{suggest(str(name), streams)}"
                    )

    def refer(self, plan: Plan, relations: Mapping[str, Sequence[Element]]) -> None:
        """Check the references between the leaves of a plan, from now on.

        Raises   DeclarationError where rows of relations refer to none.
        """
        leaves: dict[str, Source | Relation] = {source.stream: source for source in plan.sources}
        leaves |= {relation.relation: relation for relation in plan.relations}
        for leaf in leaves.values():
            for reference in leaf.references:
                other = leaves.get(reference.to)
                if other is None or not reference.is_enforced:
                    continue
                since = self[other.label].progress if isinstance(other, Source) else BEGINNING
                check = ReferenceCheck(reference, leaf, other, since)
                if isinstance(other, Relation):
                    check.serve(relations[other.label], FOREVER)
                if isinstance(leaf, Source):
                    self.references.enter(check)
                elif isinstance(other, Relation):
                    check.refer(relations[leaf.label], FOREVER)
                    report([(check, element) for element in check.unmatched()], None)

    def dead_letters(self) -> dict[str, int]:
        """The number of refused elements, by reason."""
        return {} if self.letters is None else dict(sorted(self.letters.counters().items()))

    def size(self, streams: Iterable[str]) -> int:
        """The number of elements that wait where some streams enter."""
        return sum(self[stream].manager.size() for stream in streams)

    def state(self, streams: Iterable[str]) -> Iterator[Element]:
        """The elements that wait there."""
        return chain.from_iterable(self[stream].manager.state() for stream in streams)

    def max_end(self, source: Source) -> Time:
        """The largest end of an element of a stream so far."""
        return self[source.stream].max_end


def _odd(batch: list[Any]) -> Any:
    """The first item of a batch that is no triple."""
    return next(item for item in batch if type(item) is not tuple or len(item) != 3)


def _of_rows(batch: list[Any]) -> str:
    """The advice on a row, or on an element that is in no list, as part of a message; often nothing."""
    odd = _odd(batch)
    if isinstance(odd, dict) or (isinstance(odd, tuple) and len(odd) != 3):
        return f"; {ROWS}"
    return "; a single element goes into a list: [element]" if isinstance(odd, int | float) else ""


def _hint(element: tuple[Any, ...]) -> str:
    is_date = isinstance(element[0], date)
    return (
        "; instants are counted in chronons: ms.chronons(rows, 'seconds') takes datetimes" if is_date else ""
    )


def _declared(source: Source) -> str:
    said = [f"{source.stream} {source.columns}{' with intervals' if source.intervals else ''}"]
    return ", ".join([*said, *map(str, source.keys), *map(str, source.references)])
