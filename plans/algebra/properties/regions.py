"""The parts of a plan that are snapshot-reducible (thesis, 10.4.1)."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import networkx as nx

from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties.nodes import logical, reads_stream


def input_nodes(plan: Plan, also: Set[Node] = frozenset()) -> tuple[Node, ...]:
    """The input nodes of a plan: the first nodes below its outputs that a migration leaves alone.

    They are the first nodes, seen from the outputs, that are not snapshot-reducible: windows, or sources
    without a window above them. Nodes below them that the part above reads as well are input nodes too. A
    migration replaces only the part above them (thesis, 10.4.1 and 29.6). `also` names more nodes to leave
    alone. In order of first use from the sources.

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
    """The first nodes, seen from the outputs, that are not snapshot-reducible or are in `also`."""
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
    """The nodes of a plan above its input nodes, inputs before consumers."""
    stops = set(inputs)
    reached = {node for root in plan.outputs.values() for node in root.walk(stops)}
    return tuple(node for node in plan.nodes if node in reached)


class Region(NamedTuple):
    """A snapshot-reducible part of a plan, which an equivalent part may replace (thesis, 10.4.1).

    All nodes are in the plan's order, inputs before consumers.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    """The nodes that the region reads; they are not snapshot-reducible, or belong to another region."""
    outputs: tuple[Node, ...]
    """The nodes of the region that nodes outside it read, or that are outputs of the plan.

    A node that reads relations alone is not read from outside, since each region that needs it contains it.
    """


def regions(plan: Plan) -> tuple[Region, ...]:
    """All maximal regions of a plan, also below windows, inputs before consumers.

    No path leads out of a region and back into it, so that the region can be replaced in one piece; two
    regions could not be merged without such a path. A node that reads relations alone belongs to every region
    that reads it. The region of a plan's only output is the part that a migration replaces: all above
    `input_nodes`.

    Cost: O(nodes × edges).

    >>> from midstream.plans.algebra.builder import stream
    >>> below = stream("s", x="integer").distinct().istream()
    >>> for region in regions(below.window(9).filter(below["x"] > 1).select("x").plan()):
    ...     print([str(node.operator) for node in region.nodes])
    ['distinct']
    ['filter x > 1', 'project x']
    """
    streaming = [node for node in plan.nodes if reads_stream(node)]
    whole = {node: {node} for node in streaming}
    graph = nx.DiGraph(plan.graph.subgraph(streaming))
    # From the outputs down, so that consumers are merged before their inputs.
    for node in reversed(streaming):
        if logical(node).is_snapshot_reducible:
            _join_consumers(graph, node, whole)
    found = [whole[node] for node in graph if logical(node).is_snapshot_reducible]
    for root in plan.outputs.values():
        if root not in whole and not any(root in nodes for nodes in found):
            found.append(set(root.walk()))
    order = {node: i for i, node in enumerate(plan.nodes)}
    made = [_region(plan, nodes, order) for nodes in found]
    return tuple(sorted(made, key=lambda region: order[region.nodes[-1]]))


def _join_consumers(graph: nx.DiGraph[Node], node: Node, whole: dict[Node, set[Node]]) -> None:
    """Merge a node into a region that reads it, if no other path leads there."""
    for consumer in list(graph.successors(node)):
        if not logical(consumer).is_snapshot_reducible:
            continue
        others = [one for one in graph.successors(node) if one is not consumer]
        if not any(nx.has_path(graph, one, consumer) for one in others):
            whole[consumer] |= whole[node]
            for one in graph.predecessors(node):
                graph.add_edge(one, consumer)
            for one in others:
                graph.add_edge(consumer, one)
            graph.remove_node(node)
            del whole[node]
            _join_consumers(graph, consumer, whole)
            return


def _region(plan: Plan, nodes: set[Node], order: dict[Node, int]) -> Region:
    """The region of some nodes, with the subplans over relations alone that they read."""
    for node in list(nodes):
        nodes |= {one for child in node.inputs if not reads_stream(child) for one in child.walk()}
    kept = tuple(sorted(nodes, key=order.__getitem__))
    read = {child for node in kept for child in node.inputs} - nodes
    roots = set(plan.outputs.values())
    shown = (
        node
        for node in kept
        if node in roots
        or (reads_stream(node) and any(consumer not in nodes for consumer in plan.consumers(node)))
    )
    return Region(kept, tuple(sorted(read, key=order.__getitem__)), tuple(shown))
