"""A script's CREATE STREAMs declare the streams of a study, and one of its queries is studied.

What is wrong is refused with the file, what was found and what was expected.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.streams.recorded.declaration import FOLDER
from midstream.scenarios.streams.recorded.inputs import plan_inputs
from midstream.scenarios.streams.recorded.script import load_feeds, load_study, packaged

STREAMS = """
CREATE STREAM Early(t BIGINT, item INTEGER NOT NULL, price REAL)
  SOURCE csv('trades.csv', nullstr = 'NA', nullstr = '-') WHERE house = 'A' AND item = 7
  ORDERED BY t TIME_UNIT 'ms';
CREATE STREAM Late(t BIGINT, item INTEGER NOT NULL, price REAL) SOURCE file('late.parquet')
  ORDERED BY t TIME_UNIT 'ms';
CREATE STREAM Other(t BIGINT, x TEXT) SOURCE jsonl('others/*') ORDERED BY t TIME_UNIT 'ms';
"""
GOOD = f"""{STREAMS}
SELECT e.item AS what, COUNT(*) AS n, MAX(l.price) AS dearest
FROM Early e WINDOW(RANGE 60 MILLISECONDS), Late l WINDOW(RANGE 90 MILLISECONDS)
WHERE e.item = l.item AND l.price = e.price GROUP BY e.item;
"""


def write(folder: Path, text: str) -> str:
    file = folder / "trades.sql"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_script_says_where_streams_are_and_what_joins_them(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, GOOD), tmp_path / "data")
    assert (study.name, study.title, study.clock.unit) == ("trades", "trades", "ms")
    assert study.clock.show(60_000) == "1970-01-01 00:01"
    assert study.streams.keys() == {"Early", "Late"}  # those that the query reads
    early, late = study.streams.values()
    assert (early.path, early.format) == (str(tmp_path / "data" / "trades.csv"), "csv")
    assert (late.path, late.format) == (str(tmp_path / "data" / "late.parquet"), "parquet")
    assert (early.where, late.where) == ({"house": "A", "item": 7}, {})
    assert (early.unknown, late.unknown) == (("NA", "-"), ())
    assert early.columns == late.columns == Schema.of(item="integer", price="float?")
    assert (early.time, early.window, late.window) == ("t", 60, 90)

    plan = study.query
    assert plan is not None
    assert plan.schema.names == ("what", "n", "dearest")
    assert [one.length for one in plan_inputs(plan, study.streams)] == [60, 90]
    assert [node.schema.names for node in input_nodes(plan)] == [("e.item", "e.price"), ("l.item", "l.price")]
    assert "join (e.item = l.item) and (l.price = e.price)" in map(
        str, (node.operator for node in plan.nodes)
    )
    assert [order.label for order in group_by_order(list(enumerate_plans(plan)))] == ["γ(e ⋈ l)"]


def test_a_stream_has_the_largest_of_its_windows(tmp_path: Path) -> None:
    query = """
        SELECT x.item FROM Early x WINDOW(RANGE 60 MILLISECONDS), Early y WINDOW(RANGE 70 MILLISECONDS),
        Late l WINDOW(RANGE 50 MILLISECONDS), Other WHERE x.item = y.item AND x.item = l.item
    """
    study = load_study(write(tmp_path, STREAMS + query))
    assert {name: one.window for name, one in study.streams.items()} == {"Early": 70, "Late": 50, "Other": 1}
    assert {one.window for one in study.windowed(9).streams.values()} == {9}


def test_joins_are_made_in_the_order_written() -> None:
    query = load_study("nycflights13").query
    assert query is not None
    assert [source.stream for source in query.sources] == ["EWR", "LGA", "JFK"]
    joins = [str(node.operator) for node in query.nodes if node.operator.name == "join"]
    assert joins == ["join ewr.dest = lga.dest", "join lga.dest = jfk.dest"]


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("trades.csv", None, "trades.csv"),
        ("trades.csv", "data", "data/trades.csv"),
        ("trades.csv", "s3a://bucket/", "s3a://bucket/trades.csv"),
        ("/trades.csv", "data", "/trades.csv"),
        ("s3a://bucket/trades.csv", "data", "s3a://bucket/trades.csv"),
    ],
)
def test_paths_are_relative_to_the_working_folder_or_to_data(
    path: str, data: str | None, expected: str, tmp_path: Path
) -> None:
    file = write(tmp_path, GOOD.replace("trades.csv", path))
    assert load_study(file, data).streams["Early"].path == expected


def test_feeds_are_the_files_of_all_streams(tmp_path: Path) -> None:
    study, feeds = load_feeds(write(tmp_path, GOOD), "data")
    assert [(feed.name, feed.path, feed.form) for feed in feeds] == [
        ("Early", "data/trades.csv", "csv"),
        ("Late", "data/late.parquet", None),
        ("Other", "data/others/*", "jsonl"),
    ]
    assert {feed.chronon.name for feed in feeds} == {"milliseconds"}
    assert feeds[0].described() == {
        "columns": {"item": "integer", "price": "float?"},
        "time": "t",
        "unit": "milliseconds",
        "where": {"house": "A", "item": 7},
        "intervals": False,
    }
    assert (study.name, study.clock.unit, study.streams, study.query) == ("trades", "ms", {}, None)


def test_a_script_without_a_query_is_a_study_of_all_streams(tmp_path: Path) -> None:
    file = write(tmp_path, STREAMS)
    study = load_study(file)
    assert (study.query, [*study.streams]) == (None, ["Early", "Late", "Other"])
    with pytest.raises(InputFileError, match=r"trades\.sql: found no query best, expected none to be named"):
        load_study(file, query="best")


def test_a_study_is_of_one_of_several_queries(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD + "SELECT item FROM Late WINDOW(RANGE 9 MILLISECONDS)")
    study = load_study(file, query="query_2")
    assert (study.title, [*study.streams]) == ("trades, query query_2", ["Late"])
    for name, found in ((None, "2 queries"), ("query_3", "no query query_3")):
        expected = rf"trades\.sql: found {found}, expected the name of one of them: query_1, query_2"
        with pytest.raises(InputFileError, match=expected):
            load_study(file, query=name)


def test_ready_made_scripts_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nycflights13" in packaged()
    for name, file in packaged().items():
        study = load_study(name)
        copy = shutil.copy(str(file), tmp_path / "mine.sql")
        assert study.name == name
        assert load_study(copy).query == study.query


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nycflight13", "study nycflight13: found no such file or name, .* did you mean nycflights13"),
        ("a.sql", "a.sql: No such file"),
        ("a.toml", r"a\.toml: found a declaration in TOML, expected a script in SQL, where CREATE STREAM"),
    ],
)
def test_what_is_no_script_is_named(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for load in (load_study, load_feeds):
        with pytest.raises(InputFileError, match=message):
            load(name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("RANGE 60", "RANGE 0", ", line 10, column 27: found 0, expected a positive integer"),
        (" ORDERED BY t", "", ", stream Early: found no timestamps, expected ORDERED BY a column"),
        ("BIGINT", "TEXT", ", line 4, column 14: column t is string, expected a timestamp or an integer"),
        ("'ms'", "'moons'", ", line 4, column 26: .*moons"),
        (" TIME_UNIT 'ms'", "", ", stream Early: found timestamps without a unit, expected TIME_UNIT 's'"),
        ("'ms'", "'s'", ", stream Early: found timestamps in seconds, expected milliseconds, as all streams"),
        (
            "late.parquet",
            "late.xls",
            ", stream Late: found .*late.xls, expected a name that ends in one of .csv, .jsonl",
        ),
        (
            "file('late.parquet')",
            "tcp('a', 1)",
            r", stream Late: found the source tcp\('a', 1\), expected one",
        ),
        (" SOURCE file('late.parquet')", "", ", stream Late: found no source, expected one of csv"),
        ("INTEGER", "INTT", ", line 2, column 36: found INTT, expected INTEGER, .* did you mean INT?"),
        ("item = 7", "item = [7]", r", line 3, column 88: found \[, expected a constant"),
        ("item = 7", "item = '7'", ", line 3, .*column item: found a constant of type string, expected int"),
        ("item = 7", "item > 7", ", line 3, .* found >, expected =, as a row belongs to a stream by"),
        ("nullstr = 'NA'", "nullstr = NA", ", line 3, .* found NA, expected nullstr = 'text'"),
        (
            "nullstr = 'NA'",
            "nulls = 'NA'",
            ", line 3, .* found the option nulls, .* did you mean nullstr",
        ),
        ("Early e", "Earl e", ", line 10, .* there is no stream or relation Earl; did you mean Early?"),
        ("= l.item", "= l.itme", ", line 11, .* no column in l of the name itme; did you mean item?"),
        ("Late l", "Late e", ", line 10, .* two streams are called e here; give one of them an alias"),
        ("MAX(l.price)", "BEST(l.price)", ", line 9, .* there is no function BEST"),
        ("MAX(l.price)", "MAX(price)", ", line 9, .* column price is ambiguous: it is in e and l"),
        ("SELECT", "SELEC", ", line 9, column 1: found SELEC, expected CREATE, DROP, SET or SELECT"),
        (GOOD, "", ": found no CREATE STREAM, expected one at least"),
        (GOOD, STREAMS.replace("'ms'", "'weeks'"), ": found time in weeks, expected one of ns, us, ms"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(MidstreamError, match=rf"trades\.sql{message}") as caught:
        load_study(write(tmp_path, GOOD.replace(old, new, 1)))
    assert str(tmp_path / "trades.sql") in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" ORDERED BY t", "", "Early: found no timestamps, expected ORDERED BY a column"),
        (" SOURCE jsonl('others/*')", "", r"Other: found no source, expected one of csv\('path'\)"),
        ("csv('trades.csv',", "csv('trades.csv', 'x',", r"Early: found the source csv\(.*, expected one of"),
        ("file('late.parquet')", "ingested('late')", r"Late: found the source ingested\('late'\), expected"),
    ],
)
def test_mistakes_in_feeds_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputFileError, match=rf"trades\.sql, stream {message}"):
        load_feeds(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_study_may_be_of_a_time_range(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, GOOD))
    assert (study.since, study.until) == (None, None)
    part = study.within("1970-01-01T01:00", "7200000")
    assert (part.since, part.until) == (3600_000, 7200_000)
    assert part.within(None, "1970-01-01T03:00").until == 10_800_000
    assert part.within("3600000", None) == part
    for since, until, message in (
        ("noon", None, "study trades: from: found 'noon', expected an integer, or a date"),
        (None, "0", "found 1970-01-01 01:00 to 1970-01-01 00:00, expected an end behind the beginning"),
    ):
        with pytest.raises(InputFileError, match=message):
            part.within(since, until)


def test_streams_with_times_in_several_units_must_be_ingested(tmp_path: Path) -> None:
    text = """
        CREATE STREAM a(t BIGINT, x INT) ORDERED BY t TIME_UNIT 'seconds' SOURCE csv('a.csv');
        CREATE STREAM b(t BIGINT, y INT) ORDERED BY t TIME_UNIT 'milliseconds' SOURCE csv('b.csv');
        SELECT x FROM a WINDOW(RANGE 9 SECONDS), b WINDOW(RANGE 9 SECONDS) WHERE x = y
    """
    file = write(tmp_path, text)
    with pytest.raises(InputFileError, match=r"found timestamps in seconds, .* ingest the streams first"):
        load_study(file)
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    study = load_study(file, tmp_path)
    assert {stream.format for stream in study.streams.values()} == {FOLDER}
    assert {stream.path for stream in study.streams.values()} == {str(tmp_path)}
