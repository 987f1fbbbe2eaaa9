"""What is known of whether two streams, or two plans, mean the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from midstream.plans.values.streams import FOREVER, Element, Time

SHOWN_DIFFERENCES = 10
"""How many differences between two streams are spelled out at most."""


class Answer(Enum):
    """The three values of an answer. The value is the name used in files and messages."""

    PROVED = "proved"
    """They mean the same, whatever arrives."""
    REFUTED = "refuted"
    """They do not: there is an input on which they differ."""
    UNKNOWN = "unknown"
    """Neither was shown."""


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """A payload and an interval in which two streams disagree, with the multiplicities in each."""

    payload: Hashable
    start: Time
    end: Time
    left: int
    right: int

    def text(self, show: Callable[[Time], str] = str) -> str:
        """The same in words, instants as `show` gives them."""
        until = "for ever" if self.end == FOREVER else f"{show(self.end)})"
        return (
            f"{self.payload!r} in [{show(self.start)}, {until}: "
            f"{self.left} times on the left, {self.right} on the right"
        )

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True)
class CounterExample:
    """An input on which two plans give different snapshots."""

    streams: Mapping[str, Sequence[Element]]
    """The elements of every source and every relation; few, as it was made as small as it could be."""
    output: str
    """The output that differs."""
    left: Sequence[Element]
    """What the one plan gives there, in normal form."""
    right: Sequence[Element]
    """What the other plan gives there."""
    raised: str = ""
    """Which of the plans raises which error there, where one does and the other does not."""

    @property
    def size(self) -> int:
        """How many elements arrive."""
        return sum(map(len, self.streams.values()))

    def drawn(self, left: str = "left", right: str = "right") -> str:
        """As text, with names for the two plans."""
        from midstream.plans.values.timelines import drawn

        rows = [(name, elements) for name, elements in self.streams.items() if elements]
        drawing = drawn([*rows, (left, self.left), (right, self.right)])
        return f"{drawing}\n{self.raised}" if self.raised else drawing

    def __str__(self) -> str:
        return self.drawn()


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The answer to whether two streams, or two plans, mean the same. It is true where that is proved.

    `reason` tells what it was proved by, or why it is refuted or unknown. Where two streams differ,
    `differences` tells where; where two plans do, also on which input, in `counterexample`. `plans` are the
    plans that were asked about.
    """

    answer: Answer
    reason: str = ""
    differences: tuple[SnapshotDifference, ...] = ()
    counterexample: CounterExample | None = None
    plans: tuple[Hashable, Hashable] | None = None
    certificate: Hashable | None = None
    """Of two plans that are proved to mean the same: the steps by which one becomes the other."""

    @classmethod
    def of(cls, differences: Sequence[SnapshotDifference]) -> Equivalence:
        """Of two streams that have been compared."""
        return cls(Answer.REFUTED if differences else Answer.PROVED, differences=tuple(differences))

    def __bool__(self) -> bool:
        return self.answer is Answer.PROVED

    def __str__(self) -> str:
        return self.text()

    def text(self, show: Callable[[Time], str] = str) -> str:
        """The answer in words, with the first differences, instants as `show` gives them."""
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
