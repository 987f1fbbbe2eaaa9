"""The examples in docstrings, README.md and docs/ do what they show.

Modules are found by walking the installed package: collecting the folders instead would import a second copy
of every class. In a document, the ```python fences that start with >>> are one session, from top to bottom;
each other ```python fence is a script of its own. What is only to be read is fenced as ```text or ```py.
"""

from __future__ import annotations

import doctest
import importlib
import re
import textwrap
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from extras import what_is_missing

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [file for file in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if file.is_file()]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$", re.M | re.S
)


def skip_where_an_extra_is_missing(error: BaseException) -> None:
    """Skip the test if the error is that a library of an extra is not installed."""
    if missing := what_is_missing(error):
        pytest.skip(missing)


class Runner(doctest.DocTestRunner):
    """Runs doctests; one that needs a missing extra is skipped."""

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        skip_where_an_extra_is_missing(exc_info[1])
        super().report_unexpected_exception(out, test, example, exc_info)


def check(*tests: doctest.DocTest) -> None:
    """Run the doctests; fail with what each wrong example gave."""
    report: list[str] = []
    runner = Runner(optionflags=doctest.ELLIPSIS)
    for test in tests:
        runner.run(test, out=report.append)
    if report:
        pytest.fail("".join(report), pytrace=False)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block of a document: where it starts, what it says it is, and its text."""

    document: Path
    line: int
    info: str
    body: str

    @property
    def is_session(self) -> bool:
        return self.info in {"python", "pycon"} and self.body.lstrip().startswith(">>>")

    @property
    def is_script(self) -> bool:
        return self.info == "python" and not self.is_session

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT).as_posix()}:{self.line}"


def read_fences(document: Path) -> list[Fence]:
    """Return the fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    return [
        Fence(
            document=document,
            line=text.count("\n", 0, match.start("body")) + 1,
            info=match["info"].strip(),
            body=match["body"],
        )
        for match in FENCE.finditer(text)
    ]


FENCES = [fence for document in DOCUMENTS for fence in read_fences(document)]
SESSIONS = sorted({fence.document for fence in FENCES if fence.is_session})
SCRIPTS = [fence for fence in FENCES if fence.is_script]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where a reader works, next to examples/, but leave no file in the repository."""
    if (ROOT / "examples").is_dir():
        (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def test_no_module_is_forgotten(source_tree: Path, module_names: tuple[str, ...]) -> None:
    rooms = [link.resolve() for link in (source_tree / "midstream").iterdir() if link.is_symlink()]
    files = {
        ".".join(["midstream", *file.relative_to(base).with_suffix("").parts])
        for room, base in [
            (source_tree / "midstream", source_tree / "midstream"),
            *((r, source_tree) for r in rooms),
        ]
        for file in room.rglob("*.py")
    }
    files = {name.removesuffix(".__init__") for name in files if not name.endswith(".__main__")}
    assert files == set(module_names)


def test_module(module_name: str, reader: None) -> None:
    module: types.ModuleType = importlib.import_module(module_name)
    check(*doctest.DocTestFinder(exclude_empty=True).find(module))


@pytest.mark.parametrize("document", SESSIONS, ids=lambda d: d.relative_to(ROOT).as_posix())
def test_session_of_document(document: Path, reader: None) -> None:
    lines = [""] * len(document.read_text(encoding="utf-8").splitlines())
    for fence in FENCES:
        if fence.document == document and fence.is_session:
            body = fence.body.splitlines()
            lines[fence.line - 1 : fence.line - 1 + len(body)] = body
    name = document.relative_to(ROOT).as_posix()
    check(doctest.DocTestParser().get_doctest("\n".join(lines), {"__name__": "__main__"}, name, name, 0))


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_script_of_document(script: Fence, reader: None) -> None:
    blank = "\n" * (script.line - 1)  # so that a traceback shows the line of the document
    code = compile(blank + textwrap.dedent(script.body), str(script.document), "exec")
    exec(code, {"__name__": "__main__"})
