"""The share of combinations of rows that satisfies the conditions between some inputs of a join problem.

Most conditions are independent of each other. So they are divided into factors, and a share is the product of
the factors' shares. The share of a factor depends only on those of its inputs that are joined; so a chain of
20 inputs has 19 shares, though 190 sets of inputs.
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
"""Greatest number of sets of inputs in the cache of a class; it limits the memory of a long search."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Properties of combinations of rows that satisfy conditions.

    share    their share of all combinations
    facts    facts about their columns
    equal    sets of columns that are equal in them
    """

    share: float
    facts: Facts
    equal: tuple[frozenset[str], ...]


class LinkFactor:
    """A class of columns, one of each input, in different samples.

    The share of combinations that agree is

        Σ  p₁(v) p₂(v) …        over the values v

    as by (22.4) with what each step leaves: see `equated`.
    """

    def __init__(self, problem: JoinProblem, each: Links) -> None:
        self.inputs = each.inputs
        self._agreeing: dict[int, tuple[float, Distribution]] = {}
        for i, (name,) in each.names.items():
            self._agreeing[1 << i] = 1.0, problem.facts(i, frozenset({name}))[name].distribution

    def share(self, subset: int) -> float:
        """The share of combinations of rows of these inputs, of which at least one belongs to the class."""
        return self._agree(subset & self.inputs)[0]

    def key_share(self, left: int, right: int) -> float:
        """The share of pairs that agree."""
        apart = self.share(left) * self.share(right)
        return self.share(left | right) / apart if apart else 0.0

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
    """Conditions that depend on each other: they read the same columns, or one filters another's sample.

    Their shares are estimated as for joins in a fixed order, which follows the conditions where it can.
    """

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
        """The share of combinations of rows of these inputs, of which the conditions read at least one."""
        return self._selected(subset & self.inputs, is_joined=True).share

    def key_share(self, left: int, right: int) -> float:
        """The share of pairs that agree in the columns that the conditions equate."""
        key = (left & self.inputs, right & self.inputs, _is_joined(left), _is_joined(right))
        if key not in self._keys:
            keys = [
                part for part in self._parts(left, right) if is_key(part, self._problem.input_of, left, right)
            ]
            self._keys[key] = self.pair_share(keys, left, right)
        return self._keys[key]

    def pair_share(self, parts: Sequence[Expression], left: int, right: int) -> float:
        """The share of pairs that satisfy some of these conditions."""
        if not parts:
            return 1.0
        s, t = (self._selected(side & self.inputs, _is_joined(side)) for side in (left, right))
        return self._select(parts, s, t).share

    def reads(self, part: Expression) -> bool:
        """True if a condition reads only columns of this factor."""
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
        """One input, or none; if it is joined with others, its own conditions are satisfied."""
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
        """An input without which the others are still connected; if there is none, the last input."""
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

    def _parts(self, left: int, right: int) -> list[Expression]:
        return parts_of(self._links, self._checked, left, right, self._problem.every)

    def _select(self, parts: Sequence[Expression], left: Selected, right: Selected) -> Selected:
        known = {name: names for side in (left, right) for names in side.equal for name in names}
        share, facts = self._problem.model.selectivity.of(
            parts, self._problem.schema, paired(left.facts, right.facts), known
        )
        equal = (*left.equal, *right.equal, *(pair for part in parts for pair in equalities(part)))
        return Selected(share, facts, classes(equal, self._problem.schema.names))


class JoinShares:
    """The shares of a join problem: of results of joins, and of pairs that implementations compare."""

    def __init__(self, problem: JoinProblem) -> None:
        self._problem = problem
        self._logarithms = {1 << i: 0.0 for i in range(len(problem.inputs))}
        self._factors: list[LinkFactor | MixedFactor] = []
        for links_, checked in _groups(problem):
            if not checked and _is_simple(problem, links_):
                self._factors.append(LinkFactor(problem, links_[0]))
            elif any(each.inputs for each in checked) or links_:
                self._factors.append(MixedFactor(problem, links_, checked))

    def of(self, left: int, right: int) -> float:
        """The share of pairs of rows of two sets of inputs that their join returns."""
        both = self._logarithm(left | right)
        return math.exp(both - self._logarithm(left) - self._logarithm(right)) if both > -math.inf else 0.0

    def of_keys(self, left: int, right: int, all_conditions: float) -> float:
        """The share that agrees in the columns that the join condition equates.

        `all_conditions` is the share that satisfies the whole condition.
        """
        if self._is_linked_only:
            return all_conditions
        share = 1.0
        for factor in self._factors:
            if factor.inputs & left and factor.inputs & right:
                share *= factor.key_share(left, right)
        return share

    def of_range(self, left: int, right: int) -> float:
        """The share in the range that the join condition states; 1 if it states none."""
        condition = conjunction(self._problem.parts(left, right))
        band = find_range(condition, self._visible(left), self._visible(right))
        if band is None:
            return 1.0
        for factor in self._factors:
            if isinstance(factor, MixedFactor) and factor.reads(band.parts[0]):
                return factor.pair_share(band.parts, left, right)
        raise AssertionError(f"no factor reads {band.parts[0]}")

    def _visible(self, subset: int) -> Schema:
        return Schema(tuple(column for i in members(subset) for column in self._problem.nodes[i].schema))

    def _logarithm(self, subset: int) -> float:
        """The logarithm of the share of combinations of rows; the share may be too small for a float."""
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
        """The share of the conditions that read no column: all or none."""
        parts = [each.condition for each in self._problem.checked if not each.inputs]
        return self._problem.model.selectivity.of(parts, Schema(()), {}, {})[0]


def _groups(problem: JoinProblem) -> Iterator[tuple[list[Links], list[Checked]]]:
    """The conditions in groups that depend on each other."""
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


def _have_to_do(left: Links | Checked, right: Links | Checked) -> bool:
    """True if two conditions read a common column, or one filters the sample of an input the other reads."""
    return bool(left.columns & right.columns or left.thinned & right.inputs or right.thinned & left.inputs)


def _is_simple(problem: JoinProblem, links_: Sequence[Links]) -> bool:
    """True for one class with one column of each input, if the values of all of them are known."""
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
