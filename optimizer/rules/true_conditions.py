"""Conditions that are true of every row of a subplan, because its filters and joins imply them."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.optimizer.rules.bounds import bound
from midstream.optimizer.rules.negations import inwards
from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.plans.algebra.operators import Aggregate, Filter, Join, MaxUnion, Project, Union
from midstream.plans.algebra.operators.base import Choosing
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties import equal_columns, logical
from midstream.plans.expressions.expressions import (
    FALSE,
    TRUE,
    Col,
    Const,
    Expression,
    column_equality,
    conjuncts,
)
from midstream.plans.values.schema import Schema

Conditions = frozenset[Expression]
"""A set of conditions that are all true."""

NEVER = frozenset({FALSE, Const(None)})
"""Conditions that are true of no row."""


@fact_of_node
def true_conditions(node: Node) -> Conditions:
    """Conditions over the columns of the output that are true of every row.

    Cost     O(nodes below × conditions), once.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.operands import col
    >>> rows = stream("s", x="integer", y="integer").window(9)
    >>> kept = rows.filter((col("x") > 3) & (col("y") > 5)).select(z=col("x")).distinct()
    >>> [str(condition) for condition in true_conditions(kept.node)]
    ['z > 3']
    """
    below = [true_conditions(child) for child in node.inputs]
    match logical(node):
        case Filter(condition):
            return below[0].union(conjuncts(condition))
        case Join(condition):
            return _over(node.schema.names, [*below[0], *below[1], *conjuncts(condition)])
        case Project():
            shown = {e.name: name for name, e in definitions(node).items() if isinstance(e, Col)}
            return frozenset(part.renamed(shown) for part in _over(shown, below[0]))
        case Aggregate(keys):
            return _over(keys, below[0])
        case Union():
            return below[0].intersection(*below[1:])
        case Choosing():
            return below[0]
    return frozenset()


def is_known(node: Node, condition: Expression) -> bool:
    """True if a condition is known to hold for every row.

    The condition is pushed down like a filter, until some operator below implies it.

    Cost     O(nodes below × conditions).
    """
    return all(_is_part_known(node, part) for part in conjuncts(inwards(condition, node.schema)))


def _is_part_known(node: Node, part: Expression) -> bool:
    operator = logical(node)
    if isinstance(operator, Filter | Join):
        schema = node.inputs[0].schema
        if isinstance(operator, Join):
            schema = schema.concat(node.inputs[1].schema)
        if is_implied(part, conjuncts(inwards(operator.condition, schema)), schema):
            return True
    columns = column_equality(part)
    if columns and any({*columns} <= equal for equal in equal_columns(node)):
        return True
    match operator:
        case Project():
            below = all_substituted([part], definitions(node))
            return below is not None and is_known(node.inputs[0], below[0])
        case Join():
            return any(
                part.columns() <= {*side.schema.names} and is_known(side, part) for side in node.inputs
            )
        case Aggregate(keys) if part.columns() <= {*keys}:
            return is_known(node.inputs[0], part)
        case Union() | MaxUnion():
            return all(is_known(side, part) for side in node.inputs)
        case Filter() | Choosing():
            return is_known(node.inputs[0], part)
    return False


def is_implied(part: Expression, others: Iterable[Expression], schema: Schema) -> bool:
    """True if some other conditions imply a condition."""
    others = frozenset(others)
    if part == TRUE or part in others or others & NEVER:
        return True
    own = bound(part, schema)
    bounds = (bound(other, schema) for other in others)
    return own is not None and any(each is not None and each.implies(own) for each in bounds)


def _over(names: Iterable[str], conditions: Iterable[Expression]) -> Conditions:
    """The conditions that read no columns besides the given ones."""
    visible = frozenset(names)
    return frozenset(part for part in conditions if part.columns() <= visible)
