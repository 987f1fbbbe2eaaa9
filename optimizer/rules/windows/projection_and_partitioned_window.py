"""Let a projection and a partitioned window change places.

    project(f, window(rows N by K, S))  =  window(rows N by K', project(f, S))        if f keeps K, as K'

Why      As with a count window; and the groups are the same on either side, as the key columns are the same.
Gain     Below: smaller rows in the window. Above: it can be shared.
Guard    A key that the projection drops or computes does not exist as a key; grouping by computed values may
         merge groups.
Source   thesis, (10.12)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from midstream.optimizer.rules.readings import operator_of
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.substitution import definitions
from midstream.plans.algebra.operators import PartitionedWindow, Project
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import Col

Names = Mapping[str, str]
"""By name of a window's key on this side of the projection, its name on the other side."""


def match_below(node: Node) -> Iterable[Names]:
    """The keys of the window below, and their names in the projection."""
    columns, window = operator_of(node, Project).columns, operator_of(node.inputs[0], PartitionedWindow)
    shown = {column.name: name for name, column in reversed(columns) if isinstance(column, Col)}
    yield {key: shown.get(key, key) for key in window.keys}


def keeps_keys(node: Node, names: Names) -> bool:
    """True if the projection above the window keeps its keys unchanged."""
    columns = operator_of(node, Project).columns
    return all((name, Col(key)) in columns for key, name in names.items())


def rewrite_below(node: Node, names: Names) -> Node:
    """The window over the projection, grouped by the new names."""
    window = node.inputs[0]
    return _grouped_by(names, window, Node(node.operator, window.inputs))


def match_above(node: Node) -> Iterable[Names]:
    """The keys of the window, and the columns from which the projection below computes them."""
    columns = definitions(node.inputs[0])
    read = {key: sorted(columns[key].columns()) for key in operator_of(node, PartitionedWindow).keys}
    if all(read.values()):
        yield {key: names[0] for key, names in read.items()}


def reads_keys(node: Node, names: Names) -> bool:
    """True if the projection below the window keeps its keys unchanged.

    If a key is computed, two values may become one.
    """
    columns = operator_of(node.inputs[0], Project).columns
    return all((key, Col(name)) in columns for key, name in names.items())


def rewrite_above(node: Node, names: Names) -> Node:
    """The projection over the window, grouped by the old names."""
    projection = node.inputs[0]
    return Node(projection.operator, (_grouped_by(names, node, projection.inputs[0]),))


def _grouped_by(names: Names, window: Node, below: Node) -> Node:
    operator = operator_of(window, PartitionedWindow)
    keys = tuple(dict.fromkeys(names[key] for key in operator.keys))
    return Node(replace(operator, keys=keys), (below,))


PROJECTION_BELOW_PARTITIONED_WINDOW = Rule(
    name="projection-below-partitioned-window",
    equation="project(f, partitioned window(S)) = partitioned window(project(f, S))",
    shape=Shape(Project, Shape(PartitionedWindow)),
    match=match_below,
    guards=(keeps_keys,),
    rewrite=rewrite_below,
)

PROJECTION_ABOVE_PARTITIONED_WINDOW = Rule(
    name="projection-above-partitioned-window",
    equation="partitioned window(project(f, S)) = project(f, partitioned window(S))",
    shape=Shape(PartitionedWindow, Shape(Project)),
    match=match_above,
    guards=(reads_keys,),
    rewrite=rewrite_above,
)
