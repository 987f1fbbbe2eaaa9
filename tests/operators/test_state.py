"""How much operators and boxes keep."""

from __future__ import annotations

import gc
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from midstream.operators.base.box import element_bytes, max_end, state_size
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.values.streams import BEGINNING


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
                (t, t + (1 if case.has_chronons else 150), (t % 5, hash((t, port)) % 4))
                for t in range(block * 25, block * 25 + 25)
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
