"""Filters, projections, unions, duplicate elimination, and operators on two multisets of equal rows."""

from __future__ import annotations

from midstream.plans.algebra.implementations.base import Implementation
from midstream.plans.algebra.operators import (
    Difference,
    Distinct,
    Filter,
    Intersection,
    MaxUnion,
    Project,
    StrictDifference,
    Union,
)

FILTER = Implementation("filter", Filter, "filter")
MAP = Implementation("map", Project, "map")
UNION = Implementation("union", Union, "union")
DISTINCT = Implementation("distinct", Distinct, "distinct")
DIFFERENCE = Implementation("difference", Difference, "multisets")
STRICT_DIFFERENCE = Implementation("strict-difference", StrictDifference, "multisets")
INTERSECTION = Implementation("intersection", Intersection, "multisets")
MAX_UNION = Implementation("max-union", MaxUnion, "max_union")
