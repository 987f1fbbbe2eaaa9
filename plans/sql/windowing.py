"""Samples, windows and granularities: from clauses to operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from midstream.plans.algebra.operators import (
    Bounds,
    CountWindow,
    Granularity,
    PartitionedWindow,
    Sample,
    Ties,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import timestamped
from midstream.plans.expressions.expressions import Col
from midstream.plans.sql.faults import Script, Span, span
from midstream.plans.sql.scope import Scope
from midstream.plans.sql.syntax import Extent, GranularityClause, SampleClause, Value, WindowClause
from midstream.plans.values.units import NANOSECONDS, TimeUnit, unit_name


class Windows:
    """Puts windows on streams, and records their places in the script, and the nodes with NOW.

    unit       the unit of a chronon
    unit_of    the unit of a bare number above a stream; None if it is undeclared
    """

    def __init__(
        self,
        script: Script,
        unit: TimeUnit,
        unit_of: Callable[[Node], TimeUnit | None],
        ties: Ties,
        places: dict[Node, Span],
        meant_now: set[Node],
    ) -> None:
        self._script = script
        self._unit = unit
        self._unit_of = unit_of
        self._ties: Ties = ties
        self._places = places
        self._meant_now = meant_now

    def put(self, node: Node, clause: WindowClause, scope: Scope) -> Node:
        """A stream with a window; `scope` has the names of its columns.

        A now-window leaves a stream as it is (thesis, section 9.2).
        """
        if clause.is_now:
            self._meant_now.add(node)
            return node
        made = self._by_rows(node, clause, scope) if clause.by_rows else self._by_time(node, clause)
        self._places[made] = clause.at
        return made

    def draw(self, node: Node, clause: SampleClause) -> Node:
        """A sample of a stream: the largest share that is allowed."""
        least, most = float(clause.least), float(clause.most)
        if most < least:
            raise self._script.fault("the greatest share is less than the least", clause.at)
        leaf = timestamped(node)
        if leaf is None:
            raise self._script.fault(
                "only a declared stream of timestamps has samples, as a row is drawn by its time and all its "
                f"columns; found {node.operator}",
                clause.at,
            )
        with self._script.at(lambda: clause.at):
            return Node(Sample(leaf.label, most, 0, None if least == most else (least, most)), (node,))

    def coarsen(self, node: Node, clause: GranularityClause) -> Node:
        """A stream with a granularity: the finest that is allowed."""
        finest, coarsest = self._duration(node, clause.finest), self._duration(node, clause.coarsest)
        if coarsest < finest:
            raise self._script.fault("the coarsest granularity is finer than the finest", clause.at)
        bounds = (finest, coarsest) if clause.finest != clause.coarsest else None
        with self._script.at(lambda: clause.at):
            return Node(Granularity(finest, bounds), (node,))

    def _by_time(self, node: Node, clause: WindowClause) -> Node:
        size, bounds = self._extent(clause.extent, partial(self._duration, node), clause.at)
        slide = 1 if clause.slide is None else self._duration(node, clause.slide)
        return Node(TimeWindow(size, slide, bounds), (node,))

    def _by_rows(self, node: Node, clause: WindowClause, scope: Scope) -> Node:
        size, bounds = self._extent(clause.extent, self._rows, clause.at)
        slide = 1 if clause.slide is None else self._rows(clause.slide)
        ties: Ties = "arrival" if clause.ties_by_arrival else self._ties
        if not clause.keys:
            return Node(CountWindow(size, slide, ties, bounds), (node,))
        keys = tuple(self._key(key, scope) for key in clause.keys)
        return Node(PartitionedWindow(keys, size, slide, ties, None, bounds), (node,))

    def _key(self, key: exp.Expr, scope: Scope) -> str:
        column = scope.resolve(key) if isinstance(key, exp.Column) else None
        if not isinstance(column, Col):
            raise self._script.fault("expected a column to partition by", span(key))
        return column.name

    def _extent(
        self, extent: Extent, read: Callable[[Value], int], at: Span
    ) -> tuple[int | None, Bounds | None]:
        """The size, which is the largest that is allowed, and its bounds."""
        if extent.most is None or extent.least is None:
            return None, None
        least, most = read(extent.least), read(extent.most)
        if most < least:
            raise self._script.fault(f"the greatest window, {most}, is less than the least, {least}", at)
        return most, None if extent.least == extent.most else (least, most)

    def _rows(self, value: Value) -> int:
        if value.unit is not None:
            raise self._script.fault(f"found rows in {value.unit}, expected a number", value.at)
        return value.number

    def _duration(self, node: Node, value: Value) -> int:
        if value.unit is None:
            bare = self._unit_of(node)
            if bare is None:
                raise self._script.fault(
                    f"nothing says what {value.number} counts; write "
                    f"{value.number} SECOND{'' if value.number == 1 else 'S'}, or another unit, or "
                    "SET time_unit = 'seconds' before streams are declared",
                    value.at,
                )
            return value.number * (bare.nanoseconds // self._unit.nanoseconds)
        chronons = self._unit.chronons(value.number, unit_of(self._script, value.unit, value.at))
        if chronons is None:
            raise self._script.fault(
                f"{value.number} {value.unit} is no whole number of {self._unit.name}, "
                "the unit of time (SET time_unit)",
                value.at,
            )
        return chronons


def unit_of(script: Script, word: str, at: Span) -> str:
    """The unit of time that a word names; raises SqlError if it names none."""
    unit = unit_name(word)
    if unit is None:
        raise script.unknown("unit of time", word, [f"{name}s" for name in NANOSECONDS], at)
    return unit
