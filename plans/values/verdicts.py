"""Verdicts on the equivalence of two streams, or of two plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import FOREVER, Element, Time

SHOWN_DIFFERENCES = 10
"""Most differences between two streams that are written out."""


class Answer(Enum):
    """The three values of an answer; each value is the name in files and messages."""

    PROVED = "proved"
    """The two are equivalent, for every input."""
    REFUTED = "refuted"
    """The two are not equivalent: they differ on some input."""
    UNKNOWN = "unknown"
    """Neither was shown."""


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """A payload and an interval in which two streams differ, with the multiplicities in each."""

    payload: Hashable
    start: Time
    end: Time
    left: int
    right: int

    def text(self, show: Callable[[Time], str] = str) -> str:
        """The difference in words; `show` formats instants."""
        until = "for ever" if self.end == FOREVER else f"{show(self.end)})"
        return (
            f"{self.payload!r} in [{show(self.start)}, {until}: "
            f"{self.left} times on the left, {self.right} on the right"
        )

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True)
class CounterExample:
    """An input on which two plans have different snapshots."""

    streams: Mapping[str, Sequence[Element]]
    """The elements of every source and every relation; few, as the input was made as small as possible."""
    output: str
    """The output that differs."""
    left: Sequence[Element]
    """The output of the left plan, in normal form."""
    right: Sequence[Element]
    """The output of the right plan, in normal form."""
    raised: str = ""
    """The errors that the plans raise on the input, if one raises and the other does not."""

    @property
    def size(self) -> int:
        """The number of elements that arrive."""
        return sum(map(len, self.streams.values()))

    def drawn(self, left: str = "left", right: str = "right") -> str:
        """The counter-example as text, with names for the two plans."""
        from midstream.plans.values.timelines import drawn

        rows = [(name, elements) for name, elements in self.streams.items() if elements]
        drawing = drawn([*rows, (left, self.left), (right, self.right)])
        return f"{drawing}\n{self.raised}" if self.raised else drawing

    def __str__(self) -> str:
        return self.drawn()


@dataclass(frozen=True, slots=True)
class Equivalence(NearNames):
    """An answer about the equivalence of two streams, or of two plans; truthy if equivalence is proved.

    `reason` says how it was proved, or why it is refuted or unknown. If two streams differ, `differences`
    says where; if two plans differ, `counterexample` is an input on which they do. `plans` are the compared
    plans.
    """

    answer: Answer
    reason: str = ""
    differences: tuple[SnapshotDifference, ...] = ()
    counterexample: CounterExample | None = None
    plans: tuple[Hashable, Hashable] | None = None
    certificate: Hashable | None = None
    """For plans that are proved equivalent: the steps by which one becomes the other."""

    @classmethod
    def of(cls, differences: Sequence[SnapshotDifference]) -> Equivalence:
        """The answer for two streams with these differences."""
        return cls(Answer.REFUTED if differences else Answer.PROVED, differences=tuple(differences))

    def __bool__(self) -> bool:
        return self.answer is Answer.PROVED

    def __str__(self) -> str:
        return self.text()

    def text(self, show: Callable[[Time], str] = str) -> str:
        """The answer in words, with the first differences; `show` formats instants."""
        if self.plans is not None:
            drawn = f"\n{self.counterexample}" if self.counterexample else ""
            return f"{self.answer.value}: {self.reason}{drawn}"
        if not self.differences:
            return "snapshot-equivalent"
        shown = [f"  {difference.text(show)}" for difference in self.differences[:SHOWN_DIFFERENCES]]
        more = len(self.differences) - len(shown)
        return "\n".join(
            [
                f"not equivalent, {_counted(len(self.differences))}:",
                *shown,
                *([f"  and {more} more"] if more else []),
            ]
        )


def _counted(differences: int) -> str:
    return "1 difference" if differences == 1 else f"{differences} differences"
