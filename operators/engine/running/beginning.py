"""The beginning of new operators among running ones: rows of relations, and the progress of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from midstream.operators.base.operator import Operator
from midstream.operators.engine.input.relations import Relations
from midstream.operators.engine.running.planner import running_operator
from midstream.plans.algebra.operators import Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.streams import Batch, Time


def begin(
    plan: Plan,
    operators: Mapping[Node, Operator],
    fresh: Set[Node],
    relations: Relations,
    progress_of: Callable[[Node], Time],
) -> dict[Node, Batch]:
    """Give new operators the rows of relations, once and for all, and the progress of their inputs.

    `fresh` are the nodes of the new operators; `operators` holds these and the ones that go on. Results at
    this go on to the operators above.

    Returns  the results of relations and of new operators.
    Raises   UnknownStreamError where the elements of a relation are missing.
    """
    made: dict[Node, Batch] = {}
    of_rows: set[Node] = set()
    for node in plan.nodes:
        if isinstance(node.operator, Relation):
            made[node] = _rows(node.operator, relations)
            of_rows.add(node)
            continue
        if node not in operators:
            continue
        if of_rows.issuperset(node.inputs):
            of_rows.add(node)
        elif node not in fresh:
            continue
        # New operators need the results of relations alone again, so these are computed anew.
        operator = operators[node] if node in fresh else running_operator(node)
        made[node] = []
        for port, child in enumerate(node.inputs):
            batch, progress = made.get(child, []), progress_of(child)
            if batch or progress > operator.reached[port]:
                made[node] += operator.process(port, batch, progress)
    return {node: batch for node, batch in made.items() if node in fresh or node not in operators}


def _rows(relation: Relation, relations: Relations) -> Batch:
    if relation.relation not in relations:
        raise UnknownStreamError(
            f"relation {relation.relation}: found no elements, expected them under this name",
            stream=relation.relation,
        )
    return relation.columns.as_declared(list(relations[relation.relation]))
