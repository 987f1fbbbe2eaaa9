"""Sources in a declaration: which rows of them belong to a stream, and which texts are missing values."""

from __future__ import annotations

from pathlib import Path

import pytest

from midstream.io import ConnectorError, open_source
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.declarations import StreamDeclaration
from midstream.plans.values.errors import InputFileError, SqlError
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.recorded.script import load_feeds

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


MISSING = "t,dest,n\n1,NA,7\n2,-,NA\n3,,\n4,N/A,-\n"


def rows_of(stream: StreamDeclaration, source: Path | None = None) -> list[tuple[str | None, int | None]]:
    return [row for batch in open_source(stream, TimeUnit.of("seconds"), source) for _, _, row in batch]


def test_texts_for_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text(MISSING)
    stream = declared(f"SOURCE csv('{file}', nullstr = 'NA', NULLSTR = '-')")
    assert rows_of(stream) == [(None, 7), (None, None), (None, None), ("N/A", None)]
    with pytest.raises(InputFileError, match="line 3, column n: found 'NA', expected integer"):
        rows_of(declared(f"SOURCE csv('{file}', nullstr = '-')"))


def test_another_file_may_stand_for_the_declared_one(tmp_path: Path) -> None:
    stream = declared("SOURCE csv('d.csv', nullstr = 'NA', nullstr = '-')")
    (tmp_path / "other.csv").write_text(MISSING)
    (tmp_path / "other.jsonl").write_text('{"t": 1, "dest": "NA", "n": null}\n')
    assert rows_of(stream, tmp_path / "other.csv")[0] == (None, 7)
    assert rows_of(stream, tmp_path / "other.jsonl") == [("NA", None)]


def test_other_formats_have_missing_values_of_their_own() -> None:
    stream = declared("SOURCE jsonl('d.jsonl', nullstr = 'NA')")
    with pytest.raises(
        ConnectorError,
        match="the option nullstr for jsonl, expected encoding, sparse, format, time_of_day or",
    ):
        open_source(stream, TimeUnit.of("seconds"))


def test_a_source_shows_itself_as_it_is_written() -> None:
    assert str(declared("SOURCE csv('d.csv', nullstr = 'NA')").source) == "csv('d.csv', nullstr = 'NA')"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            "csv('d.csv', nullst = 'NA')",
            "found the option nullst, expected one of .*nullstr, sort; did you mean nullstr",
        ),
        ("csv(nullstr = 'NA', 'd.csv')", "expected nullstr = … behind all other arguments"),
        (
            "csv('d.csv', nullstr 'NA')",
            "found nullstr, expected a text in single quotes, a number, or",
        ),
        ("csv('d.csv', nullstr = 5)", "expected nullstr = 'text'"),
        (f"csv('d.csv') WHERE n = {'9' * 5000}", "expected 300 digits at most"),
        (f"socket('h', {'9' * 5000})", "expected 300 digits at most"),
    ],
)
def test_other_words_in_a_source_are_refused(end: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        declared(f"SOURCE {end}")


def test_relations_have_no_such_texts() -> None:
    with pytest.raises(SqlError, match="found nullstr in a relation"):
        Catalog(None).execute("CREATE RELATION r(a INT) SOURCE csv('r.csv', nullstr = 'NA')")


def test_ingestion_takes_both(tmp_path: Path) -> None:
    script = tmp_path / "d.sql"
    script.write_text(f"{COLUMNS} SOURCE csv('d.csv', nullstr = 'NA') WHERE origin = 'EWR';")
    _, (feed,) = load_feeds(str(script), tmp_path)
    declaration = feed.declaration
    assert declaration.source is not None
    assert (declaration.where, declaration.source.unknown) == ((("origin", "EWR"),), ("NA",))


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
