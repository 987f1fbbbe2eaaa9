"""The standard form of joins, so that equal joins become equal values.

The equalities of a query imply others: with a = b and b = c, also a = c. When joins change places, each gets
the conditions that it is the first to be able to check; of equalities as few as suffice, by fixed
representatives. Inner joins keep all columns, in the order of the outermost join's output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import networkx as nx

from midstream.optimizer.rules.readings import condition_of
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties import equal_columns, logical
from midstream.plans.expressions.expressions import (
    Expression,
    column_equality,
    conjunction,
    conjuncts,
    equality,
    may_raise,
)
from midstream.plans.values.schema import Type


class Conditions:
    """The conditions of adjacent joins, to be distributed to other joins of the same inputs.

    Inner joins take theirs first, from the inputs up, then the outermost one. `columns` is the outermost
    join's output. No column name may occur in two inputs. `classes` are the sets of several columns that are
    equal in the result; `others` are the conditions that no class implies and no join has taken yet; `order`
    is the order of columns in inner joins.
    """

    def __init__(self, parts: Iterable[Expression], inputs: Iterable[Node], columns: tuple[str, ...]) -> None:
        inputs = tuple(inputs)
        types = {column.name: column.type for node in inputs for column in node.schema}
        union: nx.utils.UnionFind[str] = nx.utils.UnionFind()
        self.others: list[Expression] = []
        for part in parts:
            names = column_equality(part)
            if names and names[0] != names[1]:
                union.union(*names)
            # x = x is no tautology: it drops unknown values. Columns that equal one of type ANY may not be
            # comparable with each other; so an equality with such a column does not imply others.
            if not names or names[0] == names[1] or len(_by_family(names, types)) > 1:
                self.others.append(part)
        for node in inputs:
            for equal in equal_columns(node):
                union.union(*equal)
        families = (names for equal in union.to_sets() for names in _by_family(equal, types))
        self.classes: list[frozenset[str]] = sorted(map(frozenset, families), key=min)
        self._columns = columns
        self.order = (*columns, *sorted(types.keys() - set(columns)))

    def inner(self, left: Node, right: Node) -> Node:
        """The join of two subplans under all conditions that read only columns of them."""
        visible = {*left.schema.names, *right.schema.names}
        here = [part for part in self.others if part.columns() and part.columns() <= visible]
        self.others = [part for part in self.others if part not in here]
        condition = conjunction([*here, *self._links(left, right)])
        return Node(Join(condition, tuple(name for name in self.order if name in visible)), (left, right))

    def outer(self, left: Node, right: Node) -> Node:
        """The outermost join, under all remaining conditions."""
        condition = conjunction([*self.others, *self._links(left, right)])
        return Node(Join(condition, self._columns), (left, right))

    def _links(self, left: Node, right: Node) -> Iterator[Expression]:
        ours, theirs = frozenset(left.schema.names), frozenset(right.schema.names)
        known = equal_columns(left), equal_columns(right)
        for names in self.classes:
            yield from links(
                representatives(names & ours, known[0]), representatives(names & theirs, known[1])
            )


LINKED_JOINS = "linked joins"
"""The name of the step that brings joins into the standard form."""


@fact_of_node
def linked(node: Node) -> Node:
    """A subplan with its joins in the standard form, down to its inputs.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> print(a.join(b).join(c, on=[("a", "c"), ("b", "c")]).plan())
    join (a = c) and (b = c)
    ├─ product
    │  ├─ window 9
    │  │  └─ source a
    │  └─ window 9
    │     └─ source b
    └─ window 9
       └─ source c
    >>> from midstream.plans.algebra.plan import Plan
    >>> print(Plan(linked(a.join(b).join(c, on=[("a", "c"), ("b", "c")]).node)))
    join a = c
    ├─ join a = b
    │  ├─ window 9
    │  │  └─ source a
    │  └─ window 9
    │     └─ source b
    └─ window 9
       └─ source c
    """
    if not logical(node).is_snapshot_reducible:
        return node
    node = node.with_inputs(tuple(map(linked, node.inputs)))
    if not is_free_join(node):
        return node
    assert isinstance(node.operator, Join)
    inputs = joined_inputs(node)
    conditions = Conditions(stated_conditions(node, inputs), inputs, node.operator.columns)

    def rebuilt(below: Node) -> Node:
        return below if below in inputs else conditions.inner(*map(rebuilt, below.inputs))

    return conditions.outer(*map(rebuilt, node.inputs))


def hides_columns_of(join: Node, node: Node) -> bool:
    """True if a join drops a column whose name another subplan uses.

    Then the two columns would be confused if the join's inputs met the other subplan.
    """
    return any(name in node.schema for child in join.inputs for name in child.schema.names)


def is_free_join(node: Node) -> bool:
    """True if a join may change places with others: its condition cannot raise.

    An expression that may raise is evaluated on the pairs of its join and on no others.
    """
    return isinstance(node.operator, Join) and not may_raise(node.operator.condition)


def joined_inputs(node: Node) -> tuple[Node, ...]:
    """The inputs of a join and of the joins right below it.

    A join below whose hidden columns would meet others of the same name counts as an input.
    """
    sides = [joined_inputs(c) if is_free_join(c) else (c,) for c in node.inputs]
    left, right = ({name for child in side for name in child.schema.names} for side in sides)
    return node.inputs if left & right else (*sides[0], *sides[1])


def stated_conditions(node: Node, inputs: tuple[Node, ...]) -> Iterator[Expression]:
    """The conditions of a join and of those below it, down to the inputs."""
    yield from conjuncts(condition_of(node))
    for child in node.inputs:
        if child not in inputs:
            yield from stated_conditions(child, inputs)


def links(lefts: Sequence[str], rights: Sequence[str]) -> Iterator[Expression]:
    """The fewest equalities that make the columns of a class equal in the pairs of two subplans.

    Each side is given by its representatives.
    """
    if lefts and rights:
        yield from (equality(name, rights[0]) for name in lefts)
        yield from (equality(lefts[0], name) for name in rights[1:])
    elif known := lefts or rights:
        yield from (equality(known[0], name) for name in known[1:])


def representatives(names: frozenset[str], equal: Iterable[frozenset[str]]) -> list[str]:
    """One name for each set of columns known to be equal, and all names in no set."""
    if len(names) < 2:
        return list(names)
    known = [alike & names for alike in equal]
    alone = names.difference(*known)
    return sorted([*alone, *(min(alike) for alike in known if alike)])


def _by_family(names: Iterable[str], types: dict[str, Type]) -> list[list[str]]:
    """Columns grouped by the types that can be compared with each other."""
    families: dict[Type, list[str]] = {}
    for name in names:
        family = Type.FLOAT if types[name] is Type.INTEGER else types[name]
        families.setdefault(family, []).append(name)
    return list(families.values())
