"""Application time has no privileged instant: what holds at 0 holds long before and far behind the range in
which floats are exact, and for what never ends."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from accidents import SHIFTS, moved, moved_events, moved_form
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.driving import run
from midstream.engine import Engine
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import FOREVER, Element, chronons
from midstream.testing import Event, Workload, drive, is_ordered, workloads

EXAMPLES = settings(max_examples=settings.default.max_examples // 2)


@EXAMPLES
@given(workloads(), st.sampled_from(SHIFTS))
def test_an_engine_does_the_same_at_any_time(workload: Workload, by: int) -> None:
    """The whole way: the check at the entrance, windows, the plan, the results."""

    def results(events: Iterable[Event]) -> list[Element]:
        out: list[Element] = []
        engine = Engine(workload.plan, out.extend)
        drive(engine, events)
        engine.close()
        return out

    there = results(moved_events(workload.events, by))
    assert there == moved(results(workload.events), by)
    assert is_ordered(there)
    assert all(type(start) is int and (type(end) is int or end == FOREVER) for start, end, _ in there)


@EXAMPLES
@given(workloads(), st.sampled_from(SHIFTS))
def test_the_specification_means_the_same_at_any_time(workload: Workload, by: int) -> None:
    """So a run at any time can be compared with it."""
    later = {name: moved(elements, by) for name, elements in workload.streams.items()}
    assert specified(workload.plan, later) == moved_form(workload.specified(), by)


@pytest.mark.parametrize("start", SHIFTS)
def test_neighbouring_instants_stay_apart(start: int) -> None:
    """As floats, neighbours beyond 2**53 are one."""
    s = stream("s", intervals=True, x="integer")
    pairs = s.join(s.rename({"x": "y"}), on=[("x", "y")]).plan()
    touching = [(start, start + 1, (7,)), (start + 1, start + 2, (7,)), (start + 1, FOREVER, (8,))]
    assert run(pairs, {"s": touching}) == [(start, end, (x, x)) for start, end, (x,) in touching]
    window = stream("s", x="integer").window(1).plan()
    rows = list(chronons([(start, (1,)), (start + 1, (1,))]))
    assert run(window, {"s": rows}) == rows


def test_what_never_ends_is_valid_at_every_later_instant() -> None:
    s, t = stream("s", intervals=True, x="integer"), stream("t", intervals=True, y="integer")
    data = {
        "s": [(-5, FOREVER, (1,))],
        "t": [(-7, -6, (1,)), (2**61, 2**61 + 1, (1,)), (2**61, FOREVER, (1,))],
    }
    found = run(s.join(t, on=[("x", "y")]).plan(), data)
    assert found == [(2**61, 2**61 + 1, (1, 1)), (2**61, FOREVER, (1, 1))]
    assert run(s.distinct().plan(), {"s": data["s"]}) == data["s"]


def test_an_aggregate_over_what_never_ends_leaves_at_the_end_of_the_stream() -> None:
    """Its last value holds for ever, which nobody can know before the stream has ended."""
    from midstream.plans.expressions.aggregates import count

    out: list[Element] = []
    engine = Engine(stream("s", x="integer").window(None).aggregate(n=count()).plan(), out.extend)
    engine.push("s", chronons([(1, (7,)), (4, (7,)), (4, (8,))]))
    engine.advance("s", 10**30)
    assert out == [(1, 4, (1,))]
    engine.close()
    assert out == [(1, 4, (1,)), (4, FOREVER, (3,))]


def test_time_may_begin_before_zero() -> None:
    """(8.17) has windows begin at 0 at the earliest; where time begins earlier, so do windows."""
    plan = stream("s", x="integer").window(3).plan()
    rows = list(chronons([(-2, (7,)), (-1, (7,)), (0, (8,))]))
    expected = {
        -2: {(7,): 1},
        -1: {(7,): 2},
        0: {(7,): 2, (8,): 1},
        1: {(7,): 1, (8,): 1},
        2: {(8,): 1},
        3: {},
    }
    found = snapshots(plan, {"s": rows})
    assert {t: dict(found[t]) for t in expected} == expected
    assert normal_form(run(plan, {"s": rows})) == specified(plan, {"s": rows})


def test_a_chronon_has_an_integer_for_its_end() -> None:
    """5.0 equals 5, but results must not depend on which of them came first."""
    from midstream.plans.values.errors import IntervalError

    with pytest.raises(IntervalError, match="expected a chronon"):
        Engine(stream("s", x="integer").plan()).push("s", [(4, 5.0, (7,))])
