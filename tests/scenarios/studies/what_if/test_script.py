"""A script's CREATE STREAMs declare the streams of a study, and one of its queries is studied."""

from __future__ import annotations

from pathlib import Path

import pytest

from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.streams.recorded.declaration import FOLDER
from midstream.scenarios.streams.recorded.inputs import plan_inputs
from midstream.scenarios.streams.recorded.script import load_declared, load_script

DECLARED = """
    SET time_unit = 'seconds';
    CREATE STREAM Bid(at TIMESTAMP, item INT, price REAL) ORDERED BY at SOURCE csv('bids/*.csv');
    CREATE STREAM Ask(at TIMESTAMP, item INT) ORDERED BY at SOURCE file('asks.jsonl');
    CREATE STREAM Other(x INT);
"""
JOIN = """
    SELECT b.item AS what, MAX(b.price) AS best
    FROM Bid b WINDOW(RANGE 1 MINUTE), Ask a WINDOW(RANGE 5 MINUTES)
    WHERE b.item = a.item GROUP BY b.item;
"""


def script(folder: Path, text: str) -> str:
    file = folder / "query.sql"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_streams_and_the_query(tmp_path: Path) -> None:
    study = load_script(script(tmp_path, DECLARED + JOIN), "data")
    assert study.streams.keys() == {"Bid", "Ask"}
    bid, ask = study.streams["Bid"], study.streams["Ask"]
    assert (bid.path, bid.format, bid.time, bid.window) == ("data/bids/*.csv", "csv", "at", 300)
    assert (ask.path, ask.format, ask.columns) == ("data/asks.jsonl", "json", Schema.of(item="integer?"))
    assert (study.name, study.clock.show(60)) == ("query", "1970-01-01 00:01")
    assert study.query is not None
    plan = study.query
    assert [one.length for one in plan_inputs(plan, study.streams)] == [60, 300]
    assert [node.schema.names for node in input_nodes(plan)] == [("b.item", "b.price"), ("a.item",)]
    assert plan.schema.names == ("what", "best")
    assert [order.label for order in group_by_order(list(enumerate_plans(plan)))] == ["γ(Ask ⋈ Bid)"]


def test_one_of_several_queries(tmp_path: Path) -> None:
    name = script(tmp_path, DECLARED + JOIN + "SELECT item FROM Bid WINDOW(RANGE 9 SECONDS)")
    study = load_declared(name, None, "query_2")
    assert study.streams.keys() == {"Bid"}
    assert study.title == "query, query query_2"
    with pytest.raises(
        MidstreamError, match="found 2 queries, expected --query with one of query_1, query_2"
    ):
        load_declared(name)
    with pytest.raises(
        MidstreamError, match=r"found no query query_3.*, expected --query with one of query_1"
    ):
        load_declared(name, None, "query_3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DECLARED, "found 0 queries, expected one at least"),
        ("SELECT", r"query\.sql, line 1, column 1: found no FROM"),
        (
            "CREATE STREAM s(x INT) SOURCE csv('s.csv'); SELECT x FROM s WINDOW(RANGE 9 SECONDS)",
            "stream s: found no timestamps, expected ORDERED BY a column",
        ),
        (
            "CREATE STREAM s(t TIMESTAMP, x INT) ORDERED BY t; SELECT x FROM s WINDOW(RANGE 9 SECONDS)",
            r"stream s: found no source, expected one of csv\('path'\)",
        ),
        (
            "CREATE STREAM s(t TIMESTAMP, x INT) ORDERED BY t SOURCE tcp('a', 1); "
            "SELECT x FROM s WINDOW(RANGE 9 SECONDS)",
            r"stream s: found the source tcp\('a', 1\), expected one of",
        ),
    ],
)
def test_what_is_no_study(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MidstreamError, match=message):
        load_script(script(tmp_path, text))


def test_times_in_several_units_must_be_ingested(tmp_path: Path) -> None:
    text = """
        CREATE STREAM a(t TIMESTAMP, x INT) ORDERED BY t TIME_UNIT 'seconds' SOURCE csv('a.csv');
        CREATE STREAM b(t TIMESTAMP, y INT) ORDERED BY t TIME_UNIT 'milliseconds' SOURCE csv('b.csv');
        SELECT x FROM a WINDOW(RANGE 9 SECONDS), b WINDOW(RANGE 9 SECONDS) WHERE x = y
    """
    with pytest.raises(MidstreamError, match="stream a: found timestamps in seconds, expected milliseconds"):
        load_script(script(tmp_path, text))
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    study = load_script(script(tmp_path, text), tmp_path)
    assert {stream.format for stream in study.streams.values()} == {FOLDER}
    assert {stream.path for stream in study.streams.values()} == {str(tmp_path)}
