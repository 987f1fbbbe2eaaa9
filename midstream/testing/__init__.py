"""Property-based tests for operators, rules and Boxes of your own, with planted faults; needs hypothesis.

The package holds hypothesis strategies for streams, interleavings and plans, the check of a running plan
against its specification, migration cases by seed, and the suite for Boxes.

    from hypothesis import given
    from midstream import testing

    @given(testing.workloads())
    def test_my_engine(workload):
        assert testing.equivalent(workload.specified(), my_engine(workload.plan, workload.events))
"""

from midstream.arrivals import Event
from midstream.plans.values.snapshots import equivalent
from midstream.testing.boxes import check_box
from midstream.testing.cases import (
    Case,
    Tried,
    case_from_json,
    case_of,
    case_to_json,
    cases,
    check_case,
    smallest_case,
)
from midstream.testing.families import KINDS, Family, families, members
from midstream.testing.mutants import MUTANTS, Mutant
from midstream.testing.plans import WHOLE, condition, implemented, plans
from midstream.testing.rules import applications, check_rule, subplans
from midstream.testing.streams import elements, interleavings, is_ordered, rows
from midstream.testing.watched import PROMISES, BrokenPromise, Watched
from midstream.testing.workloads import Workload, drive, streams_for, verdict, workloads

__all__ = [
    "KINDS",
    "MUTANTS",
    "PROMISES",
    "WHOLE",
    "BrokenPromise",
    "Case",
    "Event",
    "Family",
    "Mutant",
    "Tried",
    "Watched",
    "Workload",
    "applications",
    "case_from_json",
    "case_of",
    "case_to_json",
    "cases",
    "check_box",
    "check_case",
    "check_rule",
    "condition",
    "drive",
    "elements",
    "equivalent",
    "families",
    "implemented",
    "interleavings",
    "is_ordered",
    "members",
    "plans",
    "rows",
    "smallest_case",
    "streams_for",
    "subplans",
    "verdict",
    "workloads",
]
