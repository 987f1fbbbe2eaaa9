"""Slips of new users: each works if it has one obvious meaning, or raises an error that teaches what to write.

The message says who complains, what was found and what was expected.
"""

# ruff: noqa: E501 - messages stand as they are shown
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream import io, testing
from midstream.cli import app
from midstream.plans.sql.syntax import KNOWN_TYPES
from midstream.plans.values.schema import parse_column

S = ms.stream("s", x="integer", y="float")
T = ms.stream("t", z="integer")
W = S.window(10)
PLAN = W.distinct().plan()
SOURCES = ms.Statistics({S.node: ms.StreamStatistics(d=5.0, l=1.0)})
CREATE = "CREATE STREAM bid(item INT, price REAL, at TIMESTAMP)"
BID = f"{CREATE} ORDERED BY at;"
ASKED = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 1 MINUTE) GROUP BY item"

Slip = Callable[[], Any]


def engine(plan: Any = PLAN, **options: Any) -> ms.Engine:
    return ms.Engine(plan, [].extend, **options)


def catalog() -> Any:
    made = ms.catalog("seconds")
    made.execute(BID)
    return made


def script_query() -> Any:
    return catalog().query(ASKED)


def box() -> ms.boxes.PlanBox:
    return ms.boxes.PlanBox(ms.physical_plan(PLAN))


def migrate_box(max_ends: list[Any], reached: list[Any]) -> None:
    ms.boxes.migrate_box(box(), box(), ms.migration.find_strategy("genmig"), max_ends, reached)


def push(*elements: Any) -> None:
    engine().push("s", list(elements))


TAUGHT: dict[str, tuple[Slip, str]] = {
    "an aggregate without a name": (
        lambda: S.aggregate(ms.count()),
        "aggregate: found count(*) without a name, expected a keyword for each output column: aggregate(count=…)",
    ),
    "aggregates of groups without names": (
        lambda: S.group_by("x").aggregate(ms.count(), ms.max_("y")),
        "aggregate: found count(*), max(y) without a name, expected a keyword for each output column: "
        "aggregate(count=…, max=…)",
    ),
    "aggregates in a mapping": (
        lambda: S.aggregate({"n": ms.count()}),
        "aggregate: found a mapping, expected keywords: aggregate(**mapping)",
    ),
    "a grouping without aggregates, run": (
        lambda: ms.Engine(S.group_by("x")),
        "(Group), expected a plan, or a stream under construction; write "
        "group_by('x').aggregate(n=ms.count()), as a grouping alone has no rows",
    ),
    "a grouping without aggregates, joined": (
        lambda: W.join(T.group_by("z")),
        "(Group), expected a stream under construction; write group_by('z').aggregate(n=ms.count()), as a "
        "grouping alone has no rows",
    ),
    "a node for a plan": (
        lambda: ms.Engine(S.node),
        "(Node), expected a plan, or a stream under construction; write ms.Plan(node)",
    ),
    "SQL for a plan": (
        lambda: ms.Engine("SELECT 1"),
        "add: found 'SELECT 1' (str), expected a plan, or a stream under construction; write ms.sql(text) for a "
        "query in SQL",
    ),
    "elements for a stream": (
        lambda: ms.plans.normal_form(W),
        "normal_form: 'Stream' object is not iterable; expected elements",
    ),
    "the report of an engine": (
        lambda: ms.report(engine()),
        "(Engine), expected a migration: migration = engine.migrate(plan), then report(migration)",
    ),
    "a sink before the plan": (
        lambda: ms.Engine([].extend, W),
        "found the plan as the second argument, expected it as the first: Engine(plan, sink)",
    ),
    "streams before the plan": (
        lambda: ms.run({"s": []}, W),
        "found the plan as the second argument, expected it as the first: run(plan, streams)",
    ),
    "statistics before the plan": (
        lambda: ms.optimize(SOURCES, PLAN),
        "found the plan as the second argument, expected it as the first: optimize(plan, statistics)",
    ),
    "a strategy before the plan": (
        lambda: engine().migrate("genmig", PLAN),
        "found the plan as the second argument, expected it as the first: migrate(plan, strategy)",
    ),
    "elements before the name": (
        lambda: engine().push([(1, 2, (5, 1.0))], "s"),
        "found [(1, 2, (5, 1.0))] (list), expected the name of a stream; the query reads s",
    ),
    "a stream for its name": (
        lambda: engine().push(S, [(1, 2, (5, 1.0))]),
        "(Stream), expected the name of a stream; the query reads s",
    ),
    "no statistics": (
        lambda: ms.optimize(script_query()),
        "optimize: statistics: found None, expected statistics of bid; engine.statistics() measures them; to state "
        "them, write ms.Statistics({stream.node: ms.StreamStatistics(d=5.0, l=1.0)})",
    ),
    "no statistics for a price": (
        lambda: ms.price(PLAN),
        "price: statistics: found None, expected statistics of s; engine.statistics()",
    ),
    "no statistics for alternatives": (
        lambda: ms.alternatives(PLAN),
        "alternatives: statistics: found None, expected statistics of s; engine.statistics()",
    ),
    "statistics of nothing": (
        lambda: ms.optimize(PLAN, ms.Statistics({})),
        "there are no statistics for the input <source s>; engine.statistics() measures them",
    ),
    "statistics by name": (
        lambda: ms.Statistics({"bids": ms.StreamStatistics(d=5.0, l=60.0)}),
        "statistics: found 'bids' (str), expected a node instead of a name: {bids.node: …} for bids = ms.stream(…)",
    ),
    "a number for statistics": (
        lambda: ms.Statistics({S.node: 5.0}),
        "statistics: <source s>: found 5.0 (float), expected ms.StreamStatistics(d=5.0, l=1.0)",
    ),
    "no end of an input": (
        lambda: migrate_box([None], [0]),
        "migrate_box: max_ends[0]: found None, expected an instant, or ms.BEGINNING for an input that has brought "
        "nothing yet",
    ),
    "no progress of an input": (
        lambda: migrate_box([61], [None]),
        "migrate_box: reached[0]: found None, expected an instant",
    ),
    "ends of too many inputs": (
        lambda: migrate_box([61, None], [0]),
        "migrate_box: max_ends: found [61, None] (list), expected an instant for each of 1 inputs",
    ),
    "a Box for its factory": (
        lambda: testing.check_box(box()),
        "(PlanBox), expected a function that makes a new Box",
    ),
    "a unit that is none": (
        lambda: io.rows_source([], catalog().streams["bid"], "fortnights"),
        "timestamps: found the time unit 'fortnights', expected one of nanoseconds, microseconds",
    ),
    "a name for a declaration": (
        lambda: io.rows_source([], "bid", "seconds"),
        "source: found 'bid' (str), expected the declaration of a stream: catalog.streams['bid']",
    ),
    "a stream for a declaration": (
        lambda: io.open_source(S, "seconds", "bids.csv"),
        "(Stream), expected the declaration of a stream: catalog.streams['bid']",
    ),
    "a type with a size": (
        lambda: ms.stream("s", x="VARCHAR(10)"),
        "column x: found type 'VARCHAR(10)', expected one of integer, float, string, boolean, any, date, timestamp, int, str, bool, "
        "object, datetime; did you mean string?",
    ),
    "a type of NumPy": (
        lambda: ms.stream("s", x=np.int64),
        "column x: found type int64, expected one of integer",
    ),
    "a dtype": (lambda: ms.stream("s", x=np.dtype("float64")), "bool, object, datetime; did you mean float?"),
    "a type of time": (
        lambda: ms.stream("s", x="interval"),
        "any, date, timestamp, int, str, bool, object, datetime; durations are integers, counted in chronons",
    ),
    "an array of rows": (
        lambda: engine().push("s", np.array([[1, 2, 3]])),
        "push: found numpy.ndarray, expected a list of elements (start, end, payload); engine.push_rows takes "
        "rows, Arrow tables and DataFrames",
    ),
    "a number of NumPy": (
        lambda: engine().push("s", np.int64(5)),
        "push: found numpy.int64, expected a list of elements",
    ),
    "an array to run over": (
        lambda: ms.run(PLAN, {"s": np.array([1])}),
        "stream s: found numpy.ndarray, expected elements (start, end, payload); engine.push_rows takes rows",
    ),
    "an array as a relation": (
        lambda: engine(relations={"r": np.array([1])}),
        "relations: r: found numpy.ndarray, expected elements (start, end, payload)",
    ),
    "rows": (
        lambda: push((3, 4.0)),
        "stream s: found (3, 4.0) (tuple), expected elements (start, end, payload), each a tuple; engine.push_rows "
        "takes rows, Arrow tables and DataFrames",
    ),
    "rows by name": (
        lambda: push({"x": 3}),
        "stream s: found {'x': 3} (dict), expected elements (start, end, payload), each a tuple; engine.push_rows takes rows",
    ),
    "an element without a list": (
        lambda: engine().push("s", (1, 2, (3, 4.0))),
        "stream s: found 1 (int), expected elements (start, end, payload), each a tuple; a single element goes "
        "into a list: [element]",
    ),
    "a date in a row": (
        lambda: push((1, 2, (date(2024, 1, 1), 1.0))),
        "column x: found datetime.date(2024, 1, 1) (date), expected integer; instants are integers, counted in chronons",
    ),
    "a number of NumPy in a relation": (
        lambda: S.schema.check([(np.int64(5), 1.0)]),
        "column x: found np.int64(5) (int64), expected integer; .item() gives the Python value of NumPy's",
    ),
    "a float for an instant": (
        lambda: list(ms.chronons([(1.0, (1, 1.0))])),
        "chronons: found (1.0, (1, 1.0)), expected a row (timestamp, payload) with an integer; int(t) cuts a float "
        "t, and round(t * 1000) keeps milliseconds of seconds",
    ),
    "a truth value for an instant": (
        lambda: list(ms.chronons([(True, (1, 1.0))])),
        "chronons: found (True, (1, 1.0)), expected a row",
    ),
    "seconds of a clock": (
        lambda: ms.instant(1.5, "seconds"),
        "instant: found 1.5, expected an integer, a datetime, or a date and time in ISO 8601; int(t) cuts a float t",
    ),
    "a heartbeat in floats": (
        lambda: engine().advance("s", 4.0),
        "stream s: found heartbeat 4.0, expected an integer",
    ),
}


@pytest.mark.parametrize("name", TAUGHT)
def test_a_slip_is_taught(name: str) -> None:
    slip, message = TAUGHT[name]
    with pytest.raises(ms.MidstreamError) as error:
        slip()
    assert message in str(error.value)


def test_tables_of_other_libraries_are_rows() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": [1], "y": [1.0]})
    for table, shown in (
        (frame, "pandas.DataFrame"),
        (frame["x"], "pandas.Series"),
        (pyarrow.table(frame), "pyarrow.Table"),
        (pyarrow.table(frame).to_batches()[0], "pyarrow.RecordBatch"),
    ):
        for take in (lambda rows: engine().push("s", rows), ms.chronons):
            with pytest.raises(
                ms.errors.ArgumentError, match=f"found {shown}, .*; engine.push_rows takes rows"
            ):
                take(table)
    with pytest.raises(ms.errors.SchemaError, match="expected integer; None stands for an unknown value"):
        push((1, 2, (pandas.NA, 1.0)))


# What has one obvious meaning


def test_what_has_a_plan_stands_for_it() -> None:
    query, same = script_query(), ms.sql(f"SET time_unit = 'seconds'; {BID} {ASKED}")
    known = ms.Statistics(
        {node: ms.StreamStatistics(d=5.0, l=1.0) for node in query.plan.nodes if not node.inputs}
    )
    choice = ms.optimize(query, known)
    assert choice.original == query.plan
    for one in (query, choice, ms.Engine(query).query()):
        assert ms.Engine(one).plan == query.plan
        assert ms.run(one, {"bid": []}) == []
        assert ms.price(one, known) == ms.price(query.plan, known)
        assert ms.dumps(one) == ms.dumps(query.plan)
        assert ms.physical_plan(one) == ms.physical_plan(query.plan)
        assert ms.equivalent(one, same)
        running = ms.Engine(query)
        assert running.migrate(one).phase.value == "done"
        assert running.obstacle(one) is None
        assert running.replace(one).at is not None
        assert running.add(one, name="again").plan == query.plan
    with pytest.raises(ms.PlanError, match="expected two plans or two streams"):
        ms.equivalent(query, [(1, 2, "a")])


def test_a_running_query_stands_for_its_name() -> None:
    running = engine()
    running.push("s", [(1, 2, (5, 1.0))])
    assert running.optimize(running.query()).original == running.optimize("query").original


def test_a_plan_with_one_output_stands_for_its_stream() -> None:
    assert W.union(W.plan()) == W.union(W)
    assert W.join(T.plan()) == W.join(T)
    wavering = S.window(10, bounds=(1, 20))
    assert ms.Engine(wavering).resize(wavering.plan(), 20, at=50).queries == ("query",)
    assert (
        ms.Statistics({S: SOURCES.streams[S.node]})
        == ms.Statistics({S.plan(): SOURCES.streams[S.node]})
        == SOURCES
    )


def test_a_stream_is_a_specification() -> None:
    pairs = ms.stream("s", intervals=True, x="integer", y="integer").distinct()
    testing.check_box(lambda: ms.boxes.PlanBox(pairs), means=pairs, examples=5)
    with pytest.raises(testing.BrokenPromise):
        testing.check_box(lambda: ms.boxes.PlanBox(pairs), means=pairs.filter(ms.col("x") > 99), examples=50)


def test_a_unit_may_be_a_word(tmp_path: Path) -> None:
    bid = catalog().streams["bid"]
    rows = [(7, 2.0, 3)]
    assert list(io.rows_source(rows, bid, "seconds")) == [[(3, 4, (7, 2.0))]]
    (tmp_path / "bids.csv").write_text("item,price,at\n7,2.0,3\n")
    assert list(io.open_source(bid, "seconds", tmp_path / "bids.csv")) == [[(3, 4, (7, 2.0))]]
    assert abs(io.system_clock("seconds")() - io.system_clock("ms")() // 1000) <= 1


def test_types_are_spelt_as_in_sql_and_in_python() -> None:
    of_sql = [
        word for word in KNOWN_TYPES.replace(" or", ",").split(", ") if word not in ("TIMESTAMP", "DATE")
    ]
    columns = ", ".join(f"c{i} {word}" for i, word in enumerate(of_sql))
    declared = ms.sql(f"CREATE STREAM one({columns}); SELECT * FROM one").schema
    for word, column in zip(of_sql, declared, strict=True):
        for spelt in (word, word.lower()):
            assert parse_column("c", spelt).type is column.type
            assert parse_column("c", f"{spelt}?").nullable
    for spelt in (int, float, str, bool, object):
        assert parse_column("c", spelt.__name__) == parse_column("c", spelt)


@pytest.mark.parametrize("letters", [None, [].extend], ids=["raising", "dead letters"])
@pytest.mark.parametrize("compile", [True, False])
def test_numbers_of_numpy_are_pythons(letters: Any, compile: bool) -> None:
    """One by one or together, and beside what cannot be taken."""
    stream = ms.stream("s", x="integer", y="float?", z="boolean", t="string", o="any")
    odd = [
        (
            np.int64(t),
            np.int64(t + 1),
            (np.int32(t), np.float32(0.5), np.bool_(True), np.str_("a"), np.int8(t)),
        )
        for t in range(6)
    ]
    wanted = [(t, t + 1, (t, 0.5, True, "a", t)) for t in range(6)]
    for size in (1, 2, 6):
        results: list[Any] = []
        running = ms.Engine(stream, results.extend, dead_letters=letters, compile=compile)
        for at in range(0, 6, size):
            running.push("s", odd[at : at + size])
        running.advance("s", np.int64(9))
        running.close()
        assert results == wanted
        (start, end, row), *_ = results
        assert [type(value) for value in (start, end, *row)] == [int, int, int, float, bool, str, np.int8]
    with pytest.raises(ms.errors.SchemaError, match="found NaN, expected a finite number"):
        ms.Engine(stream).push("s", [(0, 1, (0, np.float64("nan"), True, "a", 0))])


def test_numbers_of_numpy_are_constants_and_durations() -> None:
    assert S.window(np.int64(10)) == S.window(10)
    assert S.filter(ms.col("x") > np.int64(3)) == S.filter(ms.col("x") > 3)
    assert S.select(z=ms.lit(np.float64(0.5))) == S.select(z=0.5)
    assert list(ms.chronons([(np.int64(3), "a")])) == [(3, 4, "a")]
    assert list(ms.chronons([(np.datetime64("1970-01-01T00:01"), "a")], "seconds")) == [(60, 61, "a")]
    assert ms.instant(np.int32(7), "days") == 7


# Threads


def inside(running: ms.Engine, during: Callable[[], None]) -> None:
    """Call a function while another thread is inside the engine."""
    entered, may_go = threading.Event(), threading.Event()

    def sink(batch: Any) -> None:
        entered.set()
        may_go.wait(30)

    running.subscribe(sink)
    other = threading.Thread(target=running.push, args=("s", [(1, 2, (5, 1.0))]), name="feeder")
    other.start()
    try:
        assert entered.wait(30)
        during()
    finally:
        may_go.set()
        other.join()


EVENTS: dict[str, Callable[[ms.Engine], Any]] = {
    "push": lambda running: running.push("s", [(3, 4, (6, 1.0))]),
    "advance": lambda running: running.advance("s", 9),
    "tick": lambda running: running.tick(9),
    "end": lambda running: running.end("s"),
    "close": lambda running: running.close(),
    "add": lambda running: running.add(W, name="more"),
    "remove": lambda running: running.remove(),
    "replace": lambda running: running.replace(PLAN),
    "migrate": lambda running: running.migrate(W.union(W).distinct()),
    "keep_log": lambda running: running.keep_log(),
}


@pytest.mark.parametrize("name", EVENTS)
def test_a_second_thread_is_refused(name: str) -> None:
    results: list[Any] = []
    running = ms.Engine(W, results.extend)

    def second() -> None:
        with pytest.raises(
            ms.errors.ThreadError, match="found thread MainThread in an engine while another thread is"
        ) as error:
            EVENTS[name](running)
        assert "let all threads put elements into one queue.Queue, and one thread push them" in str(
            error.value
        )

    inside(running, second)
    running.push("s", [(3, 4, (6, 1.0))])  # one after the other is allowed, and nothing was carried out
    running.close()
    assert results == [(1, 11, (5, 1.0)), (3, 13, (6, 1.0))]


def test_a_sink_may_push() -> None:
    results: list[Any] = []
    running = ms.Engine()

    def forward(batch: Any) -> None:
        running.push("t", [(start, start + 1, (row[0],)) for start, _, row in batch])

    running.add(T, results.extend, name="second")
    running.add(S, forward, name="first")
    running.push("s", [(1, 2, (5, 1.0))])
    assert results == [(1, 2, (5,))]


# Notes on queries without a window


def noted(run: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run()
    assert all(one.category is ms.errors.QueryNote and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


JOINED = S.join(T, on=[("x", "z")])
NOTE = (
    "join sees rows of s and t at their own timestamp only, as there is no window: each row is valid for one "
    "chronon; write .window(…) behind stream s, or .window(1) if that is meant"
)


@pytest.mark.parametrize(
    "run",
    [
        lambda: ms.Engine(JOINED),
        lambda: ms.Engine(JOINED.plan()),
        lambda: ms.Engine().add(JOINED),
        lambda: ms.run(JOINED, {"s": [], "t": []}),
        lambda: ms.optimize(JOINED, ms.Statistics({n: SOURCES.streams[S.node] for n in (S.node, T.node)})),
        lambda: ms.Engine(JOINED.window(5)),
        lambda: ms.Engine(JOINED.union(JOINED)),
    ],
)
def test_a_query_without_a_window_is_noted_once(run: Slip) -> None:
    assert noted(run) == [NOTE]


def test_each_operator_without_a_window_is_noted() -> None:
    for query, word in (
        (S.group_by("x").aggregate(n=ms.count()), "aggregate sees rows of s at"),
        (S.distinct(), "distinct sees rows of s at"),
        (S.semi_join(T, on=[("x", "z")]), "semi-join sees rows of s and t at"),
        (S.anti_join(T, on=[("x", "z")]), "anti-join sees rows of s and t at"),
    ):
        (note,) = noted(lambda query=query: ms.Engine(query))
        assert note.startswith(word)
    assert noted(lambda: ms.Engine(JOINED).replace(S.distinct().join(T)))[1].startswith(
        "distinct sees rows of s at"
    )


@pytest.mark.parametrize(
    "query",
    [
        S.window(1).join(T.window(1), on=[("x", "z")]),
        S.join(T.window(9), on=[("x", "z")]),
        S.join(ms.relation("r", z="integer"), on=[("x", "z")]),
        ms.stream("v", intervals=True, x="integer").distinct(),
        S.filter(ms.col("x") > 1),
        S.istream().distinct(),
    ],
)
def test_what_is_meant_is_not_noted(query: ms.Stream) -> None:
    assert (
        noted(lambda: ms.Engine(query, relations={"r": []} if "relation r" in str(query.plan()) else None))
        == []
    )


def test_what_only_compares_plans_is_not_noted() -> None:
    assert noted(lambda: ms.equivalent(JOINED, JOINED)) == []
    assert noted(lambda: ms.dumps(JOINED)) == []


def test_notes_on_sql_come_with_its_plan() -> None:
    both = f"{BID} CREATE STREAM ask(item INT, at TIMESTAMP) ORDERED BY at; SELECT bid.price FROM bid{{0}}, ask{{0}} WHERE bid.item = ask.item"
    expected = "the join sees rows of ask and bid at their own timestamp only, as there is no window; write ask WINDOW"
    (note,) = noted(lambda: ms.Engine(ms.sql(both.format(""))))
    assert note.startswith(expected)
    (note,) = noted(lambda: ms.Engine(ms.catalog("seconds").query(both.format(""))))
    assert note.startswith(expected)
    assert noted(lambda: ms.Engine(ms.sql(both.format(" WINDOW(NOW)")))) == []


# SQL and the command line


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT item, COUNT(*) OVER (PARTITION BY item) FROM bid",
            "COUNT(*) OVER (PARTITION BY item) is not supported; write the window behind its stream: "
            "FROM bid WINDOW(PARTITION BY item ROWS 3) GROUP BY item",
        ),
        *(
            (
                f"SELECT {word}(item) FROM bid",
                f"{word} is not supported; no aggregate makes texts or lists; TOP_K(item, 3) gives the largest "
                "values, and --functions or catalog.add_aggregate adds an aggregate of yours, made by "
                "ms.user_aggregate",
            )
            for word in ("STRING_AGG", "LISTAGG", "GROUP_CONCAT", "ARRAY_AGG")
        ),
        *(
            (
                f"SELECT {start} FROM bid",
                "STREAM is not supported; leave the word out, as every query is over streams: SELECT item FROM bid",
            )
            for start in (
                "STREAM item",
                "STREAM *",
                "DISTINCT STREAM item",
                "STREAM item, price",
                "STREAM *, 1 AS n",
            )
        ),
        *(
            (
                f"CREATE STREAM ask(item INT, at TIMESTAMP) {words} at; SELECT item FROM ask",
                f"found {words.partition(' BY')[0] if words != 'ORDER BY' else words}, expected ORDERED BY and the "
                "column with the timestamps of rows",
            )
            for words in ("ORDER BY", "ORDERED", "SORTED BY")
        ),
    ],
)
def test_a_slip_in_sql_is_taught(query: str, message: str) -> None:
    with pytest.raises(ms.SqlError) as error:
        ms.sql(f"{BID} {query}")
    assert message in str(error.value).splitlines()[0]


def test_a_column_may_be_called_stream() -> None:
    asked = ms.sql("CREATE STREAM s(stream INT); SELECT stream * 2 AS twice, stream FROM s")
    assert asked.schema.names == ("twice", "stream")


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "q.sql"
    path.write_text(f"SET time_unit = 'seconds'; {BID} SELECT item, price FROM bid;")
    yield path


def said(script: Path, source: str, stdin: str | None = None, *options: str) -> str:
    result = CliRunner().invoke(app, ["run", str(script), "--source", f"bid={source}", *options], input=stdin)
    assert result.exit_code == 2
    return result.stderr


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        ("item;price;at\n7;12.5;1000\n", (), "names"),
        ('"item";"price";"at"\n"7";"12.5";"1000"\n', (), "names"),
        ("item;price, in euros;price;at\n7;12,5;12,5;1000\n", (), "names"),
        ("7;12.5;1000\n", ("--no-header",), "fields"),
    ],
)
def test_another_delimiter_is_declared(
    script: Path, separator: str, text: str, options: tuple[str, ...], what: str
) -> None:
    path = script.with_name("bids.csv")
    path.write_text(text.replace(";", separator))
    assert (
        f"found {what} separated by {separator!r}, expected commas between fields; declare SOURCE csv('f.csv', "
        f"delim = {separator!r})"
    ) in said(script, str(path), None, *options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "item,price,at\n7,12.5,1000\n",
            "seems to be the header of CSV, expected a JSON object; declare SOURCE stdin('csv')",
        ),
        (
            "Item;Price;At\n7;1;3\n",
            "seems to be the header of CSV, expected a JSON object; declare SOURCE stdin('csv', delim = ';')",
        ),
        ("7,12.5,1000\n", "seems to be a row of CSV, expected a JSON object; declare SOURCE stdin('csv')"),
        ("nonsense\n", "stdin, line 1: found Expecting value at character 1, expected a JSON object"),
        ('{"item": 7, "price": 1.5, "at": 3}\nitem,price,at\n', "stdin, line 2: found Expecting value at"),
    ],
)
def test_csv_on_standard_input_is_declared(script: Path, text: str, message: str) -> None:
    assert message in said(script, "-", text)


def test_csv_in_a_file_of_json_is_told(script: Path) -> None:
    """The whole source is wrong, so its rows are no dead letters."""
    path = script.with_name("bids.jsonl")
    path.write_text("item,price,at\n7,12.5,1000\n")
    letters = script.with_name("dead.jsonl")
    found = said(script, str(path), None, "--dead-letters", str(letters))
    assert f"expected a JSON object; declare SOURCE csv({str(path)!r})" in found


def test_declared_csv_on_standard_input_is_read(script: Path) -> None:
    script.write_text(script.read_text().replace(" ORDERED", " SOURCE stdin('csv') ORDERED"))
    result = CliRunner().invoke(app, ["run", str(script)], input="item,price,at\n7,12.5,1000\n")
    assert result.exit_code == 0
    assert '"row": {"item": 7, "price": 12.5}' in result.stdout
