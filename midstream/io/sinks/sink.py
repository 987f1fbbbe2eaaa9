"""What all sinks are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from midstream.plans.values.streams import Batch
from midstream.plans.values.units import TimeUnit

Times = Callable[[], TimeUnit | None]
"""Tells, when there is a first result, how times are written: in ISO 8601, where it gives the unit that they
are counted in; as integers, where it gives None. Before there was any input, it may not know."""


def integers() -> None:
    """Times are written as integers."""


class Sink(ABC):
    """Takes results, in order of start, and writes them somewhere.

    A row that cannot be written ends the run with ConnectorError, and none of its batch is written. What is
    there after an error ends with a complete row.
    """

    @property
    def is_wanted(self) -> bool:
        """Whether someone is there to read the results; if not, the rest can be left out."""
        return True

    @abstractmethod
    def write(self, batch: Batch) -> None:
        """Write elements. They may stay in memory until `flush`."""

    def flush(self) -> None:  # noqa: B027  # a format may have nothing to hand over
        """Hand over what has been written so far, where the format lets readers see it already."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left, and close the file."""

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
