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

from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Bounds,
    Coalesce,
    Convert,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    Logical,
    MaxUnion,
    PartitionedWindow,
    Project,
    Relation,
    SemiJoin,
    Source,
    Split,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Operator, Plan
from midstream.plans.expressions.aggregates import call_from_json
from midstream.plans.expressions.expressions import expression_from_json
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import MidstreamError, PlanFormatError
from midstream.plans.values.schema import Column, Schema, Type

FORMAT = "midstream-plan"
VERSION = 1

DEEPEST = 250
"""How many levels of objects and lists a serialised plan may have; the compiler takes about half as many."""

LONGEST_ROW = 300
"""How many operators of a serialised plan may stand above each other."""

LARGEST_TREE = 10_000
"""How many operators a serialised plan may have, with shared ones counted each time that they are read."""

WITHOUT_PARAMETERS: Mapping[str, Logical] = {
    operator.name: operator
    for operator in (
        Union(),
        Distinct(),
        Difference(),
        StrictDifference(),
        Intersection(),
        MaxUnion(),
        Istream(),
        Dstream(),
    )
}
"""The operators that their name tells all of."""


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON data. Raises PlanFormatError where it holds a Python callable."""
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
    """Read back what `plan_to_json` gave. Raises PlanFormatError, saying which node and why."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanFormatError(f'this is no plan: expected an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise PlanFormatError(f"found plan format version {data.get('version')!r}, expected {VERSION}")
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
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise PlanFormatError(
                f"node {i}: found {entry!r}, which lacks or misuses {error}", node=i
            ) from error
    _require_moderate(nodes)
    try:
        return Plan({str(name): nodes[_number(root, len(nodes))] for name, root in outputs.items()})
    except MidstreamError as error:
        raise PlanFormatError(f"outputs: {error}") from error


def _require_moderate(nodes: Sequence[Node]) -> None:
    """Raise PlanFormatError where nodes stand in too long rows, or share so much that they are too many with
    what they share counted each time: a list of 60 unions of the one before with itself is a tree of 2^60."""
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


def dumps(plan: Plan | Stream) -> str:
    """A plan as JSON text, one node a line."""
    data = plan_to_json(plan_of("dumps", plan))
    nodes = ",\n  ".join(json.dumps(node, ensure_ascii=False) for node in data["nodes"])
    return (
        f'{{"format": "{FORMAT}", "version": {VERSION},\n "nodes": [\n  {nodes}\n ],\n'
        f' "outputs": {json.dumps(data["outputs"], ensure_ascii=False)}}}\n'
    )


def loads(text: str) -> Plan:
    """Read back what `dumps` gave."""
    require("loads", text, (str, bytes), "the text of a plan")
    try:
        data = json.loads(text)
        _require_shallow(data)
    except ValueError as error:  # numbers may be too long, too
        raise PlanFormatError(f"this is no JSON: {error}") from error
    except RecursionError as error:
        raise PlanFormatError(f"found values nested too deeply, expected at most {DEEPEST} levels") from error
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
        if depth > DEEPEST:
            raise PlanFormatError(f"found values nested {depth} levels deep, expected at most {DEEPEST}")


def schema_to_json(schema: Schema) -> list[list[str]]:
    """`[[name, type], …]`, with `?` behind the type of a nullable column."""
    return [[column.name, column.type.value + ("?" if column.nullable else "")] for column in schema]


def schema_from_json(data: Any) -> Schema:
    """Read back what `schema_to_json` gave."""
    return Schema(tuple(Column(str(name), Type(kind.rstrip("?")), kind.endswith("?")) for name, kind in data))


def _number(value: Any, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise PlanFormatError(f"found input {value!r}, expected the number of an earlier node")
    return value


def _operator_to_json(operator: Operator) -> dict[str, Any]:
    if isinstance(operator, Physical):
        return {"implementation": operator.implementation, **_operator_to_json(operator.logical)}
    data: dict[str, Any] = {"operator": operator.name}
    match operator:
        case Source(stream, columns, intervals):
            data |= {"stream": stream, "columns": schema_to_json(columns), "intervals": intervals}
        case Relation(relation, columns, is_constant):
            data |= {"relation": relation, "columns": schema_to_json(columns), "constant": is_constant}
        case TimeWindow(size, slide, bounds):
            data |= {"size": size, **_unusual(slide=slide, bounds=bounds)}
        case CountWindow(rows, slide, ties, bounds):
            data |= {"rows": rows, **_unusual(slide=slide, ties=ties, bounds=bounds)}
        case PartitionedWindow(keys, rows, slide, ties, delay, bounds):
            data |= {"keys": list(keys), "rows": rows}
            data |= _unusual(slide=slide, ties=ties, delay=delay, bounds=bounds)
        case Granularity(granule, bounds):
            data |= {"granule": granule, **_unusual(bounds=bounds)}
        case Split(length):
            data |= {"length": length}
        case Coalesce(longest):
            data |= {"longest": longest}
        case Convert(to):
            data |= {"to": to}
        case Filter(condition) | SemiJoin(condition) | AntiJoin(condition):
            data |= {"condition": condition.to_json()}
        case Project(columns):
            data |= {"columns": [[name, e.to_json()] for name, e in columns]}
        case Join(condition, columns):
            data |= {"condition": condition.to_json(), "columns": list(columns)}
        case Aggregate(keys, calls):
            data |= {
                "keys": list(keys),
                "calls": [[name, *call.to_json()] for name, call in calls],
            }
    return data


def _unusual(**parameters: Any) -> dict[str, Any]:
    """The parameters of a window that are not as they are by default."""
    usual = {"slide": 1, "ties": "error", "delay": None, "bounds": None}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
        if value != usual[name]
    }


def _bounds(data: Mapping[str, Any]) -> Bounds | None:
    if data.get("bounds") is None:
        return None
    least, most = data["bounds"]
    return int(least), int(most)


def _operator_from_json(data: Mapping[str, Any]) -> Operator:
    operator = _logical_from_json(data)
    return Physical(data["implementation"], operator) if "implementation" in data else operator


def _logical_from_json(data: Mapping[str, Any]) -> Logical:
    match data["operator"]:
        case "source":
            return Source(str(data["stream"]), schema_from_json(data["columns"]), bool(data["intervals"]))
        case "relation":
            return Relation(str(data["relation"]), schema_from_json(data["columns"]), bool(data["constant"]))
        case "window":
            return TimeWindow(data["size"], data.get("slide", 1), _bounds(data))
        case "count window":
            return CountWindow(data["rows"], data.get("slide", 1), data.get("ties", "error"), _bounds(data))
        case "partitioned window":
            return PartitionedWindow(
                tuple(map(str, data["keys"])),
                data["rows"],
                data.get("slide", 1),
                data.get("ties", "error"),
                data.get("delay"),
                _bounds(data),
            )
        case "granularity":
            return Granularity(data["granule"], _bounds(data))
        case "split":
            return Split(data["length"])
        case "coalesce":
            return Coalesce(data["longest"])
        case "convert":
            return Convert(data["to"])
        case "semi-join":
            return SemiJoin(expression_from_json(data["condition"]))
        case "anti-join":
            return AntiJoin(expression_from_json(data["condition"]))
        case "filter":
            return Filter(expression_from_json(data["condition"]))
        case "project":
            return Project(tuple((str(name), expression_from_json(e)) for name, e in data["columns"]))
        case name if name in WITHOUT_PARAMETERS:
            return WITHOUT_PARAMETERS[name]
        case "join":
            return Join(expression_from_json(data["condition"]), tuple(map(str, data["columns"])))
        case "aggregate":
            calls = ((str(name), call_from_json(call)) for name, *call in data["calls"])
            return Aggregate(tuple(map(str, data["keys"])), tuple(calls))
        case other:
            raise PlanFormatError(f"found operator {other!r}, expected a known one")
