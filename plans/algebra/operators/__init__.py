"""The logical operators, one file each: what is known of it, in one place."""

from midstream.plans.algebra.operators.aggregate import Aggregate
from midstream.plans.algebra.operators.arrangement import Arrangement
from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.changes import Dstream, Istream
from midstream.plans.algebra.operators.checks import Bounds
from midstream.plans.algebra.operators.coalesce import Coalesce
from midstream.plans.algebra.operators.convert import Convert, Form
from midstream.plans.algebra.operators.count_windows import CountWindow, PartitionedWindow, Ties
from midstream.plans.algebra.operators.distinct import Distinct
from midstream.plans.algebra.operators.filter import Filter
from midstream.plans.algebra.operators.granularity import Granularity
from midstream.plans.algebra.operators.join import Join
from midstream.plans.algebra.operators.matching import AntiJoin, SemiJoin
from midstream.plans.algebra.operators.multisets import Difference, Intersection, MaxUnion, StrictDifference
from midstream.plans.algebra.operators.project import Project
from midstream.plans.algebra.operators.relation import Relation
from midstream.plans.algebra.operators.source import Source
from midstream.plans.algebra.operators.split import Split
from midstream.plans.algebra.operators.time_window import TimeWindow
from midstream.plans.algebra.operators.union import Union

__all__ = [
    "Aggregate",
    "AntiJoin",
    "Arrangement",
    "Bounds",
    "Coalesce",
    "Convert",
    "CountWindow",
    "Difference",
    "Distinct",
    "Dstream",
    "Filter",
    "Form",
    "Granularity",
    "Intersection",
    "Istream",
    "Join",
    "Logical",
    "MaxUnion",
    "PartitionedWindow",
    "Project",
    "Relation",
    "SemiJoin",
    "Source",
    "Split",
    "StrictDifference",
    "Ties",
    "TimeWindow",
    "Union",
]
