"""What operators keep their state in, against slow models: expiry, SweepAreas, the ordered output."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.box import element_bytes, max_end, state_size
from midstream.operators.expiry import Expiry
from midstream.operators.output import OrderedOutput
from midstream.operators.plan_box import PlanBox
from midstream.operators.sweepareas import HashSweepArea, ListSweepArea
from midstream.plans.builder import stream
from midstream.plans.streams import BEGINNING, FOREVER, Element, Time

TIMES = st.one_of(st.integers(0, 20), st.integers(0, 20), st.just(FOREVER))


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Time, ...]]:
    """Ends to add, in any order, and instants at which to take out what has expired."""
    found: list[tuple[Time, ...]] = []
    now = 0
    for _ in range(draw(st.integers(1, 30))):
        if draw(st.integers(0, 2)):
            found.append((draw(TIMES),))
        else:
            now += draw(st.integers(0, 5))
            found.append((now, now))
    return found


@given(steps())
def test_what_expires_comes_out_in_order_of_its_end_and_arrival(plan: list[tuple[Time, ...]]) -> None:
    expiry: Expiry[int] = Expiry()
    model: list[tuple[Time, int]] = []
    for number, step in enumerate(plan):
        if len(step) == 1:
            expiry.add(step[0], number)
            model.append((step[0], number))
        else:
            expected = sorted(pair for pair in model if pair[0] <= step[0])
            model = [pair for pair in model if pair[0] > step[0]]
            assert list(expiry.expired(step[0])) == expected
        assert expiry.next == min((end for end, _ in model), default=None)
        assert len(expiry) == len(model)
        assert sorted(expiry) == sorted(model)


def test_what_is_added_while_others_are_taken_out_is_taken_out_as_well() -> None:
    """An operator may keep something anew while it looks at what expires."""
    expiry: Expiry[str] = Expiry()
    expiry.add(3, "a")
    expiry.add(9, "c")
    taken = []
    for end, item in expiry.expired(5):
        taken.append((end, item))
        if item == "a":
            expiry.add(4, "b")
    assert taken == [(3, "a"), (4, "b")]
    assert list(expiry) == [(9, "c")]


@pytest.mark.parametrize("make", [HashSweepArea, ListSweepArea], ids=lambda kind: kind.__name__)
@given(plan=steps())
def test_a_sweep_area_keeps_what_has_not_ended(make: Callable[[], Any], plan: list[tuple[Time, ...]]) -> None:
    """Of each key, in order of arrival, which is the order in which a probe meets them."""
    area = make()
    model: list[Element] = []
    for number, step in enumerate(plan):
        if len(step) == 1:
            element = (0, step[0], (number % 3, number))
            area.insert(number % 3, element)
            model.append(element)
        else:
            area.purge(step[0])
            model = [element for element in model if element[1] > step[0]]
        assert len(area) == len(model) == len(list(area))
        if isinstance(area, HashSweepArea):
            buckets = {key: list(bucket.values()) for key, bucket in area.buckets.items()}
            assert buckets == {
                key: kept for key in range(3) if (kept := [e for e in model if e[2][0] == key])
            }
        else:
            assert list(area) == model


@pytest.mark.parametrize("keys", [1, 2, 7])
@pytest.mark.parametrize("make", [HashSweepArea, ListSweepArea], ids=lambda kind: kind.__name__)
def test_a_burst_leaves_nothing_behind(make: Callable[[], Any], keys: int) -> None:
    """A dict keeps the places of what was deleted, and iterating passes over them: one element that outlives
    a million with its key would make every later probe cost a millisecond."""
    area = make()
    for number in range(20_000):
        area.insert(number % keys, (0, 10, (number,)))
    for key in range(keys):
        area.insert(key, (0, FOREVER, (key,)))
    area.purge(10)
    buckets = list(area.buckets.values()) if isinstance(area, HashSweepArea) else [area.elements]
    assert sum(map(len, buckets)) == keys
    assert all(sys.getsizeof(bucket) < 300 * 128 for bucket in buckets)


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
