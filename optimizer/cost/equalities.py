"""Equalities of columns, reduced to the fewest equivalent ones."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import combinations

from midstream.optimizer.cost.column_facts import Facts
from midstream.plans.expressions.expressions import Expression, equality


def least_equalities(pairs: Iterable[tuple[str, str]], facts: Facts) -> list[Expression]:
    """The fewest equalities that make pairs of columns equal, without those that facts already tell.

    Equalities within one sample come first, since its rows answer them together; then as few between samples
    as suffice. With x and y of one sample and z of another, or of none, x = z and y = z become x = y and
    x = z.
    """
    stated: Sets = {}
    known: Sets = {}
    within: list[Expression] = []
    between: list[Expression] = []
    for one, other in pairs:
        if one == other:
            within.append(equality(one, other))
        _unite(stated, {one, other})
        for name in (one, other):
            equals = facts[name].equals if name in facts else {name}
            _unite(stated, equals)
            _unite(known, equals)
    for names in sorted(map(sorted, {id(names): names for names in stated.values()}.values())):
        for one, other in combinations(names, 2):
            samples = [facts[name].sample if name in facts else None for name in (one, other)]
            if samples[0] is not None and samples[0] is samples[1] and other not in known[one]:
                within.append(equality(one, other))
                _unite(known, {one, other})
        first, *rest = sorted({min(known[name]) for name in names})
        between += [equality(first, other) for other in rest]
    return within + between


Sets = dict[str, AbstractSet[str]]
"""By name, the set that contains it; all members share one set object."""


def _unite(sets: Sets, names: AbstractSet[str]) -> None:
    """Merge the sets that contain some names."""
    union = frozenset(names).union(*(sets[name] for name in names if name in sets))
    sets.update(dict.fromkeys(union, union))
