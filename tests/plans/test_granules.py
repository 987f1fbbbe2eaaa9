"""Granularity only becomes coarser on the way up (thesis, 20.5 and 21.4.1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given

from midstream import testing
from midstream.engine import Engine
from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Granularity, TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import MidstreamError, PlanError, PlanFormatError, SqlError
from midstream.plans.values.streams import chronons

S, T = stream("s", x="integer"), stream("t", x="integer")
COARSE = S.window(20).granularity(10)

REFUSED: dict[str, tuple[Callable[[], Stream], str]] = {
    "a finer granule": (
        lambda: COARSE.distinct().granularity(5),
        "granularity 5 stands above granularity 10: expected a granule that is a multiple of 10, such as 10",
    ),
    "a granule that is neither": (
        lambda: COARSE.granularity(15),
        "granularity 15 stands above granularity 10: .* such as 10 or 20",
    ),
    "a window that is no multiple": (
        lambda: COARSE.istream().window(7),
        "window 7 stands above granularity 10: expected a size that is a multiple of 10, such as 10",
    ),
    "a larger one": (lambda: COARSE.istream().window(27), "window 27 .* such as 20 or 30"),
    "a slide that is no multiple": (
        lambda: COARSE.istream().window(20, slide=3),
        "window 20 slide 3 stands above granularity 10: expected a slide that is a multiple of 10",
    ),
    "above both of two": (
        lambda: COARSE.union(T.granularity(4)).granularity(10),
        "granularity 10 stands above granularity 10 and granularity 4: .* multiple of 20, such as 20",
    ),
}

ALLOWED: dict[str, Callable[[], Stream]] = {
    "the same granule": lambda: COARSE.granularity(10),
    "a multiple": lambda: COARSE.granularity(30),
    "a window of two granules": lambda: COARSE.istream().window(20, slide=10),
    "an unbounded one": lambda: COARSE.istream().window(None),
    "a window of rows": lambda: COARSE.istream().last(7, ties="arrival"),
    "pieces, which mean nothing": lambda: COARSE.split(3),
    "beside each other": lambda: COARSE.union(T.granularity(4)),
    "another window on the same stream": lambda: COARSE.union(S.window(7)),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_becomes_finer_is_refused_with_both_operators_and_what_is_near(
    make: Callable[[], Stream], message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        make()


@pytest.mark.parametrize("make", ALLOWED.values(), ids=ALLOWED.keys())
def test_what_stays_as_coarse_is_allowed(make: Callable[[], Stream]) -> None:
    plan = make().plan()
    assert plan_from_json(plan_to_json(plan)) == plan


@pytest.mark.parametrize("physical", [False, True])
def test_a_plan_from_a_file_is_held_to_it(physical: bool) -> None:
    plan = COARSE.granularity(20).plan()
    data = plan_to_json(physical_plan(plan) if physical else plan)
    (entry,) = [node for node in data["nodes"] if node.get("granule") == 20]
    entry["granule"] = 5
    with pytest.raises(PlanFormatError, match="granularity 5 stands above granularity 10"):
        plan_from_json(data)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT a FROM (SELECT * FROM s WINDOW(RANGE 20) GRANULARITY(10)) GRANULARITY(5)",
            "line 1, column 78: granularity 5 stands above granularity 10",
        ),
        (
            "SELECT a FROM (ISTREAM(SELECT * FROM s WINDOW(RANGE 20) GRANULARITY(10))) WINDOW(RANGE 7)",
            "window 7 stands above granularity 10",
        ),
    ],
)
def test_sql_is_held_to_it_and_says_where(query: str, message: str) -> None:
    catalog = Catalog()
    catalog.execute("CREATE STREAM s(a INT, t TIMESTAMP) ORDERED BY t")
    with pytest.raises(SqlError, match=message) as caught:
        catalog.execute(query)
    assert str(caught.value).splitlines()[-1].lstrip().startswith("^")


WAVERING = S.window(20).granularity(10, bounds=(1, 40))

CHANGES: dict[str, tuple[Stream, Callable[[Engine], object], str]] = {
    "the lower granule, to a coarser one": (
        WAVERING.granularity(20),
        lambda engine: engine.change_granule(WAVERING.node, 40, at=40),
        r"granularity 20 stands above granularity 40 .*: expected a granule that is a multiple of 40",
    ),
    "the upper one, to a finer one": (
        COARSE.granularity(20, bounds=(5, 40)),
        lambda engine: engine.change_granule(COARSE.granularity(20, bounds=(5, 40)).node, 5, at=40),
        r"granularity 5 .* stands above granularity 10",
    ),
    "a window": (
        COARSE.istream().window(20, bounds=(1, 40)),
        lambda engine: engine.resize(COARSE.istream().window(20, bounds=(1, 40)).node, 7, at=40),
        r"window 7 .* stands above granularity 10",
    ),
    "the granule below a window": (
        WAVERING.istream().window(20),
        lambda engine: engine.change_granule(WAVERING.node, 30, at=40),
        "window 20 stands above granularity 30",
    ),
}


@pytest.mark.parametrize(("query", "change", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_while_running_is_checked_before_anything_changes(
    query: Stream, change: Callable[[Engine], object], message: str
) -> None:
    results: list[object] = []
    expected: list[object] = []
    engine, undisturbed = Engine(query.plan(), results.extend), Engine(query.plan(), expected.extend)
    rows = list(chronons([(t, (t,)) for t in range(0, 100, 3)]))
    for one in (engine, undisturbed):
        one.push("s", rows[:4])
    with pytest.raises(MidstreamError, match=message):
        change(engine)
    assert engine.plan == query.plan()
    for one in (engine, undisturbed):
        one.push("s", rows[4:])
        one.close()
    assert results == expected


@given(testing.plans(depth=4, windows=True, arrangements=True, relations=True))
def test_generated_plans_are_allowed_ones_with_windows_above_granules(plan: Plan) -> None:
    for node in plan.nodes:
        for below in node.inputs:
            match node.operator:
                case Granularity(granule):
                    assert granule % below.granule == 0
                case TimeWindow(size, slide):
                    assert size is None or size % below.granule == 0
                    assert slide == 1 or slide % below.granule == 0
