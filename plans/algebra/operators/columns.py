"""Facts about columns of rows: equal columns, keys and functional dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from midstream.plans.expressions.expressions import (
    Binary,
    Col,
    Const,
    Expression,
    IsNull,
    column_equality,
    conjuncts,
)
from midstream.plans.values.schema import Schema, Type

MOST_KEYS = 8
"""Most keys that are derived for a subplan: joins multiply keys, and the shortest are the most useful."""

MOST_DEPENDENCIES = 64
"""Most dependencies that are derived for a subplan."""

Sets = Sequence[frozenset[str]]
"""Sets of names of columns."""


class Dependency(NamedTuple):
    """A functional dependency: rows that agree on `columns` agree on the columns that it `determines`.

    Unknown values agree with each other, as in groups.
    """

    columns: frozenset[str]
    """The empty set says that the determined columns are constant."""
    determines: frozenset[str]

    def __str__(self) -> str:
        """The dependency as text, for example `{item} → {seller}`."""
        return " → ".join(f"{{{', '.join(sorted(names))}}}" for names in self)


Dependencies = Sequence[Dependency]


class Columns(NamedTuple):
    """The properties of the columns of an input."""

    schema: Schema
    equal: Sets
    """The classes of columns that are equal in every row, without classes of one column."""
    keys: Sets
    """Sets of columns that no two rows agree on while both are valid.

    Unknown values agree with each other, as in groups.
    """
    lasting_keys: Sets = ()
    """Sets of columns that no two rows agree on at any time; each row is valid at one instant."""
    dependencies: Dependencies = ()
    """The dependencies among rows of one instant; in lasting derivations, among rows of all instants."""


def equalities(condition: Expression) -> Iterator[frozenset[str]]:
    """The pairs of columns that a condition makes equal."""
    for part in conjuncts(condition):
        if columns := column_equality(part):
            yield frozenset(columns)


def classes(sets: Iterable[frozenset[str]], visible: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The classes of equal columns among the visible ones, where the columns of each given set are equal."""
    names = frozenset(visible)
    union = nx.utils.UnionFind(names)
    for alike in sets:
        union.union(*alike)
    united = (frozenset(names_) & names for names_ in union.to_sets())
    return tuple(sorted((alike for alike in united if len(alike) > 1), key=min))


def carried(
    keys: Iterable[frozenset[str]], names: Mapping[str, str], equal: Iterable[frozenset[str]]
) -> tuple[frozenset[str], ...]:
    """Keys under the names that their columns have further up, as in `names`.

    An equal column replaces a dropped one; a key that still lacks a column is dropped.
    """
    stands = dict(names)
    for alike in equal:
        shown = sorted(names[name] for name in alike if name in names)
        stands |= {name: shown[0] for name in alike if shown and name not in names}
    return shortest(frozenset(stands[name] for name in key) for key in keys if key <= stands.keys())


def shortest(keys: Iterable[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """The keys that include no other key, in a fixed order, at most MOST_KEYS."""
    chosen: list[frozenset[str]] = []
    for key in sorted(set(keys), key=lambda key: (len(key), sorted(key))):
        if not any(other <= key for other in chosen):
            chosen.append(key)
    return tuple(chosen[:MOST_KEYS])


def closure(columns: Iterable[str], dependencies: Iterable[Dependency]) -> frozenset[str]:
    """All columns that some columns determine.

    Cost: O(dependencies²) set operations.

    >>> a, b, c = (frozenset(name) for name in "abc")
    >>> sorted(closure(a, [Dependency(b, c), Dependency(a, b)]))
    ['a', 'b', 'c']
    """
    reached, left = frozenset(columns), list(dependencies)
    while ready := [one for one in left if one.columns <= reached]:
        left = [one for one in left if not one.columns <= reached]
        reached = reached.union(*(one.determines for one in ready))
    return reached


def of_equal(equal: Iterable[frozenset[str]]) -> Iterator[Dependency]:
    """The dependencies among equal columns."""
    for alike in equal:
        for name in sorted(alike):
            yield Dependency(frozenset({name}), alike - {name})


def of_constants(condition: Expression) -> Iterator[Dependency]:
    """The dependencies of columns that a condition fixes, by a constant or as unknown."""
    for part in conjuncts(condition):
        match part:
            case Binary("==", Col(name), Const()) | Binary("==", Const(), Col(name)) | IsNull(Col(name)):
                yield Dependency(frozenset(), frozenset({name}))


def of_computed(columns: Iterable[tuple[str, Expression]], schema: Schema) -> Iterator[Dependency]:
    """The dependencies of computed columns on the columns that they are computed from.

    Only columns whose equal values are indistinguishable count: 0.0 and -0.0 are equal, but give different
    texts.
    """
    for name, expression in columns:
        read = expression.columns()
        if all(schema[column].type in _EXACT for column in read):
            yield Dependency(read, frozenset({name}))


def visible(dependencies: Iterable[Dependency], names: Iterable[str]) -> tuple[Dependency, ...]:
    """The dependencies among some columns that follow from dependencies among more.

    Where another column depends on a dropped column, the columns that determine the dropped one replace it.
    There is one dependency for each set of columns, the smallest sets first, and at most MOST_DEPENDENCIES.

    Cost: O(dropped columns × MOST_DEPENDENCIES²) set operations.
    """
    shown = frozenset(names)
    kept = _fewest(dependencies)
    for dropped in sorted(frozenset().union(*(one.columns for one in kept)) - shown):
        makers = [one.columns for one in kept if dropped in one.determines]
        without = [one for one in kept if dropped not in one.columns]
        for one in kept:
            if dropped in one.columns:
                without.extend(Dependency(one.columns - {dropped} | made, one.determines) for made in makers)
        kept = _fewest(without)
    result: list[Dependency] = []
    for one in kept:
        # Leave out columns that follow from dependencies with fewer columns.
        if new := (one.determines & shown) - closure(one.columns, result):
            result.append(Dependency(one.columns, new))
    return tuple(result)


def _fewest(dependencies: Iterable[Dependency]) -> list[Dependency]:
    """One dependency for each set of columns, the smallest sets first, at most MOST_DEPENDENCIES."""
    united: dict[frozenset[str], frozenset[str]] = {}
    for one in dependencies:
        united[one.columns] = united.get(one.columns, frozenset()) | one.determines - one.columns
    shown = [Dependency(columns, found) for columns, found in united.items() if found]
    return sorted(shown, key=lambda one: (len(one.columns), sorted(one.columns)))[:MOST_DEPENDENCIES]


_EXACT = frozenset({Type.INTEGER, Type.STRING, Type.BOOLEAN})
"""The types in which equal values are indistinguishable."""
