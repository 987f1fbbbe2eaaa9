"""The logical algebra, executed snapshot by snapshot: the specification that everything else is tested
against.

Each function below is a definition of thesis chapters 8, 17 and 20 read as a program: what is valid at one
instant. It is slow, and it is meant to be obviously right.

    >>> from midstream.plans.algebra.builder import stream
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

from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Arrangement,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    MaxUnion,
    PartitionedWindow,
    Project,
    Relation,
    SemiJoin,
    Source,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import apply_call
from midstream.plans.expressions.expressions import compile_row, compile_rows
from midstream.plans.values.arguments import listed_by_name
from midstream.plans.values.errors import TieError
from midstream.plans.values.snapshots import NormalForm, from_snapshots
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload

Snapshot = Counter[Payload]
Streams = Mapping[str, Iterable[Element]]


def snapshots(plan: Plan | Stream, streams: Streams) -> dict[int, Snapshot]:
    """The snapshots of a plan's only output, at every instant at which something may be valid.

    `streams` holds the elements of every source and every relation. The last instant of the result stands for
    all later ones; where there are rows that are valid always, the first one stands for all earlier ones.

    Cost: O(instants × window × elements × operators).

    Raises TieError where rows that a window counts have the same timestamp, and no order was declared.
    """
    plan = plan_of("snapshots", plan)
    inputs = listed_by_name("streams", streams)
    instants = _instants(plan, inputs)
    origin = instants.start

    @cache
    def given(leaf: Node, name: str) -> list[Element]:
        return leaf.schema.as_declared(inputs.get(name, []))

    @cache
    def at(node: Node, instant: int) -> Snapshot:
        if instant < origin:
            return Counter()
        match logical(node):
            case Source(name) | Relation(name):  # (6.2)
                return Counter(e for t_s, t_e, e in given(node, name) if t_s <= instant < t_e)
            case TimeWindow(size, slide):  # (8.17), (17.1); time begins at the origin
                last = (instant + 1) // slide * slide - 1
                first = origin if size is None else last - size + 1
                return sum((at(node.inputs[0], t) for t in range(max(first, origin), last + 1)), Counter())
            case CountWindow(size, slide):  # (8.18), (17.2)
                return Counter(last_rows([e for t, e in rows(node) if t <= instant], size, slide))
            case PartitionedWindow(keys, size, slide):  # (8.19)
                columns = [node.schema.index(key) for key in keys]
                groups: dict[Payload, list[Payload]] = {}
                for t, e in rows(node):
                    if t <= instant:
                        groups.setdefault(tuple(e[i] for i in columns), []).append(e)
                return Counter(e for group in groups.values() for e in last_rows(group, size, slide))
            case Granularity(granule):  # (20.1), held until the next instant of the granularity
                return at(node.inputs[0], instant // granule * granule)
            case Istream():  # (17.3) with erratum 6
                return at(node.inputs[0], instant) - at(node.inputs[0], instant - 1)
            case Dstream():  # (17.4) with erratum 6
                return at(node.inputs[0], instant - 1) - at(node.inputs[0], instant)
        return meaning(node)(*(at(child, instant) for child in node.inputs))

    @cache
    def rows(window: Node) -> list[tuple[int, Payload]]:
        """The timestamped rows that a window counts, in order."""
        operator = logical(window)
        assert isinstance(operator, CountWindow | PartitionedWindow)
        arrived = arrivals(window.inputs[0])
        if operator.ties == "error":
            check_ties(window, arrived)
        return arrived

    def arrivals(node: Node) -> list[tuple[int, Payload]]:
        child = node.inputs[0] if node.inputs else node
        match logical(node):
            case Source(name, intervals=False):
                return [(int(t), e) for t, _, e in given(node, name)]
            case Filter(condition):
                p = compile_row(condition, child.schema)
                return [(t, e) for t, e in arrivals(child) if p(e)]
            case Project(columns):
                f = compile_rows([e for _, e in columns], child.schema)
                return [(t, f(e)) for t, e in arrivals(child)]
        return [(t, e) for t in instants for e in at(node, t).elements()]

    return {instant: at(plan.root, instant) for instant in instants}


def specified(plan: Plan | Stream, streams: Streams) -> NormalForm:
    """The normal form of what a plan's only output means."""
    inputs = listed_by_name("streams", streams)
    return from_snapshots(snapshots(plan, inputs), since_ever=_are_always(inputs))


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
        case Difference():
            return lambda left, right: left - right
        case StrictDifference():
            return lambda left, right: Counter({e: n for e, n in left.items() if not right[e]})
        case Intersection():
            return lambda left, right: left & right
        case MaxUnion():
            return lambda left, right: left | right
        case SemiJoin():
            return _matching(node, True)
        case AntiJoin():
            return _matching(node, False)
        case Arrangement():
            return lambda part: part
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


def _matching(node: Node, is_wanted: bool) -> Callable[[Snapshot, Snapshot], Snapshot]:  # (8.11), (8.16)
    operator = logical(node)
    assert isinstance(operator, SemiJoin | AntiJoin)
    holds = compile_row(operator.condition, node.inputs[0].schema.concat(node.inputs[1].schema))
    return lambda left, right: Counter(
        {e: n for e, n in left.items() if any(holds(e + other) is True for other in right) is is_wanted}
    )


def last_rows(rows: list[Payload], size: int | None, slide: int) -> list[Payload]:
    """What a window over so many rows contains."""
    last = len(rows) // slide * slide
    return rows[0 if size is None else max(last - size, 0) : last]


def check_ties(window: Node, rows: list[tuple[int, Payload]]) -> None:
    """A count window over rows of one timestamp has no meaning (8.18): per group, each has its own."""
    operator = logical(window)
    keys = operator.keys if isinstance(operator, PartitionedWindow) else ()
    columns = [window.schema.index(key) for key in keys]
    seen: set[tuple[int, Payload]] = set()
    for t, e in rows:
        if (at := (t, tuple(e[i] for i in columns))) in seen:
            raise TieError(f"{operator}: found two rows at {t}, expected one; the other is {e!r}")
        seen.add(at)


def _aggregation(operator: Aggregate, node: Node) -> Callable[[Snapshot], Snapshot]:  # (8.9), (8.15)
    schema = node.inputs[0].schema
    keys = [schema.index(key) for key in operator.keys]
    arguments = [
        (call, (lambda e: ()) if call.argument is None else compile_row(call.argument, schema))
        for _, call in operator.calls
    ]

    def apply(part: Snapshot) -> Snapshot:
        groups: dict[Payload, list[Payload]] = {}
        for e in part.elements():
            groups.setdefault(tuple(e[i] for i in keys), []).append(e)
        return Counter(
            key + tuple(apply_call(call, map(argument, rows)) for call, argument in arguments)
            for key, rows in groups.items()
        )

    return apply


def _instants(plan: Plan, inputs: Mapping[str, list[Element]]) -> range:
    """From the first start to one instant after the last change: finite ends, and all windows laid end to
    end; and an instant before the first start, where something is valid then."""
    times = [t for elements in inputs.values() for start, end, _ in elements for t in (start, end)]
    finite = [int(t) for t in times if t not in (BEGINNING, FOREVER)]
    if not finite:
        return range(1)
    first = min(finite) - _are_always(inputs)
    return range(first, max(finite) + sum(_reach(node) for node in plan.nodes) + 1)


def _are_always(inputs: Mapping[str, list[Element]]) -> bool:
    """Whether rows are valid that have no beginning."""
    return any(start == BEGINNING for elements in inputs.values() for start, _, _ in elements)


def _reach(node: Node) -> int:
    """By how much later than its input's an operator's last change can be."""
    match logical(node):
        case TimeWindow(size, slide):
            return (size or 0) + slide - 1
        case Granularity(granule):
            return granule
        case Istream() | Dstream():
            return 1
    return 0
