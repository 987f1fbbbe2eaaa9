"""Aggregate distinct values by eliminating duplicates first, or the reverse.

    aggregate(by K, f(distinct x), S)  =  aggregate(by K, f(x), distinct(project(K, x, S)))

Why      Each group keeps every distinct value once.
Gain     The duplicate elimination can be shared, and pushed down; without it there is one operator with
         state less.
Guard    Other functions count duplicates. If several columns are read, a value of one remains as often as
         there are values of the other beside it.
Source   ours, by (8.5) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from midstream.optimizer.rules.distinct.distinct_below_grouping import takes_equal_values_once
from midstream.optimizer.rules.duplicates import distinct
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Distinct, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Col, Expression
from midstream.plans.values.schema import unused

Values = dict[Expression, str]
"""By aggregated expression, the name of its column below the grouping."""


def match_values(node: Node) -> Iterable[Values]:
    """The aggregated expressions, if some function aggregates distinct values."""
    grouping = operator_of(node, Aggregate)
    values: Values = {}
    for name, call in grouping.calls:
        if call.argument is not None and call.argument not in values:
            values[call.argument] = unused(name, [*grouping.keys, *values.values()])
    return [values] if any(call.distinct for _, call in grouping.calls) else []


def are_of_different_values(node: Node, values: Values) -> bool:
    """True if no function notices duplicates."""
    return all(takes_equal_values_once(call) for _, call in operator_of(node, Aggregate).calls)


def read_one_value(node: Node, values: Values) -> bool:
    """True if at most one aggregated expression reads more than keys, and counting functions read that one.

    An expression over keys has one value in a group, but the group has a row for each value of the other
    expression; so a function that counts rows must not read it then.
    """
    keys = {*operator_of(node, Aggregate).keys}
    others = [value for value in values if not value.columns() <= keys]
    counted = [
        call.argument
        for _, call in operator_of(node, Aggregate).calls
        if not takes_equal_values_once(replace(call, distinct=False))
    ]
    return not others or (len(others) == 1 and all(value in others for value in counted))


def rewrite_as_distinct(node: Node, values: Values) -> Node:
    """The functions without `distinct`, over distinct rows."""
    grouping = operator_of(node, Aggregate)
    read = (*((key, Col(key)) for key in grouping.keys), *((name, value) for value, name in values.items()))
    calls = tuple((name, _of_column(call, values)) for name, call in grouping.calls)
    return Node(Aggregate(grouping.keys, calls), (distinct(Node(Project(read), node.inputs)),))


def _of_column(call: AggregateCall, values: Values) -> AggregateCall:
    argument = None if call.argument is None else Col(values[call.argument])
    return replace(call, argument=argument, distinct=False)


def match_rows(node: Node) -> Iterable[Node]:
    """The duplicate elimination, if some function notices duplicates and all functions have an argument."""
    calls = [call for _, call in operator_of(node, Aggregate).calls]
    have_values = all(call.argument is not None for call in calls)
    return node.inputs if have_values and not all(map(takes_equal_values_once, calls)) else []


def are_all_columns(node: Node, below: Node) -> bool:
    """True if each function reads the only column that is no key: equal values are then equal rows."""
    grouping = operator_of(node, Aggregate)
    others = [name for name in below.schema.names if name not in grouping.keys]
    return all([call.argument] == [Col(name) for name in others] for _, call in grouping.calls)


def rewrite_without(node: Node, below: Node) -> Node:
    """The functions of distinct values."""
    grouping = operator_of(node, Aggregate)
    calls = tuple((name, replace(call, distinct=True)) for name, call in grouping.calls)
    return Node(Aggregate(grouping.keys, calls), below.inputs)


DIFFERENT_VALUES_AS_DISTINCT = Rule(
    name="different-values-as-distinct",
    equation="aggregate(by K, f(distinct x), S) = aggregate(by K, f(x), distinct(project(K, x, S)))",
    shape=Shape(Aggregate),
    match=match_values,
    guards=(are_of_different_values, read_one_value),
    rewrite=rewrite_as_distinct,
)

DISTINCT_AS_DIFFERENT_VALUES = Rule(
    name="distinct-as-different-values",
    equation="aggregate(by K, f(x), distinct(S)) = aggregate(by K, f(distinct x), S)",
    shape=Shape(Aggregate, Shape(Distinct)),
    match=match_rows,
    guards=(are_all_columns,),
    rewrite=rewrite_without,
)
