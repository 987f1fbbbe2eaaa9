"""Study files say what is wrong with them, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.run.reading import load_study_file, packaged, parse_study_file
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile

from .conftest import TEXT


def parsed(text: str, folder: Path = Path()) -> StudyFile:
    return parse_study_file("s.yaml", text, folder)


def test_a_study_file_holds_a_script_and_stages() -> None:
    found = parsed(TEXT)
    assert found.title == "Three houses"
    assert found.bucket == 300
    assert list(found.stages) == ["ingest", "profile", "what-if"]
    assert found.study.query is not None
    assert found.study.streams["B"].where == {"house": "B"}
    assert found.study.streams["B"].unknown == ("NA",)
    assert found.study.clock.show(0) == "1970-01-01 00:00"
    assert [feed.path for feed in found.feeds] == ["trades.csv"] * 3


def test_stages_run_in_their_order_whatever_the_file_s() -> None:
    head, _, _ = TEXT.partition("stages:")
    found = parsed(f"{head}stages: {{what-if: {{limit: 7}}, ingest: , profile: }}")
    assert list(found.stages) == [name for name in STAGES if name in ("ingest", "profile", "what-if")]
    assert found.stages["what-if"].model_dump() == {
        **{
            "plan": None,
            "objective": ["processing", "intermediate"],
            "half_life": None,
            "rows": 24,
            "limit": 7,
        }
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bucket: 5m", "bucket: 5 parsecs", r"s\.yaml, line 13, bucket: found '5 parsecs', expected"),
        ("bucket: 5m", "buckett: 5m", r"line 13, buckett: found no such key, .*; did you mean bucket\?"),
        ("  profile:", "  profil:", r"line 16, stages\.profil: found no such key, .*did you mean profile\?"),
        ("  what-if:", "  what-if: {limt: 3}", r"line 17, stages\.what-if\.limt: .*did you mean limit\?"),
        ("  what-if:", "  what-if: {limit: many}", r"stages\.what-if\.limit: found 'many', expected a whole"),
        ("  what-if:", "  what-if: 3", r"line 17, stages\.what-if: found 3, expected keys with values"),
        (
            "  profile:",
            "  profile: {window: 1h}",
            r"stages\.profile\.window: found 1h, expected none, as the",
        ),
        ("stages:", "stages: {}\nmore:", r"more: found no such key"),
        ("bucket:", "from: noon\nbucket:", r"line 13, from: .*found 'noon', expected an integer, or a date"),
        ("bucket:", "from: 9\nuntil: 9\nbucket:", r"line 13, from: .*expected an end behind the beginning"),
        ("RANGE 1 ", "RANGE 0 ", r"line 3, sql: .*, line 8, column 25: found 0, expected a positive integer"),
        ("WHERE house = 'B'", "WHER house = 'B'", r"line 3, sql: .*, line 4, column 3: found WHER, expected"),
        ("a.item = b", "a.itm = b", r"line 9, column 8: there is no column in a .* itm; did you mean item\?"),
        ("ORDERED BY at", "ORDERED BY att", r"line 2, column 32: there is no column att; did you mean at\?"),
        ("nullstr = 'NA'", "nullstr = NA", r"line 1, column 98: found NA, expected nullstr = 'text'"),
        ("TIME_UNIT 's'", "TIME_UNIT 'parsec'", r"line 2, column 45: found the time unit 'parsec', expected"),
        (" TIME_UNIT 's'", "", r"stream A: found timestamps without a unit, expected TIME_UNIT 's'"),
        (" ORDERED BY at TIME_UNIT 's'", "", r"stream A: found no timestamps, expected ORDERED BY a column"),
        ("csv('trades.csv', nullstr = 'NA')", "tcp('x', 1)", r"stream A: found the source tcp\('x', 1\)"),
        ("bucket:", "  ;SELECT a.item FROM A a\nbucket:", r"found 2 queries, expected .*query_1, query_2"),
        (
            "bucket:",
            "query: q\nbucket:",
            r"query: the script: found no query q, expected .*one of them: query_1",
        ),
    ],
)
def test_faults_have_a_place(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InputFileError, match=message):
        parsed(TEXT.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml: found an empty file, expected a study"),
        ("- 1", "s.yaml, line 1: found a list, expected the keys of a study"),
        ("streams: nycflights13", "stages: found nothing, expected a value"),
        ("streams: nycflights13\nstages: {}", "line 2, stages: found none, expected one at least of ingest"),
        ("streams: nycflight\nstages: {profile: }", "study nycflight: found no such file or name"),
        ("stages: {profile: }", "line 1, streams: found none, expected streams, a script, or sql, its text"),
        (
            "streams: nycflights13\nsql: SELECT 1\nstages: {profile: }",
            "line 1, streams: found sql beside it, expected",
        ),
        ("sql: SET ties = 'arrival'\nstages: {profile: }", "line 1, sql: the script: found no CREATE STREAM"),
        (
            "streams: d.toml\nstages: {profile: }",
            "d.toml: found a declaration in TOML, expected a script in SQL",
        ),
    ],
)
def test_other_faults(text: str, message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        parsed(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "old", ["epoch: 2024-05-01", "defaults:", "streams: {s: {path: s.csv}}", "query: {joins: [[a.k, b.k]]}"]
)
def test_declarations_in_yaml_are_refused_with_the_way_to_write_them_now(old: str) -> None:
    place = rf"s\.yaml, line 1, {old.partition(':')[0]}: "
    with pytest.raises(
        InputFileError, match=place + r"found a declaration in YAML, expected .*CREATE STREAM"
    ):
        parsed(old + TEXT)


SCRIPT = """
SET time_unit = 'milliseconds';
CREATE STREAM bids(item INT, at TIMESTAMP) ORDERED BY at SOURCE csv('bids.csv');
CREATE STREAM asks(item INT, at TIMESTAMP) ORDERED BY at SOURCE csv('asks.csv');
CREATE STREAM more(item INT, at TIMESTAMP) ORDERED BY at SOURCE csv('more.csv');
SELECT b.item FROM bids b WINDOW(RANGE 5 SECONDS), asks a WINDOW(RANGE 7 SECONDS) WHERE a.item = b.item;
SELECT item FROM more;
"""


def test_streams_and_a_query_of_a_script(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(SCRIPT)
    text = "streams: q.sql\nquery: query_1\nbucket: 2s\nfrom: 1970-01-01\nstages: {ingest: , what-if: }"
    found = parsed(text, tmp_path)
    assert (found.title, found.bucket, found.study.since) == ("q, query query_1", 2000, 0)
    assert {name: one.window for name, one in found.study.streams.items()} == {"bids": 5000, "asks": 7000}
    assert found.study.query is not None
    assert found.declared == SCRIPT
    # Only what the query reads is ingested.
    assert sorted(feed.path for feed in found.feeds) == [
        str(tmp_path / name) for name in ("asks.csv", "bids.csv")
    ]


def test_paths_are_relative_to_the_file_its_data_or_the_data_of_the_command(tmp_path: Path) -> None:
    there = "data: there\n" + TEXT
    for text, data, folder in (
        (TEXT, None, str(tmp_path)),
        (there, None, str(tmp_path / "there")),
        (there, "elsewhere", "elsewhere"),
    ):
        found = parse_study_file("s.yaml", text, tmp_path, data)
        assert {feed.path for feed in found.feeds} == {f"{folder}/trades.csv"}
        assert {one.path for one in found.study.streams.values()} == {f"{folder}/trades.csv"}


def test_without_a_query_a_profile_needs_a_window() -> None:
    text = TEXT.replace(TEXT[TEXT.index("  SELECT") : TEXT.index("bucket:")], "").replace("  what-if:\n", "")
    assert parsed(text.replace("  profile:", "  profile: {window: 1m}")).study.query is None
    with pytest.raises(InputFileError, match=r"stages\.profile\.window: found none, expected how long"):
        parsed(text)


@pytest.mark.parametrize("name", packaged())
def test_those_that_come_with_midstream_can_be_read(name: str) -> None:
    assert load_study_file(name, "somewhere").stages


def test_unknown_names_are_told() -> None:
    with pytest.raises(InputFileError, match=r"study file nycflights: found no such file.*nycflights13"):
        load_study_file("nycflights")
