"""The logical operators, one in each file; `base` defines the facts that each must state."""

from inspect import isabstract

from midstream.plans.algebra.operators.adjustable import Adjustable
from midstream.plans.algebra.operators.aggregate import Aggregate
from midstream.plans.algebra.operators.arrangement import Arrangement
from midstream.plans.algebra.operators.base import (
    Leaf,
    Logical,
    OverTime,
    RowByRow,
    Snapshot,
    SnapshotReducible,
)
from midstream.plans.algebra.operators.changes import Dstream, Istream
from midstream.plans.algebra.operators.checks import Bounds
from midstream.plans.algebra.operators.coalesce import Coalesce
from midstream.plans.algebra.operators.convert import Convert, Form
from midstream.plans.algebra.operators.count_windows import Counting, CountWindow, PartitionedWindow, Ties
from midstream.plans.algebra.operators.distinct import Distinct
from midstream.plans.algebra.operators.filter import Filter
from midstream.plans.algebra.operators.granularity import Granularity
from midstream.plans.algebra.operators.join import Join
from midstream.plans.algebra.operators.matching import AntiJoin, Matching, SemiJoin
from midstream.plans.algebra.operators.multisets import Difference, Intersection, MaxUnion, StrictDifference
from midstream.plans.algebra.operators.project import Project
from midstream.plans.algebra.operators.relation import Relation
from midstream.plans.algebra.operators.sample import Sample
from midstream.plans.algebra.operators.source import Source
from midstream.plans.algebra.operators.split import Split
from midstream.plans.algebra.operators.time_window import TimeWindow
from midstream.plans.algebra.operators.union import Union

__all__ = [
    "KINDS",
    "Adjustable",
    "Aggregate",
    "AntiJoin",
    "Arrangement",
    "Bounds",
    "Coalesce",
    "Convert",
    "CountWindow",
    "Counting",
    "Difference",
    "Distinct",
    "Dstream",
    "Filter",
    "Form",
    "Granularity",
    "Intersection",
    "Istream",
    "Join",
    "Leaf",
    "Logical",
    "Matching",
    "MaxUnion",
    "OverTime",
    "PartitionedWindow",
    "Project",
    "Relation",
    "RowByRow",
    "Sample",
    "SemiJoin",
    "Snapshot",
    "SnapshotReducible",
    "Source",
    "Split",
    "StrictDifference",
    "Ties",
    "TimeWindow",
    "Union",
]

KINDS: dict[str, type[Logical]] = {
    str(kind.name): kind
    for kind in list(vars().values())
    if isinstance(kind, type) and issubclass(kind, Logical) and not isabstract(kind)
}
"""The operators by their names in serialised plans: all that are imported here."""
