"""Small random inputs on which two plans, if they differ, are likely to differ.

Values are the plans' constants and their neighbours, timestamps lie as far apart as their windows are long,
and rows are often equal. Floats are small dyadic numbers, so that sums and products of them are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from midstream.plans.algebra.declared import obedient
from midstream.plans.algebra.operators import (
    Aggregate,
    CountWindow,
    Granularity,
    Leaf,
    PartitionedWindow,
    Project,
    Relation,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import expressions, logical
from midstream.plans.expressions.expressions import COMPARISONS, Binary, Col, Const, Expression, walk
from midstream.plans.values.schema import Column, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload

Trial = dict[str, list[Element]]

PLAIN: Mapping[Type, tuple[Any, ...]] = {
    Type.INTEGER: (0, 1, 2),
    Type.FLOAT: (0.0, 1.0, 0.5),
    Type.STRING: ("a", "b", ""),
    Type.BOOLEAN: (False, True),
    Type.ANY: (0, 1, 2),
}
"""Values for types without constants in the plans, the simplest first."""

MOST_ELEMENTS = 8
"""Most elements of an input, without the rows that fill windows that count rows."""

MOST_COUNTED = 20
"""Most rows that are added to fill windows that count rows."""

LeafColumn = tuple[str, int]
"""A stream or relation, and the place of one of its columns."""


class SmallInputs:
    """Random inputs for some plans."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._leaves: dict[str, Source | Relation] = {}
        self._constants: dict[LeafColumn, list[Any]] = {}
        named: list[Any] = []
        lengths = {1, 2}
        counted = 0
        is_computed = False
        for plan in plans:
            origins: dict[Node, tuple[frozenset[LeafColumn], ...]] = {}
            for node in plan.nodes:
                operator = logical(node)
                match operator:
                    case Source(name) | Relation(name):
                        self._leaves[name] = operator
                    case TimeWindow(size, slide):
                        lengths |= {size or 1, slide}
                    case Granularity(granule):
                        lengths.add(granule)
                    case CountWindow(size, slide) | PartitionedWindow(_, size, slide):
                        counted = max(counted, (size or 1) + slide)
                origins[node] = _origins(node, origins)
                names = [name for child in node.inputs for name in child.schema.names]
                places = [place for child in node.inputs for place in origins[child]]
                for expression in expressions(node):
                    for part in walk(expression):
                        is_computed |= isinstance(part, Binary) and part.operator not in COMPARISONS
                    for columns, constants in _compared(expression):
                        named += constants
                        for column in columns:
                            for origin in places[names.index(column)]:
                                self._constants.setdefault(origin, []).extend(constants)
                is_computed |= isinstance(operator, Aggregate)
        self._is_exact = not is_computed
        self._named = named
        self._gaps = sorted({0, 1, *(gap for n in lengths for gap in (n - 1, n, n + 1))})
        self._lengths = sorted(lengths)
        self._most = MOST_ELEMENTS + min(counted, MOST_COUNTED)

    def draw(self, random: Random) -> Trial:
        """Draw one more input."""
        pools = {type_: self._pool(type_, random) for type_ in Type}
        names = sorted(self._leaves)
        streams: Trial = {name: [] for name in names}
        time = random.choice((0, random.choice(self._gaps)))
        for _ in range(random.randint(1, random.choice((2, 4, self._most)))):
            time += random.choice(self._gaps)
            name = random.choice(names)
            streams[name].append(self._element(name, time, streams[name], pools, random))
        return obedient(self._leaves.values(), streams)

    def plainer(self, streams: Trial) -> Iterator[Trial]:
        """Inputs that are simpler than a given one, and obey the declarations."""
        for trial in self._plainer(streams):
            if obedient(self._leaves.values(), trial) == trial:
                yield trial

    def _plainer(self, streams: Trial) -> Iterator[Trial]:
        """Inputs with one element less, with earlier or closer times, or with simpler values."""
        for name, elements in streams.items():
            for i in range(len(elements)):
                yield {**streams, name: elements[:i] + elements[i + 1 :]}
        starts = {start for elements in streams.values() for start, _, _ in elements}
        before = 0
        for time in sorted(int(start) for start in starts if start != BEGINNING):
            for gap in self._gaps:
                by = time - before - gap
                if by > 0:
                    yield {
                        name: [(s - by, e - by, row) if s >= time else (s, e, row) for s, e, row in elements]
                        for name, elements in streams.items()
                    }
            before = time
        for value, plainer in self._plainer_values(streams):
            yield {
                name: [
                    (start, end, self._exchanged(name, row, value, plainer)) for start, end, row in elements
                ]
                for name, elements in streams.items()
            }

    def _plainer_values(self, streams: Trial) -> Iterator[tuple[Any, Any]]:
        """Pairs of a value of the input and a simpler value."""
        seen: dict[tuple[Type, Any], None] = {}
        for name, elements in streams.items():
            types = [column.type for column in self._leaves[name].columns]
            for _, _, row in elements:
                seen.update(dict.fromkeys(zip(types, row, strict=True)))
        for type_, value in seen:
            values = PLAIN[type_]
            rank = values.index(value) if value in values else len(values)
            yield from ((value, plainer) for plainer in values[:rank])

    def _exchanged(self, name: str, row: Payload, value: Any, plainer: Any) -> Payload:
        """A row in which a simpler value replaces every occurrence of a value; equal values stay equal."""
        columns = self._leaves[name].columns
        return tuple(
            plainer if has == value and plainer in PLAIN[column.type] else has
            for column, has in zip(columns, row, strict=True)
        )

    def _element(
        self,
        name: str,
        time: int,
        before: Sequence[Element],
        pools: Mapping[Type, Sequence[Any]],
        random: Random,
    ) -> Element:
        leaf = self._leaves[name]
        if before and random.random() < 0.3:
            row = random.choice(before)[2]
        else:
            row = tuple(
                self._value((name, place), column, pools[column.type], random)
                for place, column in enumerate(leaf.columns)
            )
        if isinstance(leaf, Relation) and leaf.is_constant:
            return (BEGINNING, FOREVER, row)
        if isinstance(leaf, Source) and not leaf.intervals:
            return (time, time + 1, row)
        return (time, time + random.choice(self._lengths), row)

    def _value(self, origin: LeafColumn, column: Column, pool: Sequence[Any], random: Random) -> Any:
        if column.nullable and random.random() < 0.2:
            return None
        if random.random() < 0.5 and (own := self._values(self._constants.get(origin, ()), column.type)):
            return random.choice(own)
        return random.choice(pool)

    def _pool(self, type_: Type, random: Random) -> Sequence[Any]:
        """A few values, shared by all columns of a type, so that they match."""
        values = [*PLAIN[type_], *self._values(self._named, type_)]
        return random.sample(values, random.choice((1, 2, min(3, len(values)), len(values))))

    def _values(self, constants: Iterable[Any], type_: Type) -> list[Any]:
        """The constants that fit a type, with their neighbours."""
        values: dict[Any, None] = {}
        for constant in constants:
            values.update(dict.fromkeys(self._near(constant, type_)))
        return list(values)

    def _near(self, constant: Any, type_: Type) -> tuple[Any, ...]:
        is_number = type(constant) in (int, float)
        match type_:
            case Type.INTEGER if is_number and abs(constant) < 2**40:
                return (int(constant), int(constant) - 1, int(constant) + 1, -int(constant))
            case Type.FLOAT if is_number and abs(constant) < 2**40:
                near = round(constant * 8) / 8
                return (float(constant) if self._is_exact else near, near - 0.5, near + 0.5, -near)
            case Type.STRING if isinstance(constant, str):
                # Texts that a pattern matches: with one letter for each wildcard, and with none.
                filled, bare = (constant.replace("%", by).replace("_", by) for by in ("a", ""))
                return (constant, constant + "a", constant.swapcase(), filled, bare)
            case Type.BOOLEAN | Type.ANY if constant is not None:
                return (constant,) if type_ is Type.ANY or isinstance(constant, bool) else ()
        return ()


def _origins(
    node: Node, below: Mapping[Node, tuple[frozenset[LeafColumn], ...]]
) -> tuple[frozenset[LeafColumn], ...]:
    """For each output column, the columns of streams and relations that it is computed from."""
    operator = logical(node)
    if isinstance(operator, Leaf):
        return tuple(frozenset({(operator.label, place)}) for place in range(len(node.schema)))
    known: dict[str, frozenset[LeafColumn]] = {}
    for child in node.inputs:
        for name, origins in zip(child.schema.names, below[child], strict=True):
            known[name] = known.get(name, frozenset()) | origins
    computed: Mapping[str, frozenset[str]] = {}
    match operator:
        case Project(columns):
            computed = {name: expression.columns() for name, expression in columns}
        case Aggregate(_, calls):
            computed = {name: call.columns() for name, call in calls}
    read = (computed.get(name, {name}) for name in node.schema.names)
    return tuple(frozenset().union(*(known.get(name, frozenset()) for name in names)) for names in read)


def _compared(expression: Expression) -> Iterator[tuple[list[str], list[Any]]]:
    """The columns and constants that occur together in the smallest expression that has both."""
    columns = [part.name for part in walk(expression) if isinstance(part, Col)]
    constants = [part.value for part in walk(expression) if isinstance(part, Const)]
    if not constants:
        return
    deeper = [pair for part in expression.parts() for pair in _compared(part)]
    if any(names for names, _ in deeper):
        yield from deeper
    else:
        yield columns, constants
