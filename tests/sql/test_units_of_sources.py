"""The unit of time is a fact of a source: queries that count time refuse integers whose unit nothing says."""

from __future__ import annotations

import json
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import midstream as ms
from midstream.cli import app
from midstream.plans.values.errors import ArgumentError, IntervalError, MidstreamError, PlanError
from midstream.plans.values.streams import Element
from midstream.plans.values.unit_words import ImplausibleTime, implausible
from midstream.plans.values.units import NANOSECONDS

STREAM = "CREATE STREAM s(at TIMESTAMP, seen TIMESTAMP, x INT) ORDERED BY at"
ROWS = [(60, (0, 7)), (120, (1, 8))]

COUNTS_TIME = [
    "SELECT x FROM s WINDOW(RANGE 10 MINUTES)",
    "SELECT x FROM s WINDOW(RANGE 10 MINUTES SLIDE 5 MINUTES)",
    "SELECT x FROM s [RANGE 10 MINUTES]",
    "SELECT COUNT(*) AS n FROM s WINDOW(ROWS 2) GRANULARITY(1 SECOND)",
    "SELECT x FROM s WINDOW(NOW) WHERE seen > TIMESTAMP '2026-01-01'",
    "SELECT seen + INTERVAL '1' MINUTE AS later FROM s WINDOW(NOW)",
    "SELECT strftime(seen, '%Y') AS year FROM s WINDOW(NOW)",
    "SELECT EXTRACT(HOUR FROM seen) AS hour FROM s WINDOW(NOW)",
    "CREATE STREAM v AS SELECT x FROM s WINDOW(RANGE 1 MINUTE); SELECT x FROM v",
    "CREATE STREAM v AS SELECT x FROM s WINDOW(NOW);"
    "SELECT v.x FROM v JOIN s WINDOW(RANGE 1 HOUR) ON v.x = s.x",
]
COUNTS_NONE = [
    "SELECT x FROM s WINDOW(NOW)",
    "SELECT x FROM s WINDOW(ROWS 2)",
    "SELECT x FROM s WINDOW(UNBOUNDED) WHERE seen >= 0",
]


@pytest.mark.parametrize("query", COUNTS_TIME)
def test_integers_without_a_unit_are_refused_where_time_is_counted(query: str, tmp_path: Path) -> None:
    plan = ms.sql(f"{STREAM}; {query}")
    said = r"found an integer as timestamp, and nothing says what it counts; .*, expected SET time_unit = "
    with pytest.raises(IntervalError, match=f"stream s: {said}"):
        ms.run(plan, {"s": ms.chronons(ROWS)})
    engine = ms.Engine(plan)
    for elements in (list(ms.chronons(ROWS)), list(ms.chronons(ROWS[:1])), ms.chronons(ROWS)):
        with pytest.raises(IntervalError, match=said):
            engine.push("s", elements)
    # The command line refuses the same by the same words.
    file = tmp_path / "s.csv"
    file.write_text("at,seen,x\n60,0,7\n120,1,8\n")
    (tmp_path / "q.sql").write_text(f"{STREAM}; {query}")
    result = CliRunner().invoke(app, ["run", str(tmp_path / "q.sql"), "--source", f"s={file}"])
    assert result.exit_code == 2
    assert "an integer as timestamp, and nothing says what it counts" in result.stderr
    # Who says it is answered, in any of the ways to say it.
    for declared in (f"SET time_unit = 'seconds'; {STREAM}", f"{STREAM} TIME_UNIT 'seconds'"):
        assert ms.run(ms.sql(f"{declared}; {query}"), {"s": ms.chronons(ROWS)}) is not None
    assert ms.run(ms.sql(f"{STREAM}; {query}", ms.catalog("seconds")), {"s": ms.chronons(ROWS)}) is not None


REFERRED = "CREATE STREAM s(at TIMESTAMP, id INT NOT NULL UNIQUE FOR ALL TIME, to_id INT{}) ORDERED BY at"


@pytest.mark.parametrize("is_asked_first", [False, True])
def test_a_reference_within_some_time_counts_time(is_asked_first: bool) -> None:
    """An hour would be that of microseconds."""
    catalog = ms.catalog()
    if is_asked_first:
        catalog.execute(f"{STREAM.replace('s(', 'r(')}; SELECT x FROM r WINDOW(NOW)")
    catalog.execute(REFERRED.format(" REFERENCES s (id) WITHIN 1 HOUR"))
    plan = catalog.query("SELECT id FROM s WINDOW(NOW)").plan
    rows = [(0, (1, None)), (1800, (2, 1))]
    with pytest.raises(IntervalError, match="nothing says what it counts"):
        ms.run(plan, {"s": ms.chronons(rows)})
    within = REFERRED.format(" REFERENCES s (id) WITHIN 1 HOUR")
    declared = ms.sql(f"{within} TIME_UNIT 'seconds'; SELECT id FROM s WINDOW(NOW)")
    assert ms.run(declared, {"s": ms.chronons(rows)}) == [(0, 1, (1,)), (1800, 1801, (2,))]


@pytest.mark.parametrize("reference", [" REFERENCES s (id) FOR ALL TIME", " REFERENCES s (id)"])
def test_other_references_count_none(reference: str) -> None:
    plan = ms.sql(f"{REFERRED.format(reference)}; SELECT id FROM s WINDOW(NOW)")
    assert ms.run(plan, {"s": ms.chronons([(0, (1, 1))])}) == [(0, 1, (1,))]


@pytest.mark.parametrize("unit", ["fortnights", "", 5])
def test_rows_have_a_unit_that_there_is(unit: Any) -> None:
    with pytest.raises(ArgumentError, match="chronons: found"):
        ms.chronons(ROWS, unit)


@pytest.mark.parametrize("query", COUNTS_NONE)
def test_where_no_time_is_counted_integers_need_no_unit(query: str) -> None:
    assert ms.run(ms.sql(f"{STREAM}; {query}"), {"s": ms.chronons(ROWS)})


def test_dates_need_no_unit_but_that_of_the_query() -> None:
    plan = ms.sql(f"{STREAM}; SELECT x FROM s WINDOW(RANGE 1 SECOND)")
    rows = [(datetime(2026, 1, 1, 0, 0, n), (0, n)) for n in range(3)]
    found = ms.run(plan, {"s": ms.chronons(rows, "us")})
    assert [end - start for start, end, _ in found] == [10**6] * 3
    engine = ms.Engine(plan)
    engine.push("s", ms.chronons(rows[:1], "microseconds"))
    # Those that come alone have no more rights.
    with pytest.raises(IntervalError, match="nothing says what it counts"):
        engine.push("s", [(1_800_000_000_000_000, 1_800_000_000_000_001, (0, 1))])
    elsewhere = "stream s: found time in seconds, expected microseconds"
    with pytest.raises(IntervalError, match=elsewhere):
        ms.run(plan, {"s": ms.chronons(rows, "s")})
    with pytest.raises(IntervalError, match=elsewhere):
        engine.push("s", ms.chronons(rows, "s"))


def counted_in(unit: str) -> ms.Plan:
    return ms.sql(f"SET time_unit = '{unit}'; {STREAM}; SELECT x FROM s WINDOW(RANGE 10)")


def test_plans_over_one_stream_count_it_in_one_unit() -> None:
    seconds, hours = counted_in("seconds"), counted_in("hours")
    verdict = ms.equivalent(seconds, hours)
    assert verdict.answer.value == "refuted" and "in seconds in one, in hours in the other" in str(verdict)
    built = ms.stream("s", seen="integer?", x="integer?").window(10).select("x").plan()
    assert built == seconds and ms.equivalent(built, hours)
    engine = ms.Engine(seconds)
    engine.add(built, name="built")
    with pytest.raises(PlanError, match="stream s is counted in seconds in one, in hours in the other"):
        engine.add(hours, name="hours")
    with pytest.raises(MidstreamError, match="seconds"):
        engine.migrate(hours)
    # A plan of the builder does not hide the unit of those that come later.
    engine = ms.Engine(built)
    engine.add(seconds, name="seconds")
    with pytest.raises(PlanError, match="in seconds in one, in hours in the other"):
        engine.add(hours, name="hours")


def test_a_later_query_that_counts_time_asks_for_the_unit() -> None:
    shop = ms.catalog()
    shop.execute(STREAM)
    engine = ms.Engine(shop.query("SELECT x FROM s WINDOW(NOW)").plan)
    engine.push("s", list(ms.chronons(ROWS[:1])))
    engine.add(shop.query("SELECT x FROM s WINDOW(RANGE 1 MINUTE)").plan, name="window")
    with pytest.raises(IntervalError, match="nothing says what it counts"):
        engine.push("s", list(ms.chronons(ROWS[1:])))


def test_the_unit_is_in_json_where_there_is_one() -> None:
    for plan, unit in ((counted_in("hours"), "hours"), (ms.stream("s", x="integer").plan(), None)):
        text = ms.dumps(plan)
        assert ('"unit"' in text) is (unit is not None)
        again = ms.loads(text)
        assert again == plan and [source.unit for source in again.sources] == [unit]
    assumed = ms.loads(ms.dumps(ms.sql(f"{STREAM}; SELECT x FROM s WINDOW(RANGE 1 SECOND)")))
    with pytest.raises(IntervalError, match="nothing says what it counts"):
        ms.run(assumed, {"s": ms.chronons(ROWS)})
    data = json.loads(ms.dumps(counted_in("hours")).replace('"hours"', '"fortnights"'))
    with pytest.raises(MidstreamError, match="fortnights"):
        ms.loads(json.dumps(data))


@given(st.sampled_from(sorted(NANOSECONDS)), st.integers(1800, 2300))
def test_times_outside_of_1900_to_2200_are_implausible(unit: str, year: int) -> None:
    first = int((datetime(year, 1, 1) - datetime(1970, 1, 1)).total_seconds())
    time = -(-(first * 10**9) // NANOSECONDS[unit])
    assert bool(implausible([time], f"{unit}s")) is not (1900 <= year < 2200)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_time_far_from_now_is_told_once_and_taken(alone: bool, before: int) -> None:
    results: list[Element] = []
    engine = ms.Engine(counted_in("seconds"), results.extend)
    times = [*range(1_700_000_000, 1_700_000_000 + before), *range(1_700_000_000_000, 1_700_000_000_003)]
    elements = list(ms.chronons([(time, (0, 1)) for time in times]))
    with pytest.warns(
        ImplausibleTime, match=r"stream s: .*: 17000000000\d\d in seconds, which is \+055840-"
    ) as told:
        for batch in [[one] for one in elements] if alone else [elements]:
            engine.push("s", batch)
    assert len(told) == 1 and "look like milliseconds" in str(told[0].message)
    engine.close()
    assert len(results) == len(times)


def test_times_of_today_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ms.run(counted_in("seconds"), {"s": ms.chronons([(0, (0, 1)), (1_700_000_000, (0, 1))])})


def test_the_command_line_tells_a_time_far_from_now_in_a_note(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(f"SET time_unit = 's'; {STREAM}; SELECT x FROM s WINDOW(RANGE 5)")
    (tmp_path / "s.csv").write_text("at,seen,x\n1700000000000,0,7\n1700000000001,0,8\n")
    arguments = ["run", str(tmp_path / "q.sql"), "--source", f"s={tmp_path / 's.csv'}"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "note: stream s: found a timestamp outside of 1900 to 2200: 1700000000000 in"
    )
    assert len(result.stderr.splitlines()) == 1
