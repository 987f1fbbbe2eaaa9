"""A catalog: what its statements declare, drop and set, and what is refused where."""

from __future__ import annotations

from typing import Any

import pytest

from midstream.engine import Engine
from midstream.plans.algebra.operators import (
    CountWindow,
    Granularity,
    PartitionedWindow,
    Sample,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import SourceClause
from midstream.plans.values.errors import FunctionError, MidstreamError, PlanError, SqlError
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import FOREVER, Element

STREAMS = """
CREATE STREAM s(ts TIMESTAMP, x INT, y VARCHAR) ORDERED BY ts;
CREATE STREAM u(ts TIMESTAMP, x INT, z INT) ORDERED BY ts;
CREATE RELATION r(x INT, w INT);
"""


@pytest.fixture
def catalog() -> Catalog:
    """Two streams and a relation, in seconds."""
    made = Catalog("seconds")
    made.execute(STREAMS)
    return made


def run(plan: Plan, **rows: list[tuple[int, tuple[Any, ...]]]) -> list[Element]:
    """The results of a plan over rows with timestamps."""
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    for name, some in rows.items():
        engine.push(name, [(t, t + 1, row) for t, row in some])
    engine.close()
    return results


def require_fault(catalog: Catalog, text: str, message: str, under: str | None) -> SqlError:
    """A script is refused with a message, and a caret under a part of it; None for a message without."""
    with pytest.raises(SqlError) as caught:
        catalog.execute(text)
    found, *shown = str(caught.value).split("\n")
    assert message in found
    if under is None:
        assert not shown
    else:
        line, marks = shown
        assert marks.count("^") == len(marks.strip())
        assert line[marks.index("^") : len(marks)] == under
        facts = vars(caught.value)
        assert found.startswith(f"SQL, line {facts['line']}, column {facts['column']}: ")
    return caught.value


def test_what_a_stream_declares() -> None:
    catalog = Catalog()
    catalog.execute(
        "CREATE STREAM Bid(item INT NOT NULL, price DOUBLE, note TEXT NULL, ok BOOLEAN, day DATE,"
        " at TIMESTAMP) SOURCE socket('host', 7000) ORDERED BY AT"
    )
    bid = catalog.streams["Bid"]
    assert bid.schema == Schema.of(
        item="integer", price="float?", note="string?", ok="boolean?", day="integer?"
    )
    assert (bid.ordered_by, bid.source) == ("at", SourceClause("socket", ("host", 7000)))
    assert [column.name for column in bid.columns if column.is_timestamp] == ["day", "at"]


def test_a_stream_without_order_has_all_its_columns() -> None:
    catalog = Catalog()
    catalog.execute("CREATE STREAM s(ts TIMESTAMP, x INT)")
    assert catalog.streams["s"].schema.names == ("ts", "x")
    assert catalog.streams["s"].ordered_by is None


def test_what_a_relation_declares() -> None:
    catalog = Catalog()
    catalog.execute("CREATE RELATION r(x INT, a TIMESTAMP, b INT) SOURCE csv('r.csv') VALID FROM A TO b")
    found = catalog.relations["r"]
    assert (found.valid_from, found.valid_to, found.schema.names) == ("a", "b", ("x",))


def test_a_script_gives_its_queries_in_order_under_names_of_their_own(catalog: Catalog) -> None:
    first, second = catalog.execute("SELECT x FROM s;; SELECT z FROM u;")
    (third,) = catalog.execute("SELECT w FROM r, s WHERE r.x = s.x")
    assert [query.name for query in (first, second, third)] == ["query_1", "query_2", "query_3"]
    assert (first.text, second.plan.root.schema.names) == ("SELECT x FROM s", ("z",))


def test_one_query_is_what_query_gives(catalog: Catalog) -> None:
    assert catalog.query("SELECT x FROM s").plan.root.schema.names == ("x",)
    for text, count in (("", 0), ("DROP STREAM u", 0), ("SELECT x FROM s; SELECT y FROM s", 2)):
        with pytest.raises(SqlError, match=f"SQL: found {count} queries, expected one"):
            catalog.query(text)


@pytest.mark.parametrize(
    ("text", "under"),
    [
        ("CREATE STREAM s(x INT)", "s"),
        ("CREATE STREAM S(x INT)", "S"),
        ('CREATE STREAM "S"(x INT)', '"S"'),
        ("CREATE STREAM r(x INT)", "r"),
        ("CREATE RELATION s(x INT)", "s"),
        ("CREATE RELATION R(x INT)", "R"),
        ("CREATE STREAM u AS SELECT x FROM s", "u"),
        ("CREATE STREAM d AS SELECT x FROM s; CREATE STREAM D(x INT)", "D"),
    ],
)
def test_a_name_is_taken_once(catalog: Catalog, text: str, under: str) -> None:
    name = under.strip('"')
    require_fault(catalog, text, f"there is a stream or relation {name} already; drop it first", under)


def test_statements_before_a_fault_have_been_carried_out(catalog: Catalog) -> None:
    require_fault(catalog, "CREATE STREAM v(x INT);\nDROP STREAM w", "there is no stream w", "w")
    assert "v" in catalog.streams
    # A script that cannot be read has done nothing.
    require_fault(catalog, "CREATE STREAM w(x INT); SELECT FROM WHERE", "", "WHERE")
    assert "w" not in catalog.streams


def test_what_is_dropped_can_be_made_again(catalog: Catalog) -> None:
    catalog.execute("DROP STREAM S; DROP RELATION R; CREATE STREAM s(a INT); CREATE STREAM r(b INT)")
    assert catalog.streams["s"].schema.names == ("a",)
    assert not catalog.relations
    catalog.execute("CREATE STREAM d AS SELECT a FROM s; DROP STREAM D; CREATE STREAM d AS SELECT b FROM r")
    assert catalog.derived["d"].root.schema.names == ("b",)


def test_what_a_derived_stream_reads_cannot_be_dropped(catalog: Catalog) -> None:
    catalog.execute(
        "CREATE STREAM d AS SELECT s.x FROM s, R WHERE s.x = r.x; CREATE STREAM e AS SELECT x FROM D"
    )
    require_fault(catalog, "DROP STREAM S", "stream S is still read by d", "S")
    require_fault(catalog, "DROP RELATION r", "relation r is still read by d", "r")
    require_fault(catalog, "DROP STREAM d", "stream d is still read by e", "d")
    catalog.execute("DROP STREAM e; DROP STREAM d; DROP STREAM s; DROP RELATION r")
    assert set(catalog.streams) == {"u"}


def test_what_a_query_reads_cannot_be_dropped_before_it_stops(catalog: Catalog) -> None:
    one = catalog.query("SELECT x FROM s WHERE x IN (SELECT x FROM U)")
    two = catalog.query("SELECT x FROM u")
    require_fault(catalog, "DROP STREAM s", "stream s is still read by query_1", "s")
    require_fault(catalog, "DROP STREAM u", "stream u is still read by query_1, query_2", "u")
    catalog.stop(one.name)
    catalog.execute("DROP STREAM s")
    require_fault(catalog, "DROP STREAM u", "stream u is still read by query_2", "u")
    catalog.stop(two.name)
    catalog.stop("query_9")
    catalog.execute("DROP STREAM u")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT U.x FROM s U",
        "SELECT x AS u FROM s",
        "SELECT d.u FROM (SELECT x AS u FROM s) d WHERE u > 1",
        "CREATE STREAM v(u INT, a INT); SELECT u FROM v",
    ],
)
def test_what_is_called_like_a_stream_does_not_keep_it(catalog: Catalog, text: str) -> None:
    catalog.execute(text)
    catalog.execute("DROP STREAM u")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s.x FROM s, U WHERE s.x = u.x",
        "SELECT x FROM s WHERE EXISTS (SELECT 1 FROM u WHERE u.x = s.x)",
        "SELECT x FROM s UNION ALL (SELECT x FROM (SELECT x FROM u) d)",
        "ISTREAM(SELECT x FROM u WINDOW(RANGE 5))",
        "SELECT x FROM ISTREAM(u) c",
        "SELECT x FROM s JOIN u USING (x)",
        "WITH c AS (SELECT x FROM u) SELECT x FROM c",
    ],
)
def test_what_is_read_anywhere_in_a_query_is_kept(catalog: Catalog, text: str) -> None:
    catalog.execute(text)
    require_fault(catalog, "DROP STREAM u", "stream u is still read by query_1", "u")


@pytest.mark.parametrize(
    ("text", "message", "under"),
    [
        ("DROP STREAM Bids", "there is no stream Bids; did you mean Bid?", "Bids"),
        ("DROP STREAM price", "there is no stream price", "price"),
        ("DROP RELATION Bid", "there is no relation Bid", "Bid"),
        ("DROP STREAM Rates", "there is no stream Rates", "Rates"),
        ("DROP RELATION rate", "there is no relation rate; did you mean Rates?", "rate"),
    ],
)
def test_what_is_not_there_cannot_be_dropped(text: str, message: str, under: str) -> None:
    catalog = Catalog()
    catalog.execute("CREATE STREAM Bid(x INT); CREATE RELATION Rates(x INT)")
    assert str(require_fault(catalog, text, message, under)).splitlines()[0].endswith(message)


def test_derived_streams_of_derived_streams(catalog: Catalog) -> None:
    catalog.execute(
        "CREATE STREAM big AS SELECT x, y FROM s WINDOW(RANGE 5 SECONDS) WHERE x > 1;"
        "CREATE STREAM sums AS SELECT y, SUM(x) AS total FROM big GROUP BY y;"
    )
    plan = catalog.query("SELECT TOTAL + 1 AS more FROM Sums WHERE total > 4").plan
    results = run(plan, s=[(0, (1, "a")), (1, (3, "a")), (2, (4, "b")), (3, (2, "a"))])
    # From 3 to 6, the values 3 and 2 are there under a.
    assert equivalent(results, [(3, 6, (6,))])


def test_a_derived_stream_stays_what_it_was(catalog: Catalog) -> None:
    catalog.execute(
        "SET ties = 'error'; CREATE STREAM d AS SELECT x FROM s WINDOW(ROWS 2); SET ties = 'arrival'"
    )
    assert [ties_of(catalog.query(f"SELECT x FROM {text}").plan) for text in ("d", "s WINDOW(ROWS 2)")] == [
        ["error"],
        ["arrival"],
    ]


def ties_of(plan: Plan) -> list[str]:
    """What the count windows of a plan do about ties."""
    return [op.ties for op in operators(plan) if isinstance(op, CountWindow | PartitionedWindow)]


def operators(plan: Plan) -> list[Any]:
    """The operators of a plan."""
    return [node.operator for node in plan.nodes]


def test_names_do_not_depend_on_case_and_quoted_ones_may_be_anything(catalog: Catalog) -> None:
    catalog.execute('CREATE STREAM "order by"("select" INT, "A b" VARCHAR, at TIMESTAMP) ORDERED BY "AT"')
    assert catalog.streams["order by"].schema.names == ("select", "A b")
    plan = catalog.query('SELECT "a B", O."SELECT" FROM "ORDER BY" o').plan
    assert run(plan, **{"order by": [(3, (7, "x"))]}) == [(3, 4, ("x", 7))]
    assert catalog.query("SELECT X, S.Y FROM S").plan.root.schema.names == ("X", "Y")


def test_the_time_unit_is_set_before_streams_are_declared() -> None:
    catalog = Catalog()
    catalog.execute("SET time_unit = 'minutes'; SET TIME_UNIT TO hours; CREATE STREAM s(x INT)")
    assert catalog.unit.name == "hours"
    assert operators(catalog.query("SELECT x FROM s WINDOW(RANGE 1 DAY)").plan)[1] == TimeWindow(24)
    message = "the time unit must be set before streams are declared"
    require_fault(catalog, "SET time_unit = 'hours'", message, "time_unit")
    for statement in ("CREATE RELATION r(x INT)", "CREATE STREAM s(x INT)"):
        fresh = Catalog()
        fresh.execute(statement)
        require_fault(fresh, "SET time_unit = 'hours'", message, "time_unit")


@pytest.mark.parametrize(
    ("text", "message", "under"),
    [
        ("SET time_unit = 'moons'", "found the time unit 'moons', expected one of nanoseconds", "time_unit"),
        ("SET ties = 'never'", "found 'never', expected 'error' or 'arrival'", "ties"),
        ("SET unbounded_state = 'on'", "found 'on', expected 'refuse' or 'allow'", "unbounded_state"),
        ("SET tie = 'error'", "there is no setting tie; did you mean ties?", "tie"),
        ("SET speed = 'high'", "there is no setting speed", "speed"),
    ],
)
def test_settings_that_there_are_not(text: str, message: str, under: str) -> None:
    require_fault(Catalog(), text, message, under)


def test_ties_are_set_for_count_windows_of_either_kind(catalog: Catalog) -> None:
    text = "SELECT x FROM s WINDOW(ROWS 2) UNION ALL SELECT x FROM s WINDOW(PARTITION BY y ROWS 2)"
    assert ties_of(catalog.query(text).plan) == ["error"] * 2
    catalog.execute("SET ties = 'ARRIVAL'")
    assert ties_of(catalog.query(text).plan) == ["arrival"] * 2
    catalog.execute("SET ties = error")
    assert ties_of(catalog.query(text.replace("2)", "2 TIES BY ARRIVAL)")).plan) == ["arrival"] * 2
    assert ties_of(
        Catalog(ties="arrival").query("CREATE STREAM s(x INT); SELECT x FROM s [ROWS 2]").plan
    ) == ["arrival"]


@pytest.mark.parametrize(
    ("text", "message", "under"),
    [
        (
            "CREATE STREAM q(a VARCHAR, b INT) ORDERED BY a",
            "column a is string, expected a timestamp or an integer",
            "a",
        ),
        ("CREATE STREAM q(a INT) ORDERED BY b", "there is no column b", "b"),
        ("CREATE STREAM q(time INT) ORDERED BY tine", "there is no column tine; did you mean time?", "tine"),
        (
            "CREATE STREAM q(a TIMESTAMP) ORDERED BY a",
            "found no columns besides timestamps, expected one",
            "q",
        ),
        ("CREATE STREAM q(a INT, A REAL)", "column A occurs twice", "A"),
        ("CREATE STREAM q(a BLOB)", "column a: found type", "BLOB"),
        (
            "CREATE RELATION q(a INT, b INT) VALID FROM a TO b",
            "found no columns besides timestamps, expected one",
            "q",
        ),
        ("CREATE RELATION q(x INT, a INT) VALID FROM a TO b", "there is no column b", "b"),
        (
            "CREATE RELATION q(x INT, a INT) VALID FROM a TO A",
            "found the column a at both ends, expected two",
            "A",
        ),
        (
            "CREATE RELATION q(x INT, a REAL, b INT) VALID FROM a TO b",
            "column a is float, expected a timestamp or an integer",
            "a",
        ),
    ],
)
def test_declarations_that_there_cannot_be(catalog: Catalog, text: str, message: str, under: str) -> None:
    require_fault(catalog, text, message, under)
    assert "q" not in {**catalog.streams, **catalog.relations}


def test_functions_are_called_with_unknown_values_unless_they_are_strict(catalog: Catalog) -> None:
    catalog.add_function("Twice", lambda x: 2 * x, "integer")
    catalog.add_function("shown", repr, "string", strict=False)
    catalog.add_function("half", lambda x: x // 2 if x % 2 == 0 else None, "integer?")
    plan = catalog.query("SELECT TWICE(x) AS a, Shown(x) AS b, half(x) AS c FROM s").plan
    assert [(c.name, c.type, c.nullable) for c in plan.root.schema] == [
        ("a", Type.INTEGER, True),
        ("b", Type.STRING, False),
        ("c", Type.INTEGER, True),
    ]
    assert [row for _, _, row in run(plan, s=[(1, (3, "")), (2, (4, "")), (3, (None, ""))])] == [
        (6, "3", None),
        (8, "4", 2),
        (None, "None", None),
    ]


def test_a_function_goes_before_a_built_in_one_and_before_an_earlier_one(catalog: Catalog) -> None:
    for word in ("first", "second"):
        catalog.add_function("UPPER", lambda _, word=word: word, "string")
    assert run(catalog.query("SELECT upper(y) FROM s").plan, s=[(1, (3, "a"))]) == [(1, 2, ("second",))]


@pytest.mark.parametrize("name", ["max", "COUNT", "Avg"])
def test_names_of_aggregates_are_taken(catalog: Catalog, name: str) -> None:
    message = f"{name} is a built-in aggregate; give yours another name"
    with pytest.raises(PlanError, match=message):
        catalog.add_function(name, lambda x: x)
    with pytest.raises(PlanError, match=message):
        catalog.add_aggregate(UserAggregate(name, lambda x: x, lambda a, b: a, lambda a: a))


@pytest.mark.parametrize(
    ("function", "type", "message"),
    [
        (lambda x: x / 0, "float", "function f: ZeroDivisionError: division by zero"),
        (lambda x: "seven", "integer", "function f: found 'seven', expected integer$"),
        (lambda x: True, "integer?", "function f: found True, expected integer or None"),
        (lambda x: None, "boolean", r"function f: found None, expected boolean; declare boolean\?"),
        (lambda x: [x], "any", r"function f: found \[3\], expected a hashable value"),
        (lambda: 1, "integer", "function f: TypeError: .*takes 0 positional arguments"),
    ],
)
def test_faults_of_a_function_are_told_by_its_name(
    catalog: Catalog, function: Any, type: str, message: str
) -> None:
    catalog.add_function("f", function, type)
    plan = catalog.query("SELECT f(x) FROM s").plan
    with pytest.raises(MidstreamError, match=message):
        run(plan, s=[(1, (3, "a"))])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT f(x) AS z FROM s",
        "SELECT x FROM s WHERE f(x) IS NULL",
        "SELECT DISTINCT f(x) AS z FROM s WINDOW(RANGE 5)",
        "SELECT MAX(f(x)) AS z FROM s WINDOW(RANGE 5)",
        "SELECT CASE WHEN f(x) IS NOT NULL THEN 1 ELSE 2 END AS z FROM s",
    ],
)
@pytest.mark.parametrize(
    ("given", "type", "message"),
    [(None, "integer", "found None, expected integer"), ([1], "any", r"found \[1\], expected a hashable")],
)
def test_what_a_function_gives_is_checked_in_all_places(
    catalog: Catalog, query: str, given: Any, type: str, message: str
) -> None:
    catalog.add_function("f", lambda x: given, type)
    with pytest.raises(FunctionError, match=f"function f: {message}"):
        run(catalog.query(query).plan, s=[(1, (3, "a"))])


@pytest.mark.parametrize("type", ["integer?", "float", "any"])
def test_a_function_may_give_none_where_its_type_may_be_unknown(catalog: Catalog, type: str) -> None:
    catalog.add_function("f", lambda x: None, type)
    plan = catalog.query("SELECT x FROM s WHERE f(x) IS NULL").plan
    assert run(plan, s=[(1, (3, "a"))]) == [(1, 2, (3,))]


def test_what_a_function_raises_is_the_cause_of_what_is_told(catalog: Catalog) -> None:
    catalog.add_function("half", lambda x, y: x // 0, "integer")
    plan = catalog.query("SELECT half(x, y) FROM s").plan
    with pytest.raises(
        MidstreamError, match=r"ZeroDivisionError: .*; called with 3 \(int\), 'a' \(str\)$"
    ) as told:
        run(plan, s=[(1, (3, "a"))])
    assert isinstance(told.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("inverse", [None, lambda a, b: a // b])
def test_aggregates_of_users(catalog: Catalog, inverse: Any) -> None:
    product = UserAggregate(
        "Product", lambda x: x, lambda a, b: a * b, lambda a: a, inverse=inverse, type=Type.INTEGER
    )
    catalog.add_aggregate(product)
    plan = catalog.query("SELECT y, PRODUCT(x) AS p FROM s WINDOW(RANGE 3 SECONDS) GROUP BY y").plan
    results = run(plan, s=[(0, (2, "a")), (1, (3, "a")), (2, (None, "a")), (3, (7, "b"))])
    expected = [(0, 1, ("a", 2)), (1, 3, ("a", 6)), (3, 4, ("a", 3)), (4, 5, ("a", None)), (3, 6, ("b", 7))]
    assert equivalent(results, expected)
    assert plan.root.schema["p"].type is Type.INTEGER


def test_faults_of_an_aggregate_are_told_by_its_name(catalog: Catalog) -> None:
    for position, name in enumerate(("initialise", "merge", "evaluate")):
        functions: list[Any] = [lambda x: x, lambda a, b: a + b, lambda a: a]
        functions[position] = lambda *_: 1 // 0
        catalog.add_aggregate(UserAggregate(name, *functions))
        plan = catalog.query(f"SELECT {name}(x) FROM s WINDOW(RANGE 3)").plan
        with pytest.raises(MidstreamError, match=f"function {name}: ZeroDivisionError: integer division"):
            run(plan, s=[(1, (3, "a")), (2, (4, "a"))])
    catalog.add_aggregate(UserAggregate("liar", lambda x: x, lambda a, b: a, str, type=Type.INTEGER))
    with pytest.raises(MidstreamError, match="function liar: found '3', expected integer"):
        run(catalog.query("SELECT liar(x) FROM s WINDOW(RANGE 3)").plan, s=[(1, (3, "a"))])


def test_streams_of_a_program() -> None:
    catalog = Catalog()
    catalog.add_stream("Bid", Schema.of(item="integer"))
    catalog.add_stream("Valid", Schema.of(item="integer"), intervals=True)
    plan = catalog.query("SELECT b.item FROM bid b, valid v WHERE b.item = v.item").plan
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    engine.push("Valid", [(0, 9, (7,))])
    engine.push("Bid", [(5, 6, (7,))])
    engine.close()
    assert results == [(5, 6, (7,))]
    for name in ("bid", "VALID"):
        with pytest.raises(SqlError, match=f"there is a stream or relation {name} already"):
            catalog.add_stream(name, Schema.of(x="integer"))


QUALITY = [
    ("WINDOW(RANGE MIN 5 SECONDS, MAX 1 MINUTE)", TimeWindow(60, 1, (5, 60))),
    ("WINDOW(RANGE MIN 1 MINUTE MAX 2 MINUTES SLIDE 10)", TimeWindow(120, 10, (60, 120))),
    ("WINDOW(RANGE MIN 5, MAX 5)", TimeWindow(5, 1, (5, 5))),
    ("WINDOW(ROWS MIN 2, MAX 5)", CountWindow(5, 1, "error", (2, 5))),
    (
        "WINDOW(PARTITION BY Y ROWS MIN 2, MAX 5 SLIDE 2)",
        PartitionedWindow(("y",), 5, 2, "error", None, (2, 5)),
    ),
    ("GRANULARITY(COARSEST 1 MINUTE, FINEST 10 SECONDS)", Granularity(10, (10, 60))),
    ("GRANULARITY(FINEST 10 SECONDS COARSEST 1 MINUTE)", Granularity(10, (10, 60))),
    ("GRANULARITY(10 SECONDS)", Granularity(10)),
    ("[RANGE MIN 5 SECONDS, MAX 1 MINUTE]", TimeWindow(60, 1, (5, 60))),
]


@pytest.mark.parametrize(("text", "operator"), QUALITY, ids=[text for text, _ in QUALITY])
def test_ranges_of_quality_are_kept_in_the_plan(catalog: Catalog, text: str, operator: Any) -> None:
    plan = catalog.query(f"SELECT x FROM s {text}").plan
    assert operator in operators(plan)
    assert loads(dumps(plan)) == plan


@pytest.mark.parametrize(
    ("text", "message", "under"),
    [
        (
            "WINDOW(RANGE MIN 1 MINUTE, MAX 5 SECONDS)",
            "the greatest window, 5, is less than the least, 60",
            "RANGE MIN 1 MINUTE, MAX 5 SECONDS",
        ),
        (
            "WINDOW(ROWS MIN 3, MAX 2)",
            "the greatest window, 2, is less than the least, 3",
            "ROWS MIN 3, MAX 2",
        ),
        ("WINDOW(ROWS MIN 3, 5)", "expected MAX", "5"),
        (
            "GRANULARITY(COARSEST 1 SECOND, FINEST 2 SECONDS)",
            "the coarsest granularity is finer than the finest",
            "COARSEST 1 SECOND, FINEST 2 SECONDS",
        ),
        ("GRANULARITY(COARSEST 9)", "expected both COARSEST and FINEST", ")"),
        ("WINDOW(RANGE 5 MILLISECONDS)", "5 MILLISECONDS is no whole number of seconds", "5 MILLISECONDS"),
        ("WINDOW(RANGE 9 SLIDE 5 MS)", "5 MS is no whole number of seconds", "5 MS"),
        ("GRANULARITY(1500 MILLISECONDS)", "1500 MILLISECONDS is no whole number of", "1500 MILLISECONDS"),
        ("WINDOW(RANGE 5 FORTNIGHTS)", "there is no unit of time FORTNIGHTS", "5 FORTNIGHTS"),
        ("WINDOW(RANGE 5 MINUTS)", "there is no unit of time MINUTS; did you mean minutes?", "5 MINUTS"),
        ("WINDOW(ROWS 5 SECONDS)", "found rows in SECONDS, expected a number", "5 SECONDS"),
        ("WINDOW(RANGE 0)", "found 0, expected a positive integer", "0"),
        ("WINDOW(RANGE 2.5 SECONDS)", "found 2.5, expected a positive integer", "2.5"),
        ("WINDOW(PARTITION BY v ROWS 5)", "there is no column v", "v"),
        ("WINDOW(PARTITION BY y RANGE 5)", "expected ROWS: a partitioned window counts rows", "RANGE"),
        ("SAMPLE(10)", "found 10, expected a share in percent, such as 10 %", "10"),
        ("SAMPLE(x %)", "found x, expected a share, such as 10 %", "x"),
        ("SAMPLE(0 %)", "found 0 %, expected above 0 and up to 100 %", "0"),
        ("SAMPLE(100.5 PERCENT)", "found 100.5 %, expected above 0 and up to 100 %", "100.5"),
        ("SAMPLE(MIN 10 %)", "expected MAX", ")"),
        ("SAMPLE(MIN 20 %, MAX 10 %)", "the greatest share is less than the least", "MIN 20 %, MAX 10 %"),
        ("SAMPLE(1 %) SAMPLE(1 %)", "found a second sample, window or granularity", "SAMPLE"),
        ("WINDOW(RANGE 5) WINDOW(RANGE 6)", "found a second sample, window or granularity", "("),
    ],
)
def test_windows_that_there_cannot_be(catalog: Catalog, text: str, message: str, under: str) -> None:
    require_fault(catalog, f"SELECT x\nFROM s {text}", message, under)


def test_whole_units_of_a_coarser_time_are_accepted() -> None:
    catalog = Catalog("minutes")
    catalog.execute("CREATE STREAM s(x INT)")
    plan = catalog.query("SELECT x FROM s WINDOW(RANGE 120 SECONDS SLIDE 1 HOUR)").plan
    assert TimeWindow(2, 60) in operators(plan)
    require_fault(
        catalog,
        "SELECT x FROM s WINDOW(RANGE 5 SECONDS)",
        "5 SECONDS is no whole number of minutes, the unit of time (SET time_unit)",
        "5 SECONDS",
    )


def test_windows_and_granules_change_within_their_bounds_only(catalog: Catalog) -> None:
    plan = catalog.query(
        "SELECT x FROM s WINDOW(RANGE MIN 5, MAX 60) UNION ALL"
        " SELECT x FROM u GRANULARITY(COARSEST 8, FINEST 2)"
    ).plan

    def find(kind: type) -> Node:
        return next(node for node in engine.plan.nodes if isinstance(node.operator, kind))

    engine = Engine(plan, lambda batch: None)
    for size in (4, 61, None):
        with pytest.raises(PlanError, match="from 5 to 60"):
            engine.resize(find(TimeWindow), size, at=10)
    assert engine.resize(find(TimeWindow), 5, at=10)
    assert find(TimeWindow).operator == TimeWindow(5, 1, (5, 60))
    for granule in (1, 16):
        with pytest.raises(PlanError, match="from 2 to 8"):
            engine.change_granule(find(Granularity), granule, at=16)
    assert engine.change_granule(find(Granularity), 8, at=16)
    assert find(Granularity).operator == Granularity(8, (2, 8))


UNBOUNDED = "s WINDOW(RANGE UNBOUNDED)"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT x + 1 FROM {UNBOUNDED} WHERE y LIKE 'a%'",
        f"SELECT x FROM {UNBOUNDED} UNION ALL SELECT x FROM u WINDOW(ROWS UNBOUNDED)",
        f"SELECT COUNT(*), MAX(x), AVG(x), SUM(x) FROM {UNBOUNDED}",
        "SELECT COUNT(*) FROM s WINDOW(ROWS UNBOUNDED)",
        f"SELECT s.x, r.w FROM {UNBOUNDED}, r WHERE s.x = r.x",
        "SELECT a.x FROM s a, u WINDOW(RANGE 5) WHERE a.x = u.x",
    ],
)
def test_unbounded_windows_below_what_keeps_nothing(catalog: Catalog, text: str) -> None:
    assert catalog.query(text).plan.root.schema.names


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("SELECT s.x FROM {}, u WINDOW(RANGE 5) WHERE s.x = u.x", "join"),
        ("SELECT u.x FROM u WINDOW(RANGE 5), {} WHERE s.x = u.x", "join"),
        ("SELECT DISTINCT x FROM {}", "distinct"),
        ("SELECT x, COUNT(*) FROM {} GROUP BY x", "aggregate"),
        ("SELECT COUNT(DISTINCT x) FROM {}", "aggregate"),
        ("SELECT MEDIAN(x) FROM {}", "aggregate"),
        ("SELECT x FROM {} EXCEPT ALL SELECT x FROM u", "difference"),
        ("SELECT x FROM (SELECT x FROM {} WHERE x > 1) d GROUP BY x", "aggregate"),
        ("CREATE STREAM d AS SELECT x FROM {};\nSELECT DISTINCT x FROM d", "distinct"),
    ],
)
@pytest.mark.parametrize("window", ["RANGE UNBOUNDED", "UNBOUNDED", "ROWS UNBOUNDED"])
def test_unbounded_windows_below_what_keeps_all(
    catalog: Catalog, text: str, operator: str, window: str
) -> None:
    script = text.format(f"s WINDOW({window})")
    message = f"the {operator} behind this unbounded window would keep its rows for ever; bound the window"
    require_fault(catalog, script, message, window)
    catalog.execute("DROP STREAM d" if "STREAM d" in text else "")
    (query,) = catalog.execute(f"SET unbounded_state = 'allow'; {script}")
    assert None in sizes(query.plan)


@pytest.mark.parametrize("word", ["ISTREAM", "DSTREAM"])
@pytest.mark.parametrize("window", ["RANGE UNBOUNDED", "UNBOUNDED", "ROWS UNBOUNDED"])
def test_changes_of_an_unbounded_window_keep_nothing(catalog: Catalog, word: str, window: str) -> None:
    results: list[Element] = []
    engine = Engine(catalog.query(f"SELECT {word}(x) FROM s [{window}] WHERE x > 3").plan, results.extend)
    for t in range(200):
        engine.push("s", [(t, t + 1, (t % 7, "a"))])
    assert engine.size() == 0
    assert bool(results) == (word == "ISTREAM")


def sizes(plan: Plan) -> list[int | None]:
    """The sizes of the windows of a plan."""
    found = operators(plan)
    rows = [operator.rows for operator in found if isinstance(operator, CountWindow)]
    return rows + [operator.size for operator in found if isinstance(operator, TimeWindow)]


def test_a_refused_query_reads_nothing(catalog: Catalog) -> None:
    require_fault(catalog, f"SELECT DISTINCT x FROM {UNBOUNDED}", "would keep its rows", "RANGE UNBOUNDED")
    catalog.execute("DROP STREAM s")
    require_fault(catalog, "SET unbounded_state = 'allow'; SET unbounded_state = 'refuse'; SELECT DISTINCT x"
                  " FROM u WINDOW(UNBOUNDED)", "would keep its rows", "UNBOUNDED")  # fmt: skip


def test_what_is_unbounded_stays_for_ever(catalog: Catalog) -> None:
    plan = catalog.query(f"SELECT x FROM {UNBOUNDED} WHERE x > 1").plan
    assert run(plan, s=[(1, (1, "")), (2, (2, ""))]) == [(2, FOREVER, (2,))]


@pytest.mark.parametrize(
    ("clause", "share", "bounds"),
    [
        ("SAMPLE(10 %)", 0.1, None),
        ("WINDOW(NOW) SAMPLE(12.5 PERCENT)", 0.125, None),
        ("AS t SAMPLE(MIN 0.5 %, MAX 100 %)", 1.0, (0.005, 1.0)),
    ],
)
def test_a_stream_is_sampled_below_its_window(
    catalog: Catalog, clause: str, share: float, bounds: tuple[float, float] | None
) -> None:
    plan = catalog.query(f"SELECT x FROM s {clause}").plan
    (sample,) = (node for node in plan.nodes if isinstance(node.operator, Sample))
    assert sample.operator == Sample("s", share, 0, bounds)
    assert isinstance(sample.inputs[0].operator, Source)
