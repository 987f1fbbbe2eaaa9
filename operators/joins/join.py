"""Joins of interval streams: hash joins, nested-loops joins, and mixtures of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from midstream.operators.base.facts import equi_pairing, loop_pairing
from midstream.operators.base.operator import Operator
from midstream.operators.base.pairing import Pairing
from midstream.operators.base.running import Running, operator_of
from midstream.operators.joins.band_join import BandJoin
from midstream.operators.joins.list_sweepareas import FifoListSweepArea, ListSweepArea
from midstream.operators.joins.probes import SIDES, Probe, hash_probe, scan
from midstream.operators.joins.queued_join import QueuedJoin
from midstream.operators.joins.sweep_join import Areas, Fifo, Probes, SweepJoin
from midstream.operators.joins.sweepareas import FifoHashSweepArea, HashSweepArea, SweepArea
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import joins as facts
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import has_ordered_ends


class _Sides(NamedTuple):
    areas: Areas
    probes: Probes


class HashJoin(SweepJoin):
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

    A key that holds None equals no key, as in SQL. Where the ends of a port are known to be ordered, its
    state is a queue (`is_fifo`).

    >>> join = HashJoin(left=[0], right=[0])
    >>> join.push(0, [(0, 10, ("a", 1))])
    []
    >>> join.push(1, [(4, 6, ("a", 2)), (5, 6, ("b", 3))])
    []
    >>> join.advance(0, 4)                  # from now on no pair can start before 4
    [(4, 6, ('a', 1, 'a', 2))]
    """

    def __init__(
        self,
        left: Sequence[int],
        right: Sequence[int],
        pairing: Pairing | None = None,
        is_fifo: Fifo = (False, False),
    ) -> None:
        super().__init__(*_hashed(left, right, pairing or Pairing(), is_fifo))


class NestedLoopsJoin(SweepJoin):
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

    def __init__(self, pairing: Pairing | None = None, is_fifo: Fifo = (False, False)) -> None:
        super().__init__(*_listed(pairing or Pairing(), is_fifo))


def _hashed(left: Sequence[int], right: Sequence[int], pairing: Pairing, is_fifo: Fifo) -> _Sides:
    keys = (left, right)
    areas = [
        FifoHashSweepArea(columns) if fifo else HashSweepArea(columns)
        for columns, fifo in zip(keys, is_fifo, strict=True)
    ]
    probes: list[Probe] = [
        hash_probe(side, keys[port], pairing, areas[1 - port].CANDIDATES) for port, side in enumerate(SIDES)
    ]
    return _Sides((areas[0], areas[1]), (probes[0], probes[1]))


def _listed(pairing: Pairing, is_fifo: Fifo) -> _Sides:
    areas: list[SweepArea] = [FifoListSweepArea() if fifo else ListSweepArea() for fifo in is_fifo]
    probes = [scan(side, pairing, is_fifo=is_fifo[1 - port]) for port, side in enumerate(SIDES)]
    return _Sides((areas[0], areas[1]), (probes[0], probes[1]))


def _fifo(node: Node) -> Fifo:
    return has_ordered_ends(node.inputs[0]), has_ordered_ends(node.inputs[1])


def _hash_facts(node: Node) -> tuple[list[int], list[int], Pairing, Fifo]:
    """The arguments of a hash join for a node."""
    return *equi_pairing(node), _fifo(node)


def _loop_facts(node: Node) -> tuple[Pairing, Fifo]:
    """The arguments of a nested-loops join for a node."""
    return loop_pairing(node), _fifo(node)


def _band_join(node: Node) -> Operator:
    operator = operator_of(node, logical.Join)
    return BandJoin(operator.condition, operator.columns, *(child.schema for child in node.inputs))


def _mixed(left: _Sides, right: _Sides) -> Operator:
    """A join with a hash table and a list, for a side that is tiny, or hardly probed."""
    return SweepJoin((left.areas[0], right.areas[1]), (right.probes[0], left.probes[1]))


RUNNING: Running = {
    facts.HASH_JOIN: lambda node: HashJoin(*_hash_facts(node)),
    facts.BAND_JOIN: _band_join,
    facts.NESTED_LOOPS_JOIN: lambda node: NestedLoopsJoin(*_loop_facts(node)),
    facts.HASH_LIST_JOIN: lambda node: _mixed(_hashed(*_hash_facts(node)), _listed(*_loop_facts(node))),
    facts.LIST_HASH_JOIN: lambda node: _mixed(_listed(*_loop_facts(node)), _hashed(*_hash_facts(node))),
    facts.HASH_JOIN_QUEUED: lambda node: QueuedJoin(*_hashed(*_hash_facts(node))),
    facts.NESTED_LOOPS_JOIN_QUEUED: lambda node: QueuedJoin(*_listed(*_loop_facts(node))),
}
