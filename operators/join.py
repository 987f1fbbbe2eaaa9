"""Joins of interval streams: symmetric hashing for equi-joins, symmetric nested loops for any condition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

from midstream.operators.operator import Operator
from midstream.operators.output import OrderedOutput
from midstream.operators.sweepareas import HashSweepArea, ListSweepArea
from midstream.plans.expressions import TRUE, Expression, evaluate, pair_scope
from midstream.plans.schema import Schema
from midstream.plans.streams import Batch, Element

SweepArea = HashSweepArea | ListSweepArea
Probe = Callable[[Batch, Any], Batch]
"""From a batch of one side and what the other side keeps to the pairs, in no particular order."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Generated source: when `left` and `right` make a pair, and which payload the pair has."""

    condition: str = "True"
    payload: str = "left + right"
    names: dict[str, Any] = field(default_factory=dict)


def pairing(condition: Expression, columns: Sequence[str], left: Schema, right: Schema) -> Pairing:
    """The pairing of a join whose payload is the listed columns of both sides."""
    scope = pair_scope(left, right)
    holds = "True" if condition == TRUE else condition.source(scope)
    if tuple(columns) == left.names + right.names:
        return Pairing(holds, names=scope.names)
    return Pairing(holds, f"({''.join(f'{scope.resolve[name]}, ' for name in columns)})", scope.names)


class _Join(Operator):
    """What both joins share.

    An element probes the other side's SweepArea and is then kept in its own while a later element of the
    other side can meet it.
    """

    ports: ClassVar[int] = 2

    def __init__(self, areas: tuple[SweepArea, SweepArea], probes: tuple[Probe, Probe]) -> None:
        super().__init__()
        self._areas = areas
        self._probes = probes
        self._output = OrderedOutput()

    def _process(self, port: int, batch: Batch) -> Batch:
        other = 1 - port
        area, opposite = self._areas[port], self._areas[other]
        fresh: Batch = []
        if batch:
            fresh = self._probe(port, opposite, batch)
            self._keep(port, area, batch)
        opposite.purge(self.reached[port])
        return self._output.release(fresh, min(self.reached))

    def _probe(self, port: int, opposite: Any, batch: Batch) -> Batch:
        raise NotImplementedError

    def _keep(self, port: int, area: SweepArea, batch: Batch) -> None:
        raise NotImplementedError

    def size(self) -> int:
        """Elements kept on both sides, and pairs that wait for their turn."""
        return len(self._areas[0]) + len(self._areas[1]) + len(self._output)

    def state(self) -> Iterable[Element]:
        """The same."""
        return chain(*self._areas, self._output)


class HashJoin(_Join):
    """Pair the elements of two streams whose keys agree while both are valid.

        join(L, R)@t  =  { l ∘ r | l in L@t, r in R@t, key(l) = key(r), condition(l, r) }

    Input    Two ports, each ordered by start; one may run ahead of the other.
    Output   Ordered by start. A pair is valid while both halves are.
    State    Per port, the elements that end after the other port's progress; pairs that start after the least
             progress.
    Cost     O(1 + elements of equal key) per element; purging is amortised O(1), O(log n) where ends are
             unordered.
    Raises   StreamOrderError when a port goes back in time.
    Source   thesis, Algorithm 6 with hash tables

    A key that holds None equals no key, as in SQL.

    >>> join = HashJoin(left=[0], right=[0])
    >>> join.push(0, [(0, 10, ("a", 1))])
    []
    >>> join.push(1, [(4, 6, ("a", 2)), (5, 6, ("b", 3))])
    []
    >>> join.advance(0, 4)                  # from now on no pair can start before 4
    [(4, 6, ('a', 1, 'a', 2))]
    """

    def __init__(self, left: Sequence[int], right: Sequence[int], pairing: Pairing | None = None) -> None:
        pairing = pairing or Pairing()
        self._keys = (_key(left), _key(right))
        sides = [("left", "right", list(left)), ("right", "left", list(right))]
        probes = [_hash_probe(mine, other, keys, pairing) for mine, other, keys in sides]
        super().__init__((HashSweepArea(), HashSweepArea()), (probes[0], probes[1]))

    def _probe(self, port: int, opposite: Any, batch: Batch) -> Batch:
        return self._probes[port](batch, opposite.buckets)

    def _keep(self, port: int, area: SweepArea, batch: Batch) -> None:
        key, other, insert = self._keys[port], self.reached[1 - port], area.insert
        for element in batch:
            if element[1] > other and (value := key(element[2])) is not None:
                insert(value, element)


class NestedLoopsJoin(_Join):
    """Pair the elements of two streams that satisfy any condition while both are valid.

        join(L, R)@t  =  { l ∘ r | l in L@t, r in R@t, condition(l, r) }

    Input, Output, State    as HashJoin
    Cost     O(elements kept on the other side) per element.
    Source   thesis, Algorithm 6 with lists

    >>> join = NestedLoopsJoin(Pairing("left[0] < right[0]"))
    >>> join.push(0, [(0, 10, (1,)), (0, 10, (5,))])
    []
    >>> join.push(1, [(0, 6, (3,))])
    [(0, 6, (1, 3))]
    """

    def __init__(self, pairing: Pairing | None = None) -> None:
        pairing = pairing or Pairing()
        probes = (_loop_probe("left", "right", pairing), _loop_probe("right", "left", pairing))
        super().__init__((ListSweepArea(), ListSweepArea()), probes)

    def _probe(self, port: int, opposite: Any, batch: Batch) -> Batch:
        return self._probes[port](batch, opposite.elements)

    def _keep(self, port: int, area: SweepArea, batch: Batch) -> None:
        other, insert = self.reached[1 - port], area.insert
        for element in batch:
            if element[1] > other:
                insert(None, element)


_INTERSECTION = """
            if start2 < end and start < end2{condition}:
                out.append((
                    start if start >= start2 else start2,
                    end if end <= end2 else end2,
                    {payload},
                ))
"""

_HASH_PROBE = """
def probe(batch, buckets):
    out = []
    find = buckets.get
    for start, end, {mine} in batch:
        bucket = find({key})
        if bucket is None:
            continue
        for start2, end2, {other} in bucket.values():{intersection}
    return out
"""

_LOOP_PROBE = """
def probe(batch, elements):
    out = []
    for start, end, {mine} in batch:
        for start2, end2, {other} in elements.values():{intersection}
    return out
"""


def _hash_probe(mine: str, other: str, keys: Sequence[int], pairing: Pairing) -> Probe:
    parts = [f"{mine}[{i}]" for i in keys]
    # One key column stands for itself; several make a tuple. A None in it finds no bucket, as none is kept
    # under such a key.
    key = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    return _generate(_HASH_PROBE, pairing, mine=mine, other=other, key=key)


def _loop_probe(mine: str, other: str, pairing: Pairing) -> Probe:
    return _generate(_LOOP_PROBE, pairing, mine=mine, other=other)


def _generate(template: str, pairing: Pairing, **parts: str) -> Probe:
    condition = "" if pairing.condition == "True" else f" and {pairing.condition}"
    intersection = _INTERSECTION.format(condition=condition, payload=pairing.payload)
    names = dict(pairing.names)
    exec(template.format(intersection=intersection, **parts), names)
    probe: Probe = names["probe"]
    return probe


def _key(columns: Sequence[int]) -> Callable[[Any], Hashable]:
    """The key of a payload, or None where one of its columns is unknown."""
    if len(columns) == 1:
        function: Callable[[Any], Hashable] = evaluate(f"lambda row: row[{columns[0]}]", _no_scope())
        return function
    parts = ", ".join(f"row[{i}]" for i in columns)
    unknown = " or ".join(f"row[{i}] is None" for i in columns)
    function = evaluate(f"lambda row: None if {unknown} else ({parts})", _no_scope())
    return function


def _no_scope() -> Any:
    return pair_scope(Schema(()), Schema(()))
