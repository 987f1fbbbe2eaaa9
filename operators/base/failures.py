"""The errors of an event, which are raised once everything that they do not concern has run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Failures:
    """The errors of operators and sinks in an event.

    Where a user's function raises, its operator gives nothing for the batch, and operators of other queries
    run on. The first error is raised behind the event; a note tells which queries lack results.

    >>> failures = Failures()
    >>> failures.add(ValueError("no such item"), ())
    >>> failures.take(1)
    ValueError('no such item')
    >>> failures.take(1) is None
    True
    """

    __slots__ = ("_names", "first")

    def __init__(self) -> None:
        self.first: Exception | None = None
        """The first error of the event under way."""
        self._names: list[str] = []

    def add(self, error: Exception, queries: Iterable[Any] = ()) -> None:
        """Keep an error of an operator that runs for some queries."""
        if self.first is None:
            self.first, self._names = error, [query.name for query in queries]

    def take(self, queries: int) -> Exception | None:
        """The first error, of an engine with so many queries; it is forgotten here."""
        first, self.first = self.first, None
        if first is not None and 0 < len(self._names) < queries:
            note = f"query {', '.join(self._names)} lacks results of this event; all others have processed it"
            if note not in getattr(first, "__notes__", ()):
                first.add_note(note)
        return first
