"""Changes of an operator's setting while queries run (thesis, 21.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from midstream.operators.base.adjustable import Adjustable
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.plan_box import label
from midstream.plans.algebra.operators import Granularity, TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, logical_node, logical_plan
from midstream.plans.values.errors import PlanError


def resize(graph: QueryGraph, window: Node, size: int | None, at: int) -> list[str]:
    """Give a window another size from an instant on; returns the names of the affected queries.

    It works as `Engine.resize`; see also the operator's own `resize`. The plans of these queries show the new
    size from now on.
    """
    operator = logical(window)
    if not isinstance(operator, TimeWindow):
        raise PlanError(f"found {operator}, expected a time window")
    _require_bounds(operator, "window(…, bounds=(least, greatest)), or RANGE MIN …, MAX … in SQL")
    new = replace(operator, size=size)
    return _adjust(graph, window, new, lambda running: running.resize(size, at))


def change_granule(graph: QueryGraph, conversion: Node, granule: int, at: int) -> list[str]:
    """Give a granularity conversion another granule from an instant on.

    It works as `Engine.change_granule`; the operator's own method tells when this is possible.
    """
    operator = logical(conversion)
    if not isinstance(operator, Granularity):
        raise PlanError(f"found {operator}, expected a granularity conversion")
    _require_bounds(operator, "granularity(…, bounds=(least, greatest)), or COARSEST …, FINEST … in SQL")
    new = replace(operator, granule=granule)
    return _adjust(graph, conversion, new, lambda running: running.change_granule(granule, at))


def _require_bounds(operator: TimeWindow | Granularity, declaration: str) -> None:
    """Refuse to change an operator that is declared without bounds: plans rely on its size."""
    if operator.bounds is None:
        raise PlanError(f"{operator} is fixed, as it has no bounds; to change it, write {declaration}")


def _adjust(
    graph: QueryGraph, old: Node, new: TimeWindow | Granularity, change: Callable[[Any], None]
) -> list[str]:
    old = logical_node(old)
    affected = [q for q in graph.queries.values() if old in logical_plan(q.plan).nodes]
    if not affected:
        raise PlanError(f"no query has {label(old)}")
    for query in affected:
        if query.is_exchanged:
            raise PlanError(f"query {query.name} is being migrated; wait until that is done")
    moved: dict[Node, Node] = {}
    plans = {q.name: (_with(q.plan, old, new, {}), _with(q.physical, old, new, moved)) for q in affected}
    _refuse_clash(moved, graph.base.running)
    adjusted = {node: op for node, op in graph.base.running.items() if _carries_out(node, old)}
    _refuse_fixed(adjusted)
    for operator in adjusted.values():
        change(operator)
    graph.rewire(moved, plans)
    return [query.name for query in affected]


def _with(plan: Plan, old: Node, new: TimeWindow | Granularity, moved: dict[Node, Node]) -> Plan:
    """Replace the operator of all nodes that carry out a logical node; fills `moved` with new nodes."""
    for node in plan.nodes:
        inputs = tuple(moved[child] for child in node.inputs)
        if not _carries_out(node, old):
            moved[node] = node.with_inputs(inputs)
        elif isinstance(node.operator, Physical):
            moved[node] = Node(replace(node.operator, logical=new), inputs)
        else:
            moved[node] = Node(new, inputs)
    return Plan({name: moved[root] for name, root in plan.outputs.items()})


def _carries_out(node: Node, old: Node) -> bool:
    """True if a node carries out a logical one, and is no equivalent arrangement above it."""
    return logical(node) == logical(old) and logical_node(node) == old


def _refuse_fixed(adjusted: Mapping[Node, object]) -> None:
    for node, operator in adjusted.items():
        if not isinstance(operator, Adjustable):
            raise PlanError(
                f"{label(node)} runs as {node.operator}, which has one setting for all time; "
                "run the query on intervals"
            )


def _refuse_clash(moved: Mapping[Node, Node], running: Mapping[Node, Any]) -> None:
    for old, new in moved.items():
        if new != old and new in running:
            raise PlanError(f"{label(new)} runs already, with a state of its own; remove that query")
