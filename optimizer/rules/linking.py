"""The one way in which rules write a join condition, so that equal joins come out as equal values.

From the equalities that a query states, others follow: with a = b and b = c, also a = c. When joins change
places, each gets the equalities that it can check, as few as suffice, and by fixed representatives.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from midstream.plans.expressions import Expression, column_equality, conjunction, equality
from midstream.plans.logical import Join
from midstream.plans.plan import Node
from midstream.plans.properties import equal_columns


class Conditions:
    """The conditions of one or more joins, taken apart: classes of equal columns, and the rest."""

    def __init__(self, parts: Iterable[Expression], nodes: Iterable[Node]) -> None:
        union: nx.utils.UnionFind[str] = nx.utils.UnionFind()
        self.rest: list[Expression] = []
        for part in parts:
            if columns := column_equality(part):
                union.union(*columns)
            else:
                self.rest.append(part)
        for node in nodes:
            for names in equal_columns(node):
                union.union(*names)
        self.classes: list[frozenset[str]] = sorted(map(frozenset, union.to_sets()), key=min)

    def between(self, left: Node, right: Node) -> list[Expression]:
        """The conditions that can be checked over two subplans, as few equalities as suffice."""
        visible = {*left.schema.names, *right.schema.names}
        parts = [part for part in self.rest if part.columns() <= visible]
        for names in self.classes:
            mine, theirs = _representatives(names, left), _representatives(names, right)
            if mine and theirs:
                parts += [equality(name, theirs[0]) for name in mine]
                parts += [equality(mine[0], name) for name in theirs[1:]]
            else:
                known = mine or theirs
                parts += [equality(known[0], name) for name in known[1:]]
        return parts

    def join(self, left: Node, right: Node, columns: tuple[str, ...]) -> Node:
        """The join of two subplans under all conditions that can be checked over them."""
        return Node(Join(conjunction(self.between(left, right)), columns), (left, right))


def _representatives(names: frozenset[str], node: Node) -> list[str]:
    """One name for each set of columns of a subplan that it already guarantees to be equal."""
    inside = {name for name in names if name in node.schema}
    known = [equal & inside for equal in equal_columns(node)]
    alone = inside.difference(*known)
    return sorted([*alone, *(min(equal) for equal in known if equal)])
