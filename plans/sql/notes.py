"""Notes for the author of a query: joins and groupings without a window, and aggregates over no rows."""

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
    PartitionedWindow,
    SemiJoin,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical, reads_stream

WORDS = {Join: "join", SemiJoin: "join", AntiJoin: "join", Aggregate: "grouping", Distinct: "DISTINCT"}
"""The words for operators that combine rows."""

ENDING = (TimeWindow, CountWindow, PartitionedWindow, Istream, Dstream)
"""Operators above which rows have a stated validity, or are changes."""


def windowless(plan: Plan, with_now: Collection[Node]) -> tuple[str, ...]:
    """A sentence for each operator that combines rows of streams without any window.

    It sees the rows of one instant only, which is seldom meant. Nodes in `with_now` have NOW as their window.
    If one side of a join has a window, or is a relation, there is no sentence: the other side often looks up
    the rows that are valid when its row arrives.
    """
    bare: dict[Node, frozenset[str]] = {}  # by node, the streams whose chronons it passes on
    sentences: dict[str, None] = {}
    for node in plan.nodes:
        operator = logical(node)
        below = frozenset().union(*(bare[child] for child in node.inputs))
        if isinstance(operator, Source) and not operator.intervals:
            below = frozenset([operator.stream])
        if node in with_now or isinstance(operator, ENDING):
            below = frozenset()
        elif below and (word := WORDS.get(type(operator))) is not None:
            streams = [child for child in node.inputs if reads_stream(child)]
            if word != "join" or len(streams) > 1:
                if all(bare[child] for child in streams):
                    sentences[_sentence(word, below)] = None
                below = frozenset()
        bare[node] = below
    return tuple(sentences)


def of_all_rows(plan: Plan, groupings: Collection[Node]) -> tuple[str, ...]:
    """A sentence if one of the plan's groupings of all rows has no result over no rows (thesis, 8.9)."""
    if not any(node in groupings for node in plan.nodes):
        return ()
    return (
        "an aggregate without GROUP BY has no result at an instant without rows, where other databases give "
        "one row, with a COUNT of 0; write HAVING COUNT(*) > 0 if that is meant",
    )


def _sentence(word: str, streams: Collection[str]) -> str:
    first, names = min(streams), " and ".join(sorted(streams))
    return (
        f"the {word} sees rows of {names} at their own timestamp only, as there is no window; write "
        f"{first} WINDOW(RANGE …), or {first} WINDOW(NOW) if that is meant"
    )
