"""Which SweepAreas the implementations of the join have, and where they wait."""

from __future__ import annotations

from typing import Any

import pytest

from midstream.driving import run
from midstream.operators.engine.running.planner import physical_plan, running_operator
from midstream.operators.joins.join import RUNNING
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.expressions import Expression
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import PlanError
from midstream.plans.values.snapshots import normal_form

NAMES = [implementation.name for implementation in RUNNING]

LEFT, RIGHT = stream("l", x="integer", v="integer"), stream("r", y="integer", w="integer")
SAME = [("x", "y")]


def node(name: str, left: Stream, right: Stream, on: Any = SAME) -> Node:
    join = left.join(right, on=on).node
    return Node(Physical(name, join.operator), join.inputs)


def areas(name: str, left: Stream, right: Stream) -> list[str]:
    """The kinds of the SweepAreas of the running operator."""
    operator: Any = running_operator(node(name, left, right))
    return [type(area).__name__ for area in operator._areas]


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("hash-join", "Hash", "Hash"),
        ("nested-loops-join", "List", "List"),
        ("hash-list-join", "Hash", "List"),
        ("list-hash-join", "List", "Hash"),
        ("hash-join-queued", "Hash", "Hash"),
        ("nested-loops-join-queued", "List", "List"),
    ],
)
def test_the_expiration_pattern_chooses_the_sweep_areas(name: str, left: str, right: str) -> None:
    """Behind a window, elements expire as they came; behind a join, in any order (thesis, Table 12.1)."""
    windows = LEFT.window(10), RIGHT.window(20)
    either = windows[0].join(stream("m", z="integer").window(5), on=[("x", "z")])
    assert areas(name, *windows) == [f"Fifo{left}SweepArea", f"Fifo{right}SweepArea"]
    assert areas(name, windows[0].filter(col("v") > 1), windows[1]) == areas(name, *windows)
    assert areas(name, either, windows[1]) == [f"{left}SweepArea", f"Fifo{right}SweepArea"]
    swapped = RIGHT.window(20), either
    on = node(name, *swapped, [("y", "x")])
    operator: Any = running_operator(on)
    assert [type(area).__name__ for area in operator._areas] == [f"Fifo{left}SweepArea", f"{right}SweepArea"]


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        (col("x").eq(col("y")), "hash-join"),
        (col("x").eq(col("y")) & (col("v") < col("w")), "hash-join"),
        (col("v") < col("w"), "band-join"),
        ((col("w") - 5 <= col("v")) & (col("v") <= col("w") + 5), "band-join"),
        (col("v").ne(col("w")), "nested-loops-join"),
    ],
    ids=str,
)
def test_equality_is_preferred_to_a_range_and_a_range_to_loops(on: Expression, expected: str) -> None:
    plan = LEFT.window(5).join(RIGHT.window(5), on=on).plan()
    assert physical_plan(plan).root.operator.implementation == expected


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("hash", "list"))])
def test_who_hashes_needs_a_key(name: str) -> None:
    with pytest.raises(PlanError, match="no column of the left side is to be equal"):
        physical_plan(Plan(node(name, LEFT.window(5), RIGHT.window(5), col("x") < col("y"))))


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_all_joins_give_the_same_in_the_engine(name: str, size: int) -> None:
    """Over windows, whose elements they keep in queues, and over a join of windows, whose ends are in any
    order."""
    left = LEFT.window(9).join(stream("m", z="integer").window(4), on=col("v") >= col("z"))
    data = {
        "l": [(t, t + 1, (t % 3, t % 5)) for t in range(0, 60, 2)],
        "m": [(t, t + 1, (t % 4,)) for t in range(0, 60, 3)],
        "r": [(t, t + 1, (t % 4, t % 7)) for t in range(60)],
    }
    on = (col("x") <= col("y")) & (col("y") <= col("x")) & col("x").eq(col("y")) & (col("w") > 1)
    for query in (LEFT.window(9), left):
        plan = Plan(node(name, query, RIGHT.window(6), on))
        read = {source.stream: data[source.stream] for source in plan.sources}
        found = run(plan, read, size)
        assert len(found) > 50
        assert normal_form(found) == specified(plan, read)
        assert [start for start, _, _ in found] == sorted(start for start, _, _ in found)


def test_a_queue_at_the_input_holds_elements_and_one_at_the_output_pairs() -> None:
    """One port ahead by three elements that each meet two: three elements wait, or six pairs."""
    sizes = {}
    for name in ("hash-join", "hash-join-queued", "nested-loops-join", "nested-loops-join-queued"):
        join = running_operator(node(name, LEFT.window(100), RIGHT.window(100)))
        join.push(0, [(0, 100, (7, 1)), (0, 100, (7, 2))])
        assert join.push(1, [(t, t + 100, (7, t)) for t in (5, 6, 7)]) == []
        sizes[name] = join.size()
        out = join.advance(0, 6)
        assert [start for start, _, _ in out] == [5, 5, 6, 6]
        assert len(join.advance(0, 7)) == 2
    assert sizes == {
        "hash-join": 2 + 3 + 6,
        "hash-join-queued": 2 + 3,
        "nested-loops-join": 2 + 3 + 6,
        "nested-loops-join-queued": 2 + 3,
    }


def test_what_waits_at_the_input_lets_the_other_side_forget() -> None:
    """The next element of the right side starts at 9: of the left side, what ends before is of no use."""
    join = running_operator(node("hash-join-queued", LEFT.window(5), RIGHT.window(5)))
    join.push(0, [(1, 6, (7, 1))])
    join.push(1, [(1, 6, (8, 1)), (9, 14, (7, 2))])
    assert sorted(join.state()) == [(1, 6, (8, 1)), (9, 14, (7, 2))]


def test_what_waits_at_the_input_is_not_forgotten_by_the_other_side() -> None:
    """The right side has reached 9, but its element at 5 is still to be joined."""
    join = running_operator(node("hash-join-queued", LEFT.window(5), RIGHT.window(5)))
    join.push(0, [(1, 6, (7, 1))])
    join.push(1, [(5, 10, (7, 2)), (9, 14, (7, 3))])
    assert join.advance(0, 5) == [(5, 6, (7, 1, 7, 2))]
