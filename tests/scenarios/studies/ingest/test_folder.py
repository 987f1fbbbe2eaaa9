"""A folder of ingested streams holds whole runs only, whenever a run is killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from killed import killed_at

from midstream.io.ingested import (
    IngestedFile,
    IngestRun,
    Manifest,
    is_ingested,
    read_manifest,
    write_manifest,
)
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.scenarios.stages.ingest.folder import named_run, new_run, next_name, only_writer


def run(folder: Path) -> None:
    """What ingesting does to a folder, without Spark."""
    with only_writer(folder):
        before = read_manifest(folder) if is_ingested(folder) else Manifest(1, 0, {})
        name = next_name(folder)
        with new_run(folder) as place:
            (place / "s").mkdir()
            for number in range(2):
                (place / "s" / f"{number}.parquet").write_text(name)
            named_run(place, name)
        files = tuple(IngestedFile("s", f"{name}/s/{number}.parquet", 1, 8, 0, 0) for number in range(2))
        added = IngestRun(name, (), files, {})
        write_manifest(replace(before, runs=(*before.runs, added)), folder)


def contents(folder: Path) -> dict[str, str]:
    return {str(one.relative_to(folder)): one.read_text() for one in folder.rglob("*") if one.is_file()}


def test_a_run_that_is_killed_anywhere_leaves_the_runs_before_and_the_next_is_as_if_nothing_was(
    tmp_path: Path,
) -> None:
    whole = tmp_path / "whole"
    run(whole)
    once = contents(whole)
    run(whole)
    twice = contents(whole)
    instant, torn = 1, 0
    while True:
        folder = tmp_path / str(instant)
        run(folder)
        if not killed_at(instant, lambda folder=folder: run(folder)):
            break
        runs = read_manifest(folder).runs
        assert len(runs) in (1, 2)
        assert {path: text for path, text in contents(folder).items() if path in once or len(runs) == 2}
        for one in runs:
            assert all((folder / file.path).read_text() == one.folder for file in one.files)
        torn += contents(folder) not in (once, twice)
        if len(runs) == 1:
            run(folder)
        else:
            with only_writer(folder):
                pass
        assert contents(folder) == twice
        instant += 1
    assert instant > 20
    assert torn > 10  # else nothing was left to be removed


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    told = pytest.raises(MidstreamError, match="found another run that writes there")
    with only_writer(tmp_path), told, only_writer(tmp_path):
        pass


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with (
        pytest.raises(MidstreamError, match=r"found thesis\.tex, expected a new folder"),
        only_writer(tmp_path),
    ):
        pass
    assert sorted(one.name for one in tmp_path.iterdir()) == ["thesis.tex"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no manifest of ingested streams"),
        ("[]", "this is no manifest of ingested streams"),
        ('{"midstream_ingested": 2}', "found {'midstream_ingested': 2}, expected"),
        (
            '{"midstream_ingested": 1, "chronon": 1}',
            "this is no manifest of ingested streams: found no epoch",
        ),
    ],
)
def test_bad_manifests(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputFileError, match=message):
        read_manifest(tmp_path)
