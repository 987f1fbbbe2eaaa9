"""What names stand for, and where they stand for nothing."""

from __future__ import annotations

import pytest

import midstream as ms
from midstream.plans.values.errors import SqlError

DECLARATIONS = """
    SET time_unit = 'seconds';
    CREATE STREAM ship(at TIMESTAMP, id INT, port INT, load INT) ORDERED BY at;
    CREATE STREAM dock(at TIMESTAMP, port INT, depth INT) ORDERED BY at;
"""
EVENTS = {
    "ship": [(t, t + 1, row) for t, row in enumerate([(1, 5, 30), (2, 5, 10), (3, 6, 50), (4, 7, None)])],
    "dock": [(t, t + 1, row) for t, row in enumerate([(5, 20), (6, 40), (5, 60)])],
}

ACCEPTED = {
    "the stream outside, its alias inside": (
        "SELECT id FROM ship [RANGE 60] WHERE load > (SELECT MIN(other.load) FROM ship [RANGE 60] other "
        "WHERE other.port = ship.port)",
        {(1,)},
    ),
    "an alias that is another stream's name": (
        "SELECT dock.id FROM ship [RANGE 60] dock WHERE EXISTS (SELECT 1 FROM dock [RANGE 60] ship "
        "WHERE ship.port = dock.port AND depth > dock.load)",
        {(1,), (2,)},
    ),
    "the same aggregate inside and outside": (
        "SELECT port FROM ship [RANGE 60] GROUP BY port "
        "HAVING MAX(load) = (SELECT MAX(load) FROM ship [RANGE 60])",
        {(6,)},
    ),
    "the same column inside and outside": (
        "SELECT MAX(load) AS most FROM ship [RANGE 60] GROUP BY port "
        "HAVING MAX(load) + 20 <= (SELECT MAX(load) AS most FROM ship [RANGE 60])",
        {(30,)},
    ),
    "a key compared with a query": (
        "SELECT port FROM ship [RANGE 60] GROUP BY port "
        "HAVING port > (SELECT MIN(port) FROM dock [RANGE 60])",
        {(6,), (7,)},
    ),
    "columns of WITH": (
        "WITH w(a, b) AS (SELECT load, id FROM ship [RANGE 60]) SELECT a FROM w WHERE b = 1",
        {(30,)},
    ),
    "columns of WITH that swap": (
        "WITH w(port, id) AS (SELECT id, port FROM ship [RANGE 60]) SELECT port FROM w WHERE id = 6",
        {(3,)},
    ),
    "some columns of WITH": (
        "WITH w(a) AS (SELECT id, load FROM ship [RANGE 60]) SELECT a FROM w WHERE load = 10",
        {(2,)},
    ),
    "columns of a query in FROM": (
        "SELECT b FROM (SELECT id, load FROM ship [RANGE 60]) AS w(a, b) WHERE a = 3",
        {(50,)},
    ),
    "columns of a stream": ("SELECT s.b FROM ship [RANGE 60] AS s(a, b) WHERE s.a = 3", {(6,)}),
    "WITH in WITH hides": (
        "WITH w AS (SELECT id FROM ship [RANGE 60]), v AS (WITH w AS (SELECT port FROM dock [RANGE 60]) "
        "SELECT * FROM w) SELECT COUNT(*) AS n FROM v",
        {(3,)},
    ),
    "WITH in a condition hides a stream": (
        "SELECT id FROM ship [RANGE 60] WHERE id IN "
        "(WITH ship(id) AS (SELECT depth / 20 FROM dock [RANGE 60]) SELECT id FROM ship)",
        {(1,), (2,), (3,)},
    ),
    "a double name that nobody reads": (
        "SELECT COUNT(*) AS n FROM (SELECT id AS a, port AS a FROM ship [RANGE 60]) q",
        {(4,)},
    ),
    "a column before an alias, in GROUP BY": (
        "SELECT id % 1 AS port, COUNT(*) AS n FROM ship [RANGE 60] GROUP BY port, id % 1 HAVING COUNT(*) > 1",
        {(0, 2)},
    ),
    "an alias before a column further out": (
        "SELECT id FROM ship [RANGE 60] WHERE id IN (SELECT depth / 20 AS load FROM dock [RANGE 60] "
        "GROUP BY load)",
        {(1,), (2,), (3,)},
    ),
    "windows by new names": (
        "SELECT b FROM ship AS s(a, b) [PARTITION BY s.b ROWS 1] WHERE a < 3",
        {(5,)},
    ),
}


@pytest.mark.parametrize(("query", "rows"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_names_are_looked_for_from_inside_out(query: str, rows: set[tuple[object, ...]]) -> None:
    plan = ms.sql(DECLARATIONS + query)
    results = ms.run(plan, {source.stream: EVENTS[source.stream] for source in plan.sources})
    assert {row for start, end, row in results if start <= 30 < end} == rows


REFUSED = {
    "an alias replaces the name": (
        "SELECT ship.id FROM ship s",
        "there is no stream ship here: it is called s",
    ),
    "the innermost decides, where it lacks the column, too": (
        "SELECT id FROM ship WHERE EXISTS (SELECT 1 FROM dock ship WHERE ship.load = 1)",
        "there is no column in ship of the name load",
    ),
    "WITH, twice": (
        "WITH w AS (SELECT id FROM ship), W AS (SELECT port FROM w) SELECT * FROM w",
        "WITH defines W twice, as SELECT id FROM ship and as SELECT port FROM w",
    ),
    "too many names": (
        "WITH w(a, b, c) AS (SELECT id, port FROM ship) SELECT a FROM w",
        "column 14: found 3 names for 2 columns, expected 2 at most",
    ),
    "names twice": (
        "WITH w(a, A) AS (SELECT id, port FROM ship) SELECT 1 FROM w",
        "the columns id and port are both called A",
    ),
    "before a comma, in a query in a condition": (
        "SELECT id FROM ship a WHERE EXISTS (SELECT 1 FROM dock a, dock b JOIN dock c ON a.port = c.port)",
        "a.port stands before a comma",
    ),
    "a timestamp inside, a column outside": (
        "SELECT s.at FROM (SELECT id AS at FROM ship) s WHERE EXISTS (SELECT 1 FROM dock WHERE depth = at)",
        "at is the timestamp that dock is ordered by",
    ),
    "a window without its word": ("SELECT id FROM ship s (NOW)", "a window is written WINDOW(NOW)"),
    "types for names": ("SELECT 1 FROM (SELECT id FROM ship) w(a INT)", "a INT is not supported"),
    "a new name that is another's": (
        "WITH w(port) AS (SELECT id, port FROM ship) SELECT port FROM w",
        "column port is ambiguous: w has two columns of that name",
    ),
    "a double name of a stream": (
        "CREATE STREAM d AS SELECT id AS a, port AS a FROM ship; SELECT a FROM d",
        "column a is ambiguous: d has two columns of that name",
    ),
    "a double name of a UNION": (
        "SELECT a FROM (SELECT id AS a, port AS a FROM ship UNION ALL SELECT id, port FROM ship) q",
        "column a is ambiguous: q has two columns of that name",
    ),
    "a double name in PARTITION BY": (
        "SELECT 1 FROM (SELECT id AS a, port AS a FROM ship) q [PARTITION BY a ROWS 1]",
        "column a is ambiguous",
    ),
    "a double name in USING": (
        "SELECT 1 FROM dock JOIN (SELECT id AS port, port FROM ship) q USING (port)",
        "column port is ambiguous: q has two columns of that name",
    ),
    "another name beside that of USING": (
        "SELECT port FROM ship a JOIN dock b USING (port), dock c",
        "column port is ambiguous: it is in a and b and c",
    ),
    "an alias twice, in HAVING": (
        "SELECT port AS a, COUNT(*) AS a FROM ship GROUP BY port HAVING a > 1",
        "a is ambiguous: both port and COUNT(*) have this name",
    ),
    "an alias twice, in GROUP BY": (
        "SELECT id AS a, id + 1 AS a FROM ship GROUP BY a",
        "a is ambiguous: both id and id + 1 have this name",
    ),
    "a column further out, in HAVING": (
        "SELECT id FROM ship WHERE id IN (SELECT port FROM dock GROUP BY port HAVING load > 1)",
        "a column of the outer query is not supported in HAVING",
    ),
    "an alias and a column of the outer query, in HAVING": (
        "SELECT id FROM ship WHERE id IN (SELECT MAX(depth) AS load FROM dock GROUP BY port HAVING load > 1)",
        "load is ambiguous: MAX(depth) and a column of the outer query have this name",
    ),
    "a column that is not grouped by, further in": (
        "SELECT port FROM ship GROUP BY port HAVING EXISTS (SELECT 1 FROM dock WHERE depth = load)",
        "column load is neither grouped by nor in an aggregate function",
    ),
    "two levels out": (
        "SELECT id FROM ship WHERE EXISTS (SELECT 1 FROM dock WHERE EXISTS (SELECT 1 FROM dock d WHERE "
        "d.port = ship.port))",
        "ship.port belongs to a query two levels further out",
    ),
    "out of a UNION": (
        "SELECT id FROM ship WHERE EXISTS (SELECT 1 FROM dock UNION SELECT 1 FROM dock WHERE depth = load)",
        "load belongs to the outer query, which is not supported in a UNION",
    ),
    "out of FROM": (
        "SELECT id FROM ship WHERE id IN (SELECT 1 FROM (SELECT 1 AS a FROM dock WHERE depth = ship.load) q)",
        "ship.load belongs to the outer query, which is not supported in a query in FROM",
    ),
    "out of WITH": (
        "SELECT id FROM ship WHERE id IN (WITH w AS (SELECT 1 AS a FROM dock WHERE depth = load) "
        "SELECT a FROM w)",
        "load belongs to the outer query, which is not supported in WITH",
    ),
    "out of ISTREAM": (
        "SELECT id FROM ship WHERE id IN (SELECT ISTREAM(port) FROM dock WHERE depth = load)",
        "load belongs to the outer query, which is not supported in ISTREAM",
    ),
    "beside FROM": (
        "SELECT s.id FROM ship s, (SELECT port FROM dock WHERE dock.depth = s.load) q",
        "there is no stream s",
    ),
    "JOIN without ON": (
        "SELECT id FROM ship JOIN dock",
        "JOIN: expected ON or USING; CROSS JOIN pairs all rows",
    ),
    "INNER JOIN without ON": ("SELECT id FROM ship INNER JOIN dock", "INNER JOIN: expected ON or USING"),
    "CROSS JOIN with ON": (
        "SELECT id FROM ship CROSS JOIN dock ON id = depth",
        "CROSS JOIN: found ON, expected none; write JOIN",
    ),
    "CROSS JOIN with USING": (
        "SELECT id FROM ship CROSS JOIN dock USING (port)",
        "CROSS JOIN: found USING, expected none; write JOIN",
    ),
}


@pytest.mark.parametrize(("query", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_names_that_stand_for_nothing_or_for_several_are_refused(query: str, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        ms.sql(DECLARATIONS + query)
    assert message in str(caught.value)
