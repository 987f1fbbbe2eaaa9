"""The terms of a budget: limits, a reserve, and how queries share the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from midstream.optimizer.allocation.allocating import RULES, Rule
from midstream.optimizer.allocation.curves import Use
from midstream.optimizer.allocation.forecast import CHRONON, megabytes
from midstream.optimizer.allocation.limits import Limits
from midstream.plans.values.arguments import require, require_number, wrong


@dataclass(frozen=True, slots=True)
class BudgetTerms:
    """The terms of a budget.

    limits      the most bytes, and the most microseconds per chronon
    rule        the rule by which queries share what there is
    weights     by query, the weight of its precision; 1 unless given
    reserve     the share of the limits that stays free, for bursts and for queries to come
    threshold   the part of the rest that may stay unused before settings grow again
    chronon     the microseconds of a chronon
    """

    limits: Limits
    rule: Rule = "precision"
    weights: Mapping[str, float] = field(default_factory=dict)
    reserve: float = 0.1
    threshold: float = 0.1
    chronon: float = CHRONON

    def __post_init__(self) -> None:
        """Raises ArgumentError for values out of range."""
        if self.rule not in RULES:
            raise wrong("budget: rule", self.rule, " or ".join(RULES))
        require("budget: weights", self.weights, Mapping, "weights by query")
        for query, weight in self.weights.items():
            require_number(f"budget: weight of {query}", weight, "a number of 0 or more", least=0)
        for name in ("reserve", "threshold"):
            number = require_number(f"budget: {name}", getattr(self, name), "a share below 1", least=0)
            if number >= 1:
                raise wrong(f"budget: {name}", number, "a share below 1")

    @property
    def target(self) -> Limits:
        """The limits without the reserve."""
        return self.limits.times(1 - self.reserve)

    @property
    def most(self) -> Limits:
        """The limits with half of the reserve, beyond which settings are lowered."""
        return self.limits.times(1 - self.reserve / 2)

    def use(self, use: Use) -> str:
        """A use as text, of the resources that are limited."""
        return self.limit(
            Limits(
                use.memory if self.limits.memory < math.inf else math.inf,
                use.processor if self.limits.processor < math.inf else math.inf,
            )
        )

    def limit(self, limits: Limits) -> str:
        """Limits as text.

        >>> BudgetTerms(Limits(2e6, 300.0)).limit(Limits(1.5e6, 300.0))
        '1.5 MB and 30.00% of a processor'
        """
        parts = []
        if limits.memory < math.inf:
            parts.append(megabytes(limits.memory))
        if limits.processor < math.inf:
            parts.append(f"{limits.processor / self.chronon:.2%} of a processor")
        return " and ".join(parts)
