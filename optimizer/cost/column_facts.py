"""What is known of the values in the columns of an operator's output.

Facts come from the samples of a plan's inputs and follow the rows through the operators. Columns of one
sample are known row by row; columns of different samples are independent, except where conditions equate
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
    """What is known of one column: its name in a sample, how its values are distributed, or both.

    override  how the values are distributed, where this is not as in the sample
    equals    the columns known to have the same value in every row, itself among them
    told      how the values were said to be distributed, without regard to what joins have done since
    """

    name: str
    sample: Sample | None
    override: Distribution | None
    equals: frozenset[str]
    told: Distribution | None = None

    @property
    def distribution(self) -> Distribution:
        """How the values are distributed."""
        if self.override is not None:
            return self.override
        assert self.sample is not None
        return self.sample.distribution(self.name)

    @property
    def below_joins(self) -> Distribution | None:
        """How the values are distributed in the rows that joins have not chosen from, the same in whatever
        order joins are made; None where nothing is known."""
        if self.told is not None or self.sample is None:
            return self.told
        return self.sample.distribution(self.name)


Facts = Mapping[str, ColumnFacts]
"""Facts by the columns' names; a column of which nothing is known has none."""


def input_facts(schema: Schema, sample: Sample | None, known: Mapping[str, Distribution]) -> Facts:
    """Facts about an input; known distributions come before its sample."""
    if sample is not None and not sample.rows:
        sample = None
    return {
        name: ColumnFacts(name, sample, known.get(name), frozenset({name}), known.get(name))
        for name in schema.names
        if sample is not None or name in known
    }


def selected_facts(names: Iterable[str], facts: Facts) -> Facts:
    """Facts about some of the columns."""
    left = {name: facts[name] for name in names if name in facts}
    return {
        name: known if known.equals <= left.keys() else replace(known, equals=known.equals & left.keys())
        for name, known in left.items()
    }


def paired(left: Facts, right: Facts) -> Facts:
    """Facts about pairs of rows. A sample that is on both sides stands for different rows on each."""
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
    """Facts about the rows in which two columns are equal: both have the values that occur in both, which are
    distributed as `agreement` tells.

    So the estimated size of a join does not depend on the order of the joins below it.
    """
    if joint is None:
        _, joint = agreement(facts[left].distribution, facts[right].distribution)
    return _redistributed(facts[left].equals | facts[right].equals, joint, facts) if joint else facts


def equated_in_sample(left: str, right: str, facts: Facts) -> Facts:
    """Facts about the rows of a sample in which two of its columns are equal, which are all that it has
    left."""
    if facts[left].override is not None or facts[right].override is not None:
        return equated(left, right, facts)
    names = facts[left].equals | facts[right].equals
    return _redistributed(names, facts[left].distribution, facts)


def agreement(one: Distribution, other: Distribution) -> tuple[float, Distribution]:
    """The probability that a value of one is equal to a value of the other; and how the values are
    distributed in pairs that agree, nothing where none does. Cost: O(values)."""
    both = {value: p * other[value] for value, p in one.items() if value in other}
    total = math.fsum(both.values())
    return total, {value: p / total for value, p in both.items()} if total else {}


def restricted(column: str, shares: Distribution, facts: Facts) -> Facts:
    """Facts about the rows in which a column has one of some values, each with its share of all rows."""
    total = math.fsum(shares.values())
    if not total:
        return facts
    names, left = facts[column].equals, {v: p / total for v, p in shares.items()}
    return {
        name: replace(known, told=left) if name in names and known.told is not None else known
        for name, known in _redistributed(names, left, facts).items()
    }


def _redistributed(names: frozenset[str], distribution: Distribution, facts: Facts) -> Facts:
    return {
        name: replace(known, override=distribution, equals=names) if name in names else known
        for name, known in facts.items()
    }


def thinned(sample: Sample, rows: Sample, facts: Facts) -> Facts:
    """Facts about the rows that are left of a sample."""
    if not rows.rows:
        return facts
    return {
        name: replace(known, sample=rows) if known.sample is sample else known
        for name, known in facts.items()
    }


def in_sample(expression: Expression, facts: Facts) -> Expression:
    """An expression by the names that its columns have in their sample."""
    return expression.renamed({column: facts[column].name for column in expression.columns()})


def combinations(names: Iterable[str], facts: Facts) -> float:
    """How many different values some columns have together; infinitely many where nothing is known."""
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
    """The same for columns of one sample, or for one column."""
    if not group:
        return 1.0
    sample = facts[group[0]].sample
    if sample is None or (len(group) == 1 and facts[group[0]].override is not None):
        return max(1.0, len(facts[group[0]].distribution))
    return sample.distinct([facts[name].name for name in group])
