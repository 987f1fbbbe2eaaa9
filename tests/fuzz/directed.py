"""Small scenarios that lead straight to a fault that would be met by chance too seldom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from migration_law import Scenario

from midstream.engine import Engine
from midstream.migration.transition import Transition
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators import Split
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element, Time
from midstream.testing import Event, Workload, drive, verdict
from midstream.testing.law import vouched

A, B, C = (stream(name, u="integer", intervals=True) for name in "abc")
POSITIVE, SMALL = col("u") > 0, col("u") < 9


def pushed(name: str, *elements: tuple[Time, Time, int]) -> Event:
    """Elements of one column on a stream."""
    return "push", name, [(start, end, (u,)) for start, end, u in elements]


def sent(events: Sequence[Event]) -> dict[str, list[Element]]:
    """What came on each stream."""
    streams: dict[str, list[Element]] = {}
    for _, name, batch in events:
        streams.setdefault(name, []).extend(batch)
    return streams


def moved(
    old: Stream,
    new: Plan,
    after: int,
    events: Sequence[Event],
    strategy: str = "genmig",
    stands: Sequence[int] = (),
    **rows: Any,
) -> Scenario:
    """A migration after some events, of what differs."""
    workload = Workload(old.plan(), {**sent(events), **rows}, events)
    return Scenario(workload, [(after, new, strategy)], stands=stands)


_ROWS = relation("rows", temporal=True, u="integer")

BESIDE_A_RELATION = moved(
    A.union(_ROWS).filter(POSITIVE),
    A.filter(POSITIVE).union(_ROWS.filter(POSITIVE)).plan(),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (3, 9, 1)), pushed("a", (20, 22, 1))],
    rows=[(0, 12, (1,)), (4, 30, (2,))],
)
"""Rows of a relation are valid where no element of the stream is."""

ONE_INPUT_IS_AHEAD = moved(
    A.difference(B).filter(POSITIVE),
    A.filter(POSITIVE).difference(B.filter(POSITIVE)).plan(),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (10, 12, 1)), pushed("a", (13, 14, 1)), pushed("b", (2, 20, 1))],
)
"""Two elements of one input come from behind the split time before one from ahead of it on the other."""

ACROSS_THE_SPLIT_TIME = moved(
    A.filter(POSITIVE).filter(SMALL),
    A.filter(SMALL).filter(POSITIVE).plan(),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (3, 9, 1)), pushed("a", (10, 12, 1))],
    "genmig-reference-point",
)
"""A result starts before the split time and ends behind it."""

A_PLAN_THAT_FAILS = moved(
    A.distinct().filter(POSITIVE),
    A.filter(POSITIVE).distinct().plan(),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (10, 12, 1)), pushed("a", (13, 14, 1))],
    stands=[0],
)
"""The new plan fails on the element that passes the split time, of which the old one makes a result."""

INPUTS_THAT_DIFFER = moved(
    A.difference(B).difference(C),
    A.difference(B.union(C)).plan(),
    3,
    [
        *(pushed("a", (0, 2, 0)), pushed("b", (0, 2, 0)), pushed("c", (0, 20, 0))),
        *(pushed("a", (5, 10, 1)), pushed("b", (5, 10, 1)), pushed("c", (5, 6, 0), (25, 26, 0))),
    ],
)
"""Both roots are one operator over inputs that mean something else: of one, elements end early, of the other
late."""

BELOW_WHAT_STAYS = moved(
    A.filter(POSITIVE).filter(SMALL).distinct(),
    A.filter(SMALL).filter(POSITIVE).distinct().plan(),
    1,
    [pushed("a", (0, 20, 1)), pushed("a", (5, 30, 1)), pushed("a", (25, 40, 1))],
)
"""An operator goes on, and what it keeps is met by what comes from below the change."""

CUT_OTHERWISE = moved(
    A.distinct(),
    Plan(Node(Split(2), (A.distinct().node,))),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (3, 20, 1)), pushed("a", (6, 7, 1)), pushed("a", (25, 26, 1))],
)
"""The new plan gives in pieces what the old one has given as a whole, until long after it is gone."""

EQUALS_CUT_OTHERWISE = moved(
    A.filter(POSITIVE),
    Plan(Node(Split(2), (A.filter(POSITIVE).node,))),
    1,
    [pushed("a", (0, 5, 1)), pushed("a", (3, 20, 1), (3, 20, 1)), pushed("a", (25, 26, 1))],
)
"""The same with two equal results."""


@dataclass(frozen=True)
class Story:
    """Queries, by number, and what happens to them: events, migrations of everything above the windows to a
    plan, and that the last one is aborted."""

    queries: Sequence[Plan]
    steps: Sequence[Any]

    def check(self) -> None:
        """Every output means what the logical algebra specifies."""
        engine = Engine()
        outputs: list[tuple[Node, list[Element]]] = []
        for number, plan in enumerate(self.queries):
            engine.add(plan, name=str(number))
            for name, root in plan.outputs.items():
                results: list[Element] = []
                engine.subscribe(results.extend, name, str(number))
                outputs.append((root, results))
        migrations: list[Transition] = []
        for step in self.steps:
            match step:
                case "migrate", number, plan:
                    migrations.append(vouched(engine, plan, query=str(number), replace_all=True))
                case "abort":
                    migrations[-1].abort()
                case _:
                    drive(engine, [step])
        engine.close()
        streams = sent([step for step in self.steps if step[0] == "push"])
        for root, results in outputs:
            outcome = verdict(specified(Plan(root), streams), results)
            assert outcome, str(outcome)


_BOTH = A.distinct().difference(B).node

ONE_OUTPUT_IS_AHEAD = Story(
    [Plan({"one": A.distinct().filter(POSITIVE).node, "both": _BOTH})],
    [
        pushed("a", (0, 5, 1)),
        ("migrate", 0, Plan({"one": A.filter(POSITIVE).distinct().node, "both": _BOTH})),
        *(pushed("a", (10, 15, 1)), pushed("a", (17, 18, 1))),
        "abort",
        *(pushed("b", (1, 2, 1)), pushed("a", (20, 21, 1))),
    ],
)
"""One output has results from behind the split time, for which another input still waits, when the migration
is aborted."""

TWO_QUERIES = Story(
    [A.distinct().filter(POSITIVE).plan()] * 2,
    [
        pushed("a", (0, 5, 1)),
        ("migrate", 1, A.filter(POSITIVE).distinct().plan()),
        *(pushed("a", (2, 8, 1)), pushed("a", (10, 12, 1))),
    ],
)
"""One of two equal queries moves."""
