"""The family of errors that Midstream raises for bad input, with a type per cause.

The docstring of each class says what to do about it. The message says who complains, what arrived and what
was expected. The facts are attributes, too, so that a program need not parse a message.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from types import FrameType
from typing import Any


class MidstreamError(Exception):
    """The base class of all errors of this package: the caller's input cannot be accepted."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        for name, fact in facts.items():
            setattr(self, name, fact)


class ArgumentError(MidstreamError):
    """A function was called with an argument that it cannot take; the message says what it expects."""


class SchemaError(MidstreamError):
    """A row, a column or a type does not fit the declared schema.

    Compare the declaration of the stream with what the source delivers.
    """


class ExpressionError(MidstreamError):
    """An expression reads a column that its input lacks, or combines types that do not fit."""


class FunctionError(MidstreamError):
    """A user's function raised an error, or returned a value of another type than declared.

    Correct the function; or filter out the values that it does not take, by a condition, a join, a grouping
    or CASE.
    """


class PlanError(MidstreamError):
    """A plan is not well-formed: an operator does not fit its inputs."""


class PlanFormatError(MidstreamError):
    """A serialised plan cannot be read back, or a plan holds something that has no serial form.

    Python callables have no serial form: use symbolic expressions where a plan must be written to a file.
    """


class StreamOrderError(MidstreamError):
    """An input delivered an element that starts before its predecessor, or before a heartbeat.

    Sort the source, or put a reordering buffer in front of it.
    """


class LateElementError(StreamOrderError):
    """An element arrived later than the declared slack or delay of its stream allows.

    Results that it belongs to may already have been output. Declare a larger bound, or define a dead-letter
    sink for elements that are late all the same.
    """


class IntervalError(MidstreamError):
    """An element's validity is empty, has no integer ends, or is no chronon where one was declared."""


class DeclarationError(MidstreamError):
    """An element breaks a declaration of its stream or relation: a key, or a reference.

    Fix the source, drop the declaration, or define a dead-letter sink for such elements. If the source is
    known to obey the declaration, declare it as not enforced; then it is not checked.
    """


class TieError(MidstreamError):
    """Rows that a window counts have equal timestamps, so that it is undefined which of them are the last.

    Declare `ties="arrival"` on the window if the order of arrival is meant.
    """


class ThreadError(MidstreamError):
    """A thread used an engine while another thread was inside it; nothing of its call was carried out.

    An engine runs in one thread at a time. Let all threads put elements into one `queue.Queue`, and one
    thread push them; or hold one `threading.Lock` during each call of the engine.
    """


class EndedError(MidstreamError):
    """An input delivered something after its end."""


class UnknownStreamError(MidstreamError):
    """A stream was named that the query does not read."""


class MigrationRefused(MidstreamError):
    """A migration cannot be proved correct, so it does not start; the running plan goes on unharmed.

    The message names the operator and the reason. Choose another strategy, or another plan.
    """


class BudgetExceeded(MidstreamError):
    """A query does not fit into a budget beside those that run, whatever the settings; nothing has changed.

    The message names the nearest budget that would do. Give the budget more, widen the bounds of windows,
    granules and samples, or remove another query.
    """


class StatisticsError(MidstreamError):
    """The cost model has no statistics for a stream that it needs."""


class EnumerationLimit(MidstreamError):
    """There are more equivalent plans than the caller allowed to enumerate; raise the limit."""


class InputFileError(MidstreamError):
    """A file with streams, plans or declarations of a study has not the expected form."""


class MissingExtra(MidstreamError):
    """A feature needs an optional dependency, or a system program, that is not installed.

    The message says what to install.
    """


class SqlError(MidstreamError):
    """A statement cannot be understood, or asks for something impossible.

    The message shows the place: line, column, and a caret below it. `line` and `column` count from 1.
    """


class Note(UserWarning):
    """A fact that the user of a running query should know, reported once; the commands print it."""


class QueryNote(Note):
    """A query may mean something else than its author thinks; reported once for each line that runs it.

    The message says how to write what is meant. `warnings.simplefilter("ignore", ms.errors.QueryNote)` turns
    these notes off.
    """


class MigrationNote(Note):
    """A migration that `migrate` had accepted was refused or aborted later; each tells it once.

    The transition has the `reason`, and the `failure` if the new plan raised. `migrate(…, note=False)` leaves
    the note out where the program reports the transition itself.
    """


def tell(notes: Iterable[str], category: type[Note]) -> None:
    """Warn of notes, at the line outside of Midstream that has led to them."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    # A context manager of ours runs in a frame of contextlib.
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "midstream",
        "contextlib",
    ):
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(note, category, stacklevel=level)
