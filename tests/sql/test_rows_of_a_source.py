"""WHERE behind a declaration: which rows of a source belong to a stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from midstream.io import ConnectorError, open_source
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.errors import SqlError
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.recorded.feeds import feeds_of_script

COLUMNS = "CREATE STREAM s(t TIMESTAMP, dest TEXT, n INT) ORDERED BY t TIME_UNIT 's'"


def declared(end: str) -> StreamDeclaration:
    catalog = Catalog(None)
    catalog.execute(f"{COLUMNS} {end}")
    return catalog.streams["s"]


def test_conditions_are_columns_and_constants() -> None:
    found = declared("SOURCE csv('d.csv') WHERE origin = 'EWR' AND N = -5 AND share = 1.5 AND late = FALSE")
    assert found.where == (("origin", "EWR"), ("n", -5), ("share", 1.5), ("late", False))
    assert declared("SOURCE csv('d.csv')").where == ()


def test_rows_of_other_streams_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("t,origin,dest,n\n1,EWR,BOS,7\nsoon,JFK,BOS,many\n3,EWR,ORD,8\n")
    stream = declared(f"SOURCE csv('{file}') WHERE origin = 'EWR'")
    rows = [row for batch in open_source(stream, TimeUnit.of("seconds")) for row in batch]
    assert rows == [(1, 2, ("BOS", 7)), (3, 4, ("ORD", 8))]


def test_ingestion_takes_them(tmp_path: Path) -> None:
    script = tmp_path / "d.sql"
    script.write_text(f"SET time_unit = 's'; {COLUMNS} SOURCE csv('d.csv') WHERE origin = 'EWR';")
    (feed,) = feeds_of_script(str(script), str(tmp_path))
    assert feed.where == {"origin": "EWR"}


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("WHERE origin = 'EWR'", "found WHERE without SOURCE"),
        ("SOURCE csv('d.csv') WHERE n = 'x'", "column n: found a constant of type string, expected integer"),
        ("SOURCE csv('d.csv') WHERE t = 5", "column t: found a condition on a timestamp"),
        ("SOURCE csv('d.csv') WHERE n = 5 AND N = 6", "column N occurs twice in WHERE"),
        ("SOURCE csv('d.csv') WHERE n > 5", "expected =, as a row belongs to a stream by its values"),
        ("SOURCE csv('d.csv') WHERE n = dest", "expected a constant"),
        ("SOURCE csv('d.csv') WHERE n = 5 OR n = 6", "found OR"),
        ("SOURCE csv('d.csv') WHERE", "expected a name"),
    ],
)
def test_other_conditions_are_refused(end: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        declared(end)


def test_a_source_of_one_stream_has_no_conditions() -> None:
    stream = declared("SOURCE elements('r.jsonl') WHERE query = 'q'")
    with pytest.raises(ConnectorError, match="found conditions on rows, expected none"):
        open_source(stream, TimeUnit.of("seconds"))
