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


class Tally:
    """Counts the elements of givers in use, and remembers those of givers that are no longer in use.

    State    The givers in use; a number for each label that there was.
    Cost     O(givers in use) to read, O(1) to enter and to leave.
    """

    def __init__(self) -> None:
        self._past: Counter[Label] = Counter()
        self._uses: dict[Giver, dict[Label, tuple[int, int]]] = {}
        """By giver and label: its count when its use began, and the number of uses."""
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
        begun, users = uses.get(label, (since, 0))
        uses[label] = begun, users + 1

    def leave(self, giver: Giver, label: Label) -> None:
        """Use a giver no longer, or once less."""
        uses = self._uses[giver]
        begun, users = uses.pop(label)
        if users > 1:
            uses[label] = begun, users - 1
            return
        self._past[label] += giver.emitted - begun
        if not uses:
            del self._uses[giver]

    def total(self) -> Counter[Label]:
        """The counts so far, by label."""
        total = Counter(self._past)
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
