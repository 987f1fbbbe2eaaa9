"""The parts of a plan that are snapshot-reducible (thesis, 10.4.1)."""

from __future__ import annotations

from collections.abc import Set

from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties.nodes import logical, reads_stream


def input_nodes(plan: Plan, also: Set[Node] = frozenset()) -> tuple[Node, ...]:
    """Where the snapshot-reducible top of a plan begins: the first operators, seen from the outputs, that are
    not snapshot-reducible, or that such operators further up read as well.

    These are the windows nearest to the outputs, or sources without a window above them. A migration
    exchanges what lies above them and leaves them and all below alone (thesis, 10.4.1 and 29.6). `also` names
    nodes that are to be left alone too. In order of first use from the sources.

    >>> from midstream.plans.algebra.builder import stream
    >>> rows = stream("s", x="integer").window(9).distinct()
    >>> [str(node.operator) for node in input_nodes(rows.union(rows.istream()).plan())]
    ['distinct', 'istream']
    """
    reached = _first_met(plan, also)
    below = {
        node for start in reached for child in start.inputs for node in child.walk() if reads_stream(node)
    }
    if below <= also:
        return tuple(node for node in plan.nodes if node in reached)
    return input_nodes(plan, also | below)


def _first_met(plan: Plan, also: Set[Node]) -> set[Node]:
    """The first nodes, seen from the outputs, that are not snapshot-reducible or are named."""
    reached: set[Node] = set()
    stack = list(plan.outputs.values())
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if logical(node).is_snapshot_reducible and node not in also:
            stack.extend(node.inputs)
        else:
            reached.add(node)
    return reached


def above(plan: Plan, inputs: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes of a plan that are above its inputs, inputs before consumers."""
    stack = list(plan.outputs.values())
    reached = set(inputs)
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack.extend(node.inputs)
    return tuple(node for node in plan.nodes if node in reached and node not in inputs)
