"""All errors that Midstream raises for bad input; each is a `MidstreamError`.

    from midstream import errors

    try:
        engine.push("bids", elements)
    except errors.LateElementError as error:
        print(error)

calls         ArgumentError, EndedError, ThreadError, UnknownStreamError, MissingExtra
queries       SqlError, PlanError, PlanFormatError, SchemaError, ExpressionError, FunctionError
elements      StreamOrderError, LateElementError, IntervalError, DeclarationError, TieError
migrations    MigrationRefused, EnumerationLimit, StatisticsError
budgets       BudgetExceeded
files         InputFileError; sources and sinks raise `midstream.io.ConnectorError` besides
warnings      Note, MigrationNote, QueryNote

The message says who complains, what was found and what was expected. The docstring of each class says what to
do.
"""

from midstream.plans.values.errors import (
    ArgumentError,
    BudgetExceeded,
    DeclarationError,
    EndedError,
    EnumerationLimit,
    ExpressionError,
    FunctionError,
    InputFileError,
    IntervalError,
    LateElementError,
    MidstreamError,
    MigrationNote,
    MigrationRefused,
    MissingExtra,
    Note,
    PlanError,
    PlanFormatError,
    QueryNote,
    SchemaError,
    SqlError,
    StatisticsError,
    StreamOrderError,
    ThreadError,
    TieError,
    UnknownStreamError,
)

__all__ = [
    "ArgumentError",
    "BudgetExceeded",
    "DeclarationError",
    "EndedError",
    "EnumerationLimit",
    "ExpressionError",
    "FunctionError",
    "InputFileError",
    "IntervalError",
    "LateElementError",
    "MidstreamError",
    "MigrationNote",
    "MigrationRefused",
    "MissingExtra",
    "Note",
    "PlanError",
    "PlanFormatError",
    "QueryNote",
    "SchemaError",
    "SqlError",
    "StatisticsError",
    "StreamOrderError",
    "ThreadError",
    "TieError",
    "UnknownStreamError",
]
