"""The statistics of streams that are required to compare the equivalent plans of a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Filter, Join, Project, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.expressions.expressions import Col, Expression, column_equality, conjuncts

Column = tuple[str, str]
"""A stream, and a column of it."""


@dataclass(frozen=True)
class Requirements:
    """The columns and conditions of a plan about which statistics are required.

    pairs        columns of two streams, or of one, that a join equates, directly or through others
    conditions   by stream, the conditions of filters and joins that read only its columns
    """

    pairs: tuple[tuple[Column, Column], ...]
    conditions: Mapping[str, tuple[Expression, ...]]

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """By stream, the columns that joins equate with others: their values must be counted."""
        found: dict[str, set[str]] = {}
        for pair in self.pairs:
            for stream, column in pair:
                found.setdefault(stream, set()).add(column)
        return {stream: tuple(sorted(columns)) for stream, columns in sorted(found.items())}


def requirements(plan: Plan) -> Requirements:
    """The requirements of a plan.

    >>> import midstream as ms
    >>> a, b = (ms.stream(name, **{name: "integer"}).window(60) for name in "ab")
    >>> asked = requirements(a.join(b, on=[("a", "b")]).filter(ms.col("a") > 7).plan())
    >>> asked.columns, [str(condition) for condition in asked.conditions["a"]]
    ({'a': ('a',), 'b': ('b',)}, ['a > 7'])
    """
    equal: nx.utils.UnionFind[Column] = nx.utils.UnionFind()
    conditions: dict[str, dict[Expression, None]] = {}
    for node in logical_plan(plan).nodes:
        if not isinstance(node.operator, Filter | Join):
            continue
        for part in conjuncts(node.operator.condition):
            if names := column_equality(part):
                columns = [origin for name in names for origin in _origins(Col(name), node)]
                equal.union(*columns) if len(columns) > 1 else None
            for stream, below in _of_one_stream(part, node):
                conditions.setdefault(stream, {})[below] = None
    pairs = [pair for names in equal.to_sets() for pair in combinations(sorted(names), 2)]
    return Requirements(
        tuple(sorted(pairs)), {stream: tuple(parts) for stream, parts in sorted(conditions.items())}
    )


def _origins(column: Col, node: Node) -> Iterator[Column]:
    """The columns of streams from which a column of an operator's input comes."""
    for stream, below in _of_one_stream(column, node):
        if isinstance(below, Col):
            yield stream, below.name


def _of_one_stream(part: Expression, node: Node) -> Iterator[tuple[str, Expression]]:
    """An expression over an operator's inputs, as expressions over single streams.

    Nothing if it reads several inputs.
    """
    for child in node.inputs:
        if part.columns() and part.columns() <= set(child.schema.names):
            if isinstance(child.operator, Source):
                yield child.operator.stream, part
            else:
                is_computed = isinstance(child.operator, Project)
                below = all_substituted([part], definitions(child)) if is_computed else [part]
                for one in below or ():
                    yield from _of_one_stream(one, child)
