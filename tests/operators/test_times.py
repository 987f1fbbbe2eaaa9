"""Application time has no privileged instant: what holds at 0 holds long before and far behind the range in
which floats are exact, and for what never ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.operators.engine.run import run
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import FOREVER, Element, Time, chronons
from midstream.testing import Event, Workload, drive, interleavings, is_ordered, workloads

SHIFTS = (-(2**70), -1000, -3, 2**53 - 5, 2**60 + 1, 10**400)
EXAMPLES = settings(max_examples=max(20, settings.default.max_examples // 4))


def moved(elements: Iterable[Element], by: int) -> list[Element]:
    """The same elements at another time."""
    return [(start + by, _moved(end, by), payload) for start, end, payload in elements]


def _moved(time: Time, by: int) -> Time:
    return time if time == FOREVER else time + by


def moved_events(events: Iterable[Event], by: int) -> list[Event]:
    """The same events at another time."""
    kinds = {
        "push": lambda what: moved(what, by),
        "advance": lambda what: _moved(what, by),
        "end": lambda what: what,
    }
    return [(kind, name, kinds[kind](what)) for kind, name, what in events]


def moved_form(form: NormalForm, by: int) -> NormalForm:
    """The same step functions at another time."""
    return {
        payload: tuple((start + by, _moved(end, by), height) for start, end, height in steps)
        for payload, steps in form.items()
    }


@EXAMPLES
@given(data=st.data())
def test_an_operator_does_the_same_at_any_time(case: Any, data: st.DataObject) -> None:
    """Element by element, whatever the size and sign of the timestamps: no float may come near them."""
    streams = data.draw(case.streams)
    events = data.draw(interleavings(streams))
    by = data.draw(st.sampled_from(SHIFTS)) // case.period * case.period
    ports = {name: port for port, name in enumerate(case.sources)}
    here, there = case.operator(), case.operator()
    for (kind, name, what), (_, _, later) in zip(events, moved_events(events, by), strict=True):
        method = {"push": "push", "advance": "advance"}.get(kind)
        port = ports[name]
        if method is None:
            expected, found = here.end(port), there.end(port)
        else:
            expected, found = getattr(here, method)(port, what), getattr(there, method)(port, later)
        assert found == moved(expected, by)
        assert there.size() == here.size()
    for port in ports.values():
        assert there.end(port) == moved(here.end(port), by)


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
