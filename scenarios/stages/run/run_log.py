"""The log of a study's runs: a line in JSON for each event."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from midstream.scenarios.stages.base.stage import Outcome

FILE = "run-log.jsonl"

LIBRARIES = ("midstream", "pyspark", "pyarrow", "pandas")


def versions() -> dict[str, str]:
    """The versions of Python and the libraries with which a study is made."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


class RunLog:
    """A writer of the log of a study; each line is one write, so that only the last can be incomplete."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._end_torn_line()

    def add(self, stage: str, status: str, **more: Any) -> None:
        """Log an event of a stage with the present time."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"at": now, "stage": stage, "status": status, **more}
        self._append(json.dumps(line, ensure_ascii=False) + "\n")

    @contextmanager
    def timed(self, stage: str, **more: Any) -> Iterator[list[Outcome]]:
        """Log the beginning and the end of a stage; the block adds the outcome to the list."""
        self.add(stage, "started", **more)
        began, found = perf_counter(), list[Outcome]()
        try:
            yield found
        except BaseException as error:
            status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            told = {"reason": str(error)} if status == "failed" else {}
            self.add(stage, status, seconds=round(perf_counter() - began, 3), **told)
            raise
        rows = {"rows_in": found[0].rows_in, "rows_out": found[0].rows_out} if found else {}
        self.add(stage, "done", **rows, seconds=round(perf_counter() - began, 3), **more)

    def lines(self) -> list[dict[str, Any]]:
        """The lines so far, oldest first, without those that are not ours."""
        found = []
        for line in self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return [line for line in found if isinstance(line, dict) and "stage" in line]

    def last_done(self) -> dict[str, dict[str, Any]]:
        """By stage, the log line of its last complete run."""
        return {line["stage"]: line for line in self.lines() if line.get("status") == "done"}

    def _end_torn_line(self) -> None:
        if self.file.exists() and self.file.stat().st_size:
            with self.file.open("rb") as log:
                log.seek(-1, os.SEEK_END)
                is_whole = log.read() == b"\n"
            if not is_whole:
                self._append("\n")

    def _append(self, text: str) -> None:
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
