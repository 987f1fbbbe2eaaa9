"""Stateless operators that follow each other run as one generated loop.

filter price > 10, window 60        [(start, start + 60, row) for start, end, row in batch if row[1] > 10]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from midstream.operators.compile.generated import define
from midstream.plans.algebra.operators import Filter, Project, TimeWindow
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import Col, Scope, evaluate, row_scope, tuple_source
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Batch

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

    >>> from midstream.operators.engine.planner import physical_plan
    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", item="integer", price="float")
    >>> _, *links = physical_plan(s.filter(s["price"] > 10).select("item").window(60).plan()).nodes
    >>> compile_chain(links)([(0, 1, (7, 12.5)), (1, 2, (7, 9.0))])
    [(0, 60, (7,))]
    """
    names: dict[str, Any] = {}
    if all(map(is_filter, nodes)):
        # The elements themselves pass: none is made anew.
        conditions = " and ".join(_condition(node, "x[2]", names) for node in nodes)
        source = LinkSource([f"if {conditions}"], [], "x")
        return _function(f"[x for x in batch if {conditions}]", "x, = batch", source, names)
    source = link_source(nodes, names)
    if source.is_identity:
        return lambda batch: batch
    loop = "".join(f" {step}" for step in source.loop)
    many = f"[{source.made} for start, end, row in batch{loop}]"
    return _function(many, "(start, end, row), = batch", source, names)


class LinkSource(NamedTuple):
    """The source of a chain, in terms of `start`, `end` and `row`."""

    steps: list[str]
    """Conditions, `if ..`, and assignments to `row`, in order."""
    loop: list[str]
    """The same as parts of a comprehension."""
    made: str
    """The element that comes out."""

    @property
    def is_identity(self) -> bool:
        """Whether what comes out is what went in."""
        return not self.steps and self.made == "(start, end, row)"


def link_source(nodes: Sequence[Node], names: dict[str, Any]) -> LinkSource:
    """The source of a chain; `names` is given the objects that it names."""
    names["FOREVER"] = FOREVER
    steps: list[str] = []
    loop: list[str] = []
    end, row = "end", "row"
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, TimeWindow):
            end = "FOREVER" if operator.size is None else f"start + {operator.size}"
            continue
        if _keeps_rows(node):
            continue
        if row != "row":
            loop.append(f"for row in ({_spelled(row, names)},)")
            steps.append(f"row = {row}")
            row = "row"
        if isinstance(operator, Filter):
            condition = f"if {_condition(node, row, names)}"
            loop.append(condition)
            steps.append(condition)
        elif isinstance(operator, Project):
            scope = _scope(node.inputs[0].schema, row, names)
            row = tuple_source([e for _, e in operator.columns], scope)
    return LinkSource(steps, loop, f"(start, {end}, {row})")


def single(source: LinkSource, target: str, then: Sequence[str] = ()) -> list[str]:
    """Statements that put into `target` what a chain makes of one element; and others, if it passes."""
    has_condition = any(step.startswith("if ") for step in source.steps)
    lines, indent = [f"{target} = []"] if has_condition else [], ""
    for step in source.steps:
        lines.append(f"{indent}{step}:" if step.startswith("if ") else f"{indent}{step}")
        indent += "    " if step.startswith("if ") else ""
    return [*lines, *(f"{indent}{line}" for line in (f"{target} = [{source.made}]", *then))]


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
        return out
    return {many}
"""


def _function(many: str, unpack: str, source: LinkSource, names: dict[str, Any]) -> Link:
    """A function of batches; one of a single element takes a short cut, as a comprehension costs a call."""
    one = "\n        ".join([unpack, *single(source, "out")])
    try:
        run: Link = define(_CHAIN.format(one=one, many=many), "run", names)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"an expression nests too deeply; compute it in steps: {error}") from error
    return run
