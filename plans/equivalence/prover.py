"""Whether two subplans certainly mean the same.

Both are brought into the form that `blocks` describes, operator by operator from the leaves up.
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
"""How many atoms a block has at most, and a form blocks: a subplan that is joined with itself, and that again
with itself, doubles them."""


def same_meaning(one: Node, other: Node) -> bool:
    """Whether it is certain that two subplans, logical or physical, give snapshot-equivalent results with
    columns of the same names and types, whatever streams they read.

    False says that this was not shown, not that they differ. Implementations and arrangements mean nothing; a
    Box means what it is to become.

    Cost: O(nodes × atoms × conditions); of a join with k equal inputs, up to k² times that. What would grow
    beyond a limit stays as it is written: joins of more than MOST_ATOMS inputs, alternatives of more than
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
    return Meanings().are_same(one, other)


class Meanings:
    """As `same_meaning`, for many questions about the same plans: what was read is not read again.

    With `above_windows`, windows, and all else whose snapshots depend on more than their input's snapshot,
    mean the same over equal inputs only.
    """

    def __init__(self, *, above_windows: bool = False) -> None:
        terms = Terms()
        self._sides = _Side(terms, above_windows), _Side(terms, above_windows)

    def are_same(self, one: Node, other: Node) -> bool:
        """Whether it is certain that two subplans mean the same."""
        if one == other:
            return True
        if [(c.name, c.type) for c in one.schema] != [(c.name, c.type) for c in other.schema]:
            return False
        first, second = (
            side.of(logical_node(node)) for side, node in zip(self._sides, (one, other), strict=True)
        )
        return first == second

    def number(self, node: Node) -> int:
        """A number that two subplans of the same columns share only if it is certain that they mean the
        same."""
        return self._sides[0].of(logical_node(node))


class _Side:
    """The forms of one plan's nodes. Those over the same terms can be compared."""

    def __init__(self, terms: Terms, is_above_windows: bool) -> None:
        self._terms = terms
        self._blocks = Blocks(terms)
        self._is_above_windows = is_above_windows
        self._forms: dict[Node, BlockSum] = {}

    def of(self, node: Node) -> int:
        """The number of what a subplan means."""
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
        """What may raise, asked of the rows of a form and no others: what is above stays above, and what is
        below stays below."""
        return tuple(chain.from_iterable(self._one(node, tag, (block,)) for block in form))

    def _asking_filter(self, node: Node, condition: Expression) -> BlockSum:
        """A filter of which some parts may raise, above one of the others: these are asked first."""
        parts = conjuncts(condition)
        first = list(takewhile(lambda part: not may_raise(part), parts))
        if first:
            below = Node(Filter(conjunction(first)), node.inputs)
            return self._of(Node(Filter(conjunction(parts[len(first) :])), (below,)))
        asked = tuple(self._by_place(part, node.schema) for part in parts)
        return self._asking(node, ("asked by a filter", asked), self._forms[node.inputs[0]])

    def _asking_join(self, node: Node, join: Join) -> BlockSum:
        """A join of which some parts may raise, as a filter above a join of the others."""
        names = tuple(name for child in node.inputs for name in child.schema.names)
        sure = conjunction(part for part in conjuncts(join.condition) if not may_raise(part))
        pairs = Node(Filter(join.condition), (Node(Join(sure, names), node.inputs),))
        return self._of(Node(Project(tuple((name, Col(name)) for name in join.columns)), (pairs,)))

    def _asking_groups(self, node: Node, operator: Aggregate) -> BlockSum:
        """An aggregation of which arguments may raise, above a projection that computes them."""
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
        """An expression as it is written, over numbered columns: what may raise is asked in this order."""
        return expression.renamed({name: str(place) for place, name in enumerate(schema.names)})

    def _over_time(self, node: Node, form: BlockSum) -> BlockSum:
        """An operator that sees more of its input than what is valid at one instant. It gives the same over
        inputs that mean the same, unless it counts rows in the order in which they arrive.

        A time window puts snapshots together, and a granularity chooses among them, row by row: so filters,
        projections and unions may stand above them or below.
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
        """An operator that does with each row of a block the same, whatever the others."""
        tag, exact = ("over time", logical(node)), _exact(node.schema)
        if len(block.atoms) > 1:
            return self._blocks.over(Atom(tag, exact, (block,), len(exact)))
        (atom,) = block.atoms
        return replace(block, atoms=(Atom(tag, atom.exact, (self._blocks.over(atom),)),))

    def _groups(self, node: Node, operator: Aggregate, form: BlockSum) -> BlockSum:
        """An aggregation. In which order its keys are written does not matter, nor in which its functions."""
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
        """A call; what counts values that are always known counts rows."""
        if call.function == "count" and call.argument is not None and not call.distinct:
            read = self._read([call.argument], schema, self._blocks.columns(0, _exact(schema)))
            if self._terms.are_total(read) and not call.argument.kind(schema).nullable:
                return AggregateCall("count")
        return call

    def _structure(self, node: Node) -> BlockSum:
        """An operator on more than one input. A condition on its rows holds of those of a multiset operator's
        inputs, and of the left ones of a semi-join or an anti-join. Of inputs that mean the same, a multiset
        operator gives one, or nothing."""
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
        """The form that is one atom, with the equalities that are known of it. Its columns stand in some
        order."""
        exact = _exact(node.schema)
        order = range(len(exact)) if order is None else order
        is_set = tag == DISTINCT or bool(keys(node))
        block = self._blocks.over(Atom(tag, tuple(exact[i] for i in order), inner, free, is_set, beside))
        at = {column: place for place, column in enumerate(order)}
        form = (self._known(node, replace(block, out=tuple(block.out[at[i]] for i in range(len(exact))))),)
        if inner:
            # Numbered from the leaves up, deep plans need no deep recursion.
            self._blocks.number(form)
        return form

    def _known(self, node: Node, block: Block) -> Block:
        """With the equalities of columns that a subplan guarantees."""
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
        """Each row once. A block that keeps all columns of its atoms, or equal ones, has each row once if
        they have; of another, it does not matter how often they have theirs."""
        form = tuple(map(self._without_distinct, form))
        if len(form) == 1:
            (block,) = form
            columns = {
                column for i, atom in enumerate(block.atoms) for column in self._blocks.columns(i, atom.exact)
            }
            told = {*block.out}.union(*(terms for terms in block.equal if not terms.isdisjoint(block.out)))
            if columns <= told and all(map(self._terms.is_faithful, block.terms)):
                return (replace(block, atoms=tuple(map(self._as_set, block.atoms))),)
        order = _ordered(self._blocks.ranks(form))
        return self._one(node, DISTINCT, _with_columns(form, order), len(order), order)

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


def _asks(node: Node) -> bool:
    """Whether an operator may raise an error of some row."""
    operator = logical(node)
    calls = operator.calls if isinstance(operator, Aggregate) else ()
    return any(isinstance(call.function, UserAggregate) for _, call in calls) or any(
        map(may_raise, expressions(node))
    )


def _ordered(ranks: Sequence[tuple[Any, ...]]) -> list[int]:
    """The places of some columns in the order of their ranks."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _with_columns(form: BlockSum, order: Sequence[int]) -> BlockSum:
    """A form with its columns in another order."""
    return tuple(replace(block, out=tuple(block.out[i] for i in order)) for block in form)


def _exact(schema: Schema) -> tuple[bool, ...]:
    """For each column whether equal values of it are the same."""
    return tuple(column.type in (Type.INTEGER, Type.STRING, Type.BOOLEAN) for column in schema)
