"""Errors that show where in a script they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from midstream.plans.values.errors import MidstreamError, SqlError
from midstream.plans.values.schema import suggest_in_any_case


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a script, and what to call it in messages."""

    text: str
    name: str = "SQL"

    def fault(self, message: str, at: Span | None, **facts: Any) -> SqlError:
        """An error about a place in the script.

        >>> print(Script("SELECT prize FROM bid").fault("there is no column prize", Span(7, 11)))
        SQL, line 1, column 8: there is no column prize
          SELECT prize FROM bid
                 ^^^^^
        """
        if at is None:
            return SqlError(f"{self.name}: {message}", **facts)
        start = max(0, min(at.start, len(self.text)))
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", start)
        shown = self.text[begin : stop if stop >= 0 else len(self.text)].rstrip("\r")
        line, column = self.text.count("\n", 0, start) + 1, start - begin + 1
        before, shown = _part_of(shown, column - 1)
        width = max(1, min(at.end + 1 - start, len(shown) - before))
        # A tab is as wide under the line as in it.
        margin = "".join("\t" if c == "\t" else " " for c in shown[:before])
        message = _shortened(message)
        return SqlError(
            f"{self.name}, line {line}, column {column}: {message}\n  {shown}\n  {margin}{'^' * width}",
            line=line,
            column=column,
            **facts,
        )

    def unknown(self, what: str, name: str, known: Iterable[str], at: Span | None) -> SqlError:
        """The error that there is nothing of a name, with a name that is near."""
        near = suggest_in_any_case(name, known)
        return self.fault(f"there is no {what} {name}{near}", at)

    @contextmanager
    def at(self, where: Callable[[], Span | None]) -> Iterator[None]:
        """Add a place to the errors of plans and expressions."""
        try:
            yield
        except SqlError:
            raise
        except MidstreamError as error:
            raise self.fault(str(error), where()) from error


WIDEST_LINE, LONGEST_MESSAGE = 160, 600
"""Characters; a program may have written the script, and then it can be one line."""


def _part_of(line: str, position: int) -> tuple[int, str]:
    """Of a long line the part around a position, and where the position is in it."""
    if len(line) <= WIDEST_LINE:
        return position, line
    begin = max(0, min(position - WIDEST_LINE // 2, len(line) - WIDEST_LINE))
    end = begin + WIDEST_LINE
    left, right = "…" if begin else "", "…" if end < len(line) else ""
    return position - begin + len(left), f"{left}{line[begin:end]}{right}"


def _shortened(message: str) -> str:
    half = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"


@dataclass(frozen=True, slots=True)
class Span:
    """From the first to the last character of something in a script, counted from 0."""

    start: int
    end: int


def span(node: exp.Expr | None) -> Span | None:
    """The place of an expression: that of all its parts that have one; of what it is part of, if none has."""
    while node is not None:
        found = [part.meta for part in node.walk() if "start" in part.meta]
        if found:
            return Span(min(meta["start"] for meta in found), max(meta["end"] for meta in found))
        node = node.parent
    return None
