"""The share of combinations of rows that satisfies the conditions between some inputs of a join problem.

Most conditions have nothing to do with each other: what one selects says nothing of what another one does. So
they are taken apart into factors, and a share is the product of theirs. That of a factor depends only on
those of its inputs that are joined; so a chain of 20 inputs has 19 shares, though 190 sets of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from midstream.optimizer.cost.column_facts import Facts, agreement, paired
from midstream.optimizer.search.join_graph import members
from midstream.optimizer.search.join_problem import Checked, JoinProblem, Links, is_key, parts_of
from midstream.optimizer.statistics import Distribution
from midstream.plans.algebra.operators.columns import classes, equalities
from midstream.plans.algebra.properties import equal_columns
from midstream.plans.expressions.expressions import Expression, conjunction
from midstream.plans.expressions.ranges import find_range
from midstream.plans.values.schema import Schema

MOST_SETS = 10_000
"""Of so many sets of inputs a class remembers values that agree at most: a long search would take ever more
memory."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What is known of combinations of rows that satisfy conditions: their share, their columns, and which of
    these are equal."""

    share: float
    facts: Facts
    equal: tuple[frozenset[str], ...]


class LinkFactor:
    """The columns of one class, one of each input, in different samples: the share of combinations that agree
    is

        Σ  p₁(v) p₂(v) …        over the values v

    as by (22.4) with what each step leaves: see `equated`.
    """

    def __init__(self, problem: JoinProblem, each: Links) -> None:
        self.inputs = each.inputs
        self._agreeing: dict[int, tuple[float, Distribution]] = {}
        for i, (name,) in each.names.items():
            self._agreeing[1 << i] = 1.0, problem.facts(i, frozenset({name}))[name].distribution

    def share(self, subset: int) -> float:
        """That of combinations of rows of these inputs, at least one of which is one of ours."""
        return self._agree(subset & self.inputs)[0]

    def key_share(self, one: int, other: int) -> float:
        """The share of pairs that agree."""
        apart = self.share(one) * self.share(other)
        return self.share(one | other) / apart if apart else 0.0

    def _agree(self, subset: int) -> tuple[float, Distribution]:
        if subset not in self._agreeing:
            last = 1 << (subset.bit_length() - 1)
            (share, left), (_, right) = self._agree(subset ^ last), self._agree(last)
            if len(self._agreeing) >= MOST_SETS:
                self._agreeing = {one: self._agreeing[one] for one in self._agreeing if not one & (one - 1)}
            agreeing, both = agreement(left, right)
            self._agreeing[subset] = share * agreeing, both
        return self._agreeing[subset]


class MixedFactor:
    """Conditions that read the same columns, or of which one thins a sample that another one reads. Their
    shares are estimated as for joins in a fixed order, that follows the conditions where it can."""

    def __init__(self, problem: JoinProblem, links_: Sequence[Links], checked: Sequence[Checked]) -> None:
        self._problem = problem
        self._links = links_
        self._checked = checked
        conditions: list[Links | Checked] = [*links_, *checked]
        self._columns = frozenset(name for each in conditions for name in each.columns)
        self._masks = [each.inputs for each in conditions]
        self.inputs = 0
        for mask in self._masks:
            self.inputs |= mask
        self._alone: dict[int, Selected] = {}
        self._joined: dict[int, Selected] = {}
        self._keys: dict[tuple[int, int, bool, bool], float] = {}

    def share(self, subset: int) -> float:
        """That of combinations of rows of these inputs, at least one of which is one of ours."""
        return self._selected(subset & self.inputs, is_joined=True).share

    def key_share(self, one: int, other: int) -> float:
        """The share of pairs that agree in the columns that the conditions equate."""
        key = (one & self.inputs, other & self.inputs, _is_joined(one), _is_joined(other))
        if key not in self._keys:
            keys = [
                part for part in self._parts(one, other) if is_key(part, self._problem.input_of, one, other)
            ]
            self._keys[key] = self.pair_share(keys, one, other)
        return self._keys[key]

    def pair_share(self, parts: Sequence[Expression], one: int, other: int) -> float:
        """The share of pairs that satisfy some conditions of ours."""
        if not parts:
            return 1.0
        left, right = (self._selected(side & self.inputs, _is_joined(side)) for side in (one, other))
        return self._select(parts, left, right).share

    def reads(self, part: Expression) -> bool:
        """Whether a condition is one of ours."""
        return part.columns() <= self._columns

    def _selected(self, subset: int, is_joined: bool) -> Selected:
        if not subset & (subset - 1):
            return self._single(subset, is_joined)
        if subset not in self._joined:
            last = self._last(subset)
            rest = subset ^ last
            left, right = self._selected(rest, _is_joined(rest)), self._selected(last, is_joined=False)
            found = self._select(self._parts(rest, last), left, right)
            self._joined[subset] = Selected(left.share * found.share, found.facts, found.equal)
        return self._joined[subset]

    def _single(self, mask: int, is_joined: bool) -> Selected:
        """One input, or none; where it is joined with others, its own conditions are satisfied."""
        known = self._joined if is_joined else self._alone
        if mask not in known:
            nothing = Selected(1.0, {}, ())
            if not mask:
                known[mask] = nothing
            elif is_joined:
                known[mask] = self._select(self._parts(mask, 0), self._single(mask, False), nothing)
            else:
                i = mask.bit_length() - 1
                known[mask] = Selected(
                    1.0, self._problem.facts(i, self._columns), equal_columns(self._problem.nodes[i])
                )
        return known[mask]

    def _last(self, subset: int) -> int:
        """The input without which the others are still connected, if there is one."""
        for i in sorted(members(subset), reverse=True):
            if self._is_connected(subset ^ (1 << i)):
                return 1 << i
        return 1 << (subset.bit_length() - 1)

    def _is_connected(self, subset: int) -> bool:
        reached = subset & -subset
        while True:
            more = reached
            for mask in self._masks:
                if mask & reached:
                    more |= mask & subset
            if more == reached:
                return reached == subset
            reached = more

    def _parts(self, one: int, other: int) -> list[Expression]:
        return parts_of(self._links, self._checked, one, other, self._problem.every)

    def _select(self, parts: Sequence[Expression], left: Selected, right: Selected) -> Selected:
        known = {name: names for side in (left, right) for names in side.equal for name in names}
        share, facts = self._problem.model.selectivity.of(
            parts, self._problem.schema, paired(left.facts, right.facts), known
        )
        equal = (*left.equal, *right.equal, *(pair for part in parts for pair in equalities(part)))
        return Selected(share, facts, classes(equal, self._problem.schema.names))


class JoinShares:
    """The shares of a join problem: of combinations of rows that satisfy all conditions between them, and of
    pairs that implementations look at."""

    def __init__(self, problem: JoinProblem) -> None:
        self._problem = problem
        self._logarithms = {1 << i: 0.0 for i in range(len(problem.inputs))}
        self._factors: list[LinkFactor | MixedFactor] = []
        for links_, checked in _groups(problem):
            if not checked and _is_simple(problem, links_):
                self._factors.append(LinkFactor(problem, links_[0]))
            elif any(each.inputs for each in checked) or links_:
                self._factors.append(MixedFactor(problem, links_, checked))

    def of(self, one: int, other: int) -> float:
        """The share of pairs of rows of two sets of inputs that their join gives."""
        both = self._logarithm(one | other)
        return math.exp(both - self._logarithm(one) - self._logarithm(other)) if both > -math.inf else 0.0

    def of_keys(self, one: int, other: int, all_conditions: float) -> float:
        """The share that agrees in the columns that the condition of their join equates, given that of all
        its conditions."""
        if self._is_linked_only:
            return all_conditions
        share = 1.0
        for factor in self._factors:
            if factor.inputs & one and factor.inputs & other:
                share *= factor.key_share(one, other)
        return share

    def of_range(self, one: int, other: int) -> float:
        """The share that is in the range which the condition of their join states; 1 where it states none."""
        condition = conjunction(self._problem.parts(one, other))
        band = find_range(condition, self._visible(one), self._visible(other))
        if band is None:
            return 1.0
        for factor in self._factors:
            if isinstance(factor, MixedFactor) and factor.reads(band.parts[0]):
                return factor.pair_share(band.parts, one, other)
        raise AssertionError(f"nobody knows {band.parts[0]}")

    def _visible(self, subset: int) -> Schema:
        return Schema(tuple(column for i in members(subset) for column in self._problem.nodes[i].schema))

    def _logarithm(self, subset: int) -> float:
        """That of the share of all combinations of rows; the product of many small shares would be too small
        for a float."""
        if subset not in self._logarithms:
            self._logarithms[subset] = math.fsum(map(_logarithm, self._shares(subset)))
        return self._logarithms[subset]

    def _shares(self, subset: int) -> Iterator[float]:
        for factor in self._factors:
            if factor.inputs & subset:
                yield factor.share(subset)
        if subset == self._problem.every:
            yield self._constants

    @cached_property
    def _is_linked_only(self) -> bool:
        return all(isinstance(factor, LinkFactor) for factor in self._factors)

    @cached_property
    def _constants(self) -> float:
        """The share of the conditions that read nothing: all or none."""
        parts = [each.condition for each in self._problem.checked if not each.inputs]
        return self._problem.model.selectivity.of(parts, Schema(()), {}, {})[0]


def _groups(problem: JoinProblem) -> Iterator[tuple[list[Links], list[Checked]]]:
    """The conditions that have to do with each other."""
    reads: list[Links | Checked] = [*problem.links, *problem.checked]
    left = list(range(len(reads)))
    while left:
        group = [left.pop(0)]
        for index in group:
            near = [other for other in left if _have_to_do(reads[index], reads[other])]
            group += near
            left = [other for other in left if other not in near]
        members_ = [reads[index] for index in sorted(group)]
        yield (
            [each for each in members_ if isinstance(each, Links)],
            [each for each in members_ if isinstance(each, Checked)],
        )


def _have_to_do(one: Links | Checked, other: Links | Checked) -> bool:
    """Whether two conditions read a common column, or one thins the sample of an input that the other
    reads."""
    return bool(one.columns & other.columns or one.thinned & other.inputs or other.thinned & one.inputs)


def _is_simple(problem: JoinProblem, links_: Sequence[Links]) -> bool:
    """Whether there is one class, with one column of each input, and values of all of these are known."""
    if len(links_) != 1 or any(len(names) > 1 for names in links_[0].names.values()):
        return False
    names = {i: name for i, (name,) in links_[0].names.items()}
    return not problem.model.selectivity.knows(links_[0].columns) and all(
        name in problem.facts(i, frozenset({name})) for i, name in names.items()
    )


def _is_joined(subset: int) -> bool:
    return subset & (subset - 1) != 0


def _logarithm(share: float) -> float:
    return math.log(share) if share else -math.inf
