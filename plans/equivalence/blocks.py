"""Normal form of filters, projections and joins, independent of their nesting.

    block  =  { out(a, b, …) | a in A, b in B, …, all conditions hold }        over atoms A, B, …
    form   =  block + block + …                                                a multiset of rows

Any other operator is an atom: a window, or an operator over forms of its own. A condition on rows of one atom
moves into the atom's forms, where the operator allows it. Equalities are classes of equal terms. Forms are
numbered: forms with equal numbers are equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import networkx as nx

from midstream.plans.equivalence.terms import InputColumn, Terms

MOST_NUMBERED = 256
"""Most atoms of a plan that are numbered with conditions moved into them; later conditions stay outside."""

UNION, DISTINCT = ("union",), ("distinct",)

EITHER_WAY = "either way"
"""The end of the tag of an atom whose two inputs may change places."""

Equal = frozenset[frozenset[int]]
"""Classes of terms that are equal to each other, and known."""

Same = Mapping[int, frozenset[int]]
"""For each term, the terms that equal it and whose types make equal values identical."""

Shape = tuple[tuple[Any, ...], ...]
"""The conditions, classes and columns of a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """An input of a block.

    `tag` names the operator that is applied to the rows of the forms in `inner`. The first `free` columns of
    the atom are columns of these forms: a condition on them may move there.
    """

    tag: tuple[Hashable, ...]
    exact: tuple[bool, ...]
    """For each column, True if equal values of it are identical."""
    inner: tuple[Block, ...] = ()
    free: int = 0
    is_set: bool = False
    """True if no row occurs twice."""
    beside: tuple[Block, ...] = ()
    """The rows of a second input, to which conditions apply as well."""


@dataclass(frozen=True, slots=True)
class Block:
    """Combined rows of atoms that fulfil conditions, shown as `out`; all terms are over columns of atoms."""

    atoms: tuple[Atom, ...]
    holds: frozenset[int]
    equal: Equal
    out: tuple[int, ...]

    @property
    def terms(self) -> Iterator[int]:
        """All terms of the block."""
        return chain(self.holds, *self.equal, self.out)


BlockSum = tuple[Block, ...]


class Blocks:
    """Operations on the blocks of one plan."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._numbers: dict[tuple[Atom, frozenset[int], Equal], int] = {}

    def over(self, atom: Atom) -> Block:
        """The block of all rows of an atom."""
        return Block((atom,), frozenset(), frozenset(), self.columns(0, atom.exact))

    def columns(self, place: int, exact: tuple[bool, ...]) -> tuple[int, ...]:
        """The columns of the atom at a place."""
        return tuple(self._terms.column((place, i, is_exact)) for i, is_exact in enumerate(exact))

    def where(self, block: Block, conditions: Iterable[int], equal: Equal = frozenset()) -> Block:
        """A block with more conditions."""
        terms = self._terms
        parts = [part for condition in conditions for part in terms.conjuncts(condition)]
        classes = [frozenset(terms.equated(part)) for part in parts]
        holds = (part for part, equated in zip(parts, classes, strict=True) if not equated)
        return replace(
            block,
            holds=block.holds.union(holds),
            equal=merged_classes([*block.equal, *equal, *filter(None, classes)]),
        )

    def inlined(self, block: Block, place: int, inner: Block) -> Block:
        """A block in which another block replaces an atom."""
        others = block.atoms[:place] + block.atoms[place + 1 :]
        inner = self.shifted(inner, len(others))

        def instead(column: InputColumn) -> int:
            at, i, is_exact = column
            return inner.out[i] if at == place else self._terms.column((at - (at > place), i, is_exact))

        outer = self._replaced(block, instead)
        both = replace(inner, atoms=others + inner.atoms, out=outer.out)
        return self.where(both, outer.holds, outer.equal)

    def shifted(self, block: Block, by: int) -> Block:
        """A block whose atoms stand behind `by` other atoms."""
        return self._replaced(block, lambda column: self._terms.column((column[0] + by, *column[1:])))

    def number(self, form: BlockSum) -> int:
        """The number of a form: forms with equal numbers are equivalent; the converse does not hold."""
        return self._terms.number(("form", *sorted(map(self._block_number, form))))

    def _replaced(self, block: Block, by: Callable[[InputColumn], int]) -> Block:
        """A block with other terms for the columns of its atoms."""
        empty = Block(block.atoms, frozenset(), frozenset(), self._all(block.out, by))
        return self.where(empty, self._all(block.holds, by), self._classes(block.equal, by))

    def _all(self, terms: Iterable[int], by: Callable[[InputColumn], int]) -> tuple[int, ...]:
        return tuple(self._terms.replaced(term, by) for term in terms)

    def _classes(self, equal: Equal, by: Callable[[InputColumn], int]) -> Equal:
        return frozenset(frozenset(self._all(terms, by)) for terms in equal)

    def _block_number(self, block: Block) -> int:
        """The number of a block, from its atoms and terms, independent of the order of the atoms."""
        numbers, shape = self._canonical(block)
        return self._terms.number(("block", *numbers, shape))

    def ranks(self, form: BlockSum) -> list[tuple[int, ...]]:
        """Ranks by which a form's columns can be ordered, independent of the order of blocks and atoms."""
        if len(form[0].out) < 2:
            return [()] * len(form[0].out)
        rows = [self._canonical(block)[1][-1] for block in form]
        return [tuple(sorted(terms)) for terms in zip(*rows, strict=True)]

    def _canonical(self, block: Block) -> tuple[list[int], Shape]:
        """The numbers of a block's atoms, and its terms over them."""
        block = self.without_what_follows(block)
        exact = [terms for terms in block.equal if all(map(self._terms.is_exact, terms))]
        same = {term: terms for terms in exact for term in terms}
        block, moved = self._conditions_moved(block)
        numbers = [self._atom_number(atom, *moved[place]) for place, atom in enumerate(block.atoms)]
        place = {old: new for new, old in enumerate(self._order(block, same, numbers))}
        shape = self._shape(block, same, lambda column: self._terms.column((place[column[0]], *column[1:])))
        return sorted(numbers), shape

    def without_what_follows(self, block: Block) -> Block:
        """A block without conditions that follow from others."""
        holds = self._terms.together(block.holds, block.equal)
        if holds == {self._terms.false} and self._terms.are_total(chain.from_iterable(block.equal)):
            return replace(block, holds=holds, equal=frozenset())
        return replace(block, holds=holds)

    def _order(self, block: Block, same: Same, numbers: Sequence[int]) -> list[int]:
        """The places of a block's atoms, in an order that depends on the atoms and their use in its terms.

        Atoms are ordered by their numbers; equal atoms, by their parts in the block's terms. Of atoms that
        are still alike, one is taken as the first. Mostly such atoms can change places; where they cannot,
        the same block in another order may get another number.
        """
        places, signs = range(len(numbers)), list(numbers)
        while len(set(signs)) < len(signs):
            refined = [self._sign(block, same, place, signs) for place in places]
            if len(set(refined)) == len(set(signs)):
                alike = min(sign for sign in refined if refined.count(sign) > 1)
                refined[refined.index(alike)] = self._terms.number(("first", alike))
            signs = refined
        return sorted(places, key=signs.__getitem__)

    def _sign(self, block: Block, same: Same, place: int, signs: Sequence[int]) -> int:
        """A refined sign of an atom: its own sign, with the block's terms over the signs of all atoms."""

        def seen(column: InputColumn) -> int:
            return self._terms.column((-1 if column[0] == place else signs[column[0]], *column[1:]))

        return self._terms.number(("sign", signs[place], self._shape(block, same, seen)))

    def _shape(self, block: Block, same: Same, by: Callable[[InputColumn], int]) -> Shape:
        """The terms of a block over other columns; identical columns are interchangeable."""
        return (
            tuple(sorted(self._all(block.holds, by))),
            tuple(sorted(tuple(sorted(self._all(terms, by))) for terms in block.equal)),
            tuple(min(self._all(same.get(term, (term,)), by)) for term in block.out),
        )

    def _atom_number(self, atom: Atom, holds: frozenset[int], equal: Equal) -> int:
        """The number of an atom with conditions, which are over its columns as those of the first atom."""
        key = (atom, holds, equal)
        if key not in self._numbers:
            rows, beside = (
                sorted(self._block_number(self._under(inner, holds, equal)) for inner in form)
                for form in (atom.inner, atom.beside)
            )
            if atom.tag == DISTINCT:
                rows = sorted(set(rows))
            if atom.tag[-1] == EITHER_WAY:
                rows, beside = sorted((rows, beside))
            self._numbers[key] = self._terms.number(("atom", atom.tag, tuple(rows), tuple(beside)))
        return self._numbers[key]

    def _under(self, inner: Block, holds: frozenset[int], equal: Equal) -> Block:
        """A block with conditions on its columns."""

        def within(column: InputColumn) -> int:
            return inner.out[column[1]]

        return self.where(inner, self._all(holds, within), self._classes(equal, within))

    def _conditions_moved(self, block: Block) -> tuple[Block, list[tuple[frozenset[int], Equal]]]:
        """Split off the conditions that can move into an atom.

        The result is the block without them, and for each atom its conditions, over its columns as those of
        the first atom. An equality across two atoms stays outside once, by a column of each.
        """

        def alone(column: InputColumn) -> int:
            return self._terms.column((0, *column[1:]))

        places = range(len(block.atoms))
        may_move = len(self._numbers) < MOST_NUMBERED
        local = {
            term: place
            for place in places
            for term in chain(block.holds, *block.equal)
            if may_move and self._may_enter(term, place, block.atoms[place])
        }
        holds = [frozenset(self._all((t for t in block.holds if local.get(t) == p), alone)) for p in places]
        equal: list[set[frozenset[int]]] = [set() for _ in places]
        kept = set()
        for terms in block.equal:
            constants = {term for term in terms if not self._terms.columns(term)}
            outside = set(terms)
            for place in {local[term] for term in terms if term in local}:
                own = {term for term in terms if local.get(term) == place}
                if len(own | constants) > 1 or len(terms) == 1:
                    equal[place].add(frozenset(self._all(own | constants, alone)))
                    first = min(own, key=lambda term: self._terms.replaced(term, alone))
                    outside -= (own - {first}) | constants
            if len(outside) > 1 or not any(term in local for term in terms):
                kept.add(frozenset(outside))
        block = replace(block, holds=block.holds - local.keys(), equal=frozenset(kept))
        return block, [(some, frozenset(classes)) for some, classes in zip(holds, equal, strict=True)]

    def _may_enter(self, term: int, place: int, atom: Atom) -> bool:
        """True if a condition on rows of an atom may move into it.

        Where equal rows become one, the condition must not distinguish them.
        """
        columns = self._terms.columns(term)
        return (
            bool(columns)
            and all(at == place and i < atom.free for at, i, _ in columns)
            and (atom.tag == UNION or self._terms.is_faithful(term))
        )


def merged_classes(classes: Iterable[frozenset[int]]) -> Equal:
    """Classes of equal terms, where classes that share a term are merged."""
    union: nx.utils.UnionFind[int] = nx.utils.UnionFind()
    for terms in classes:
        union.union(*terms)
    return frozenset(map(frozenset, union.to_sets()))
