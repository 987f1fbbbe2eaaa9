"""The refusal of queries whose state would grow for ever."""

from __future__ import annotations

from collections.abc import Mapping

from midstream.plans.algebra.operators import (
    Aggregate,
    CountWindow,
    Dstream,
    Istream,
    Join,
    PartitionedWindow,
    Split,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, reads_stream
from midstream.plans.sql.faults import Script, Span

CONSTANT_SPACE = frozenset(
    (
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "var_pop",
        "var_samp",
        "stddev_pop",
        "stddev_samp",
        "top_k",
        "scaled_sum",
    )
)
"""The aggregate functions that keep only a few values for a stream that only grows."""


def refuse_unbounded(plan: Plan, script: Script, places: Mapping[Node, Span]) -> None:
    """Raise SqlError, at the window, if an operator would keep all rows of a stream without expiry.

    Filters and projections keep nothing; an aggregate over all rows keeps its value only.
    """
    lasting: dict[Node, Node] = {}  # by node, the unbounded window below it
    for node in plan.nodes:
        operator = logical(node)
        below = [lasting[child] for child in node.inputs if child in lasting]
        if isinstance(operator, TimeWindow | CountWindow | PartitionedWindow):
            size = operator.size if isinstance(operator, TimeWindow) else operator.rows
            if size is None:
                lasting[node] = node
                continue
        if not below:
            continue
        if _keeps_all(node, lasting):
            window = below[0]
            raise script.fault(
                f"the {operator.name} behind this unbounded window would keep its rows for ever; "
                "bound the window, or allow that with SET unbounded_state = 'allow'",
                places.get(window),
            )
        if not isinstance(operator, Istream | Dstream):
            lasting[node] = below[0]


def _keeps_all(node: Node, lasting: Mapping[Node, Node]) -> bool:
    operator = logical(node)
    if isinstance(operator, Split | Istream | Dstream):
        return False  # they keep rows until these end, and no row that is valid for ever
    if isinstance(operator, Aggregate):
        return bool(operator.keys) or any(
            call.distinct or call.name not in CONSTANT_SPACE for _, call in operator.calls
        )
    if operator.is_stateless:
        return False
    if isinstance(operator, Join):
        # A row that is joined to a relation need not be kept for later rows of the relation.
        return all(map(reads_stream, node.inputs))
    return True
