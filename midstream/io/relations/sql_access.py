"""Databases through SQLAlchemy: engines, names for messages, and translated errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from midstream.io.errors import DatabaseError
from midstream.plans.values.errors import InputFileError, MidstreamError, MissingExtra

Database = str | os.PathLike[str] | sa.Engine
"""A URL of SQLAlchemy, the path of an SQLite file, or an engine of SQLAlchemy."""


@contextmanager
def opened(database: Database) -> Iterator[sa.Engine]:
    """Open a database for reading during a block; an engine of the caller's stays open.

    Raises   InputFileError where the SQLite file is missing: SQLite would make an empty one.
    """
    if isinstance(database, sa.Engine):
        yield database
        return
    engine = connect(database)
    try:
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        if file and not file.startswith((":memory:", "file:")) and not Path(file).is_file():
            raise InputFileError(f"{file}: found no such file, expected an SQLite database", path=file)
        yield engine
    finally:
        engine.dispose()


def connect(database: str | os.PathLike[str], *, for_writing: bool = False) -> sa.Engine:
    """Make an engine for a URL or the path of an SQLite file; it does not connect yet.

    With `for_writing`, an SQLite database gets a write-ahead log. Then others can read while results are
    written, and commits need not wait for the disk. A power failure may undo the last commits, but never a
    part of one.

    Raises   DatabaseError for an invalid URL, MissingExtra where its driver is not installed.
    """
    text = os.fspath(database)
    try:
        url = sa.make_url(text) if "://" in text else sa.URL.create("sqlite", database=text)
        is_sqlite = url.get_backend_name() == "sqlite"
        # SQLAlchemy's other styles for SQLite stumble over %( in a column's name.
        engine = sa.create_engine(url, paramstyle="named") if is_sqlite else sa.create_engine(url)
    except (exc.ArgumentError, exc.NoSuchModuleError, ValueError) as error:
        raise DatabaseError(
            f"found a database that cannot be opened ({_reason(error)}), expected a URL such as "
            "postgresql+psycopg://host/name, or the path of an SQLite file"
        ) from None
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"found no {error.name}, which databases of type {url.drivername} need; install it",
            missing=[error.name],
        ) from error
    if is_sqlite and for_writing:
        event.listen(engine, "connect", _allow_readers)
    return engine


def _allow_readers(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def shown(engine: sa.Engine) -> str:
    """A database's name for messages, without its password."""
    if engine.dialect.name == "sqlite":
        return engine.url.database or ":memory:"
    return engine.url.render_as_string(hide_password=True)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn errors of SQLAlchemy and drivers into errors of Midstream that name the place."""
    try:
        yield
    except (exc.SQLAlchemyError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "orig", None) or error
        if isinstance(reason, MidstreamError):
            raise type(reason)(f"{place}: {reason}") from error
        raise DatabaseError(f"{place}: {_reason(reason)}", place=place) from error


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())
