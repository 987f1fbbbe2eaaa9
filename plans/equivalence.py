"""Whether two subplans certainly mean the same.

Both are brought into the form that `blocks` describes, operator by operator from the leaves up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from midstream.plans.blocks import DISTINCT, UNION, Atom, Block, Blocks, Form, merged
from midstream.plans.expressions import Col, Expression
from midstream.plans.logical import (
    Aggregate,
    AntiJoin,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Project,
    SemiJoin,
    StrictDifference,
    Union,
)
from midstream.plans.plan import Node
from midstream.plans.properties import equal_columns, keys, logical, meant
from midstream.plans.schema import Schema, Type
from midstream.plans.terms import Terms

MOST_ATOMS = 16
"""How many atoms a block has at most, and a form blocks: a subplan that is joined with itself, and that again
with itself, doubles them."""


def same_meaning(one: Node, other: Node) -> bool:
    """Whether it is certain that two subplans, logical or physical, give snapshot-equivalent results with the
    same columns, whatever streams they read.

    False says that this was not shown, not that they differ. Implementations and arrangements mean nothing;
    windows, and all else whose snapshots depend on more than their input's snapshot, mean the same over equal
    inputs only; a Box means what it is to become.

    Cost: O(nodes × atoms × conditions); of a join with k equal inputs, up to k² times that.

    >>> from midstream.plans.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> one = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")])
    >>> other = a.join(b.join(c, on=[("b", "c")]), on=[("a", "c")])
    >>> same_meaning(one.distinct().node, other.distinct().node)
    True
    >>> same_meaning(one.node, other.select("c", "b", "a").node)
    False
    """
    return Meanings().are_same(one, other)


class Meanings:
    """As `same_meaning`, for many questions about the same plans: what was read is not read again."""

    def __init__(self) -> None:
        terms = Terms()
        self._sides = _Side(terms), _Side(terms)

    def are_same(self, one: Node, other: Node) -> bool:
        """Whether it is certain that two subplans mean the same."""
        if one == other:
            return True
        if one.schema != other.schema:
            return False
        first, second = (side.of(meant(node)) for side, node in zip(self._sides, (one, other), strict=True))
        return first == second


class _Side:
    """The forms of one plan's nodes. Those over the same terms can be compared."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._blocks = Blocks(terms)
        self._forms: dict[Node, Form] = {}

    def of(self, node: Node) -> int:
        """The number of what a subplan means."""
        for below in node.walk():
            if below not in self._forms:
                self._forms[below] = self._form(below)
        return self._blocks.number(self._forms[node])

    def _form(self, node: Node) -> Form:
        operator, inputs = logical(node), [self._forms[child] for child in node.inputs]
        if not inputs or not operator.is_snapshot_reducible:
            return self._one(node, (node,))
        schema = node.inputs[0].schema
        match operator:
            case Filter(condition):
                return tuple(self._blocks.where(b, self._read([condition], schema, b.out)) for b in inputs[0])
            case Project(columns):
                read = [expression for _, expression in columns]
                return tuple(replace(b, out=self._read(read, schema, b.out)) for b in inputs[0])
            case Union():
                blocks = tuple(chain.from_iterable(inputs))
                return blocks if len(blocks) <= MOST_ATOMS else self._structure(node)
            case Join():
                return self._join(node, operator)
            case Distinct():
                return inputs[0] if keys(node.inputs[0]) else self._distinct(node, inputs[0])
            case Aggregate(names, calls):
                found = [call for _, call in calls]
                tag = tuple((call.function, call.distinct, call.k, call.argument is None) for call in found)
                read = [*map(Col, names), *(call.argument for call in found if call.argument is not None)]
                inner = tuple(replace(b, out=self._read(read, schema, b.out)) for b in inputs[0])
                return self._one(node, ("aggregate", len(names), tag), inner, len(names))
        return self._structure(node)

    def _structure(self, node: Node) -> Form:
        """An operator that conditions do not move through."""
        operator, schemas = logical(node), tuple(child.schema for child in node.inputs)
        numbers = tuple(self._blocks.number(self._forms[child]) for child in node.inputs)
        match operator:
            case Union():
                return self._one(node, ("union of many", *sorted(numbers)))
            case MaxUnion() | Intersection() if all(_exact(schemas[0])):
                numbers = tuple(sorted(numbers))
            case SemiJoin(condition) | AntiJoin(condition):
                both = [
                    column for i, s in enumerate(schemas) for column in self._blocks.columns(i, _exact(s))
                ]
                read = self._read([condition], schemas[0].concat(schemas[1]), both)
                pairs = self._blocks.where(Block((), frozenset(), frozenset(), ()), read)
                return self._one(node, (operator.name, *numbers, pairs.holds, pairs.equal))
        if isinstance(operator, MaxUnion | Intersection | Difference | StrictDifference):
            return self._one(node, (operator.name, *numbers))
        return self._one(node, (operator, schemas, *numbers))

    def _one(self, node: Node, tag: tuple[Hashable, ...], inner: Form = (), free: int = 0) -> Form:
        """The form that is one atom, with the equalities that are known of it."""
        atom = Atom(tag, _exact(node.schema), inner, free, is_set=tag == DISTINCT or bool(keys(node)))
        form = (self._known(node, self._blocks.over(atom)),)
        if inner:
            # Numbered from the leaves up, deep plans need no deep recursion.
            self._blocks.number(form)
        return form

    def _known(self, node: Node, block: Block) -> Block:
        """With the equalities of columns that a subplan guarantees."""
        equal = (
            frozenset(block.out[node.schema.index(name)] for name in names) for names in equal_columns(node)
        )
        return replace(block, equal=merged([*block.equal, *equal]))

    def _read(self, expressions: Iterable[Expression], schema: Schema, row: Sequence[int]) -> tuple[int, ...]:
        names = dict(zip(schema.names, row, strict=True))
        return tuple(self._terms.read(expression, schema, names) for expression in expressions)

    def _join(self, node: Node, join: Join) -> Form:
        left, right = (self._block(child) for child in node.inputs)
        if len(left.atoms) + len(right.atoms) > MOST_ATOMS:
            left, right = (
                self._known(n, self._bag(n, (b,))) for n, b in zip(node.inputs, (left, right), strict=True)
            )
        right = self._blocks.shifted(right, len(left.atoms))
        schemas = [child.schema for child in node.inputs]
        row = dict(zip(schemas[0].names + schemas[1].names, left.out + right.out, strict=True))
        both = Block(
            left.atoms + right.atoms,
            left.holds | right.holds,
            left.equal | right.equal,
            tuple(row[name] for name in join.columns),
        )
        read = self._terms.read(join.condition, schemas[0].concat(schemas[1]), row)
        return (self._blocks.where(both, [read]),)

    def _block(self, node: Node) -> Block:
        """The form of a subplan as one block."""
        form = self._forms[node]
        return form[0] if len(form) == 1 else self._bag(node, form)

    def _bag(self, node: Node, form: Form) -> Block:
        exact = _exact(node.schema)
        return self._blocks.over(Atom(UNION, exact, form, len(exact)))

    def _distinct(self, node: Node, form: Form) -> Form:
        """Each row once. A block that keeps all columns of its atoms has each row once if they have; of
        another, it does not matter how often they have theirs."""
        form = tuple(map(self._without_distinct, form))
        if len(form) == 1:
            (block,) = form
            columns = {
                column for i, atom in enumerate(block.atoms) for column in self._blocks.columns(i, atom.exact)
            }
            if columns <= {*block.out} and all(map(self._terms.is_faithful, block.terms)):
                return (replace(block, atoms=tuple(map(self._as_set, block.atoms))),)
        return self._one(node, DISTINCT, form, len(node.schema))

    def _as_set(self, atom: Atom) -> Atom:
        """An atom's rows, each once."""
        if atom.is_set:
            return atom
        inner = atom.inner if atom.tag == UNION else (self._blocks.over(atom),)
        return Atom(DISTINCT, atom.exact, inner, len(atom.exact), is_set=True)

    def _without_distinct(self, block: Block) -> Block:
        """A block of which it does not matter how often it has a row: atoms may have rows more than once,
        unless a term tells equal rows apart."""
        for place, atom in enumerate(block.atoms):
            size = len(block.atoms) + sum(len(inner.atoms) for inner in atom.inner)
            can_move = atom.tag == DISTINCT and len(atom.inner) == 1 and size <= MOST_ATOMS
            if can_move and all(map(self._terms.is_faithful, block.terms)):
                return self._without_distinct(self._blocks.inlined(block, place, atom.inner[0]))
        return block


def _exact(schema: Schema) -> tuple[bool, ...]:
    """For each column whether equal values of it are the same."""
    return tuple(column.type in (Type.INTEGER, Type.STRING, Type.BOOLEAN) for column in schema)
