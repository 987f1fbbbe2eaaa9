"""The logical algebra, executed snapshot by snapshot: the specification that everything else is tested
against.

Each function below is a definition of thesis chapter 8 read as a program: what is valid at one instant. It is
slow, and it is meant to be obviously right.

    >>> from midstream.plans.builder import stream
    >>> s = stream("s", x="string")
    >>> plan = s.window(2).distinct().plan()
    >>> snapshots(plan, {"s": [(1, 2, ("c",)), (2, 3, ("a",)), (2, 3, ("a",))]})[2] == {("c",): 1, ("a",): 1}
    True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from midstream.plans.aggregates import aggregate
from midstream.plans.expressions import compile_row, compile_rows
from midstream.plans.logical import Aggregate, Distinct, Filter, Join, Project, Source, TimeWindow, Union
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import logical
from midstream.plans.snapshots import NormalForm, from_snapshots
from midstream.plans.streams import FOREVER, Element, Payload

Snapshot = Counter[Payload]
Streams = Mapping[str, Iterable[Element]]


def snapshots(plan: Plan, streams: Streams) -> dict[int, Snapshot]:
    """The snapshots of a plan's only output, at every instant at which something may be valid.

    The last instant of the result stands for all later ones. Cost: O(instants × window × elements ×
    operators).
    """
    inputs = {name: list(elements) for name, elements in streams.items()}
    instants = _instants(plan, inputs)
    origin = instants.start

    @cache
    def at(node: Node, instant: int) -> Snapshot:
        match logical(node):
            case Source(stream):  # (6.2)
                return Counter(e for t_s, t_e, e in inputs.get(stream, ()) if t_s <= instant < t_e)
            case TimeWindow(size):  # (8.17); time begins at the origin
                first = origin if size is None else max(instant - size + 1, origin)
                return sum((at(node.inputs[0], t) for t in range(first, instant + 1)), Counter())
        return meaning(node)(*(at(child, instant) for child in node.inputs))

    return {instant: at(plan.root, instant) for instant in instants}


def specified(plan: Plan, streams: Streams) -> NormalForm:
    """The normal form of what a plan's only output means."""
    return from_snapshots(snapshots(plan, streams))


def meaning(node: Node) -> Callable[..., Snapshot]:
    """The relational operator on multisets to which a snapshot-reducible operator reduces at every
    instant."""
    operator = logical(node)
    match operator:
        case Filter(condition):
            return _filter(compile_row(condition, node.inputs[0].schema))
        case Project(columns):
            return _map(compile_rows([e for _, e in columns], node.inputs[0].schema))
        case Union():
            return lambda *parts: sum(parts, Counter())
        case Join(condition, columns):
            both = node.inputs[0].schema.concat(node.inputs[1].schema)
            holds, chosen = compile_row(condition, both), [both.index(name) for name in columns]
            return lambda left, right: _map(lambda e: tuple(e[i] for i in chosen))(
                _filter(holds)(_product(left, right))
            )
        case Distinct():
            return lambda part: Counter(dict.fromkeys(part, 1))
        case Aggregate():
            return _aggregation(operator, node)
    raise TypeError(f"{operator} is not snapshot-reducible")


def _filter(p: Callable[[Payload], Any]) -> Callable[[Snapshot], Snapshot]:  # (8.1)
    return lambda part: Counter({e: n for e, n in part.items() if p(e)})


def _map(f: Callable[[Payload], Payload]) -> Callable[[Snapshot], Snapshot]:  # (8.2)
    def apply(part: Snapshot) -> Snapshot:
        result: Snapshot = Counter()
        for e, n in part.items():
            result[f(e)] += n
        return result

    return apply


def _product(left: Snapshot, right: Snapshot) -> Snapshot:  # (8.4)
    return Counter({l + r: n * m for l, n in left.items() for r, m in right.items()})  # noqa: E741


def _aggregation(operator: Aggregate, node: Node) -> Callable[[Snapshot], Snapshot]:  # (8.9), (8.15)
    schema = node.inputs[0].schema
    keys = [schema.index(key) for key in operator.keys]
    arguments = [
        (call.function, (lambda e: ()) if call.argument is None else compile_row(call.argument, schema))
        for _, call in operator.calls
    ]

    def apply(part: Snapshot) -> Snapshot:
        groups: dict[Payload, list[Payload]] = {}
        for e in part.elements():
            groups.setdefault(tuple(e[i] for i in keys), []).append(e)
        return Counter(
            key + tuple(aggregate(function, map(argument, rows)) for function, argument in arguments)
            for key, rows in groups.items()
        )

    return apply


def _instants(plan: Plan, inputs: Mapping[str, list[Element]]) -> range:
    """From the first start to one instant after the last change: finite ends, and all windows laid end to
    end."""
    times = [
        t for elements in inputs.values() for start, end, _ in elements for t in (start, end) if t != FOREVER
    ]
    if not times:
        return range(1)
    windows = map(logical, plan.nodes)
    reach = sum(o.size or 0 for o in windows if isinstance(o, TimeWindow))
    return range(int(min(times)), int(max(times)) + reach + 1)
