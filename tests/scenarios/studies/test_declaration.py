"""Study declarations are read, and refused with the file, the key, what was found and what was expected."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from midstream.plans.algebra.builder import stream
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.streams.recorded import declaration
from midstream.scenarios.streams.recorded.declaration import load_study, packaged

GOOD = """
epoch = 2013-02-01T00:00:00+01:00

[defaults]
path = "trades.csv"
time = "t"
unit = "ms"
window = 60
columns = { item = "integer", price = "float?" }

[streams.early]
where = { house = "A", item = 7 }
alias = "e"

[streams.late]
path = "late.parquet"
window = 90
alias = "l"

[query]
joins = [["e.item", "l.item"], ["l.price", "e.price"]]
group_by = ["e.item"]
aggregates = { n = "count()", dearest = "max(l.price)" }
"""


def write(folder: Path, text: str) -> str:
    file = folder / "trades.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_declaration_says_where_streams_are_and_what_joins_them(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, GOOD), tmp_path / "data")
    early, late = study.streams.values()
    assert (study.name, study.clock.unit) == ("trades", "ms")
    assert study.clock.epoch == datetime(2013, 1, 31, 23, tzinfo=UTC)
    assert (early.path, early.format, early.window) == (str(tmp_path / "data" / "trades.csv"), "csv", 60)
    assert (late.path, late.format, late.window) == (str(tmp_path / "data" / "late.parquet"), "parquet", 90)
    assert (early.where, late.where) == ({"house": "A", "item": 7}, {})
    assert early.columns == Schema.of(item="integer", price="float?")

    e = stream("early", early.columns).alias("e").window(60)
    joined = e.join(late.windowed(), on=[("e.item", "l.item"), ("l.price", "e.price")])
    assert study.query is not None
    assert study.query.root.inputs[0] == joined.node
    assert str(study.query.root.operator) == "aggregate count(*) as n, max(l.price) as dearest by e.item"


def test_joins_are_made_in_the_order_written() -> None:
    query = load_study("nycflights13").query
    assert query is not None
    assert [source.stream for source in query.sources] == ["EWR", "LGA", "JFK"]
    first, second = (node for node in query.nodes if node.operator.name == "join")
    assert (str(first.operator), str(second.operator)) == (
        "join ewr.dest = lga.dest",
        "join jfk.dest = lga.dest",
    )


def test_paths_are_relative_to_the_declaration_unless_data_is_elsewhere(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    assert load_study(file).streams["early"].path == str(tmp_path / "trades.csv")
    assert load_study(file, "s3a://bucket/").streams["early"].path == "s3a://bucket/trades.csv"


def test_ready_made_declarations_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nycflights13" in packaged()
    for name in packaged():
        assert load_study(name).name == name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("window = 60", "window = 0", "key streams.early.window: found 0, expected a positive integer"),
        ("window = 60", "window = true", "key streams.early.window: found True, expected a positive integer"),
        ("window = 60", "widow = 60", "found key defaults.widow, expected one of .* did you mean window?"),
        ('time = "t"', "", "key streams.early.time: found nothing, expected a string"),
        ('unit = "ms"', 'unit = "week"', "key streams.early.unit: found 'week', expected one of ns, us, ms"),
        (
            'path = "late.parquet"',
            'path = "late.xls"',
            "key streams.late.path: found 'late.xls', .* ends in one of",
        ),
        ('"integer"', '"int"', "key streams.early.columns.item: found 'int', expected one of integer"),
        ('"integer"', '"any"', "key streams.early.columns.item: found 'any', expected one of integer"),
        ('"float?"', "7", "key streams.early.columns.price: found 7, expected a string"),
        ("item = 7", "item = [7]", r"key streams.early.where.item: found \[7\], expected a string, a number"),
        ("item = 7", 'item = "7"', "key streams.early.where.item: found '7', expected .* integer"),
        (
            "[streams.late]",
            "[streams.late]\nunit = 's'",
            "key streams.late.unit: found 's', expected 'ms' as stream",
        ),
        ("2013-02-01T00:00:00+01:00", "2013-02-01", "key epoch: .*expected a date and time with an offset"),
        ('"e.item", "l.item"', '"e.item", "l.itme"', "key query.joins: .* not l.itme; did you mean l.item?"),
        ('"e.item", "l.item"', '"e.item", "e.price"', "key query.joins: .* not both to early"),
        ('"e.item", "l.item"', '"e.item"', "key query.joins: .*expected pairs of columns"),
        ('alias = "l"', 'alias = "e"', "streams early and late both have a column e.item, .* an alias"),
        ('group_by = ["e.item"]', 'group_by = ["item"]', "key query: there is no column item"),
        ('"max(l.price)"', '"best(l.price)"', "key query.aggregates.dearest: .*expected one of count, sum"),
        ('"max(l.price)"', '"max(price)"', "key query: there is no column price"),
        ("[defaults]", "[defaults", "found no TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputFileError, match=message) as caught:
        load_study(write(tmp_path, GOOD.replace(old, new, 1)))
    assert str(tmp_path / "trades.toml") in str(caught.value)


def test_a_join_needs_a_stream_joined_before(tmp_path: Path) -> None:
    text = GOOD.partition("[query]")[0]
    for name in ("third", "fourth"):
        text += f'[streams.{name}]\nalias = "{name[0]}"\n'
    text += '[query]\njoins = [["e.item", "l.item"], ["t.item", "f.item"]]\n'
    with pytest.raises(
        InputFileError, match=r"t\.item or f\.item to belong to a stream that was joined before"
    ):
        load_study(write(tmp_path, text))


def test_a_declaration_needs_streams(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="key streams: found nothing, expected at least one stream"):
        load_study(write(tmp_path, ""))


@pytest.mark.parametrize(
    ("name", "message"), [("nycflight13", "did you mean nycflights13"), ("a.toml", "No such")]
)
def test_a_declaration_that_is_not_there(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MidstreamError, match=message):
        load_study(name)


def test_the_ready_made_declaration_is_a_file_like_any_other(tmp_path: Path) -> None:
    ready = Path(declaration.__file__).parent / "nycflights13.toml"
    copy = shutil.copy(ready, tmp_path / "mine.toml")
    assert load_study(str(copy)).query == load_study("nycflights13").query


def test_a_study_may_be_of_a_time_range(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, "from = 2013-02-01\nuntil = 7200000\n" + GOOD))
    assert (study.since, study.until) == (3600_000, 7200_000)
    part = study.within(None, "2013-02-01T01:00")
    assert (part.since, part.until) == (3600_000, 7200_000)
    assert study.within("3600000", None) == study
    for since, until, told in (
        ("noon", None, "study trades: from: found 'noon', expected an integer, or a date"),
        (None, "0", "found 2013-02-01 00:00 to 2013-01-31 23:00, expected an end behind the beginning"),
    ):
        with pytest.raises(InputFileError, match=told):
            study.within(since, until)
    for value in ("true", "1.5", "[1]"):
        with pytest.raises(
            InputFileError, match=r"key until: .*expected a date, a date and time, or a number"
        ):
            load_study(write(tmp_path, f"until = {value}\n" + GOOD))
