"""The tables of the thesis' sections 11.4 to 11.6, against the operators and against the logical algebra.

Where a table shows the only possible output, the very elements are compared, in order; the union may give
elements that start together in either order.

Elsewhere: Table 11.8 (difference), and Tables 11.12 to 11.15 (windows, split and coalesce).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

import pytest

from midstream.driving import run
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import physical_plan, running_operator
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, sum_
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import Element

Rows = Sequence[tuple[str, int, int]]
"""Tuple, start, end: a row of a table."""

S1: Rows = [("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("a", 9, 10), ("b", 12, 17)]  # Table 11.1 (a)
S2: Rows = [("b", 1, 7), ("d", 3, 9), ("a", 4, 5), ("b", 7, 15), ("e", 10, 18)]  # Table 11.1 (b)
S3: Rows = [("b", 1, 2), ("a", 3, 4), ("c", 4, 5), ("a", 7, 8), ("b", 10, 11)]  # Table 11.11 (a)

NUMBERS = {"a": 1, "b": 10, "c": 100, "d": 1000}
"""A number for a letter, so that a sum can be read like the table's term."""


def elements(rows: Rows) -> list[Element]:
    return [(start, end, (letter,)) for letter, start, end in rows]


STREAMS = {"s1": elements(S1), "s2": elements(S2), "s3": elements(S3)}

ONE = stream("s1", x="string", intervals=True)
OTHER = stream("s2", x="string", intervals=True)
CHRONONS = stream("s3", x="string")

JOIN = ONE.join(OTHER.rename({"x": "y"}), on=[("x", "y")], columns=["x"])
VALUES = ONE.select(y=opaque(NUMBERS.__getitem__, reads=["x"], type="integer"))

UNION: Rows = [
    ("c", 1, 8),
    ("b", 1, 7),
    ("d", 3, 9),
    ("a", 4, 5),
    ("a", 5, 11),
    ("d", 6, 14),
    ("b", 7, 15),
    ("a", 9, 10),
    ("e", 10, 18),
    ("b", 12, 17),
]
"""Table 11.4."""

TABLES: dict[str, tuple[Stream, list[Element]]] = {
    "11.2 filter": (ONE.filter(col("x").eq("a")), elements([("a", 5, 11), ("a", 9, 10)])),
    "11.3 map": (
        ONE.select(x=opaque(lambda e: {"a": "x", "b": "y"}.get(e, e), reads=["x"], type="string")),
        elements([("c", 1, 8), ("x", 5, 11), ("d", 6, 14), ("x", 9, 10), ("y", 12, 17)]),
    ),
    "11.6 equi-join": (JOIN, elements([("d", 6, 9), ("b", 12, 15)])),
    "11.7 duplicate elimination": (
        ONE.distinct(),
        elements([("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("b", 12, 17)]),
    ),
    "11.9 scalar aggregation": (
        VALUES.aggregate(sum=sum_("y")),
        [
            (1, 5, (100,)),
            (5, 6, (101,)),
            (6, 8, (1101,)),
            (8, 9, (1001,)),
            (9, 10, (1002,)),
            (10, 11, (1001,)),
            (11, 12, (1000,)),
            (12, 14, (1010,)),
            (14, 17, (10,)),
        ],
    ),
    "11.10 grouping with aggregation": (
        ONE.group_by("x").aggregate(n=count()),
        [
            (1, 8, ("c", 1)),
            (5, 9, ("a", 1)),
            (6, 14, ("d", 1)),
            (9, 10, ("a", 2)),
            (10, 11, ("a", 1)),
            (12, 17, ("b", 1)),
        ],
    ),
    "11.11 time window": (
        CHRONONS.window(50),
        elements([("b", 1, 51), ("a", 3, 53), ("c", 4, 54), ("a", 7, 57), ("b", 10, 60)]),
    ),
}
"""Per table, a stream and the only elements that it may give."""

tables = pytest.mark.parametrize(("query", "expected"), TABLES.values(), ids=TABLES)


def needed(plan: Plan) -> dict[str, list[Element]]:
    """The streams that a plan reads."""
    return {source.stream: STREAMS[source.stream] for source in plan.sources}


def results(operator: Operator, *inputs: list[Element]) -> list[Element]:
    """Feed an operator its inputs, element by element in order of time."""
    arrivals = [(element[0], port, element) for port, batch in enumerate(inputs) for element in batch]
    out: list[Element] = []
    for _, port, element in sorted(arrivals, key=itemgetter(0, 1)):
        out += operator.push(port, [element])
    for port in range(len(inputs)):
        out += operator.end(port)
    return out


@tables
@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_the_engine_gives_the_table(query: Stream, expected: list[Element], batch_size: int) -> None:
    assert run(query.plan(), needed(query.plan()), batch_size) == expected


@tables
def test_the_table_means_what_is_specified(query: Stream, expected: list[Element]) -> None:
    assert specified(query.plan(), STREAMS) == normal_form(expected)


@tables
def test_the_operator_gives_the_table(query: Stream, expected: list[Element]) -> None:
    """Alone, without the engine around it."""
    root = physical_plan(query.plan()).root
    inputs = [run(plan, needed(plan)) for plan in map(Plan, root.inputs)]
    assert results(running_operator(root), *inputs) == expected


@pytest.mark.parametrize(
    "implementation",
    [
        "hash-join",
        "nested-loops-join",
        "hash-list-join",
        "list-hash-join",
        "hash-join-queued",
        "nested-loops-join-queued",
    ],
)
def test_every_join_gives_table_11_6(implementation: str) -> None:
    join = JOIN.node
    operator = running_operator(Node(Physical(implementation, join.operator), join.inputs))
    assert results(operator, STREAMS["s1"], STREAMS["s2"]) == TABLES["11.6 equi-join"][1]


def test_a_band_of_one_letter_gives_table_11_6() -> None:
    same = (col("x") <= col("y")) & (col("y") <= col("x"))
    join = ONE.join(OTHER.rename({"x": "y"}), on=same, columns=["x"]).node
    operator = running_operator(Node(Physical("band-join", join.operator), join.inputs))
    assert results(operator, STREAMS["s1"], STREAMS["s2"]) == TABLES["11.6 equi-join"][1]


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_the_union_gives_table_11_4_up_to_ties(batch_size: int) -> None:
    plan = ONE.union(OTHER).plan()
    found = run(plan, needed(plan), batch_size)
    assert Counter(found) == Counter(elements(UNION))
    assert [start for start, _, _ in found] == [start for _, start, _ in UNION]
    assert specified(plan, STREAMS) == normal_form(elements(UNION))


ROWS = stream("r", x="string", intervals=True)
PAIRS = stream("l", x="string", intervals=True).join(ROWS.rename({"x": "y"}), on=[("x", "y")], columns=["x"])

STATEFUL = {
    "theta-join": (PAIRS, "nested-loops-join"),
    "equi-join": (PAIRS, "hash-join"),
    "duplicate elimination": (ROWS.distinct(), "distinct"),
    "scalar aggregation": (ROWS.aggregate(n=count()), "aggregate"),
    "grouping with aggregation": (ROWS.group_by("x").aggregate(n=count()), "aggregate"),
}
"""The rows of Table 11.5 whose operators exist here."""

stateful = pytest.mark.parametrize(("query", "implementation"), STATEFUL.values(), ids=STATEFUL)


@stateful
def test_table_11_5_an_element_goes_when_no_later_one_can_meet_it(query: Stream, implementation: str) -> None:
    """The remove predicate is t_S >= t_E: one chronon earlier, a later element could still meet it."""
    operator = running_operator(Node(Physical(implementation, query.node.operator), query.node.inputs))
    last = operator.ports - 1
    operator.push(0, [(0, 5, ("a",))])
    operator.advance(last, 4)
    assert operator.size() > 0
    operator.advance(last, 5)
    assert operator.size() == 0


MEETINGS = {
    "theta-join": ([("a", 4, 5)], []),
    "equi-join": ([("a", 4, 5)], []),
    "duplicate elimination": ([("a", 0, 5), ("a", 5, 9)], [("a", 0, 5), ("a", 5, 9)]),
    "scalar aggregation": ([(1, 0, 4), (2, 4, 5), (1, 5, 9)], [(1, 0, 5), (1, 5, 9)]),
    "grouping with aggregation": ([(1, 0, 4), (2, 4, 5), (1, 5, 9)], [(1, 0, 5), (1, 5, 9)]),
}
"""What comes of `a` in [0, 5) and `a` in [4, 9), and of `a` in [0, 5) and `a` in [5, 9)."""


@pytest.mark.parametrize("name", STATEFUL)
def test_table_11_5_only_what_overlaps_meets(name: str) -> None:
    """The query predicate asks for a common instant; [0, 5) and [5, 9) have none."""
    query, implementation = STATEFUL[name]
    node = Node(Physical(implementation, query.node.operator), query.node.inputs)
    for start, expected in zip((4, 5), MEETINGS[name], strict=True):
        first, second = (0, 5, ("a",)), (start, 9, ("a",))
        operator = running_operator(node)
        inputs = [[first], [second]] if operator.ports == 2 else [[first, second]]
        found = results(operator, *inputs)
        assert [(payload[-1], t_s, t_e) for t_s, t_e, payload in found] == expected
