"""What is known of the columns of an operator's rows: which are equal, and which are keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from midstream.plans.expressions.expressions import Expression, column_equality, conjuncts
from midstream.plans.values.schema import Schema

MOST_KEYS = 8
"""How many keys of a subplan are told at most: joins of joins multiply them, and the shortest are of most
use."""


Sets = Sequence[frozenset[str]]
"""Sets of columns' names."""


class Columns(NamedTuple):
    """What is known of the columns of an input."""

    schema: Schema
    equal: Sets
    """The classes of columns that are equal in every row; those of one column are left out."""
    keys: Sets
    """Sets of columns that no two rows agree on while both are valid; unknown values agree with each other,
    as in groups."""


def equalities(condition: Expression) -> Iterator[frozenset[str]]:
    """The pairs of columns that a condition equates."""
    for part in conjuncts(condition):
        if columns := column_equality(part):
            yield frozenset(columns)


def classes(sets: Iterable[frozenset[str]], visible: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The classes of the visible columns that are equal, where those of each set are."""
    names = frozenset(visible)
    union = nx.utils.UnionFind(names)
    for alike in sets:
        union.union(*alike)
    united = (frozenset(names_) & names for names_ in union.to_sets())
    return tuple(sorted((alike for alike in united if len(alike) > 1), key=min))


def carried(
    keys: Iterable[frozenset[str]], names: Mapping[str, str], equal: Iterable[frozenset[str]]
) -> tuple[frozenset[str], ...]:
    """Keys under the names that columns have further up, in `names`. A column that is dropped is replaced by
    an equal one; a key of which a column is lost is lost."""
    stands = dict(names)
    for alike in equal:
        shown = sorted(names[name] for name in alike if name in names)
        stands |= {name: shown[0] for name in alike if shown and name not in names}
    return shortest(frozenset(stands[name] for name in key) for key in keys if key <= stands.keys())


def shortest(keys: Iterable[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Those that include no other, in a fixed order, and no more than are of use."""
    chosen: list[frozenset[str]] = []
    for key in sorted(set(keys), key=lambda key: (len(key), sorted(key))):
        if not any(other <= key for other in chosen):
            chosen.append(key)
    return tuple(chosen[:MOST_KEYS])
