"""Study files say what is wrong with them, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.run.reading import load_study_file, packaged, parse_study_file
from midstream.scenarios.stages.run.stages import STAGES
from midstream.scenarios.stages.run.study_file import StudyFile
from midstream.scenarios.streams.recorded.declaration import load_study

from .conftest import TEXT


def parsed(text: str, folder: Path = Path()) -> StudyFile:
    return parse_study_file("s.yaml", text, folder)


def test_a_study_file_declares_what_a_declaration_does() -> None:
    found = parsed(TEXT)
    assert found.title == "Three houses"
    assert found.bucket == 300
    assert list(found.stages) == ["ingest", "profile", "what-if"]
    assert found.study.query is not None
    assert found.study.streams["B"].where == {"house": "B"}
    assert found.study.clock.show(0) == "2024-05-01 00:00"
    assert [feed.path for feed in found.feeds] == ["trades.csv"] * 3


def test_stages_run_in_their_order_whatever_the_file_s() -> None:
    head, _, _ = TEXT.partition("stages:")
    found = parsed(f"{head}stages: {{what-if: {{limit: 7}}, ingest: , profile: }}")
    assert list(found.stages) == [name for name in STAGES if name in ("ingest", "profile", "what-if")]
    assert found.stages["what-if"].model_dump() == {
        **{"plan": None, "objective": ["processing"], "half_life": None, "rows": 24, "limit": 7}
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "bucket: 5m",
            "bucket: 5 parsecs",
            r"s\.yaml, line 16, bucket: found '5 parsecs', expected",
        ),
        ("bucket: 5m", "buckett: 5m", r"line 16, buckett: found no such key, .*; did you mean bucket\?"),
        ("  profile:", "  profil:", r"line 19, stages\.profil: found no such key, .*did you mean profile\?"),
        ("  what-if:", "  what-if: {limt: 3}", r"line 20, stages\.what-if\.limt: .*did you mean limit\?"),
        ("  what-if:", "  what-if: {limit: many}", r"stages\.what-if\.limit: found 'many', expected a whole"),
        ("  what-if:", "  what-if: 3", r"line 20, stages\.what-if: found 3, expected keys with values"),
        (
            "window: 60",
            "window: -60",
            r"s\.yaml, line 8, defaults\.window: found -60, expected",
        ),
        ("where: {house: B}", "wher: {house: B}", r"s\.yaml, line 12, streams\.B.*did you mean where\?"),
        ("a.item, b.item", "a.itm, b.item", r"line 15, query\.joins: .*did you mean a\.item\?"),
        ("2024-05-01T00:00:00Z", "tomorrow", r"line 3, epoch: found 'tomorrow', expected a date and time"),
        ("2024-05-01T00:00:00Z", "2024-05-01T00:00:00", r"line 3, epoch: .*with an offset"),
        ("stages:", "stages: {}\nmore:", r"more: found no such key"),
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
        (
            "streams: nycflights13\nquery: {}\nstages: {profile: }",
            "line 2, query: found it beside nycflights13, which declares it",
        ),
    ],
)
def test_other_faults(text: str, message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        parsed(text)
    assert message in str(caught.value)


def test_streams_of_a_declaration(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(
        'title = "D"\n[streams.s]\npath = "s.csv"\ntime = "t"\nunit = "ms"\nwindow = 3\n'
        'columns = { k = "integer" }\n'
    )
    text = "streams: d.toml\ndata: there\nbucket: 2s\nstages: {profile: }"
    found = parsed(text, tmp_path)
    assert found.title == "D"
    assert found.bucket == 2000
    assert found.study.streams == load_study(str(tmp_path / "d.toml"), tmp_path / "there").streams
    other = parse_study_file("s.yaml", text, tmp_path, "elsewhere")
    assert other.study.streams["s"].path == "elsewhere/s.csv"


SCRIPT = """
SET time_unit = 'milliseconds';
CREATE STREAM bids(item INT, at TIMESTAMP) ORDERED BY at SOURCE csv('bids.csv');
CREATE STREAM asks(item INT, at TIMESTAMP) ORDERED BY at SOURCE csv('asks.csv');
SELECT b.item FROM bids b WINDOW(RANGE 5 SECONDS), asks a WINDOW(RANGE 7 SECONDS) WHERE a.item = b.item;
"""


def test_streams_and_query_of_a_script(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(SCRIPT)
    found = parsed("streams: q.sql\nstages: {ingest: , what-if: }", tmp_path)
    assert {name: one.window for name, one in found.study.streams.items()} == {"bids": 7000, "asks": 7000}
    assert found.study.query is not None
    assert found.feeds[0].path == str(tmp_path / "bids.csv")


def test_a_query_in_sql(tmp_path: Path) -> None:
    head, _, rest = TEXT.partition("query:\n")
    tail = rest.partition("\n")[2]
    query = "SELECT a.item FROM A a WINDOW(RANGE 1 MINUTE), B b WINDOW(RANGE 2 MINUTES) WHERE a.item = b.item"
    found = parsed(f"{head}query: {query}\n{tail}")
    assert found.study.query is not None
    assert sorted(source.stream for source in found.study.query.sources) == ["A", "B"]
    with pytest.raises(InputFileError, match="line 14, query: there is no column in b of the name itm"):
        parsed(f"{head}query: {query.replace('b.item', 'b.itm')}\n{tail}")


@pytest.mark.parametrize("name", packaged())
def test_those_that_come_with_midstream_can_be_read(name: str) -> None:
    assert load_study_file(name, "somewhere").stages


def test_unknown_names_are_told() -> None:
    with pytest.raises(InputFileError, match=r"study file nycflights: found no such file.*nycflights13"):
        load_study_file("nycflights")
