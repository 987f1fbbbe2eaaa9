"""Where batches end and how streams interleave is an accident: it must not show in the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from accidents import at_once, one_by_one
from hypothesis import given
from hypothesis import strategies as st

from midstream.arrivals import interleave
from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import equivalent, normal_form
from midstream.plans.values.streams import Element
from midstream.testing import Event, Workload, drive, plans, workloads


def test_conditions_of_several_joins_on_the_way_of_single_elements() -> None:
    """The source of all joins that an element comes to is one function; each has constants of its own."""
    a, b, c = (stream(name, {f"{name}x": "integer", f"{name}y": "float"}).window(9) for name in "abc")
    first = a.join(b, col("ax").eq(col("bx")) & (col("ay") > 0.5) & (col("by") < 2.5))
    plan = first.join(c, col("bx").eq(col("cx")) & (col("cy") < 3.5) & (col("ay") > -0.5)).plan()
    streams = {
        name: [(t, t + 1, (t % 3, (t + i) % 4 + 0.5)) for t in range(i, 60, 1 + i)]
        for i, name in enumerate("abc")
    }
    batches = run(plan, streams)
    assert len(batches) > 20
    for single in (interleave(streams, batch_size=1), interleave(streams, batch_size=3)):
        found: list[Element] = []
        engine = Engine(plan, found.extend)
        for name, batch in single:
            engine.push(name, batch)
        engine.close()
        assert Counter(found) == Counter(batches)
    assert specified(plan, streams) == normal_form(batches)


def test_an_operator_leaves_its_input_alone(case: Any) -> None:
    """A batch may be shared with other operators and with the sender."""
    batch = [(0, 1 if case.has_chronons else 4, (1, 1)), (2, 3, (1, 2)), (3, 4, (1, 1))]
    before = list(batch)
    operator = case.operator()
    for port in range(len(case.sources)):
        operator.push(port, batch)
        operator.end(port)
    assert batch == before


@st.composite
def _plans_without_distinct(draw: st.DrawFn) -> Plan:
    return draw(plans().filter(lambda p: not any(isinstance(n.operator, Distinct) for n in p.nodes)))


def run_with(plan: Plan, events: Sequence[Event]) -> Counter[Element]:
    out: list[Element] = []
    engine = Engine(plan, out.extend)
    drive(engine, events)
    engine.close()
    return Counter(out)


@given(workloads(_plans_without_distinct()))
def test_a_plan_gives_the_same_elements_whatever_the_batches(workload: Workload) -> None:
    """Plans with duplicate elimination give the same snapshots only: see below."""
    expected = run_with(workload.plan, at_once(dict(workload.streams)))
    assert run_with(workload.plan, workload.events) == expected
    assert run_with(workload.plan, list(one_by_one(workload.events))) == expected


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_ties_may_be_cut_in_another_way_but_mean_the_same(size: int) -> None:
    """A union gives elements that start together in any order. Of two equal ones that end at different times,
    duplicate elimination gives one piece or two, depending on which comes first."""
    s = stream("s", intervals=True, x="integer", y="integer")
    plan = s.filter(col("y") < 1).union(s.filter(col("y") >= 1)).select("x").distinct().plan()
    elements = [(1, 9, (7, 1)), (1, 5, (7, 0))]
    assert equivalent(run(plan, {"s": elements}, batch_size=size), [(1, 9, (7,))])


@given(workloads())
def test_a_box_gives_the_same_as_its_parts(workload: Workload) -> None:
    """Handing on a batch inside a plan brings no more and no less than handing on its elements one by one."""
    box, single = PlanBox(workload.plan), PlanBox(workload.plan)
    ports = {name: port for port, name in enumerate(box.inputs)}
    whole: list[Element] = []
    parts: list[Element] = []
    for name, batch in workload.streams.items():
        if name in ports:
            whole += box.push(ports[name], batch)[0]
            for element in batch:
                parts += single.push(ports[name], [element])[0]
    for port in ports.values():
        whole += box.end(port)[0]
        parts += single.end(port)[0]
    assert equivalent(whole, parts)
    assert single.size() == box.size() == 0
