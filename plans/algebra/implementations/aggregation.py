"""Aggregations."""

from __future__ import annotations

from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.operators import Aggregate

AGGREGATE = Implementation("aggregate", Aggregate, "aggregate")
