"""Proof by normal form that two subplans are equivalent.

Both are brought into the normal form of `blocks`, operator by operator from the leaves up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, takewhile
from typing import Any

from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    MaxUnion,
    PartitionedWindow,
    Project,
    SemiJoin,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    equal_columns,
    expressions,
    has_arrival_order,
    keys,
    logical,
    logical_node,
)
from midstream.plans.equivalence.blocks import (
    DISTINCT,
    EITHER_WAY,
    UNION,
    Atom,
    Block,
    Blocks,
    BlockSum,
    merged_classes,
)
from midstream.plans.equivalence.terms import Terms
from midstream.plans.expressions.aggregates import AggregateCall, UserAggregate
from midstream.plans.expressions.expressions import (
    FALSE,
    TRUE,
    Col,
    Expression,
    conjunction,
    conjuncts,
    may_raise,
)
from midstream.plans.values.schema import Schema, Type

MOST_ATOMS = 16
"""Most atoms of a block, and blocks of a form; joins of a subplan with itself double them."""


def same_meaning(left: Node, right: Node) -> bool:
    """True if two subplans, logical or physical, are proved equivalent, for all streams that they may read.

    Their results are then snapshot-equivalent, with columns of the same names and types. False says that this
    was not proved, not that they differ. Implementations and arrangements are ignored; a Box counts as the
    subplan that it is to become.

    Cost: O(nodes × atoms × conditions); up to k² times that for a join with k equal inputs. Parts that would
    exceed a limit stay as they are written: joins of more than MOST_ATOMS inputs, alternatives of more than
    MOST_CLAUSES clauses, sums and products of more than MOST_OPERANDS operands.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> one = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")])
    >>> other = a.join(b.join(c, on=[("b", "c")]), on=[("a", "c")])
    >>> same_meaning(one.distinct().node, other.distinct().node)
    True
    >>> same_meaning(one.node, other.select("c", "b", "a").node)
    False
    >>> rows = stream("s", x="integer?")
    >>> above, below = rows.window(9).filter(~(rows["x"] > 3)), rows.filter(rows["x"] <= 3).window(9)
    >>> same_meaning(above.node, below.node)
    True
    """
    return Meanings().are_same(left, right)


class Meanings:
    """Answers of `same_meaning` to many questions about the same plans; each node is read once.

    With `above_windows`, windows, and all other operators that are not snapshot-reducible, are equivalent
    over equal inputs only.
    """

    def __init__(self, *, above_windows: bool = False) -> None:
        terms = Terms()
        self._sides = _Side(terms, above_windows), _Side(terms, above_windows)

    def are_same(self, left: Node, right: Node) -> bool:
        """True if two subplans are proved equivalent."""
        if left == right:
            return True
        if [(c.name, c.type) for c in left.schema] != [(c.name, c.type) for c in right.schema]:
            return False
        first, second = (
            side.of(logical_node(node)) for side, node in zip(self._sides, (left, right), strict=True)
        )
        return first == second

    def number(self, node: Node) -> int:
        """The number of a subplan: two subplans with equal columns and equal numbers are equivalent."""
        return self._sides[0].of(logical_node(node))


class _Side:
    """The normal forms of one plan's nodes; forms over the same terms can be compared."""

    def __init__(self, terms: Terms, is_above_windows: bool) -> None:
        self._terms = terms
        self._blocks = Blocks(terms)
        self._is_above_windows = is_above_windows
        self._forms: dict[Node, BlockSum] = {}

    def of(self, node: Node) -> int:
        """The number of a subplan's normal form."""
        return self._blocks.number(self._of(node))

    def _of(self, node: Node) -> BlockSum:
        for below in node.walk():
            if below not in self._forms:
                self._forms[below] = self._form(below)
        return self._forms[node]

    def _form(self, node: Node) -> BlockSum:
        operator, inputs = logical(node), [self._forms[child] for child in node.inputs]
        if not inputs:
            return self._one(node, (node,))
        if not operator.is_snapshot_reducible:
            return self._one(node, (node,)) if self._is_above_windows else self._over_time(node, inputs[0])
        schema = node.inputs[0].schema
        match operator:
            case Filter(condition) if may_raise(condition):
                return self._asking_filter(node, condition)
            case Project() if _asks(node):
                asked = tuple(self._by_place(one, schema) for one in operator.expressions)
                return self._asking(node, ("asked of rows", asked), inputs[0])
            case Join() if _asks(node):
                return self._asking_join(node, operator)
            case Aggregate() if _asks(node):
                return self._asking_groups(node, operator)
            case _ if _asks(node):
                return self._one(node, (operator, *(self.of(child) for child in node.inputs)))
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
            case Aggregate(names, ()):
                rows = Node(Project(tuple((name, Col(name)) for name in names)), node.inputs)
                return self._of(Node(Distinct(), (rows,)))
            case Aggregate():
                return self._groups(node, operator, inputs[0])
        return self._structure(node)

    def _asking(self, node: Node, tag: tuple[Hashable, ...], form: BlockSum) -> BlockSum:
        """An operator whose expressions may raise, as one atom for each block of its input.

        They must be evaluated on the rows of the form and no others: nothing moves past the operator.
        """
        return tuple(chain.from_iterable(self._one(node, tag, (block,)) for block in form))

    def _asking_filter(self, node: Node, condition: Expression) -> BlockSum:
        """A filter with parts that may raise, above a filter of the parts before them."""
        parts = conjuncts(condition)
        first = list(takewhile(lambda part: not may_raise(part), parts))
        if first:
            below = Node(Filter(conjunction(first)), node.inputs)
            return self._of(Node(Filter(conjunction(parts[len(first) :])), (below,)))
        asked = tuple(self._by_place(part, node.schema) for part in parts)
        return self._asking(node, ("asked by a filter", asked), self._forms[node.inputs[0]])

    def _asking_join(self, node: Node, join: Join) -> BlockSum:
        """A join with parts that may raise, as a filter above a join of the other parts."""
        names = tuple(name for child in node.inputs for name in child.schema.names)
        sure = conjunction(part for part in conjuncts(join.condition) if not may_raise(part))
        pairs = Node(Filter(join.condition), (Node(Join(sure, names), node.inputs),))
        return self._of(Node(Project(tuple((name, Col(name)) for name in join.columns)), (pairs,)))

    def _asking_groups(self, node: Node, operator: Aggregate) -> BlockSum:
        """An aggregation with arguments that may raise, above a projection that computes them."""
        if any(isinstance(call.function, UserAggregate) for _, call in operator.calls):
            return self._one(node, (operator, *(self.of(child) for child in node.inputs)))
        keys = [(f"key {number}", Col(key)) for number, key in enumerate(operator.keys)]
        arguments = {name: call.argument for name, call in operator.calls if call.argument is not None}
        rows = Node(Project((*keys, *arguments.items())), node.inputs)
        calls = tuple(
            (name, replace(call, argument=Col(name) if name in arguments else None))
            for name, call in operator.calls
        )
        groups = Node(Aggregate(tuple(key for key, _ in keys), calls), (rows,))
        return self._of(groups)

    def _by_place(self, expression: Expression, schema: Schema) -> Expression:
        """An expression over numbered columns, as it is written: errors depend on the order of evaluation."""
        return expression.renamed({name: str(place) for place, name in enumerate(schema.names)})

    def _over_time(self, node: Node, form: BlockSum) -> BlockSum:
        """An operator that sees more of its input than the rows of one instant.

        Over equivalent inputs its results are equivalent, unless it counts rows in order of arrival. A time
        window combines snapshots row by row, and a granularity selects among them: filters, projections and
        unions may stand above them or below.
        """
        operator, (child,) = logical(node), node.inputs
        match operator:
            case TimeWindow(1, 1, None):
                return form
            case TimeWindow() | Granularity():
                moved = tuple(self._over_rows(node, block) for block in form)
                self._blocks.number(moved)
                return moved
            case Istream() | Dstream():
                return self._one(node, ("over time", operator), form, len(child.schema))
            case CountWindow(ties=ties) if ties == "error" or has_arrival_order(child):
                return self._one(node, ("over time", operator), form)
            case PartitionedWindow(names, rows, slide, ties) if ties == "error" or has_arrival_order(child):
                groups = frozenset(map(child.schema.index, names))
                tag = ("over time", operator.name, groups, rows, slide, ties, operator.bounds)
                return self._one(node, tag, form)
        return self._one(node, (node,))

    def _over_rows(self, node: Node, block: Block) -> Block:
        """An operator over time that treats each row of a block by itself."""
        tag, exact = ("over time", logical(node)), _exact(node.schema)
        if len(block.atoms) > 1:
            return self._blocks.over(Atom(tag, exact, (block,), len(exact)))
        (atom,) = block.atoms
        return replace(block, atoms=(Atom(tag, atom.exact, (self._blocks.over(atom),)),))

    def _groups(self, node: Node, operator: Aggregate, form: BlockSum) -> BlockSum:
        """An aggregation; the order of its keys, and that of its functions, do not matter."""
        schema, count = node.inputs[0].schema, len(operator.keys)
        calls = [self._counting_rows(call, schema) for _, call in operator.calls]
        read = [*map(Col, operator.keys), *(TRUE if c.argument is None else c.argument for c in calls)]
        inner = tuple(replace(b, out=self._read(read, schema, b.out)) for b in form)
        ranks = self._blocks.ranks(inner)
        by_call = [
            (call.name, call.distinct, call.k or 0, call.argument is None, rank)
            for call, rank in zip(calls, ranks[count:], strict=True)
        ]
        functions = _ordered(by_call)
        order = [*_ordered(ranks[:count]), *(count + i for i in functions)]
        done = tuple((calls[i].function, *by_call[i][1:4]) for i in functions)
        return self._one(node, ("aggregate", count, done), _with_columns(inner, order), count, order)

    def _counting_rows(self, call: AggregateCall, schema: Schema) -> AggregateCall:
        """A call; a count of values that are always known becomes a count of rows."""
        if call.function == "count" and call.argument is not None and not call.distinct:
            read = self._read([call.argument], schema, self._blocks.columns(0, _exact(schema)))
            if self._terms.are_total(read) and not call.argument.kind(schema).nullable:
                return AggregateCall("count")
        return call

    def _structure(self, node: Node) -> BlockSum:
        """An operator on more than one input.

        A condition on its rows holds for the rows of both inputs of a multiset operator, and for the left
        rows of a semi-join or an anti-join. Over equivalent inputs, a multiset operator returns one of them,
        or nothing.
        """
        operator, schemas = logical(node), tuple(child.schema for child in node.inputs)
        forms, free = [self._forms[child] for child in node.inputs], len(node.schema)
        numbers = [self._blocks.number(form) for form in forms]
        match operator:
            case MaxUnion() | Intersection() if len(set(numbers)) == 1:
                return forms[0]
            case Difference() | StrictDifference() if len(set(numbers)) == 1:
                nothing = self._terms.read(FALSE, schemas[0], {})
                return tuple(self._blocks.where(block, [nothing]) for block in forms[0])
            case MaxUnion() | Intersection() if all(_exact(schemas[0])):
                return self._one(node, (operator.name, EITHER_WAY), forms[0], free, beside=forms[1])
            case MaxUnion() | Intersection() | Difference() | StrictDifference():
                return self._one(node, (operator.name,), forms[0], free, beside=forms[1])
            case SemiJoin(condition) | AntiJoin(condition):
                both = [
                    column for i, s in enumerate(schemas) for column in self._blocks.columns(i, _exact(s))
                ]
                read = self._read([condition], schemas[0].concat(schemas[1]), both)
                pairs = self._blocks.where(Block((), frozenset(), frozenset(), ()), read)
                pairs = self._blocks.without_what_follows(pairs)
                matching = (operator.name, numbers[1], pairs.holds, pairs.equal)
                return self._one(node, matching, forms[0], free)
        if isinstance(operator, Union):
            return self._one(node, ("union of many", *sorted(numbers)))
        return self._one(node, (operator, schemas, *numbers))

    def _one(
        self,
        node: Node,
        tag: tuple[Hashable, ...],
        inner: BlockSum = (),
        free: int = 0,
        order: Sequence[int] | None = None,
        beside: BlockSum = (),
    ) -> BlockSum:
        """A form of one atom, with the equalities that the node guarantees; `order` permutes the columns."""
        exact = _exact(node.schema)
        order = range(len(exact)) if order is None else order
        is_set = tag == DISTINCT or bool(keys(node))
        block = self._blocks.over(Atom(tag, tuple(exact[i] for i in order), inner, free, is_set, beside))
        at = {column: place for place, column in enumerate(order)}
        form = (self._known(node, replace(block, out=tuple(block.out[at[i]] for i in range(len(exact))))),)
        if inner:
            # Forms are numbered from the leaves up, so that deep plans need no deep recursion.
            self._blocks.number(form)
        return form

    def _known(self, node: Node, block: Block) -> Block:
        """A block with the equalities of columns that a subplan guarantees."""
        equal = (
            frozenset(block.out[node.schema.index(name)] for name in names) for names in equal_columns(node)
        )
        return replace(block, equal=merged_classes([*block.equal, *equal]))

    def _read(self, expressions: Iterable[Expression], schema: Schema, row: Sequence[int]) -> tuple[int, ...]:
        names = dict(zip(schema.names, row, strict=True))
        return tuple(self._terms.read(expression, schema, names) for expression in expressions)

    def _join(self, node: Node, join: Join) -> BlockSum:
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

    def _bag(self, node: Node, form: BlockSum) -> Block:
        exact = _exact(node.schema)
        return self._blocks.over(Atom(UNION, exact, form, len(exact)))

    def _distinct(self, node: Node, form: BlockSum) -> BlockSum:
        """Each row once.

        A block that keeps all columns of its atoms, or equal ones, has no duplicates if its atoms have none.
        For other blocks, duplicates in the atoms do not matter.
        """
        form = tuple(map(self._without_distinct, form))
        if len(form) == 1:
            (block,) = form
            columns = {
                column for i, atom in enumerate(block.atoms) for column in self._blocks.columns(i, atom.exact)
            }
            shown = {*block.out}.union(*(terms for terms in block.equal if not terms.isdisjoint(block.out)))
            if columns <= shown and all(map(self._terms.is_faithful, block.terms)):
                return (replace(block, atoms=tuple(map(self._as_set, block.atoms))),)
        order = _ordered(self._blocks.ranks(form))
        return self._one(node, DISTINCT, _with_columns(form, order), len(order), order)

    def _as_set(self, atom: Atom) -> Atom:
        """An atom with each of its rows once."""
        if atom.is_set:
            return atom
        inner = atom.inner if atom.tag == UNION else (self._blocks.over(atom),)
        return Atom(DISTINCT, atom.exact, inner, len(atom.exact), is_set=True)

    def _without_distinct(self, block: Block) -> Block:
        """A block whose duplicates do not matter, without duplicate elimination in its atoms.

        Duplicate elimination stays if a term distinguishes equal rows.
        """
        for place, atom in enumerate(block.atoms):
            size = len(block.atoms) + sum(len(inner.atoms) for inner in atom.inner)
            can_move = atom.tag == DISTINCT and len(atom.inner) == 1 and size <= MOST_ATOMS
            if can_move and all(map(self._terms.is_faithful, block.terms)):
                return self._without_distinct(self._blocks.inlined(block, place, atom.inner[0]))
        return block


def _asks(node: Node) -> bool:
    """True if an operator may raise an error for some row."""
    operator = logical(node)
    calls = operator.calls if isinstance(operator, Aggregate) else ()
    return any(isinstance(call.function, UserAggregate) for _, call in calls) or any(
        map(may_raise, expressions(node))
    )


def _ordered(ranks: Sequence[tuple[Any, ...]]) -> list[int]:
    """The places of columns in the order of their ranks."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _with_columns(form: BlockSum, order: Sequence[int]) -> BlockSum:
    """A form with its columns in another order."""
    return tuple(replace(block, out=tuple(block.out[i] for i in order)) for block in form)


def _exact(schema: Schema) -> tuple[bool, ...]:
    """For each column, True if equal values of it are identical."""
    return tuple(column.type in (Type.INTEGER, Type.STRING, Type.BOOLEAN) for column in schema)
