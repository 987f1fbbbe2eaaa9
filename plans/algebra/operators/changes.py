"""Istream and Dstream: the rows that appear in a stream, and the rows that disappear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.plans.algebra.operators.base import (
    History,
    Names,
    OverTime,
    Parameterless,
    Schemas,
    Snapshot,
    unchanged,
)
from midstream.plans.algebra.operators.columns import Columns, Sets
from midstream.plans.values.streams import Time


class _Changes(Parameterless, OverTime):
    """Base class: each row is valid for the chronon in which the snapshot has changed."""

    __slots__ = ()

    is_stateless = False
    reach = 1
    cell = 1

    def granule_above(self, below: int) -> int:
        return below

    def remembers_until(self, end: Time) -> Time:
        return end + 1

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return True

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        return True

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Rows that are valid together in the output were valid together at one instant of the input."""
        return inputs[0].keys

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """A row that is valid at one instant appears once, and disappears once."""
        return inputs[0].lasting_keys

    @property
    def sees_one_instant(self) -> bool:
        return True

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """Whole rows are compared."""
        return [frozenset(inputs[0].names)]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return ()

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return 1


@dataclass(frozen=True, slots=True)
class Istream(_Changes):
    """At an instant, the rows that were not valid one chronon before (17.3, erratum 6)."""

    name = "istream"
    symbol = "Δ⁺"
    formulas = "istream"

    def snapshot(self, history: History, instant: int) -> Snapshot:
        return history.at(instant) - history.at(instant - 1)

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]


@dataclass(frozen=True, slots=True)
class Dstream(_Changes):
    """At an instant, the rows that were valid one chronon before and no longer are (17.4, erratum 6)."""

    name = "dstream"
    symbol = "Δ⁻"
    formulas = "dstream"

    def snapshot(self, history: History, instant: int) -> Snapshot:
        return history.at(instant - 1) - history.at(instant)

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """The rows have left the input."""
        return ()
