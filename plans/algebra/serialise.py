"""Plans as JSON and back.

    {"format": "midstream-plan", "version": 1,
     "nodes": [{"operator": "source", "stream": "bids", "columns": [["item", "integer"]], "intervals": false},
               {"operator": "window", "size": 60, "inputs": [0]}],
     "outputs": {"out": 1}}

Nodes are listed with inputs before consumers, shared ones once. Reading back gives an equal plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.operators import KINDS
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Operator, Plan
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import MidstreamError, PlanFormatError

FORMAT = "midstream-plan"
VERSION = 1

MOST_LEVELS = 250
"""Most levels of nested objects and lists in a serialised plan; the compiler allows about half as many."""

LONGEST_ROW = 300
"""Most operators above each other in a serialised plan."""

LARGEST_TREE = 10_000
"""Most operators in a serialised plan, where a shared operator counts each time that it is read."""


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON data; raises PlanFormatError if it holds a Python callable."""
    numbers = {node: i for i, node in enumerate(plan.nodes)}
    nodes = []
    for node in plan.nodes:
        data = _operator_to_json(node.operator)
        if node.inputs:
            data["inputs"] = [numbers[child] for child in node.inputs]
        nodes.append(data)
    outputs = {name: numbers[root] for name, root in plan.outputs.items()}
    return {"format": FORMAT, "version": VERSION, "nodes": nodes, "outputs": outputs}


def plan_from_json(data: Any) -> Plan:
    """The plan of data that `plan_to_json` returned.

    Raises   PlanFormatError, with the node and the reason.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanFormatError(f'this is no plan: expected an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise PlanFormatError(f"found plan format version {data.get('version')!r}, expected {VERSION}")
    _require_shallow(data)
    nodes: list[Node] = []
    listed, outputs = data.get("nodes"), data.get("outputs")
    if not isinstance(listed, list) or not isinstance(outputs, dict):
        raise PlanFormatError('a plan needs "nodes", a list, and "outputs", an object')
    for i, entry in enumerate(listed):
        try:
            children = tuple(nodes[_number(child, i)] for child in entry.get("inputs", ()))
            nodes.append(Node(_operator_from_json(entry), children))
        except MidstreamError as error:
            raise PlanFormatError(f"node {i}: {error}", node=i) from error
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
            raise PlanFormatError(
                f"node {i}: found {entry!r}, which lacks or misuses {error}", node=i
            ) from error
    _require_moderate(nodes)
    try:
        return Plan({str(name): nodes[_number(root, len(nodes))] for name, root in outputs.items()})
    except MidstreamError as error:
        raise PlanFormatError(f"outputs: {error}") from error


def _require_moderate(nodes: Sequence[Node]) -> None:
    """Raise PlanFormatError for plans that are too deep, or too large with shared nodes counted each time.

    A list of 60 unions, each of the one before with itself, is a tree of 2^60 nodes.
    """
    rows: dict[int, int] = {}
    trees: dict[int, int] = {}
    for i, node in enumerate(nodes):
        rows[id(node)] = 1 + max((rows[id(child)] for child in node.inputs), default=0)
        trees[id(node)] = 1 + sum(trees[id(child)] for child in node.inputs)
        if rows[id(node)] > LONGEST_ROW:
            raise PlanFormatError(
                f"node {i}: found {LONGEST_ROW + 1} operators in a row, expected at most {LONGEST_ROW}"
            )
        if trees[id(node)] > LARGEST_TREE:
            raise PlanFormatError(
                f"node {i}: found more than {LARGEST_TREE:,} operators, with shared ones counted each time, "
                "expected at most so many"
            )


def dumps(plan: AnyPlan) -> str:
    """A plan as JSON text, with one node on each line."""
    data = plan_to_json(plan_of("dumps", plan))
    nodes = ",\n  ".join(json.dumps(node, ensure_ascii=False) for node in data["nodes"])
    return (
        f'{{"format": "{FORMAT}", "version": {VERSION},\n "nodes": [\n  {nodes}\n ],\n'
        f' "outputs": {json.dumps(data["outputs"], ensure_ascii=False)}}}\n'
    )


def loads(text: str) -> Plan:
    """The plan of a text that `dumps` returned."""
    require("loads", text, (str, bytes), "the text of a plan")
    try:
        data = json.loads(text)
    except ValueError as error:  # numbers may be too long, too
        raise PlanFormatError(f"this is no JSON: {error}") from error
    except RecursionError as error:
        raise PlanFormatError(
            f"found values nested too deeply, expected at most {MOST_LEVELS} levels"
        ) from error
    return plan_from_json(data)


def _require_shallow(data: Any) -> None:
    level, depth = [data], 0
    while level := [
        part
        for one in level
        if isinstance(one, dict | list)
        for part in (one.values() if isinstance(one, dict) else one)
    ]:
        depth += 1
        if depth > MOST_LEVELS:
            raise PlanFormatError(f"found values nested {depth} levels deep, expected at most {MOST_LEVELS}")


def _number(value: Any, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise PlanFormatError(f"found input {value!r}, expected the number of an earlier node")
    return value


def _operator_to_json(operator: Operator) -> dict[str, Any]:
    if isinstance(operator, Physical):
        return {"implementation": operator.implementation, **_operator_to_json(operator.logical)}
    return {"operator": operator.name, **operator.to_json()}


def _operator_from_json(data: Mapping[str, Any]) -> Operator:
    if (name := data["operator"]) not in KINDS:
        raise PlanFormatError(f"found operator {name!r}, expected a known one")
    operator = KINDS[name].from_json(data)
    return Physical(data["implementation"], operator) if "implementation" in data else operator
