"""Records of stages, and the log of runs: what is there of them is true, wherever a run was ended."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")

from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.stages.base.stage import Outcome
from midstream.scenarios.stages.run.records import (
    Record,
    key_of,
    only_runner,
    read_record,
    remove_record,
    write_record,
)
from midstream.scenarios.stages.run.run_log import FILE, RunLog


def write_result(folder: Path) -> None:
    (folder / "one" / "deep").mkdir(parents=True)
    (folder / "one" / "deep" / "a.txt").write_text("abc")
    (folder / "one" / "_SUCCESS").touch()
    (folder / "one" / ".hidden").touch()


def test_a_record_comes_back(tmp_path: Path) -> None:
    write_result(tmp_path)
    found = Outcome({"x": [1, None]}, {"edges": [0, 2]}, 3, 4)
    record = write_record(tmp_path, "one", "key", found)
    assert record.files == {"one/deep/a.txt": 3}
    assert read_record(tmp_path, "one") == record
    remove_record(tmp_path, "one")
    assert read_record(tmp_path, "one") is None


EARLIER = """{
 "midstream_stage": 1,
 "stage": "one",
 "key": "ab12",
 "rows_in": 3,
 "rows_out": 4,
 "files": {
  "one/deep/a.txt": 3
 },
 "summary": {"x": [1, null]},
 "drawn": {"edges": [0, 2.5]}
}
"""


def test_a_record_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    write_result(tmp_path)
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "one.json").write_text(EARLIER)
    outcome = Outcome({"x": [1, None]}, {"edges": [0, 2.5]}, 3, 4)
    assert read_record(tmp_path, "one") == Record("one", "ab12", outcome, {"one/deep/a.txt": 3})


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"midstream_stage": 2}', '{"midstream_stage": 1}'])
def test_what_is_no_record_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "one.json").write_text(text)
    assert read_record(tmp_path, "one") is None


@pytest.mark.parametrize("change", ["remove", "truncate"])
def test_a_result_that_is_not_all_there_is_not_complete(change: str, tmp_path: Path) -> None:
    write_result(tmp_path)
    write_record(tmp_path, "one", "key", Outcome({}))
    file = tmp_path / "one" / "deep" / "a.txt"
    if change == "remove":
        file.unlink()
    else:
        file.write_text("ab")
    assert read_record(tmp_path, "one") is None


def test_keys_differ_where_data_does() -> None:
    assert key_of(a=1, b={"x": 1, "y": 2}) == key_of(b={"y": 2, "x": 1}, a=1)
    keys = [key_of(a=1), key_of(a="1"), key_of(a=[1]), key_of(b=1), key_of(a=None)]
    assert len(set(keys)) == len(keys)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    (tmp_path / ".12ab.unfinished.html").touch()
    (tmp_path / ".12ab.unfinished").mkdir()
    told = pytest.raises(MidstreamError, match="found another study that runs there")
    with only_runner(tmp_path), told, only_runner(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_log_tells_how_stages_ended(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    with log.timed("one", versions={"x": "1"}) as found:
        found.append(Outcome({}, {}, 3, 4))
    with pytest.raises(ValueError, match="no"), log.timed("two"):
        raise ValueError("no")
    with pytest.raises(KeyboardInterrupt), log.timed("two"):
        raise KeyboardInterrupt
    told = [(line["stage"], line["status"]) for line in log.lines()]
    begun = ("two", "started")
    assert told == [
        ("one", "started"),
        ("one", "done"),
        begun,
        ("two", "failed"),
        begun,
        ("two", "interrupted"),
    ]
    done = log.last_done()["one"]
    assert (done["rows_in"], done["rows_out"], done["versions"]) == (3, 4, {"x": "1"})
    assert done["seconds"] >= 0
    assert log.lines()[3]["reason"] == "no"


def test_a_torn_line_is_left_out_and_what_follows_is_not_lost(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.add("one", "unchanged")
    with (tmp_path / FILE).open("a") as file:
        file.write('{"stage": "tw')
    RunLog(tmp_path).add("three", "unchanged")
    assert [line["stage"] for line in log.lines()] == ["one", "three"]
