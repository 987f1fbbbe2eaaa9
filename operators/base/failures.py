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
    >>> failures.take()
    ValueError('no such item')
    >>> failures.take() is None
    True
    """

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: Exception | None = None

    def add(self, error: Exception, queries: Iterable[Any] = ()) -> None:
        """Keep an error of an operator that runs for some queries."""
        if self._first is None:
            self._first = error
            names = ", ".join(query.name for query in queries)
            note = f"query {names} lacks results of this event; all others have processed it"
            if names and note not in getattr(error, "__notes__", ()):
                error.add_note(note)

    def __bool__(self) -> bool:
        return self._first is not None

    def take(self) -> Exception | None:
        """The first error, which is forgotten here."""
        first, self._first = self._first, None
        return first
