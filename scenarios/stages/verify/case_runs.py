"""Random cases of migrations, named by their seeds: outcomes, and cases that break the law.

Nothing here knows Spark: executors call it portion by portion, and so does a process alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from midstream.testing.cases import (
    COUNTED,
    Case,
    case_from_json,
    case_of,
    case_to_json,
    failure_of,
    smallest_case,
    try_case,
)

BROKEN = "broken"
"""The outcome of a case that breaks the law."""

KEPT = 3
"""The most cases of a portion that break the law and are kept; all are counted."""

LEAST_ROUND = 500
"""The least number of seeds that are tried between two looks at the findings."""

LOOKS = 10
"""The number of looks on the way, about."""


@dataclass(frozen=True)
class Draw:
    """The choices by which a seed draws a case, and the planted fault under which cases run."""

    kinds: tuple[str, ...]
    strategies: tuple[str, ...]
    mutant: str | None = None

    def case(self, seed: int) -> Case | None:
        """The case of a seed."""
        return case_of(seed, self.kinds, self.strategies)


@dataclass(frozen=True)
class Broken:
    """A case that breaks the law."""

    seed: int
    failure: str
    """The fault, in words."""
    case: dict[str, Any]
    """The drawn case as JSON data: elsewhere its seed may stand for another one."""

    def text(self) -> str:
        """The case as text, which executors send."""
        return json.dumps([self.seed, self.failure, self.case])

    @classmethod
    def read(cls, text: str) -> Broken:
        """Read a case from its text."""
        return cls(*json.loads(text))


@dataclass
class Findings:
    """The outcomes of cases, counted, and some of the cases that break the law."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The number of cases, by strategy and outcome."""
    broken: list[Broken] = field(default_factory=list)
    """Some of those that break the law, by their seeds."""

    def add(self, other: Findings) -> None:
        """Add the findings of other cases."""
        self.counts.update(other.counts)
        self.broken = sorted([*self.broken, *other.broken], key=lambda one: one.seed)

    def number(self, outcome: str) -> int:
        """The number of cases with an outcome."""
        return sum(n for (_, found), n in self.counts.items() if found == outcome)

    @property
    def tried(self) -> int:
        """The number of seeds that were tried."""
        return self.counts.total()


def try_seeds(seeds: Iterable[int], draw: Draw) -> Findings:
    """Try the cases of some seeds."""
    found = Findings()
    for seed in seeds:
        case = draw.case(seed)
        if case is None:
            found.counts["", "not drawn"] += 1
            continue
        outcome = try_case(case, draw.mutant)
        if isinstance(outcome, str):
            found.counts[case.strategy, BROKEN] += 1
            if len(found.broken) < KEPT:
                found.broken.append(Broken(seed, outcome, case_to_json(case)))
        else:
            found.counts[outcome.strategy, outcome.outcome] += 1
    return found


def verify(
    portion: Callable[[range], Findings],
    cases: int,
    seed: int,
    tell: Callable[[Findings], None] = lambda _: None,
) -> Findings:
    """Try seeds from `seed` on, until enough cases count or one breaks the law.

    `portion` tries a range of seeds. The seeds that are tried do not depend on how it does that.
    """
    found = Findings()
    while found.number(COUNTED) < cases and not found.broken:
        first = seed + found.tried
        found.add(portion(range(first, first + _round(found, cases))))
        tell(found)
    return found


def _round(found: Findings, cases: int) -> int:
    """The number of seeds to try next."""
    share = max(found.number(COUNTED), 1) / found.tried if found.tried else 0.5
    missing = ceil((cases - found.number(COUNTED)) / share)
    return min(missing, max(ceil(cases / share / LOOKS), LEAST_ROUND))


@dataclass(frozen=True)
class CounterExample:
    """The simplest case found from one that breaks the law."""

    seed: int
    failure: str
    case: Case
    is_shrunk: bool

    def as_json(self, draw: Draw, drawn: dict[str, Any]) -> dict[str, Any]:
        """The counter-example as JSON, which `verify-case` reads."""
        return {
            "seed": self.seed,
            "kinds": list(draw.kinds),
            "strategies": list(draw.strategies),
            "mutant": draw.mutant,
            "failure": self.failure,
            "is_shrunk": self.is_shrunk,
            "case": case_to_json(self.case),
            "drawn": drawn,
        }


def shrunk(broken: Broken, draw: Draw) -> CounterExample:
    """Simplify a case as long as it breaks the law; return it as it is if it does not break the law here."""
    drawn = case_from_json(broken.case)
    if draw.case(broken.seed) == drawn:
        smaller = smallest_case(broken.seed, draw.kinds, draw.strategies, draw.mutant)
        failure = None if smaller is None else failure_of(smaller, draw.mutant)
        if smaller is not None and failure is not None:
            return CounterExample(broken.seed, failure, smaller, True)
    return CounterExample(broken.seed, broken.failure, drawn, False)
