"""How much operators keep, and the ordered output against a slow model."""

from __future__ import annotations

import gc
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.base.box import element_bytes, max_end, state_size
from midstream.operators.base.output import OrderedOutput
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.values.streams import BEGINNING, FOREVER, Element


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 4)),
        max_size=12,
    )
)
def test_output_leaves_in_order_and_no_later_than_it_may(calls: list[tuple[list[int], int]]) -> None:
    """Each call releases all that starts at or before its bound, and nothing else; ties stay as they came."""
    output = OrderedOutput()
    held: list[Element] = []
    bound = number = 0
    for offsets, step in calls:
        fresh: list[Element] = []
        for offset in offsets:
            fresh.append((bound + offset, bound + offset + 1, number))
            number += 1
        bound += step
        waiting = sorted([*held, *fresh], key=lambda e: e[0])
        expected = [e for e in waiting if e[0] <= bound]
        held = [e for e in waiting if e[0] > bound]
        assert output.release(fresh, bound) == expected
        assert len(output) == len(held)
        assert sorted(output) == sorted(held)
    assert output.release([], FOREVER) == held


def reachable(root: Any) -> int:
    """How many objects an object keeps alive, code apart."""
    code = (type, ModuleType, FunctionType, BuiltinFunctionType)
    seen: set[int] = set()
    stack = [root]
    while stack:
        one = stack.pop()
        if id(one) not in seen and not isinstance(one, code):
            seen.add(id(one))
            stack.extend(gc.get_referents(one))
    return len(seen)


def test_the_reported_size_is_the_memory_that_is_held(case: Any) -> None:
    """State that no report counts is how engines run out of memory: what an operator keeps alive is a small
    multiple of the elements that it reports, at any time, and nothing in the end."""
    operator = case.operator()
    empty = reachable(operator)
    ports = range(len(case.sources))
    for block in range(10):
        for port in ports:
            batch = [
                (t, t + (1 if case.has_chronons else 300), (t % 5, hash((t, port)) % 4))
                for t in range(block * 50, block * 50 + 50)
            ]
            operator.process(port, batch, batch[-1][0])
        assert reachable(operator) <= empty + 25 * operator.size() + 60
    for port in ports:
        operator.end(port)
    assert operator.size() == 0
    assert reachable(operator) <= empty + 60


def test_the_size_of_a_box_is_that_of_its_elements() -> None:
    s = stream("s", x="integer", y="string").window(10)
    box = PlanBox(s.distinct().plan())
    assert (state_size(box).elements, state_size(box).bytes, max_end(box)) == (0, 0, BEGINNING)
    box.push(0, [(1, 2, (1, "a")), (1, 2, (2, "b" * 1000))])
    assert state_size(box).elements == box.size() == 2
    assert 1000 < state_size(box).bytes == sum(map(element_bytes, box.state())) < 2500
    assert max_end(box) == 11
    box.end(0)
    assert max_end(box) == BEGINNING
