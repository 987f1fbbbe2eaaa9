"""Declarations as statements in SQL."""

from __future__ import annotations

import re

from sqlglot.tokens import Tokenizer

from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration, literal
from midstream.plans.values.schema import Type

TYPE_WORDS = {
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.STRING: "TEXT",
    Type.BOOLEAN: "BOOLEAN",
}
"""The words for types of columns that hold no times."""


RESERVED = frozenset(part for word in Tokenizer.KEYWORDS for part in word.split())
"""The words that have another meaning somewhere, as ORDER has in ORDER BY."""


def create_stream(stream: StreamDeclaration) -> str:
    """The statement that declares a stream without keys, references and conditions.

    Executing it gives an equal declaration.

    >>> at = ColumnDeclaration("at", Type.INTEGER, is_timestamp=True)
    >>> n = ColumnDeclaration("big n", Type.INTEGER)
    >>> print(create_stream(StreamDeclaration("bids", (at, n), ordered_by="at")))
    CREATE STREAM bids(
        at TIMESTAMP,
        "big n" BIGINT
    )
        ORDERED BY at;
    """
    assert not stream.keys and not stream.references and not stream.where
    columns = ",\n".join(f"    {column_words(column)}" for column in stream.columns)
    clauses = [f"CREATE STREAM {identifier(stream.name)}(\n{columns}\n)"]
    if stream.source is not None:
        clauses.append(f"    SOURCE {stream.source}")
    if stream.ordered_by is not None:
        clauses.append(f"    ORDERED BY {identifier(stream.ordered_by)}")
    if stream.unit is not None:
        clauses.append(f"    TIME_UNIT {literal(stream.unit.name)}")
    return "\n".join(clauses) + ";"


def column_words(column: ColumnDeclaration) -> str:
    """A column as CREATE has it."""
    word = column.time.upper() if column.time else TYPE_WORDS[column.type]
    word = word if column.decimals is None else "DECIMAL"
    return f"{identifier(column.name)} {word}{'' if column.nullable else ' NOT NULL'}"


def identifier(name: str) -> str:
    """A name as SQL writes it: in quotes, unless it is a plain word of no other meaning.

    >>> identifier("country"), identifier("Umsatz in €"), identifier("select")
    ('country', '"Umsatz in €"', '"select"')
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
