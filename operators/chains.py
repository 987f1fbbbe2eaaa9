"""Stateless operators that follow each other run as one generated loop.

filter price > 10, window 60        [(start, start + 60, row) for start, end, row in batch if row[1] > 10]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from midstream.plans.expressions import Col, Scope, evaluate, row_scope, tuple_source
from midstream.plans.logical import Filter, Project
from midstream.plans.physical import Physical
from midstream.plans.plan import Node
from midstream.plans.properties import logical
from midstream.plans.schema import Schema
from midstream.plans.streams import FOREVER, Batch
from midstream.plans.windows import TimeWindow

LINKS = frozenset({"filter", "map", "time-window"})
"""The implementations that can be part of a chain."""


def is_link(node: Node) -> bool:
    """Whether an operator of a physical plan is a function of single elements that keeps their starts."""
    operator = logical(node)
    is_sliding = isinstance(operator, TimeWindow) and operator.slide != 1
    return isinstance(node.operator, Physical) and node.operator.implementation in LINKS and not is_sliding


def is_filter(node: Node) -> bool:
    """Whether an operator may give fewer elements than it takes."""
    return isinstance(logical(node), Filter)


def compile_chain(nodes: Sequence[Node]) -> Callable[[Batch], Batch]:
    """One function for several links, the first one first.

    Cost     O(1) per element and link; no list is made between them.

    >>> from midstream.operators.planner import physical_plan
    >>> from midstream.plans.builder import stream
    >>> s = stream("s", item="integer", price="float")
    >>> _, *links = physical_plan(s.filter(s["price"] > 10).select("item").window(60).plan()).nodes
    >>> compile_chain(links)([(0, 1, (7, 12.5)), (1, 2, (7, 9.0))])
    [(0, 60, (7,))]
    """
    names: dict[str, Any] = {}
    if all(map(is_filter, nodes)):
        # The elements themselves pass: none is made anew.
        text = "".join(f" if {_condition(node, 'x[2]', names)}" for node in nodes)
        return _function(f"[x for x in batch{text}]", names)
    text, end, row = "", "end", "row"
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, TimeWindow):
            end = _infinity(names) if operator.size is None else f"start + {operator.size}"
            continue
        if row != "row" and not _keeps_rows(node):
            text += f" for row in ({_spelled(row, names)},)"
            row = "row"
        if isinstance(operator, Filter):
            text += f" if {_condition(node, row, names)}"
        elif isinstance(operator, Project) and not _keeps_rows(node):
            scope = _scope(node.inputs[0].schema, row, names)
            row = tuple_source([e for _, e in operator.columns], scope)
    if (end, row, text) == ("end", "row", ""):
        return lambda batch: batch
    return _function(f"[(start, {end}, {row}) for start, end, row in batch{text}]", names)


def _keeps_rows(node: Node) -> bool:
    """Whether a projection only gives columns other names."""
    operator = logical(node)
    return isinstance(operator, Project) and tuple(e for _, e in operator.columns) == tuple(
        map(Col, node.inputs[0].schema.names)
    )


def _spelled(row: str, names: dict[str, Any]) -> str:
    """A row as it can be spelled where a loop begins, which is no place for an assignment."""
    if ":=" not in row:
        return row
    name = f"_row{len(names)}"
    names[name] = evaluate(f"lambda row: {row}", Scope(Schema(()), {}, names))
    return f"{name}(row)"


def _condition(node: Node, row: str, names: dict[str, Any]) -> str:
    operator = logical(node)
    assert isinstance(operator, Filter)
    return operator.condition.source(_scope(node.inputs[0].schema, row, names))


def _scope(schema: Schema, row: str, names: dict[str, Any]) -> Scope:
    return Scope(schema, row_scope(schema, row).resolve, names)


def _infinity(names: dict[str, Any]) -> str:
    """A name for the end of what stays valid, which has no literal."""
    names["FOREVER"] = FOREVER
    return "FOREVER"


def _function(source: str, names: dict[str, Any]) -> Callable[[Batch], Batch]:
    function: Callable[[Batch], Batch] = evaluate(f"lambda batch: {source}", Scope(Schema(()), {}, names))
    return function
