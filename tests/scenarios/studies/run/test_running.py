"""Stages run in order and once; what a killed run has not done is done by the next, with the same result."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from killed import killed_at

pytest.importorskip("pydantic", reason="needs pydantic: pip install 'midstream[simulate]'")
pytest.importorskip("jinja2", reason="needs jinja2: pip install 'midstream[spark]'")
pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")

from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.reports.contents import Report, Table
from midstream.scenarios.stages.base.stage import Options, Outcome, Stage, Work
from midstream.scenarios.stages.run import reading, running, study_run
from midstream.scenarios.stages.run.reading import parse_study_file
from midstream.scenarios.stages.run.running import run_study
from midstream.scenarios.stages.run.study_file import StudyFile
from midstream.scenarios.stages.run.study_run import StudyRun
from midstream.scenarios.streams.recorded.declaration import Study

HEAD = """
sql: CREATE STREAM s(t BIGINT, k INTEGER NOT NULL) SOURCE csv('s.csv') ORDERED BY t TIME_UNIT 's'
bucket: 5s
"""
BOTH = HEAD + "stages: {first: {number: 3}, second: }"


class Numbered(Options):
    number: int = 1


def _first(work: Work, options: Numbered) -> tuple[str, Outcome]:
    text = f"{work.request.feeds} {work.study} " + (work.request.folder / "s.csv").read_text()
    return text, Outcome({"number": options.number}, rows_in=1, rows_out=options.number)


def _write(text: str, outcome: Outcome, folder: Path) -> None:
    for i in range(outcome.summary["number"]):
        (folder / f"{i}.txt").write_text(text)


def _second(work: Work, options: Numbered) -> tuple[None, Outcome]:
    work.tell("summing up")
    with (work.place / "log.txt").open("a") as file:  # adds: its folder is not replaced
        file.write("x")
    read = sorted((work.folder / "first").iterdir()) if (work.folder / "first").exists() else []
    (work.place / "sum.txt").write_text("".join(one.read_text() for one in read))
    return None, Outcome({"files": len(read)})


def _tell(study: Study, outcome: Outcome) -> Report:
    return Report(["some fact"], [f"advice of {sorted(outcome.summary)}"], [Table("T", ("a",), [("1",)])])


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stage]]:
    """Two stages that need no Spark; the second uses what the first wrote."""
    made = {
        "first": Stage("first", Numbered, _first, _tell, _write),
        "second": Stage("second", Numbered, _second, _tell, after=("first",), adds=True),
    }
    for module in (running, reading, study_run):
        monkeypatch.setattr(module, "STAGES", made)
    reading._spec.cache_clear()
    yield made
    reading._spec.cache_clear()


def parsed(folder: Path, text: str = BOTH) -> StudyFile:
    if not (folder / "s.csv").exists():
        folder.mkdir(exist_ok=True)
        (folder / "s.csv").write_text("t,k\n1,2\n")
    return parse_study_file("s.yaml", text, folder)


def no_spark() -> AbstractContextManager[Any]:
    return nullcontext(None)


def run(folder: Path, text: str = BOTH, **more: Any) -> StudyRun:
    return run_study(no_spark, parsed(folder, text), folder / "out", **more)


def contents(folder: Path) -> dict[str, str]:
    """What a study found; not when and in what time, and not how often `_second` began."""
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in ("run-log.jsonl", "report.html", "log.txt", "second.json")
    }


def test_a_stage_is_run_once(tmp_path: Path) -> None:
    assert dict(run(tmp_path).statuses) == {"first": "done", "second": "done"}
    told: list[str] = []
    again = run(tmp_path, tell=told.append)
    assert dict(again.statuses) == {"first": "unchanged", "second": "unchanged"}
    assert told == ["writing the report"]  # Spark was not even started
    assert again.records["first"].outcome.summary == {"number": 3}
    assert dict(run(tmp_path, again=True).statuses) == {"first": "done", "second": "done"}


@pytest.mark.parametrize(
    ("change", "statuses"),
    [
        ("number: 4", {"first": "done", "second": "done"}),
        ("second: {number: 2}", {"first": "unchanged", "second": "done"}),
        ("bucket: 6s", {"first": "done", "second": "done"}),
        ("title: other", {"first": "unchanged", "second": "unchanged"}),
        ("# a comment", {"first": "unchanged", "second": "unchanged"}),
        ("s.csv", {"first": "done", "second": "done"}),
        ("0.txt", {"first": "done", "second": "unchanged"}),
    ],
)
def test_what_has_changed_is_run_again(change: str, statuses: dict[str, str], tmp_path: Path) -> None:
    run(tmp_path)
    text = BOTH
    match change:
        case "number: 4":
            text = text.replace("number: 3", change)
        case "second: {number: 2}":
            text = text.replace("second: ", change)
        case "bucket: 6s":
            text = text.replace("bucket: 5s", change)
        case "title: other" | "# a comment":
            text = f"{change}\n{text}"
        case "s.csv":
            (tmp_path / "s.csv").write_text("t,k\n1,2\n3,4\n")
        case "0.txt":
            (tmp_path / "out" / "first" / "0.txt").unlink()
    assert dict(run(tmp_path, text).statuses) == statuses


def test_the_last_stage_advises_and_a_stage_that_says_no_warns(
    tmp_path: Path, table: dict[str, Stage]
) -> None:
    found = run(tmp_path)
    assert found.advice() == ["advice of ['files']"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert 0 < page.index("advice of [&#39;files&#39;]") < page.index("some fact") < page.index("Run log")
    assert "advice of [&#39;number&#39;]" not in page
    warning = replace(table["first"], tell=lambda study, outcome: replace(_tell(study, outcome), holds=False))
    table["first"] = warning
    assert found.advice() == ["advice of ['number']", "advice of ['files']"]
    assert not found.holds
    table["first"] = replace(warning, tell=_tell)
    assert found.holds
    assert found.as_dict()["stages"]["first"]["summary"] == {"number": 3}


def test_a_stage_that_fails_leaves_those_before_it(tmp_path: Path, table: dict[str, Stage]) -> None:
    def failing(work: Work, options: Numbered) -> tuple[None, Outcome]:
        (work.place / "half.txt").touch()
        raise MidstreamError("found nothing, expected something")

    made = dict(table)
    table["first"] = Stage("first", Numbered, failing, _tell)
    with pytest.raises(MidstreamError, match="found nothing"):
        run(tmp_path)
    assert contents(tmp_path / "out") == {}
    table |= {"first": made["first"], "second": Stage("second", Numbered, failing, _tell)}
    with pytest.raises(MidstreamError, match="found nothing"):
        run(tmp_path)
    table["second"] = made["second"]
    assert dict(run(tmp_path).statuses) == {"first": "unchanged", "second": "done"}


@pytest.mark.slow
def test_a_run_that_is_killed_anywhere_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from midstream.scenarios.stages.run import report

    monkeypatch.setattr(report, "report_html", lambda run: "page")
    changed = BOTH.replace("number: 3", "number: 2")
    run(tmp_path)
    whole = contents(tmp_path / "out")
    run(tmp_path, changed)
    other = contents(tmp_path / "out")
    assert other != whole
    instant, torn = 1, 0
    while True:
        run(tmp_path, changed)  # what is there is of another study
        if not killed_at(instant, lambda: run(tmp_path)):
            break
        torn += contents(tmp_path / "out") not in (whole, other)
        left = tmp_path / "left"
        shutil.copytree(tmp_path / "out", left)
        run(tmp_path)
        assert contents(tmp_path / "out") == whole, instant
        assert (tmp_path / "out" / "report.html").read_text() == "page"
        shutil.rmtree(tmp_path / "out")
        left.rename(tmp_path / "out")
        run(tmp_path, changed)
        assert contents(tmp_path / "out") == other, instant
        instant += 1
    assert torn > 20
