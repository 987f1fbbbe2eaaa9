"""Selectivities of conditions, and facts about the rows that satisfy them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import (
    ColumnFacts,
    Facts,
    agreement,
    equated,
    equated_in_sample,
    in_sample,
    restricted,
    thinned,
)
from midstream.optimizer.cost.equalities import least_equalities
from midstream.optimizer.cost.mapped_facts import spread
from midstream.optimizer.statistics import Distribution
from midstream.plans.expressions.expressions import (
    Col,
    Expression,
    column_equality,
    compile_row,
    compile_rows,
    conjunction,
    conjuncts,
    equality,
)
from midstream.plans.values.schema import Schema

DEFAULT_EQUALITY = 0.1
"""The selectivity of an equality about which nothing is known."""
DEFAULT_OTHER = 1 / 3
"""The selectivity of any other condition about which nothing is known."""
PAIRS = 64
"""Number of rows of each sample whose pairs evaluate a condition over two samples."""

Shares = list[tuple[float, float]]
"""Shares of right rows, each with the weight of the left rows that match this share."""

Classes = Mapping[str, frozenset[str]]
"""By column, the columns that are equal to it in every row; columns equal to no other may be absent."""


class Agreement(NamedTuple):
    """The share of pairs of two distributions that agree, and the distribution of values in these pairs."""

    left: Distribution
    right: Distribution
    share: float
    joint: Distribution


class Selectivity:
    """Estimates shares of rows: by known selectivities, else by samples and distributions, else by defaults.

    Conditions over different samples are presumed to be independent.
    """

    def __init__(self, selectivities: Mapping[Expression, float]) -> None:
        self._known = selectivities
        self._known_together = [part for part in selectivities if len(conjuncts(part)) > 1]
        self._pairs: dict[tuple[Hashable, ...], tuple[float | None, list[ColumnFacts]]] = {}
        self._agreements: dict[tuple[int, int], Agreement] = {}

    def of(
        self, parts: Iterable[Expression], schema: Schema, facts: Facts, classes: Classes
    ) -> tuple[float, Facts]:
        """The share of rows that satisfy all of some conditions, and facts about these rows.

        The result depends neither on how equalities are written nor on the order of joins: conditions within
        one sample come first, equalities last among them; equalities between samples are reduced to as few as
        imply all of them.
        """
        pairs, others = [], []
        for part in self._gathered(parts):
            names = column_equality(part)
            if names and not self._is_known(part, classes):
                pairs.append(names)
            else:
                others.append(part)
        ordered = [*self._together(others, facts, classes), *least_equalities(pairs, facts)]
        total = 1.0
        for part in sorted(ordered, key=lambda part: len(_origins(part, facts))):
            share, facts = self._one(part, schema, facts, classes)
            total *= share
        return total, facts

    def knows(self, names: Iterable[str]) -> bool:
        """True if the selectivity of an equality of two of some columns is known."""
        return any(equality(*pair) in self._known for pair in combinations(sorted(names), 2))

    def by_left_row(self, condition: Expression, left: Facts, right: Facts, total: float) -> Shares:
        """The shares of right rows that match a left row, for left rows that stand for all.

        They are scaled to `total`, the share of all pairs. If nothing else is known, `total` is the share of
        every left row.
        """
        shares = self._of_each(condition, left, right)
        average = math.fsum(weight * share for weight, share in shares)
        if not average or not total:
            return [(1.0, total)]
        return [(weight, min(1.0, share * total / average)) for weight, share in shares]

    def _of_each(self, condition: Expression, left: Facts, right: Facts) -> Shares:
        names = condition.columns()
        if not names <= left.keys() | right.keys():
            return []
        mine, theirs = ([name for name in sorted(names) if name in side] for side in (left, right))
        if (pair := column_equality(condition)) and len(mine) == len(theirs) == 1 and {*pair} == names:
            one, other = left[mine[0]].distribution, right[theirs[0]].distribution
            rest = max(0.0, 1 - math.fsum(one.values()))  # unknown values equal nothing
            shares = [(p, other.get(value, 0.0)) for value, p in one.items()]
            sample = right[theirs[0]].sample
            if sample is not None:
                shares = _without_noise(shares, len(sample.rows))
            return [(rest, 0.0), *shares]
        if any(map(column_equality, conjuncts(condition))):
            return []  # of rows that rarely agree, some tell nothing of the others
        samples = [{id(side[name].sample) for name in own} for side, own in ((left, mine), (right, theirs))]
        if any(len(found) != 1 for found in samples) or not all(
            side[name].sample and side[name].override is None
            for side, own in ((left, mine), (right, theirs))
            for name in own
        ):
            return []
        rows, others = _some_rows(mine, left), _some_rows(theirs, right)
        schemas = [side[own[0]].sample for side, own in ((left, mine), (right, theirs))]
        columns = [
            replace(sample.schema[side[name].name], name=name)
            for sample, side, own in zip(schemas, (left, right), (mine, theirs), strict=True)
            if sample is not None
            for name in own
        ]
        try:
            holds = compile_row(condition, Schema(tuple(columns)))
            found = [sum(1 for other in others if holds(row + other) is True) for row in rows]
        except Exception:
            return []  # a callable may fail on rows that it never meets
        return [(1 / len(rows), n / len(others)) for n in found]

    def _together(self, parts: Iterable[Expression], facts: Facts, classes: Classes) -> list[Expression]:
        """Conditions with those over the same two samples combined, as they depend on each other.

        Of the pairs that satisfy a lower bound, the share that satisfies an upper bound differs from that of
        all pairs.
        """
        found: list[Expression] = []
        by_samples: dict[frozenset[int], list[Expression]] = {}
        for part in parts:
            samples = {id(facts[name].sample) if name in facts else 0 for name in part.columns()}
            is_free = len(_origins(part, facts)) == len(samples) == 2 and 0 not in samples
            if is_free and not self._is_known(part, classes):
                by_samples.setdefault(frozenset(samples), []).append(part)
            else:
                found.append(part)
        return [*found, *map(conjunction, by_samples.values())]

    def _gathered(self, parts: Iterable[Expression]) -> Iterable[Expression]:
        """Conditions, with those combined whose joint selectivity is known."""
        left = list(parts)
        for together in self._known_together:
            if {*conjuncts(together)} <= {*left}:
                left = [*(part for part in left if part not in conjuncts(together)), together]
        return left

    def _is_known(self, part: Expression, classes: Classes) -> bool:
        return any(alias in self._known for alias in self._aliases(part, classes))

    def _aliases(self, part: Expression, classes: Classes) -> Iterator[Expression]:
        """The condition and its equivalents over equal columns; nothing if no selectivity is known."""
        if not self._known:
            return
        yield part
        if names := column_equality(part):
            lefts, rights = (sorted(classes.get(name, {name})) for name in names)
            yield from (equality(left, right) for left, right in product(lefts, rights))

    def _one(self, part: Expression, schema: Schema, facts: Facts, classes: Classes) -> tuple[float, Facts]:
        try:
            share, facts = self._estimate(part, schema, facts)
        except Exception:
            # A callable may fail on rows that it never meets in the plan: another condition excludes them.
            share = None
        for alias in self._aliases(part, classes):
            if alias in self._known:
                return self._known[alias], facts
        if share is None:
            share = DEFAULT_EQUALITY if column_equality(part) else DEFAULT_OTHER ** len(conjuncts(part))
        return share, facts

    def _estimate(self, part: Expression, schema: Schema, facts: Facts) -> tuple[float | None, Facts]:
        """The share that follows from the facts, or None, and the facts about rows that satisfy the part."""
        columns = sorted(part.columns())
        if not columns:
            return (1.0 if compile_row(part, Schema(()))(()) else 0.0), facts
        if not all(column in facts for column in columns):
            return None, facts
        if len(columns) == 1 and facts[columns[0]].override is not None:
            return _by_values(part, columns[0], schema, facts)
        origins = _origins(part, facts)
        if len(origins) == 1:
            return _by_rows(part, columns[0], facts)
        if names := column_equality(part):
            share, joint = self._agreement(*(facts[name].distribution for name in names))
            return share, equated(*names, facts, joint)
        if len(origins) == 2:
            return self._by_pairs(part, origins, schema, facts), facts
        return None, facts

    def _agreement(self, left: Distribution, right: Distribution) -> tuple[float, Distribution]:
        """The result of `agreement`, computed once for each pair of distributions."""
        key = id(left), id(right)
        if key not in self._agreements:
            # The entry refers to both distributions, so that their identities stay taken.
            self._agreements[key] = Agreement(left, right, *agreement(left, right))
        return self._agreements[key][2:]

    def _by_pairs(
        self, part: Expression, origins: list[list[str]], schema: Schema, facts: Facts
    ) -> float | None:
        """The share of pairs of rows of two inputs; None if unknown.

        Cost     O(PAIRS²), once.
        """
        # By what is known below joins, so that the share is the same in all join orders, whichever is priced
        # first.
        known = [facts[name] for columns in origins for name in columns]
        key = (part, *((id(each.sample), each.name, id(each.declared)) for each in known))
        if key not in self._pairs:
            names = [name for columns in origins for name in columns]
            holds = compile_row(part, Schema(tuple(schema[name] for name in names)))
            share = _by_values_of_both(holds, origins, facts)
            if share is None:
                share = _by_samples(holds, origins, facts)
                # The entry refers to the facts, so that the identities in its key stay taken.
            self._pairs[key] = share, known
        return self._pairs[key][0]


Holds = Callable[[tuple[object, ...]], object]
"""A compiled condition: true for a row that satisfies it."""


def _by_values_of_both(holds: Holds, origins: list[list[str]], facts: Facts) -> float | None:
    """The share of pairs of rows, computed from the values of one column of each side.

    None unless both distributions cover all rows and have at most PAIRS² pairs of values.
    """
    if any(len(columns) > 1 for columns in origins):
        return None
    left, right = (facts[name].below_joins for (name,) in origins)
    if left is None or right is None:
        return None
    is_all = abs(math.fsum(left.values()) - 1) < 1e-9 > abs(math.fsum(right.values()) - 1)
    if len(left) * len(right) > PAIRS**2 or not is_all:
        return None  # the share of unknown values is open
    return math.fsum(p * q for x, p in left.items() for y, q in right.items() if holds((x, y)))


def _by_samples(holds: Holds, origins: list[list[str]], facts: Facts) -> float | None:
    """The share of pairs of rows of two samples; None if a sample is missing."""
    if any(facts[columns[0]].sample is None for columns in origins):
        return None
    pairs = list(product(*(_some_rows(columns, facts) for columns in origins)))
    return sum(1 for left, right in pairs if holds(left + right)) / len(pairs)


def _some_rows(columns: list[str], facts: Facts) -> list[tuple[object, ...]]:
    sample = facts[columns[0]].sample
    assert sample is not None
    pick = compile_rows([Col(facts[column].name) for column in columns], sample.schema)
    return [pick(row) for row in spread(sample.rows, PAIRS)]


def _by_rows(part: Expression, column: str, facts: Facts) -> tuple[float, Facts]:
    """The share of a sample's rows that satisfy a condition, and the facts about them."""
    sample = facts[column].sample
    assert sample is not None
    rows = sample.where(in_sample(part, facts))
    left = thinned(sample, rows, facts)
    if rows.rows and (names := column_equality(part)):
        left = equated_in_sample(*names, left)
    return len(rows.rows) / len(sample.rows), left


def _by_values(part: Expression, column: str, schema: Schema, facts: Facts) -> tuple[float, Facts]:
    """The share of rows that satisfy a condition over one column, from its distribution, and their facts."""
    distribution = facts[column].distribution
    holds = compile_row(part, Schema((schema[column],)))
    shares = {value: p for value, p in distribution.items() if holds((value,))}
    unknown = 0.0
    if schema[column].nullable and holds((None,)):
        unknown = max(0.0, 1 - math.fsum(distribution.values()))
    left = restricted(column, shares, facts)
    if (sample := facts[column].sample) is not None:
        left = thinned(sample, sample.where(in_sample(part, facts)), left)
    return math.fsum(shares.values()) + unknown, left


def _origins(part: Expression, facts: Facts) -> list[list[str]]:
    """The columns that a condition reads, grouped by their sample; columns without a sample stand alone."""
    groups: dict[object, list[str]] = {}
    for name in sorted(part.columns()):
        sample = facts[name].sample if name in facts else None
        groups.setdefault(name if sample is None else id(sample), []).append(name)
    return list(groups.values())


def _without_noise(shares: Shares, rows: int) -> Shares:
    """Shares as even as they are in the whole stream, where a sample of rows tells them.

    In a sample, equally frequent values occur by chance more or less often: their shares p in n
    rows vary by p / n.
    Most rows without a match have a small share, so that there would seem to be too many of them.
    """
    total = math.fsum(weight for weight, _ in shares)
    if not total:
        return shares
    average = math.fsum(weight * share for weight, share in shares) / total
    spread = math.fsum(weight * (share - average) ** 2 for weight, share in shares) / total
    if not spread:
        return shares
    true = math.sqrt(max(0.0, 1 - average / rows / spread))
    return [(weight, average + (share - average) * true) for weight, share in shares]
