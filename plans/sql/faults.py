"""Errors with their places in a script."""

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
    """The text of a script, with its name in messages."""

    text: str
    name: str = "SQL"

    def fault(self, message: str, at: Span | None, **facts: Any) -> SqlError:
        """An error at a place in the script.

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
        # Tabs are repeated, so that the caret stands below its place.
        margin = "".join("\t" if c == "\t" else " " for c in shown[:before])
        message = _shortened(message)
        return SqlError(
            f"{self.name}, line {line}, column {column}: {message}\n  {shown}\n  {margin}{'^' * width}",
            line=line,
            column=column,
            **facts,
        )

    def unknown(self, what: str, name: str, names: Iterable[str], at: Span | None) -> SqlError:
        """The error for an unknown name, with a near name among `names`."""
        near = suggest_in_any_case(name, names)
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
"""Most characters of a shown line, and of a message; a program may write a script as one long line."""


def _part_of(line: str, position: int) -> tuple[int, str]:
    """The part of a long line around a position, with the position in it."""
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
    """The first and the last character of a part of a script, counted from 0."""

    start: int
    end: int


def span(node: exp.Expr | None) -> Span | None:
    """The place of an expression: that of all its parts with a place, or else that of its parent."""
    while node is not None:
        metas = [part.meta for part in node.walk() if "start" in part.meta]
        if metas:
            return Span(min(meta["start"] for meta in metas), max(meta["end"] for meta in metas))
        node = node.parent
    return None
