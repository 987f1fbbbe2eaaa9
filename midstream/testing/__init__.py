"""Hypothesis strategies for streams, interleavings and plans, the check that a plan runs as it is specified,
and the suite for Boxes.

For those who write operators, rules or boxes of their own and want to see them fail. Needs hypothesis.

    from hypothesis import given
    from midstream import testing

    @given(testing.workloads())
    def test_my_engine(workload):
        assert testing.equivalent(workload.specified(), my_engine(workload.plan, workload.events))
"""

from midstream.plans.values.snapshots import equivalent
from midstream.testing.boxes import check_box
from midstream.testing.plans import WHOLE, condition, implemented, plans
from midstream.testing.rules import applications, check_rule, subplans
from midstream.testing.streams import Event, elements, interleavings, is_ordered, rows
from midstream.testing.watched import PROMISES, BrokenPromise, Watched
from midstream.testing.workloads import Workload, drive, streams_for, verdict, workloads

__all__ = [
    "PROMISES",
    "WHOLE",
    "BrokenPromise",
    "Event",
    "Watched",
    "Workload",
    "applications",
    "check_box",
    "check_rule",
    "condition",
    "drive",
    "elements",
    "equivalent",
    "implemented",
    "interleavings",
    "is_ordered",
    "plans",
    "rows",
    "streams_for",
    "subplans",
    "verdict",
    "workloads",
]
