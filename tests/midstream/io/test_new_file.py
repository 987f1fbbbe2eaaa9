"""What a file keeps that is replaced."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from midstream.io.new_file import NewFile


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
        with pytest.raises(RuntimeError), NewFile(path, describe=lambda: "a part") as file:
            file.write(f"part {number}")
            raise RuntimeError
    names = ("results.jsonl.unfinished", "results.jsonl.unfinished-2", "results.jsonl.unfinished-3")
    assert [(tmp_path / name).read_text() for name in names] == ["part 1", "part 2", "part 3"]
    assert not path.exists()
