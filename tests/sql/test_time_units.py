"""What a chronon is, and what bare numbers count, follows from what a script declares."""

from __future__ import annotations

import pytest

from midstream.plans.algebra.operators import TimeWindow
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError

ISO = "CREATE STREAM {}(at TIMESTAMP, x INT) ORDERED BY at;"
IN = "CREATE STREAM {}(at TIMESTAMP, x INT) ORDERED BY at TIME_UNIT '{}';"


def sizes(catalog: Catalog, script: str) -> list[int | None]:
    plan = catalog.execute(script)[-1].plan
    return [node.operator.size for node in plan.nodes if isinstance(node.operator, TimeWindow)]


@pytest.mark.parametrize(
    ("declared", "unit"),
    [
        ("", "microseconds"),
        (ISO.format("s"), "microseconds"),
        (IN.format("s", "seconds"), "seconds"),
        ("SET time_unit = 'hours';" + ISO.format("s"), "hours"),
        ("SET time_unit = 'hours';" + IN.format("s", "ms"), "milliseconds"),
        ("SET time_unit = 'ms';" + IN.format("s", "hours"), "milliseconds"),
        (IN.format("s", "seconds") + IN.format("t", "nanoseconds"), "nanoseconds"),
        (IN.format("s", "seconds") + ISO.format("t"), "microseconds"),
        (IN.format("s", "seconds") + "CREATE RELATION r(x INT);", "seconds"),
        (IN.format("s", "seconds") + "CREATE RELATION r(x INT, at DATE);", "microseconds"),
        (IN.format("s", "days") + "CREATE RELATION r(a DATE) TIME_UNIT hours;", "hours"),
    ],
)
def test_a_chronon_is_the_finest_unit_that_is_declared(declared: str, unit: str) -> None:
    catalog = Catalog(None)
    catalog.execute(declared)
    assert catalog.unit.name == unit


def test_windows_over_several_units_count_in_the_finest() -> None:
    script = IN.format("s", "minutes") + IN.format("t", "seconds")
    script += "SELECT s.x FROM s [RANGE 5], t [RANGE 5], t [RANGE 5 MINUTES SLIDE 1] u WHERE s.x = t.x"
    assert sorted(map(str, sizes(Catalog(None), script))) == ["300", "300", "5"]
    assert sizes(
        Catalog(None), "SET time_unit = 'seconds';" + IN.format("s", "ms") + "SELECT x FROM s [RANGE 5]"
    ) == [5000]


@pytest.mark.parametrize(
    "window",
    ["WINDOW(RANGE 1)", "[RANGE 1 SECOND SLIDE 1]", "[RANGE MIN 1, MAX 2 SECONDS]", "GRANULARITY(1)"],
)
def test_a_bare_number_needs_a_unit(window: str) -> None:
    with pytest.raises(
        SqlError, match=r"nothing says what 1 counts; write 1 SECOND, .* SET time_unit = 'seconds'"
    ):
        Catalog(None).execute(ISO.format("s") + f"SELECT x FROM s {window}")
    # A derived stream has the unit of what it reads; of several there is none.
    derived = IN.format("s", "ms") + "CREATE STREAM d AS SELECT x FROM s [RANGE 7 SECONDS];"
    Catalog(None).execute(derived + f"SELECT x FROM d {window}")
    both = (
        IN.format("s", "ms")
        + IN.format("t", "us")
        + "CREATE STREAM d AS SELECT * FROM s UNION ALL SELECT * FROM t;"
    )
    with pytest.raises(SqlError, match="nothing says what 1 counts"):
        Catalog(None).execute(both + f"SELECT x FROM d {window}")


def test_a_finer_unit_comes_too_late_behind_a_query() -> None:
    catalog = Catalog(None)
    catalog.execute(IN.format("s", "seconds") + "SELECT x FROM s")
    catalog.execute(IN.format("t", "minutes"))
    with pytest.raises(
        SqlError, match="found time in milliseconds, finer than the seconds that the queries before"
    ):
        catalog.execute(IN.format("u", "ms"))
    assert catalog.unit.name == "seconds"


def test_a_unit_that_there_is_not_is_refused_at_its_place() -> None:
    with pytest.raises(SqlError, match="found the time unit 'fortnights'") as caught:
        Catalog(None).execute(IN.format("s", "fortnights"))
    assert "^^^^^^^^^^^^" in str(caught.value)


def test_a_literal_finer_than_a_chronon_is_refused() -> None:
    script = IN.format("s", "seconds") + "SELECT x FROM s WHERE x < TIMESTAMP '1970-01-01 00:00:01{}'"
    with pytest.raises(SqlError, match="expected a whole number of seconds"):
        Catalog(None).execute(script.format(".5"))
    assert len(Catalog(None).execute(script.format(".000"))) == 1


@pytest.mark.parametrize("column", ["at", "AT", "s.at", "q.at"])
def test_the_timestamp_is_no_column(column: str) -> None:
    table = "s q" if column.startswith("q") else "s"
    with pytest.raises(
        SqlError, match=r"at is the timestamp that s is ordered by, and no column of its rows"
    ):
        Catalog().execute(ISO.format("s") + f"SELECT {column}, x FROM {table}")
    with pytest.raises(SqlError, match="at is the timestamp that s is ordered by"):
        Catalog().execute(
            ISO.format("s") + f"SELECT x FROM {table} WHERE EXISTS (SELECT x FROM s r WHERE r.x = {column})"
        )


SEEN = (
    "the {} sees rows of {} at their own timestamp only, as there is no window; write {} WINDOW(RANGE …), or"
)


@pytest.mark.parametrize(
    ("query", "word", "streams"),
    [
        ("SELECT x FROM s, t WHERE s.x = t.y", "join", "s and t"),
        ("SELECT x FROM s LEFT JOIN t ON s.x = t.y", "join", "s and t"),
        ("SELECT x FROM s WHERE x IN (SELECT y FROM t)", "join", "s and t"),
        ("SELECT x FROM s WHERE x NOT IN (SELECT y FROM t)", "join", "s and t"),
        ("SELECT x FROM s, k, t WHERE s.x = k.z AND s.x = t.y", "join", "s and t"),
        ("SELECT COUNT(*) FROM s", "grouping", "s"),
        ("SELECT x, COUNT(*) FROM s WHERE x > 1 GROUP BY x", "grouping", "s"),
        ("SELECT COUNT(*) FROM (SELECT x FROM s UNION ALL SELECT y FROM t) u", "grouping", "s and t"),
        ("SELECT DISTINCT x FROM s", "DISTINCT", "s"),
        ("SELECT COUNT(*) FROM s, k WHERE x = z", "grouping", "s"),
        ("SELECT COUNT(*) FROM s GRANULARITY(5 SECONDS)", "grouping", "s"),
        ("SELECT COUNT(*) FROM d", "grouping", "s"),
        ("SELECT x FROM s", None, ""),
        ("SELECT x FROM s, k WHERE x = z", None, ""),
        ("SELECT x FROM s UNION ALL SELECT y FROM t", None, ""),
        ("SELECT COUNT(*) FROM s WINDOW(NOW)", None, ""),
        ("SELECT COUNT(*) FROM s WINDOW(RANGE 5 SECONDS)", None, ""),
        ("SELECT COUNT(*) FROM s WINDOW(RANGE UNBOUNDED)", None, ""),
        ("SELECT COUNT(*) FROM s [ROWS 5]", None, ""),
        ("SELECT x FROM s [RANGE 5 SECONDS], t WHERE s.x = t.y", None, ""),
        ("SELECT x FROM s, t [NOW] WHERE s.x = t.y", None, ""),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM ISTREAM(SELECT x FROM s [RANGE 5 SECONDS])) q", None, ""),
    ],
)
def test_a_join_or_grouping_without_a_window_is_noted(query: str, word: str | None, streams: str) -> None:
    catalog = Catalog()
    declared = "CREATE STREAM s(x INT); CREATE STREAM t(y INT); CREATE RELATION k(z INT);"
    catalog.execute(declared + "CREATE STREAM d AS SELECT x FROM s;")
    notes = [note for note in catalog.query(query).notes if "without GROUP BY" not in note]
    if word is None:
        assert notes == []
    else:
        assert len(notes) == 1 and notes[0].startswith(SEEN.format(word, streams, "s"))


@pytest.mark.parametrize(
    ("query", "is_noted"),
    [
        ("SELECT COUNT(*) FROM s [RANGE 5 SECONDS]", True),
        ("SELECT MAX(x) + 1 FROM s [RANGE 5 SECONDS] HAVING COUNT(*) < 3", True),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM s [RANGE 5 SECONDS]) q WHERE n > 1", True),
        ("SELECT x FROM s UNION ALL SELECT SUM(x) FROM s [RANGE 5 SECONDS]", True),
        ("SELECT n FROM counted", True),
        ("SELECT COUNT(*) FROM s [RANGE 5 SECONDS] HAVING COUNT(*) > 0", False),
        ("SELECT MAX(x) FROM s [RANGE 5 SECONDS] HAVING MAX(x) IS NOT NULL", False),
        ("SELECT x, COUNT(*) FROM s [RANGE 5 SECONDS] GROUP BY x", False),
        ("SELECT x FROM s WHERE x > (SELECT COUNT(*) FROM s [RANGE 7 SECONDS] r)", False),
        ("SELECT x, (SELECT COUNT(*) FROM s [RANGE 7 SECONDS] r) FROM s", False),
    ],
)
def test_an_aggregate_that_sql_gives_over_nothing_is_noted(query: str, is_noted: bool) -> None:
    catalog = Catalog()
    catalog.execute(
        "CREATE STREAM s(x INT); CREATE STREAM counted AS SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS];"
    )
    notes = [note for note in catalog.query(query).notes if "without GROUP BY" in note]
    assert len(notes) == is_noted
