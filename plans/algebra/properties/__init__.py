"""Static properties of plans, which rules, the builder and migrations use.

Each property is derived from the facts of the operators, from the inputs up; the columns that are read are
derived from the outputs down.
"""

from midstream.plans.algebra.properties.columns import (
    columns_read,
    dependencies,
    determined,
    equal_columns,
    is_duplicate_free,
    is_key,
    keys,
    lasting_dependencies,
    lasting_keys,
)
from midstream.plans.algebra.properties.inclusions import Inclusion, inclusions, is_included
from midstream.plans.algebra.properties.nodes import (
    companions,
    counted_node,
    expressions,
    intermediate,
    is_lever,
    lever_of,
    levers_of,
    logical,
    logical_node,
    logical_nodes,
    logical_plan,
    makers,
    makes_results,
    reads_stream,
    unbounded,
)
from midstream.plans.algebra.properties.regions import Region, above, input_nodes, regions
from midstream.plans.algebra.properties.validity import (
    has_arrival_order,
    has_ordered_ends,
    is_bounded,
    is_chronon_stream,
    is_start_preserving,
    latest_end,
    longest_validity,
    timestamped,
)
from midstream.plans.algebra.properties.windowless import windowless

__all__ = [
    "Inclusion",
    "Region",
    "above",
    "columns_read",
    "companions",
    "counted_node",
    "dependencies",
    "determined",
    "equal_columns",
    "expressions",
    "has_arrival_order",
    "has_ordered_ends",
    "inclusions",
    "input_nodes",
    "intermediate",
    "is_bounded",
    "is_chronon_stream",
    "is_duplicate_free",
    "is_included",
    "is_key",
    "is_lever",
    "is_start_preserving",
    "keys",
    "lasting_dependencies",
    "lasting_keys",
    "latest_end",
    "lever_of",
    "levers_of",
    "logical",
    "logical_node",
    "logical_nodes",
    "logical_plan",
    "longest_validity",
    "makers",
    "makes_results",
    "reads_stream",
    "regions",
    "timestamped",
    "unbounded",
    "windowless",
]
