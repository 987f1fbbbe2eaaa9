"""Relations of a script: loaded from files and databases, constant or valid for a time."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from midstream.commands.relations import load
from midstream.commands.running import RunSettings, run_queries
from midstream.io import ConnectorError
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import InputFileError, MidstreamError, SqlError

ROWS = [(7, "lamp", 2, 5), (7, "light", 5, None), (8, "desk", 0, 4)]
"""item, name, since and until."""
NAMES = ("item", "name", "since", "until")
CONSTANT = "CREATE RELATION Thing(item INT NOT NULL, name VARCHAR) SOURCE {};"
TEMPORAL = (
    "CREATE RELATION Thing(item INT NOT NULL, name VARCHAR, since TIMESTAMP, until TIMESTAMP) "
    "VALID FROM since TO until SOURCE {};"
)
SALES = "CREATE STREAM sale(ts TIMESTAMP, item INT) ORDERED BY ts;"
JOIN = "SELECT s.item, t.name FROM sale s, thing t WHERE s.item = t.item"
SOLD = [(3, 7), (4, 8), (6, 7), (9, 9)]


@pytest.fixture
def source(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A SOURCE clause for the rows in one form."""
    form = request.param
    file = tmp_path / f"things.{form}"
    if form == "csv":
        lines = [NAMES, *(tuple("" if v is None else v for v in row) for row in ROWS)]
        file.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    elif form == "parquet":
        columns = [pa.array(column) for column in zip(*ROWS, strict=True)]
        pq.write_table(pa.table(columns, list(NAMES)), file)
    else:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE thing (item INTEGER, name TEXT, since INTEGER, until INTEGER)")
            connection.executemany("INSERT INTO thing VALUES (?, ?, ?, ?)", ROWS)
            connection.commit()
        return f"database('{file}', 'thing')"
    return f"{form}('{file}')"


EVERYWHERE = pytest.mark.parametrize("source", ["csv", "parquet", "db"], indirect=True)


def results(script: str, folder: Path, **wishes: str) -> list[tuple[int, int | None, list[object]]]:
    """The results of a script over what was sold, sorted."""
    sold = folder / "sold.csv"
    sold.write_text("ts,item\n" + "".join(f"{t},{item}\n" for t, item in SOLD))
    catalog = Catalog("seconds")
    queries = catalog.execute(script)
    output = folder / "out.jsonl"
    run_queries(catalog, queries, RunSettings({"sale": str(sold), **wishes}, str(output)))
    found = map(json.loads, output.read_text().splitlines())
    return sorted((one["start"], one["end"], list(one["row"].values())) for one in found)


@EVERYWHERE
def test_a_constant_relation_is_always_joined(source: str, tmp_path: Path) -> None:
    assert results(SALES + CONSTANT.format(source) + JOIN, tmp_path) == [
        (3, 4, [7, "lamp"]),
        (3, 4, [7, "light"]),
        (4, 5, [8, "desk"]),
        (6, 7, [7, "lamp"]),
        (6, 7, [7, "light"]),
    ]


@EVERYWHERE
def test_a_temporal_relation_is_joined_where_it_is_valid(source: str, tmp_path: Path) -> None:
    script = SALES + TEMPORAL.format(source) + JOIN
    assert results(script, tmp_path) == [(3, 4, [7, "lamp"]), (6, 7, [7, "light"])]
    wide = script.replace("sale s", "sale WINDOW(RANGE 4 SECONDS) s")
    assert results(wide, tmp_path) == [
        (3, 5, [7, "lamp"]),
        (5, 7, [7, "light"]),
        (6, 10, [7, "light"]),
    ]


@EVERYWHERE
def test_what_comes_into_a_join_with_a_relation_is_a_stream(source: str, tmp_path: Path) -> None:
    wide = JOIN.replace("sale s", "sale WINDOW(RANGE 4 SECONDS) s")
    script = f"{SALES}{TEMPORAL.format(source)}SELECT item, name FROM ISTREAM({wide}) c"
    assert results(script, tmp_path) == [(3, 4, [7, "lamp"]), (5, 6, [7, "light"]), (6, 7, [7, "light"])]


@EVERYWHERE
def test_changes_of_a_relation_alone_are_refused(source: str, tmp_path: Path) -> None:
    script = f"{SALES}{TEMPORAL.format(source)}SELECT item, name FROM ISTREAM(Thing)"
    with pytest.raises(SqlError, match="ISTREAM: found Thing, which reads relations alone"):
        results(script, tmp_path)


def test_dates_in_a_period_are_in_the_unit_of_the_catalog(tmp_path: Path) -> None:
    file = tmp_path / "things.csv"
    file.write_text("item,name,since,until\n7,lamp,1970-01-01T00:00:02,1970-01-01 00:00:05\n")
    for unit, second in (("seconds", 1), ("milliseconds", 1000)):
        catalog = Catalog(unit)
        catalog.execute(TEMPORAL.format(f"csv('{file}')"))
        assert load(catalog.relations["Thing"], catalog.unit) == [(2 * second, 5 * second, (7, "lamp"))]


def test_a_path_goes_before_the_source_of_the_declaration(tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text("item,name\n8,chair\n")
    script = SALES + CONSTANT.format("csv('nowhere.csv')") + JOIN
    assert results(script, tmp_path, Thing=str(file)) == [(4, 5, [8, "chair"])]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("SOURCE cvs('x.csv')", InputFileError, r"relation Thing: found source cvs\('x.csv'\), expected csv"),
        ("SOURCE csv()", InputFileError, r"relation Thing: found source csv\(\), expected csv\('path'\)"),
        ("SOURCE database('x.db')", InputFileError, "expected csv.* or database"),
        ("", InputFileError, "relation Thing: found no SOURCE, expected csv"),
        ("SOURCE csv('none/x.csv')", MidstreamError, "none/x.csv: No such file"),
        ("SOURCE nexmark('person')", ConnectorError, "relation Thing: nexmark.* needs VALID FROM"),
    ],
)
def test_sources_that_there_cannot_be(source: str, error: type[Exception], message: str) -> None:
    catalog = Catalog()
    catalog.execute(f"CREATE RELATION Thing(item INT) {source}")
    with pytest.raises(error, match=message):
        load(catalog.relations["Thing"], catalog.unit)
