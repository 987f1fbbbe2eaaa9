"""Leave out a grouping in which every group is one row.

    aggregate(by K, f(x), S)  =  project(K, f of one value, S)        if no two rows of S agree on K

Why      The smallest, the largest, the sum and the mean of one value are that value, and its count is 1.
Gain     No state, and results as soon as their rows arrive.
Guard    If a group has two rows, the value of one is not the result.
Source   ours, by (8.9) and (8.15)
"""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.measures import states
from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Aggregate, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_key
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Binary, Case, Col, Const, Expression, IsNull
from midstream.plans.values.schema import Schema, Type

Columns = tuple[tuple[str, Expression], ...]


def match(node: Node) -> Iterable[Columns]:
    """The keys, and each function of one value, if all are known."""
    grouping, schema = operator_of(node, Aggregate), node.inputs[0].schema
    values = [(name, of_one_value(call, schema)) for name, call in grouping.calls]
    known = tuple((name, value) for name, value in values if value is not None)
    return [(*((key, Col(key)) for key in grouping.keys), *known)] if len(known) == len(values) else []


def of_one_value(call: AggregateCall, schema: Schema) -> Expression | None:
    """The result of a function for one row; None if it is unknown, or of another type than the value."""
    if call.argument is None:
        return Const(1)
    kind = call.argument.kind(schema)
    match call.function:
        case "count" if kind.nullable:
            return Case(((IsNull(call.argument), Const(0)),), Const(1))
        case "count":
            return Const(1)
        case "avg" if kind.type is Type.INTEGER:
            return Binary("/", call.argument, Const(1))
        case "min" | "max" | "avg":
            return call.argument
        case "sum" if kind.type is Type.INTEGER or kind.nullable:
            return call.argument
    return None


def groups_are_rows(node: Node, columns: Columns) -> bool:
    """True if no two rows are in one group."""
    return is_key(node.inputs[0], operator_of(node, Aggregate).keys)


def rewrite(node: Node, columns: Columns) -> Node:
    """The projection of each row."""
    return Node(Project(columns), node.inputs)


GROUPING_OVER_KEY = Rule(
    name="grouping-over-key",
    equation="aggregate(by K, f(x), S) = project(K, f of one value, S)",
    shape=Shape(Aggregate),
    match=match,
    guards=(groups_are_rows,),
    rewrite=rewrite,
    measure=states,
)
