"""Facts about the values in the columns of an operator's output.

Facts come from the samples of a plan's inputs and follow the rows through the operators. Columns of one
sample are known row by row. Columns of different samples are independent, except where conditions equate
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from midstream.optimizer.statistics import Distribution, Sample
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts about one column: its name in a sample, the distribution of its values, or both.

    override  distribution of the values, if it differs from the sample
    equals    the columns known to have the same value in every row, including this one
    declared  distribution that the statistics state, restricted by filters but not by joins
    """

    name: str
    sample: Sample | None
    override: Distribution | None
    equals: frozenset[str]
    declared: Distribution | None = None

    @property
    def distribution(self) -> Distribution:
        """The distribution of the values."""
        if self.override is not None:
            return self.override
        assert self.sample is not None
        return self.sample.distribution(self.name)

    @property
    def below_joins(self) -> Distribution | None:
        """The distribution of the values before any join; None if unknown.

        It is the same in every join order.
        """
        if self.declared is not None or self.sample is None:
            return self.declared
        return self.sample.distribution(self.name)


Facts = Mapping[str, ColumnFacts]
"""Facts by column name; unknown columns are absent."""


def input_facts(schema: Schema, sample: Sample | None, distributions: Mapping[str, Distribution]) -> Facts:
    """Facts about an input; known distributions take precedence over its sample."""
    if sample is not None and not sample.rows:
        sample = None
    return {
        name: ColumnFacts(name, sample, distributions.get(name), frozenset({name}), distributions.get(name))
        for name in schema.names
        if sample is not None or name in distributions
    }


def selected_facts(names: Iterable[str], facts: Facts) -> Facts:
    """Facts about some of the columns."""
    left = {name: facts[name] for name in names if name in facts}
    return {
        name: known if known.equals <= left.keys() else replace(known, equals=known.equals & left.keys())
        for name, known in left.items()
    }


def paired(left: Facts, right: Facts) -> Facts:
    """Facts about pairs of rows.

    A sample that is on both sides stands for different rows on each, so the right side gets a copy.
    """
    mine = {id(known.sample) for known in left.values() if known.sample is not None}
    twins = {
        id(known.sample): Sample(known.sample.schema, known.sample.rows)
        for known in right.values()
        if known.sample is not None and id(known.sample) in mine
    }
    if not twins:
        return {**left, **right}
    other = {
        name: replace(known, sample=twins.get(id(known.sample), known.sample))
        for name, known in right.items()
    }
    return {**left, **other}


def equated(left: str, right: str, facts: Facts, joint: Distribution | None = None) -> Facts:
    """Facts about the rows in which two columns are equal.

    Both columns get the distribution of `agreement`: the values that occur in both. So the estimated size of
    a join does not depend on the order of the joins below it.
    """
    if joint is None:
        _, joint = agreement(facts[left].distribution, facts[right].distribution)
    return _redistributed(facts[left].equals | facts[right].equals, joint, facts) if joint else facts


def equated_in_sample(left: str, right: str, facts: Facts) -> Facts:
    """Facts about the rows of a sample after the filter `left = right`, both columns of that sample."""
    if facts[left].override is not None or facts[right].override is not None:
        return equated(left, right, facts)
    names = facts[left].equals | facts[right].equals
    return _redistributed(names, facts[left].distribution, facts)


def agreement(left: Distribution, right: Distribution) -> tuple[float, Distribution]:
    """The probability that two values are equal, and the distribution of equal values.

    The distribution is empty if no values are equal. Cost: O(values).
    """
    both = {value: p * right[value] for value, p in left.items() if value in right}
    total = math.fsum(both.values())
    return total, {value: p / total for value, p in both.items()} if total else {}


def restricted(column: str, shares: Distribution, facts: Facts) -> Facts:
    """Facts about the rows in which a column has one of some values, each with its share of all rows."""
    total = math.fsum(shares.values())
    if not total:
        return facts
    names, left = facts[column].equals, {v: p / total for v, p in shares.items()}
    return {
        name: replace(known, declared=left) if name in names and known.declared is not None else known
        for name, known in _redistributed(names, left, facts).items()
    }


def _redistributed(names: frozenset[str], distribution: Distribution, facts: Facts) -> Facts:
    return {
        name: replace(known, override=distribution, equals=names) if name in names else known
        for name, known in facts.items()
    }


def thinned(sample: Sample, rows: Sample, facts: Facts) -> Facts:
    """Facts about the rows that remain of a sample."""
    if not rows.rows:
        return facts
    return {
        name: replace(known, sample=rows) if known.sample is sample else known
        for name, known in facts.items()
    }


def in_sample(expression: Expression, facts: Facts) -> Expression:
    """An expression with the column names of the sample."""
    return expression.renamed({column: facts[column].name for column in expression.columns()})


def combinations(names: Iterable[str], facts: Facts) -> float:
    """Number of distinct combinations of values of some columns; infinite if a column is unknown."""
    groups: dict[object, list[str]] = {}
    for name in names:
        if name not in facts:
            return math.inf
        sample = facts[name].sample
        groups.setdefault(name if sample is None else id(sample), []).append(name)
    n = 1.0
    determined: set[str] = set()
    for group in groups.values():
        repeated = [name for name in group if facts[name].equals & determined]
        n *= max(1.0, _different(group, facts) / _different(repeated, facts))
        determined.update(group)
    return n


def _different(group: Sequence[str], facts: Facts) -> float:
    """Number of distinct combinations in columns of one sample, or of distinct values in one column."""
    if not group:
        return 1.0
    sample = facts[group[0]].sample
    if sample is None or (len(group) == 1 and facts[group[0]].override is not None):
        return max(1.0, len(facts[group[0]].distribution))
    return sample.distinct([facts[name].name for name in group])
