"""Tallies: the counts of a query, whatever operators come and go below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import Protocol

from midstream.plans.algebra.plan import Node


class Giver(Protocol):
    """An object that gives elements, and counts them."""

    @property
    def emitted(self) -> int:
        """The elements so far; it never falls."""


class Kind(Enum):
    """A kind of counts that are summed over nodes."""

    ELEMENTS = "elements"
    INTERMEDIATE = "intermediate"


Label = Node | Kind
"""The key of a count: a logical node, or all of a kind."""


GONE = 256
"""The number of labels that a tally remembers though they are no longer in use, the last ones."""


class Tally:
    """Counts the elements of givers in use, and remembers those of givers that are no longer in use.

    State    The givers in use, a number for each label in use, and for the last `GONE` that are no longer.
    Cost     O(givers in use) to read, O(1) to enter and to leave.
    """

    def __init__(self) -> None:
        self._uses: dict[Giver, dict[Label, tuple[int, int]]] = {}
        """By giver and label: its count when its use began, and the number of uses."""
        self._givers: Counter[Label] = Counter()
        """By label in use, the number of its givers."""
        self._before: dict[Label, int] = {}
        """By label in use, the elements of givers that are no longer in use."""
        self._gone: dict[Label, int] = {}
        """By label that is no longer in use, its elements; in the order in which the labels went."""
        self.earlier = 0
        """The elements of nodes that went still earlier."""
        self._results = 0
        self._outputs: list[tuple[Giver, int]] = []
        """The givers of results, each with the part of its elements that is counted already."""

    def __contains__(self, giver: Giver) -> bool:
        return giver in self._uses

    def labels(self) -> dict[Giver, set[Label]]:
        """The givers in use, and the labels under which each is counted."""
        return {giver: set(uses) for giver, uses in self._uses.items()}

    def enter(self, giver: Giver, label: Label, since: int) -> None:
        """Use a giver, or use it once more; its elements beyond the first `since` count."""
        uses = self._uses.setdefault(giver, {})
        if label not in uses:
            if not self._givers[label]:
                self._before[label] = self._gone.pop(label, 0)
            self._givers[label] += 1
        begun, users = uses.get(label, (since, 0))
        uses[label] = begun, users + 1

    def leave(self, giver: Giver, label: Label) -> None:
        """Use a giver no longer, or once less."""
        uses = self._uses[giver]
        begun, users = uses.pop(label)
        if users > 1:
            uses[label] = begun, users - 1
            return
        self._before[label] += giver.emitted - begun
        self._givers[label] -= 1
        if not self._givers[label]:
            self._leave(label)
        if not uses:
            del self._uses[giver]

    def _leave(self, label: Label) -> None:
        del self._givers[label]
        self._gone[label] = self._before.pop(label)
        if len(self._gone) > GONE:
            oldest = next(label for label in self._gone if isinstance(label, Node))
            self.earlier += self._gone.pop(oldest)

    def total(self) -> Counter[Label]:
        """The counts by label, so far."""
        total = Counter({**self._gone, **self._before})
        for giver, uses in self._uses.items():
            for label, (begun, _) in uses.items():
                total[label] += giver.emitted - begun
        return total

    @property
    def results(self) -> int:
        """The results so far."""
        return self._results + sum(giver.emitted - counted for giver, counted in self._outputs)

    def add_results(self, number: int) -> None:
        """Count results that no giver gave."""
        self._results += number

    def count_results(self) -> None:
        """Count the results of the outputs so far, before other givers take over."""
        self._results = self.results
        self._outputs = [(giver, giver.emitted) for giver, _ in self._outputs]

    def read(self, outputs: Iterable[Giver]) -> None:
        """Take results from these givers from now on.

        Elements that other givers gave since results were counted last are no results.
        """
        counted = dict(self._outputs)
        self._outputs = [(giver, counted.get(giver, giver.emitted)) for giver in outputs]
