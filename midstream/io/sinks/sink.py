"""The contract of all sinks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from midstream.plans.values.streams import Batch
from midstream.plans.values.units import TimeUnit

Times = Callable[[], TimeUnit | None]
"""Gives the unit of times to be written in ISO 8601, or None if times are written as integers.

It is called at the first result. The unit may be unknown before there was any input.
"""


def integers() -> None:
    """Times are written as integers."""


class Sink(ABC):
    """Takes results, in order of start, and writes them.

    If a row cannot be written, ConnectorError ends the run, and no row of its batch is written. After an
    error the output ends with a complete row.
    """

    @property
    def is_wanted(self) -> bool:
        """False if nobody reads the results any more; then the rest can be left out."""
        return True

    @abstractmethod
    def write(self, batch: Batch) -> None:
        """Write elements, which may stay in memory until `flush`."""

    def flush(self) -> None:  # noqa: B027  # a format may have nothing to hand over
        """Hand over what has been written so far, if readers of the format can already see it."""

    @abstractmethod
    def close(self) -> None:
        """Write buffered results, and close the file."""

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
