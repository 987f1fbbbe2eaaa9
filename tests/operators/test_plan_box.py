"""A plan that runs is a Box: ports, sharing, progress and counters."""

from __future__ import annotations

import pytest
from hypothesis import given

from midstream.operators.base.box import Box
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import intermediate, logical_node, logical_plan, makes_results
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import EndedError, PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.testing import Workload, workloads

S = stream("s", x="integer", intervals=True)
T = stream("t", y="integer", intervals=True)


def test_ports_have_the_names_of_what_comes_in_and_goes_out() -> None:
    box = PlanBox(Plan({"pairs": S.join(T, on=[("x", "y")]).node, "left": S.node}))
    assert isinstance(box, Box)
    assert box.inputs == ("s", "t")
    assert box.outputs == ("pairs", "left")


def test_a_box_may_begin_above_any_nodes() -> None:
    """A migration exchanges what is above the windows, so they are its inputs."""
    left = stream("l", x="integer").window(5)
    query = left.filter(col("x") > 1).join(T, on=[("x", "y")])
    box = PlanBox(query.plan(), [left.node, T.node])
    assert box.inputs == ("time-window 5 of l", "t")
    assert box.push(0, [(0, 5, (2,))]) == [[]]
    assert box.push(1, [(3, 9, (2,))]) == [[]]
    assert box.advance(0, 3) == [[(3, 5, (2, 2))]]


def test_every_input_must_be_there() -> None:
    with pytest.raises(PlanError, match="source t is not above the inputs s"):
        PlanBox(S.join(T).plan(), [S.node])


def test_a_shared_subplan_runs_once() -> None:
    """Both uses see the same results, and the state is kept once."""
    grouped = S.group_by("x").aggregate(n=count())
    query = grouped.join(grouped.rename({"x": "y", "n": "m"}), on=[("x", "y")])
    box = PlanBox(query.plan())
    kinds = [type(operator).__name__ for _, operator in box.operators()]
    assert kinds.count("Aggregate") == 1
    out = box.push(0, [(0, 5, (7,)), (2, 9, (7,))])[0] + box.end(0)[0]
    assert out == [(0, 2, (7, 1, 7, 1)), (2, 5, (7, 2, 7, 2)), (5, 9, (7, 1, 7, 1))]


def test_a_stream_may_be_united_and_joined_with_itself() -> None:
    """One event reaches both ports of an operator, one after the other."""
    box = PlanBox(S.union(S).plan())
    assert box.push(0, [(0, 5, (7,)), (2, 9, (8,))]) == [
        [(0, 5, (7,)), (0, 5, (7,)), (2, 9, (8,)), (2, 9, (8,))]
    ]
    pairs = PlanBox(S.join(S.rename({"x": "z"}), on=[("x", "z")]).plan())
    found = pairs.push(0, [(0, 5, (7,)), (2, 9, (7,))])[0] + pairs.end(0)[0]
    assert sorted(found) == [(0, 5, (7, 7)), (2, 5, (7, 7)), (2, 5, (7, 7)), (2, 9, (7, 7))]


def test_an_output_may_be_an_input() -> None:
    box = PlanBox(S.plan())
    assert box.progress() == BEGINNING
    assert box.push(0, [(0, 5, (7,))]) == [[(0, 5, (7,))]]
    assert box.progress() == 0
    assert box.advance(0, 4) == [[]]
    assert box.progress() == 4
    assert box.counters() == {"received": 1, "emitted": 1, "intermediate": 0}


def test_an_event_says_nothing_of_outputs_that_it_does_not_reach() -> None:
    box = PlanBox(Plan({"one": S.distinct().node, "other": T.distinct().node}))
    assert box.push(0, [(0, 5, (7,))]) == [[(0, 5, (7,))], []]
    assert box.push(1, [(3, 5, (8,))]) == [[], [(3, 5, (8,))]]
    assert (box.progress(0), box.progress(1)) == (0, 3)
    assert box.end(0) == [[], []]
    assert (box.progress(0), box.progress(1)) == (FOREVER, 3)


def test_what_comes_after_the_end_is_refused() -> None:
    box = PlanBox(S.join(T).plan())
    box.end(1)
    assert box.end(1) == [[]]
    assert box.push(1, []) == [[]]
    assert box.advance(1, 5) == [[]]
    with pytest.raises(EndedError, match="input t: an element arrived after the end"):
        box.push(1, [(0, 5, (7,))])


def test_a_heartbeat_that_tells_nothing_new_changes_nothing() -> None:
    box = PlanBox(S.distinct().plan())
    box.push(0, [(4, 9, (7,))])
    assert box.advance(0, 4) == box.advance(0, 2) == [[]]
    assert box.progress() == 4


@given(workloads())
def test_counters_count(workload: Workload) -> None:
    """What arrived, what left, and what is made inside, where there is an output that is not made of it."""
    box = PlanBox(workload.plan)
    out = 0
    for port, name in enumerate(box.inputs):
        out += len(box.push(port, list(workload.streams[name]))[0])
    out += sum(len(box.end(port)[0]) for port in range(len(box.inputs)))
    counters = box.counters()
    assert counters["received"] == sum(len(workload.streams[name]) for name in box.inputs)
    assert counters["emitted"] == out
    inner = intermediate(logical_plan(workload.plan).nodes)
    made = [(node, operator) for node, operator in box.operators() if makes_results(node)]
    assert counters["intermediate"] == sum(o.emitted for node, o in made if logical_node(node) in inner)
