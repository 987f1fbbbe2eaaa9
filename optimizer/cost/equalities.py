"""Equalities of columns, in the fewest that say the same."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import networkx as nx

from midstream.optimizer.cost.column_facts import Facts
from midstream.plans.expressions.expressions import Expression, equality


def least_equalities(pairs: Iterable[tuple[str, str]], facts: Facts) -> list[Expression]:
    """The equalities that make pairs of columns equal, beyond those that facts tell: first those within one
    sample, whose rows answer them together, then as few as suffice between samples.

    With x and y of one sample and z of another, or of none, x = z and y = z become x = y and x = z.
    """
    stated: nx.utils.UnionFind[str] = nx.utils.UnionFind()
    known: nx.utils.UnionFind[str] = nx.utils.UnionFind()
    within: list[Expression] = []
    between: list[Expression] = []
    for one, other in pairs:
        if one == other:
            within.append(equality(one, other))
        stated.union(one, other)
        for name in (one, other):
            equals = facts[name].equals if name in facts else {name}
            stated.union(*equals)
            known.union(*equals)
    for names in sorted(map(sorted, stated.to_sets())):
        for one, other in combinations(names, 2):
            samples = [facts[name].sample if name in facts else None for name in (one, other)]
            if samples[0] is not None and samples[0] is samples[1] and known[one] != known[other]:
                within.append(equality(one, other))
                known.union(one, other)
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(known[name], []).append(name)
        first, *rest = sorted(map(min, groups.values()))
        between += [equality(first, other) for other in rest]
    return within + between
