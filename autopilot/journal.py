"""The records of what decides, and those who listen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from midstream.plans.values.arguments import require_callable

R = TypeVar("R")

KEPT = 1_000
"""The number of records to keep, the last ones; listeners get all."""


class Journal(Generic[R]):
    """Keeps the last records, and passes each to listeners as it is made.

    What a listener raises goes to a function, as it is no fault of the look that made the record.

    >>> journal = Journal("autopilot", print)
    >>> journal.listen(print)
    >>> journal.tell("moved")
    moved
    >>> journal.records
    ['moved']
    """

    def __init__(self, where: str, fail: Callable[[Exception], object]) -> None:
        self._where, self._fail = where, fail
        self._records: deque[R] = deque(maxlen=KEPT)
        self._listeners: list[Callable[[R], object]] = []

    @property
    def records(self) -> list[R]:
        """The records, oldest first; the last ones if there are very many."""
        return list(self._records)

    def listen(self, listener: Callable[[R], object]) -> None:
        """Pass every further record to a function."""
        require_callable(f"{self._where}: listen", listener, "a function that takes a record")
        self._listeners.append(listener)

    def tell(self, record: R) -> None:
        """Keep a record, and pass it to the listeners."""
        self._records.append(record)
        for listener in tuple(self._listeners):
            try:
                listener(record)
            except Exception as error:
                self._fail(error)
