"""The conditions of a query, as conditions on the streams that it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from midstream.optimizer.rules.substitution import definitions, substituted
from midstream.plans.algebra.operators import Aggregate, Filter, Join, Project
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import Col, Expression, column_equality, conjuncts, equality
from midstream.scenarios.streams.recorded.inputs import PlanInput


@dataclass(frozen=True)
class QueryCondition:
    """A condition of a query, with its form over the columns of its inputs.

    part      as the query has it
    meaning   over the inputs' columns; None where it is about something else, such as an aggregate
    inputs    the inputs that it reads, by position
    """

    part: Expression
    meaning: Expression | None
    inputs: tuple[int, ...]

    @property
    def equates(self) -> tuple[str, str] | None:
        """The columns of two inputs that the condition makes equal, if it does nothing else."""
        if self.meaning is None or len(self.inputs) != 2:
            return None
        return column_equality(self.meaning)


def conditions_of(query: Plan, inputs: Sequence[PlanInput]) -> tuple[QueryCondition, ...]:
    """The conditions of all filters and joins, each once."""
    stops = {one.node: i for i, one in enumerate(inputs)}
    found: dict[Expression, QueryCondition] = {}
    for node in query.nodes:
        operator = logical(node)
        if not isinstance(operator, Filter | Join):
            continue
        for part in conjuncts(operator.condition):
            if part.columns() and part not in found:
                found[part] = _condition(part, node, stops)
    return tuple(found.values())


def _condition(part: Expression, node: Node, stops: dict[Node, int]) -> QueryCondition:
    # A filter below a window asks something of what the window's input is made of.
    owners = [i for stop, i in stops.items() if node in set(stop.walk())]
    if owners:
        return QueryCondition(part, part, (owners[0],))
    meaning = _split(part, node, stops)
    if meaning is None:
        return QueryCondition(part, None, ())
    columns = meaning.columns()
    read = [i for stop, i in stops.items() if columns & {*stop.schema.names}]
    return QueryCondition(part, meaning, tuple(read))


def at_source(part: Expression, node: Node) -> Expression | None:
    """A condition on the rows of a node that reads one stream, as a condition on that stream's columns."""
    return _below(part, node, {one for one in node.walk() if not one.inputs})


def filter_node(part: Expression, plan_input: PlanInput) -> Node:
    """The node whose rows a condition of an input is about: the input, or the node below a filter in it."""
    for node in plan_input.chain.walk():
        operator = logical(node)
        if isinstance(operator, Filter) and part in conjuncts(operator.condition):
            return node.inputs[0]
    return plan_input.node


def _below(expression: Expression, node: Node, stops: Collection[Node]) -> Expression | None:
    if node in stops:
        return expression
    operator = logical(node)
    if isinstance(operator, Project):
        return _below(substituted(expression, definitions(node)), node.inputs[0], stops)
    if isinstance(operator, Aggregate):
        return None  # its keys are another matter: groups have no rows of inputs
    return _split(expression, node, stops)


def _split(expression: Expression, node: Node, stops: Collection[Node]) -> Expression | None:
    """An expression over the columns of the node's inputs."""
    by: dict[str, Expression] = {}
    for name in expression.columns():
        owners = [child for child in node.inputs if name in child.schema.names]
        below = _below(Col(name), owners[0], stops) if len(owners) == 1 else None
        if below is None:
            return None
        by[name] = below
    return substituted(expression, by)


def source_columns(plan_input: PlanInput) -> Iterator[tuple[str, str]]:
    """The columns of an input that are columns of its stream, with their names in the stream."""
    for name in plan_input.node.schema.names:
        origin = at_source(Col(name), plan_input.node)
        if isinstance(origin, Col):
            yield name, origin.name


def equalities_between(left: PlanInput, right: PlanInput, classes: Iterable[set[str]]) -> list[Expression]:
    """The equalities that two inputs must satisfy, directly or by way of a third one."""
    return [
        equality(one, other)
        for names in classes
        for one in left.node.schema.names
        for other in right.node.schema.names
        if {one, other} <= names
    ]
