"""What is known of the columns of an operator's rows: which are equal, which are keys, and which depend on
others."""

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
"""How many keys of a subplan are told at most: joins of joins multiply them, and the shortest are of most
use."""

MOST_DEPENDENCIES = 64
"""How many dependencies of a subplan are told at most."""

Sets = Sequence[frozenset[str]]
"""Sets of columns' names."""


class Dependency(NamedTuple):
    """Rows that agree on some columns agree on others: a functional dependency. Unknown values agree with
    each other, as in groups."""

    columns: frozenset[str]
    """None says that the others are the same in all rows."""
    determines: frozenset[str]

    def __str__(self) -> str:
        """As one writes it: {item} → {seller}."""
        return " → ".join(f"{{{', '.join(sorted(names))}}}" for names in self)


Dependencies = Sequence[Dependency]


class Columns(NamedTuple):
    """What is known of the columns of an input."""

    schema: Schema
    equal: Sets
    """The classes of columns that are equal in every row; those of one column are left out."""
    keys: Sets
    """Sets of columns that no two rows agree on while both are valid; unknown values agree with each other,
    as in groups."""
    lasting_keys: Sets = ()
    """Sets of columns that no two rows agree on whenever they are valid: of all instants together, one row at
    one of them."""
    dependencies: Dependencies = ()
    """Of the rows of one instant; where those of all time are asked for, of the rows of all instants."""


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


def closure(columns: Iterable[str], dependencies: Iterable[Dependency]) -> frozenset[str]:
    """All columns that rows agree on which agree on some.

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
    """The dependencies of columns that are equal."""
    for alike in equal:
        for name in sorted(alike):
            yield Dependency(frozenset({name}), alike - {name})


def of_constants(condition: Expression) -> Iterator[Dependency]:
    """Of the columns that a condition fixes, by a constant or as unknown: they depend on nothing."""
    for part in conjuncts(condition):
        match part:
            case Binary("==", Col(name), Const()) | Binary("==", Const(), Col(name)) | IsNull(Col(name)):
                yield Dependency(frozenset(), frozenset({name}))


def of_computed(columns: Iterable[tuple[str, Expression]], schema: Schema) -> Iterator[Dependency]:
    """Of computed columns: they depend on what they are computed from, where equal values are the same to
    whoever looks: 0.0 and -0.0 are equal, and are told apart by what makes text of them."""
    for name, expression in columns:
        read = expression.columns()
        if all(schema[column].type in _EXACT for column in read):
            yield Dependency(read, frozenset({name}))


def visible(dependencies: Iterable[Dependency], names: Iterable[str]) -> tuple[Dependency, ...]:
    """The dependencies among some columns that follow from those among more.

    A column that is dropped is replaced, in what depends on it, by what it depends on. One for each set of
    columns, the smallest sets first; no more than are of use.

    Cost: O(dropped columns × MOST_DEPENDENCIES²) set operations.
    """
    shown = frozenset(names)
    kept = _fewest(dependencies)
    for dropped in sorted(frozenset().union(*(one.columns for one in kept)) - shown):
        makers = [one.columns for one in kept if dropped in one.determines]
        rest = [one for one in kept if dropped not in one.columns]
        for one in kept:
            if dropped in one.columns:
                rest.extend(Dependency(one.columns - {dropped} | made, one.determines) for made in makers)
        kept = _fewest(rest)
    told: list[Dependency] = []
    for one in kept:
        # What follows from those of fewer columns is not told again.
        if found := (one.determines & shown) - closure(one.columns, told):
            told.append(Dependency(one.columns, found))
    return tuple(told)


def _fewest(dependencies: Iterable[Dependency]) -> list[Dependency]:
    """One for each set of columns, the smallest first."""
    united: dict[frozenset[str], frozenset[str]] = {}
    for one in dependencies:
        united[one.columns] = united.get(one.columns, frozenset()) | one.determines - one.columns
    shown = [Dependency(columns, found) for columns, found in united.items() if found]
    return sorted(shown, key=lambda one: (len(one.columns), sorted(one.columns)))[:MOST_DEPENDENCIES]


_EXACT = frozenset({Type.INTEGER, Type.STRING, Type.BOOLEAN})
"""Columns of these types hold each value in one form only."""
