"""Rows that an engine refuses because they are late or break a declaration, with their file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from midstream.arrivals import Event
from midstream.commands.times import Times
from midstream.driving import Trial, drive
from midstream.io import BadRows
from midstream.io import Source as Input
from midstream.io.sources.rows import number_of
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.plans.values.errors import DeclarationError, StreamOrderError
from midstream.plans.values.streams import Batch, Time


class Refused:
    """Reports rows that an engine refuses, by file and line.

    inputs      the sources of rows, by stream
    bad_rows    receives the engine's dead letters
    slack       the number of chronons that rows may be late
    """

    def __init__(self, inputs: Mapping[str, Input], bad_rows: BadRows, slack: int, times: Times) -> None:
        self._inputs = inputs
        self._bad_rows = bad_rows
        self._slack = slack
        self._times = times
        self._batch: Batch = []
        self._pushed: str | None = None
        """The stream of the batch that an engine is taking."""

    def bury(self, letters: Sequence[DeadLetter]) -> None:
        """Report an engine's dead letters to `bad_rows`."""
        for letter in letters:
            source, number = self._inputs[letter.stream].name, number_of(letter.element, self._batch)
            if number is not None:
                source, number = self._inputs[letter.stream].place(number)
            reason = letter.message
            if letter.reason == "late" and isinstance(letter.element, tuple):
                reason = f"found {self._late(letter.element[0], letter.progress)}"
            self._bad_rows.bury(source, number, reason, repr(letter.element))

    def driven(self, trials: Iterable[Trial], events: Iterable[Event]) -> Iterator[Event]:
        """Drive some trials, each over the events that the one before has taken.

        Errors about late elements and broken declarations get file and line.
        """
        driven = self._noted(events)
        for trial in trials:
            driven = drive(trial, driven)
        try:
            yield from driven
        except (DeclarationError, StreamOrderError) as error:
            number = number_of(getattr(error, "element", None), self._batch)
            if self._pushed is None or number is None:  # an element of another stream
                raise
            source = self._inputs[self._pushed]
            name, number = source.place(number)
            facts = {**vars(error), "path": name, source.unit: number}
            place = f"{name}, {source.unit} {number}"
            if isinstance(error, DeclarationError):
                raise DeclarationError(f"{place}: {error}", **facts) from error
            start, progress = facts["element"][0], facts["progress"]
            slack = self._times.duration(int(progress) + self._slack - start)
            raise type(error)(
                f"{place}: found {self._late(start, progress)}; --slack {slack} would take it, "
                "--dead-letters FILE sets such rows aside",
                **facts,
            ) from error

    def _noted(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if event[0] == "push":
                _, self._pushed, self._batch = event
            yield event
            self._pushed = None

    def _late(self, start: Time, progress: Time) -> str:
        wanted = "rows in order of time"
        if self._slack:
            wanted = f"rows at most {self._times.duration(self._slack)} late"
        show = self._times.instant
        return f"a row of {show(start)} behind one of {show(progress + self._slack)}, expected {wanted}"
