"""The streams of what a stream gains and loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from midstream.plans.algebra.operators.base import Logical


@dataclass(frozen=True, slots=True)
class Istream(Logical):
    """At an instant, the rows that were not there one chronon before (17.3, erratum 6)."""

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Dstream(Logical):
    """At an instant, the rows that were there one chronon before and are no longer (17.4, erratum 6)."""

    is_snapshot_reducible: ClassVar[bool] = False
    is_stateless: ClassVar[bool] = False
