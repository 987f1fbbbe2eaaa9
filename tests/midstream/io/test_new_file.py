"""What a file keeps that is replaced."""

from __future__ import annotations

import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from midstream.io.new_file import NewFile
from midstream.io.sinks.sinks import open_sink
from midstream.io.sources.result_files import read_results
from midstream.plans.values.errors import Note
from midstream.plans.values.schema import Schema


@pytest.mark.skipif(os.name != "posix", reason="access rights are those of POSIX")
def test_a_file_that_is_replaced_keeps_its_access_rights(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for mode in (0o600, 0o664):
        path.write_text("old")
        path.chmod(mode)
        with NewFile(path) as file:
            file.write("new")
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    path, link = tmp_path / "results.jsonl", tmp_path / "latest.jsonl"
    path.write_text("old")
    link.symlink_to(path)
    with NewFile(link) as file:
        file.write("new")
    assert link.is_symlink() and path.read_text() == "new"


def test_what_an_earlier_run_left_unfinished_stays(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for number in (1, 2, 3):
        with nullcontext() if number == 1 else pytest.warns(Note) as noted:
            file = NewFile(path, describe=lambda: "a part")
        if number > 1:
            assert [str(note.message) for note in noted] == [
                f"{path}.unfinished is of an earlier command, or of one that still runs; this one writes to "
                f"{path}.unfinished-{number}"
            ]
        with pytest.raises(RuntimeError), file:
            file.write(f"part {number}")
            raise RuntimeError
        assert file.note == f"{file.place} holds a part"
    names = ("results.jsonl.unfinished", "results.jsonl.unfinished-2", "results.jsonl.unfinished-3")
    assert [(tmp_path / name).read_text() for name in names] == ["part 1", "part 2", "part 3"]
    assert not path.exists()


def test_simultaneous_runs_share_no_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with NewFile(path, describe=lambda: "a part") as first:
        first.write("first")
        with pytest.warns(Note), NewFile(path, describe=lambda: "a part") as second:
            second.write("second")
            assert [Path(one.place).read_text() for one in (first, second)] == ["first", "second"]
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["results.jsonl"]


def test_a_file_whose_content_is_not_described_is_hidden_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.svg.unfinished").write_text("of another")
    with pytest.raises(RuntimeError), NewFile(tmp_path / "plan.svg") as file:
        assert Path(file.place).name.startswith(".") and file.place.endswith(".svg")
        file.write("a part")
        raise RuntimeError
    assert os.listdir(tmp_path) == ["plan.svg.unfinished"]


def test_a_name_may_be_as_long_as_names_are(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 249}.jsonl"
    with NewFile(path, describe=lambda: "a part") as file:
        file.write("all")
    assert path.read_text() == "all"


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.jsonl.gz", "r.CSV.GZ", "r.parquet"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_growing_file_has_the_format_of_its_name(name: str, is_link: bool, tmp_path: Path) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    if is_link:
        path.symlink_to(tmp_path / "elsewhere")
    schema = Schema.of(x="integer")
    with NewFile(path, describe=lambda: "a part") as file:
        with open_sink(file.place, schema, name=str(path)) as sink:
            sink.write([(1, 5, (7,))])
            sink.flush()
            if name in ("r.csv", "r.jsonl"):
                assert file.place.endswith(f"{name}.unfinished")
                assert read_results(file.place)[""].elements == [(1, 5, (7,))]
        assert read_results(file.place)[""].elements == [(1, 5, (7,))]
    assert read_results(str(path))[""].elements == [(1, 5, (7,))]
    assert path.is_symlink() is is_link
