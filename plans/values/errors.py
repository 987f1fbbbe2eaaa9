"""The one family of errors that Midstream raises for bad input, with a type per cause.

The class docstring says what to do about it. The message says who, what arrived and what was expected. The
facts are attributes too, so that a program need not parse a message.
"""

from __future__ import annotations

from typing import Any


class MidstreamError(Exception):
    """Something that the caller gave cannot be accepted. Every error of this package is one of these."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        for name, fact in facts.items():
            setattr(self, name, fact)


class ArgumentError(MidstreamError):
    """A function was called with what it cannot take. The message says what it expects."""


class SchemaError(MidstreamError):
    """A row, a column or a type does not fit the declared schema.

    Compare the declaration of the stream with what the source delivers.
    """


class ExpressionError(MidstreamError):
    """An expression reads a column that its input lacks, or combines types that do not go together."""


class FunctionError(MidstreamError):
    """A user's function raised an error, or gave a value of another type than it is declared to give.

    Mend the function, or let a condition, a join, a grouping or CASE keep away from it what it does not take.
    """


class PlanError(MidstreamError):
    """A plan is not well-formed: an operator does not fit its inputs."""


class PlanFormatError(MidstreamError):
    """A serialised plan cannot be read back, or a plan holds something that has no serial form.

    Python callables have none: use symbolic expressions where a plan must be written to a file.
    """


class StreamOrderError(MidstreamError):
    """An input delivered an element that starts before its predecessor, or before a heartbeat.

    Sort the source, or put a reordering buffer in front of it.
    """


class LateElementError(StreamOrderError):
    """An element came later than the declared slack or delay of its stream allows.

    Results that it belongs to may be out already. Declare a larger bound, or give a dead-letter sink for
    those that are late all the same.
    """


class IntervalError(MidstreamError):
    """An element's validity is empty, is not made of integers, or is not a chronon where one was declared."""


class DeclarationError(MidstreamError):
    """An element breaks what is declared of its stream or relation: a key, or a reference.

    Fix the source, drop the declaration, or give a dead-letter sink for what breaks it. Where the source is
    known to keep it, declare it as not enforced, and nobody looks.
    """


class TieError(MidstreamError):
    """Rows that a window counts have the same timestamp, so that it is not defined which are the last.

    Declare `ties="arrival"` on the window, where the order of arrival is meant.
    """


class EndedError(MidstreamError):
    """An input delivered something after its end."""


class UnknownStreamError(MidstreamError):
    """A stream was named that the query does not read."""


class MigrationRefused(MidstreamError):
    """A migration cannot be proved correct, so it does not start; the running plan goes on unharmed.

    The message names the operator and the reason. Choose another strategy, or another plan.
    """


class StatisticsError(MidstreamError):
    """The cost model was asked about a stream that it has no statistics for."""


class EnumerationLimit(MidstreamError):
    """There are more equivalent plans than the caller allowed to enumerate. Raise the limit."""


class InputFileError(MidstreamError):
    """A file with streams, plans or study declarations cannot be read as what it should be."""


class MissingExtra(MidstreamError):
    """A feature needs an optional dependency, or a system program, that is not there.

    The message says what to install.
    """


class SqlError(MidstreamError):
    """A statement cannot be understood, or asks for what cannot be done.

    The message shows where: line, column, and a caret under what was found. `line` and `column` count from 1.
    """


class Note(UserWarning):
    """A fact that the user of a running query should know, told once; the commands print it."""
