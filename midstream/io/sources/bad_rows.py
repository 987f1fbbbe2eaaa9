"""Rows that do not fit their stream's declaration: they end the run or go to a dead-letter file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock
from typing import Any

from midstream.io.new_file import NewFile
from midstream.io.output import TextOutput
from midstream.plans.values.errors import InputFileError

SHOWN = 80
"""The largest number of characters that a message shows of a value."""


class Misfit(Exception):
    """A row does not fit: the column, the value found there, and what was expected.

    further    the columns that the row has beside those of its stream, where these were sniffed
    """

    def __init__(self, column: str | None, value: str, expected: str, *, further: Sequence[str] = ()) -> None:
        place = f"column {column}: " if column is not None else ""
        super().__init__(readable(f"{place}found {value}, expected {expected}"))
        self.column = column
        self.value = value
        self.expected = expected
        self.further = further

    @property
    def facts(self) -> Mapping[str, Any]:
        """The attributes of the error that it becomes."""
        facts = {"column": self.column, "found": self.value, "expected": self.expected}
        return {**facts, "further": self.further} if self.further else facts


class WrongSource(Misfit):
    """A source does not fit, whatever its rows are; this always ends the run."""


def readable(text: str) -> str:
    """Escape halves of surrogate pairs: they stand for bytes that are not text, and no file takes them.

    >>> readable("caf\\udce9")
    'caf\\\\udce9'
    """
    return text.encode(errors="backslashreplace").decode()


def shown(value: object) -> str:
    """A value as messages show it, cut to SHOWN characters.

    >>> shown("x" * 1000) == "'" + "x" * (SHOWN - 2) + "…"
    True
    """
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


class BadRows:
    """Handles rows that do not fit: the first one ends the run, or all go to a dead-letter file.

    dead_letters    a file in JSON Lines: per row its source, its line there (its number, if a source has no
                    lines), the reason and the text of the row; a NewFile, which replaces an existing file

    State    Only the count.
    Raises   InputFileError for the first bad row if there is no dead-letter file; ConnectorError for a file
             that cannot be written.

    >>> with BadRows(Path("dead.jsonl")) as bad:
    ...     bad.report("bids.csv", "line", 3, Misfit("price", "'dear'", "float"), "7,dear")
    ...     bad.count
    1
    >>> print(Path("dead.jsonl").read_text().rstrip())
    {"source": "bids.csv", "line": 3, "reason": "column price: found 'dear', expected float", "row": "7,dear"}
    >>> BadRows().report("bids.csv", "line", 3, Misfit("price", "'dear'", "float"), "7,dear")
    Traceback (most recent call last):
    midstream.plans.values.errors.InputFileError: bids.csv, line 3, column price: found 'dear', expected float
    """

    def __init__(self, dead_letters: Path | None = None) -> None:
        self.count = 0
        """The number of rejected rows."""
        self._files = ExitStack()
        self._output: TextOutput | None = None
        self._lock = Lock()  # several sources may be read at the same time
        if dead_letters is not None:
            # Open it now: a path that cannot be written must fail at once, not after hours.
            name = f"dead letters, {dead_letters}"
            file = self._files.enter_context(NewFile(dead_letters, name=name, describe=self._description))
            self._output = self._files.enter_context(closing(TextOutput(file.place, name)))

    def report(self, source: str, unit: str, number: int, misfit: Misfit, row: str) -> None:
        """Reject a row; `unit` is the unit of `number`: lines or rows."""
        if self._output is None:
            self.count += 1
            place = f"{source}, {unit} {number}{',' if misfit.column is not None else ':'} "
            raise InputFileError(
                f"{place}{misfit}",
                path=Path(source),
                **misfit.facts,
                **{unit: number},
            )
        self._write({"source": source, "line": number, "reason": str(misfit), "row": readable(row)})

    def bury(self, source: str, number: int | None, reason: str, row: str) -> None:
        """Write a dead letter for a row that fits, but that the engine refuses; a file is required."""
        self._write({"source": source, "line": number, "reason": reason, "row": readable(row)})

    def _write(self, letter: dict[str, Any]) -> None:
        assert self._output is not None
        with self._lock:
            self.count += 1
            self._output.write(json.dumps(letter, ensure_ascii=False) + "\n")
            self._output.flush()  # a full disk must fail at once, not after hours

    def _description(self) -> str:
        return f"{self.count:,} rows that were rejected" if self.count else ""

    def __enter__(self) -> BadRows:
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)
