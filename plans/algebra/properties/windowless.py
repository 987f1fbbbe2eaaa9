"""Operators that combine rows of streams without a window, which see the rows of one instant only."""

from __future__ import annotations

from collections.abc import Collection

from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    CountWindow,
    Distinct,
    Dstream,
    Istream,
    Join,
    Logical,
    PartitionedWindow,
    SemiJoin,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties.nodes import logical, reads_stream

JOINS = (Join, SemiJoin, AntiJoin)
COMBINING = (*JOINS, Aggregate, Distinct)
"""Operators that combine rows."""

ENDING = (TimeWindow, CountWindow, PartitionedWindow, Istream, Dstream)
"""Operators above which rows have a stated validity, or are changes."""


def windowless(plan: Plan, with_now: Collection[Node] = ()) -> list[tuple[Logical, frozenset[str]]]:
    """The operators that combine rows of streams without any window, each with the names of these streams.

    Such an operator sees the rows of one instant only, which is seldom meant. Nodes in `with_now` have NOW as
    their window. If one side of a join has a window, or is a relation, the join is left out: its other side
    often looks up the rows that are valid when its row arrives.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b = stream("a", x="integer"), stream("b", y="integer")
    >>> [(operator.name, sorted(streams)) for operator, streams in windowless(Plan(a.join(b).node))]
    [('join', ['a', 'b'])]
    >>> windowless(Plan(a.join(b.window(9)).node)), windowless(Plan(a.window(1).distinct().node))
    ([], [])
    """
    bare: dict[Node, frozenset[str]] = {}  # by node, the streams whose chronons it passes on
    found: list[tuple[Logical, frozenset[str]]] = []
    for node in plan.nodes:
        operator = logical(node)
        below = frozenset().union(*(bare[child] for child in node.inputs))
        if isinstance(operator, Source) and not operator.intervals:
            below = frozenset([operator.stream])
        if node in with_now or isinstance(operator, ENDING):
            below = frozenset()
        elif below and isinstance(operator, COMBINING):
            streams = [child for child in node.inputs if reads_stream(child)]
            if not isinstance(operator, JOINS) or len(streams) > 1:
                if all(bare[child] for child in streams):
                    found.append((operator, below))
                below = frozenset()
        bare[node] = below
    return found
