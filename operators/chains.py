"""Stateless operators that follow each other run as one generated loop.

filter price > 10, window 60        [(start, start + 60, row) for start, end, row in batch if row[1] > 10]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from midstream.plans.errors import ExpressionError
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


Link = Callable[[Batch], Batch]


def compile_chain(nodes: Sequence[Node]) -> Link:
    """One function for several links, the first one first.

    Cost     O(1) per element and link; no list is made between them.

    >>> from midstream.operators.planner import physical_plan
    >>> from midstream.plans.builder import stream
    >>> s = stream("s", item="integer", price="float")
    >>> _, *links = physical_plan(s.filter(s["price"] > 10).select("item").window(60).plan()).nodes
    >>> compile_chain(links)([(0, 1, (7, 12.5)), (1, 2, (7, 9.0))])
    [(0, 60, (7,))]
    """
    names: dict[str, Any] = {"FOREVER": FOREVER}
    if all(map(is_filter, nodes)):
        # The elements themselves pass: none is made anew.
        conditions = " and ".join(_condition(node, "x[2]", names) for node in nodes)
        return _function(f"[x for x in batch if {conditions}]", f"batch if {conditions} else []", names)
    loop, steps, end, row = "", [], "end", "row"
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, TimeWindow):
            end = "FOREVER" if operator.size is None else f"start + {operator.size}"
            continue
        if _keeps_rows(node):
            continue
        if row != "row":
            loop += f" for row in ({_spelled(row, names)},)"
            steps.append(f"row = {row}")
            row = "row"
        if isinstance(operator, Filter):
            condition = _condition(node, row, names)
            loop += f" if {condition}"
            steps.append(f"if not {condition}: return []")
        elif isinstance(operator, Project):
            scope = _scope(node.inputs[0].schema, row, names)
            row = tuple_source([e for _, e in operator.columns], scope)
    if (end, row, loop) == ("end", "row", ""):
        return lambda batch: batch
    made = f"(start, {end}, {row})"
    return _function(f"[{made} for start, end, row in batch{loop}]", f"[{made}]", names, steps)


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


_CHAIN = """
def run(batch):
    if len(batch) == 1:
        {one}
    return {many}
"""


def _function(many: str, one: str, names: dict[str, Any], steps: Sequence[str] | None = None) -> Link:
    """A function of batches; one of a single element takes a short cut, as a comprehension costs a call."""
    unpack = "x, = batch" if steps is None else "(start, end, row), = batch"
    lines = [unpack, *(steps or ()), f"return {one}"]
    source = _CHAIN.format(one="\n        ".join(lines), many=many)
    try:
        exec(source, names)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"an expression nests too deeply; compute it in steps: {error}") from error
    run: Link = names["run"]
    return run
