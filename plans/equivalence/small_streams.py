"""All small inputs of some plans, the smallest first: bags at one instant, or streams of few elements.

A wrong equation nearly always fails on an input of three rows of two values (small scope). To have tried all
such inputs says more than to have tried many larger ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, groupby, permutations, product
from math import comb
from random import Random
from typing import Any

from midstream.plans.algebra.declared import obedient
from midstream.plans.algebra.operators import Counting, Relation, Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.values.schema import Column, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time

Trial = dict[str, list[Element]]

VALUES: dict[Type, tuple[Any, ...]] = {
    Type.INTEGER: (0, 1),
    Type.FLOAT: (0.0, 1.0),
    Type.STRING: ("a", "b"),
    Type.BOOLEAN: (False, True),
    Type.ANY: (0, 1),
}
"""The values of a column; a nullable column has NULL as well."""

LATEST = 5
"""The last end of an element with an interval of its own, and the last start of a chronon."""

AT_ONE_INSTANT = 3
"""Most elements of each input if all elements are valid at the same instant."""

OVER_TIME = 3
"""Most elements of all inputs together if there is more than one instant."""


def is_at_one_instant(plans: Iterable[Plan]) -> bool:
    """True if the snapshots of plans depend on their inputs' snapshots at the same instant alone."""
    nodes = (node for plan in plans for node in plan.nodes if node.inputs)
    return all(logical(node).is_snapshot_reducible for node in nodes)


class SmallStreams:
    """The small inputs of some plans.

    >>> from midstream.plans.algebra.builder import stream
    >>> distinct = stream("s", x="integer").distinct().plan()
    >>> inputs = list(SmallStreams([distinct]).by_size(limit=100))
    >>> len(inputs), inputs[0], inputs[-1]
    (10, {'s': []}, {'s': [(0, 1, (1,)), (0, 1, (1,)), (0, 1, (1,))]})
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._leaves: dict[str, Source | Relation] = {}
        for plan in plans:
            self._leaves |= {source.stream: source for source in plan.sources}
            self._leaves |= {relation.label: relation for relation in plan.relations}
        self._is_at_one_instant = is_at_one_instant(plans)
        self._are_declared = any(leaf.keys or leaf.references for leaf in self._leaves.values())
        operators = (logical(node) for plan in plans for node in plan.nodes)
        self._is_ordered = any(isinstance(op, Counting) and op.ties == "arrival" for op in operators)
        self._elements = [
            (name, element)
            for name, leaf in sorted(self._leaves.items())
            for element in possible_elements(leaf, is_at_one_instant=self._is_at_one_instant)
        ]

    @property
    def most(self) -> int:
        """Most elements of an input."""
        return AT_ONE_INSTANT * len(self._leaves) if self._is_at_one_instant else OVER_TIME

    def number(self, size: int) -> int:
        """The number of inputs with that many elements, ignoring their order of arrival."""
        return comb(len(self._elements) + size - 1, size)

    def by_size(self, limit: int, random: Random | None = None) -> Iterator[Trial]:
        """All inputs of no element, of one element, and so on, as long as they are no more than `limit`.

        Of the next size, as many inputs as are left up to `limit` are drawn at random, if `random` is given.
        """
        left = limit
        for size in range(self.most + 1):
            number = self.number(size)
            if number > left:
                for _ in range(left if random else 0):
                    assert random is not None
                    yield from self._trials(random.choices(self._elements, k=size))
                return
            for chosen in combinations_with_replacement(self._elements, size):
                yield from self._trials(chosen)
            left -= number

    def _trials(self, chosen: Sequence[tuple[str, Element]]) -> Iterator[Trial]:
        """Streams of these elements, in every order of arrival if a window breaks ties by arrival."""
        streams: Trial = {name: [] for name in self._leaves}
        for name, element in chosen:
            streams[name].append(element)
        if not self._is_ordered:
            trial = {name: sorted(elements, key=_start) for name, elements in streams.items()}
            if self._obeys(trial):
                yield trial
            return
        orders = [list(_orders(elements)) for elements in streams.values()]
        for order in product(*orders):
            if self._obeys(trial := dict(zip(streams, order, strict=True))):
                yield trial

    def _obeys(self, trial: Trial) -> bool:
        """True if an input obeys the declarations of its streams."""
        return not self._are_declared or obedient(self._leaves.values(), trial) == trial


def possible_elements(leaf: Source | Relation, *, is_at_one_instant: bool) -> list[Element]:
    """The elements that a small input may have."""
    rows: list[Payload] = list(product(*(_values(column) for column in leaf.columns)))
    if is_at_one_instant:
        return [(0, 1, row) for row in rows]
    if isinstance(leaf, Relation) and leaf.is_constant:
        return [(BEGINNING, FOREVER, row) for row in rows]
    if isinstance(leaf, Source) and not leaf.intervals:
        return [(t, t + 1, row) for t in range(LATEST + 1) for row in rows]
    return [(s, e, row) for s in range(LATEST) for e in range(s + 1, LATEST + 1) for row in rows]


def _values(column: Column) -> tuple[Any, ...]:
    values = VALUES[column.type]
    return (*values, None) if column.nullable else values


def _start(element: Element) -> Time:
    return element[0]


def _orders(elements: Sequence[Element]) -> Iterator[list[Element]]:
    """The different orders in which elements may arrive."""
    ties = [dict.fromkeys(permutations(tied)) for _, tied in groupby(sorted(elements, key=_start), _start)]
    return ([element for tied in order for element in tied] for order in product(*ties))
