"""The looks of a resource manager, as records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from midstream.autopilot.budget_terms import BudgetTerms
from midstream.optimizer.allocation.curves import Use
from midstream.plans.values.streams import FOREVER, Time

BudgetEvent = Literal["stay", "adjust", "short", "refused", "failed"]
"""The events.

`short` where the least settings take more than there is; `refused` if the engine refuses; `failed` if the
look raised an error.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of settings: the lever, and its setting before and after."""

    lever: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.lever}: {self.before:g} to {self.after:g}"


@dataclass(frozen=True, slots=True)
class Measured:
    """The state that was seen: elements, and bytes of these, each as large as expected."""

    elements: int = 0
    memory: float = 0.0


@dataclass(frozen=True, slots=True)
class BudgetRecord:
    """A look of a resource manager at an instant of application time, or what an added query led to.

    at            the instant
    event         the kind of event
    terms         the terms of the budget
    before        the expected use with the settings by then, once all elements have come with these
    after         the expected use with the settings from now on
    measured      the state at the last look
    precision     the expected precision of the results, on the average of all queries
    changes       the settings that change
    complete_at   the instant from which on nothing is valid that came with earlier settings
    reason        the reason of a refusal or a failure
    """

    at: int
    event: BudgetEvent
    terms: BudgetTerms
    before: Use
    after: Use
    measured: Measured
    precision: float
    changes: tuple[Change, ...] = ()
    complete_at: Time | None = None
    reason: str = ""

    def __str__(self) -> str:
        """A sentence, with times as numbers."""
        return self.text(str)

    def text(self, instant: Callable[[Time], str]) -> str:
        """A sentence, with times as a function writes them."""
        at, terms = f"at {instant(self.at)}:", self.terms
        if self.event == "refused":
            return f"{at} the engine refused: {self.reason}"
        if self.event == "failed":
            return f"{at} the look failed, and the next one tries again: {self.reason}"
        uses = f"{terms.use(self.before)} expected of {terms.limit(terms.target)}"
        if self.event == "stay":
            return f"{at} {uses}; no change"
        return f"{at} {uses}; {'; '.join(self._parts(instant))}"

    def _parts(self, instant: Callable[[Time], str]) -> Iterator[str]:
        if self.event == "short":
            yield "the least settings do not suffice"
        if self.changes:
            yield ", ".join(map(str, self.changes[:SHOWN]))
        if len(self.changes) > SHOWN:
            yield f"{len(self.changes) - SHOWN:,} more changes"
        yield f"then {self.terms.use(self.after)}, precision {self.precision:.3f}"
        if self.complete_at is not None and self.complete_at != FOREVER:
            yield f"complete at {instant(self.complete_at)}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; memory in bytes, processing in microseconds per chronon."""
        complete = None if self.complete_at == FOREVER else self.complete_at
        return {
            "at": self.at,
            "event": self.event,
            "limits": self.terms.limits.as_dict(),
            "target": self.terms.target.as_dict(),
            "before": self.before._asdict(),
            "after": self.after._asdict(),
            "measured": asdict(self.measured),
            "precision": self.precision,
            "changes": [asdict(change) for change in self.changes],
            "complete_at": complete,
            "reason": self.reason,
        }


SHOWN = 4
"""The number of changes in a sentence."""
