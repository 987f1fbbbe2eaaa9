"""Declarations of files that nobody declared, for `midstream init`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from sqlglot import exp

from midstream.commands import options
from midstream.io.sniffing.file_streams import FileStreams
from midstream.io.sniffing.findings import FUNCTIONS
from midstream.io.sniffing.given_options import OWN_OPTIONS
from midstream.io.sniffing.sniffing import first_misfit, kind_of
from midstream.plans.sql.declarations import FIELDS, StreamDeclaration, literal
from midstream.plans.sql.faults import Script
from midstream.plans.sql.statements import create_stream
from midstream.plans.sql.syntax import FILE, FileWords, QueryStatement, parse
from midstream.plans.values.errors import MidstreamError

_CALL = rf"(?:{'|'.join(FUNCTIONS)})\("
_TEXT = "'(?:[^']|'')*'"
_OPTION = rf"\b(?:{'|'.join((*FIELDS, *OWN_OPTIONS))}) = (?:{_TEXT}|true|false)"
_ADVISED = re.compile(rf"FROM ({_CALL}(?:{_TEXT}|[^')])*\))|({_OPTION}(?:, {_OPTION})*)")
"""A call that stands in FROM, or options; both as messages have them."""


def named_file(argument: str) -> FileWords:
    """The file that an argument names: by its path, a pattern, or a call as it stands in FROM.

    Raises   SqlError.

    >>> named_file("orders.csv").path, named_file("read_csv('o.csv', sort = true)").options[0].name
    ('orders.csv', 'sort')
    """
    begin = "SELECT * FROM "
    is_call = re.match(_CALL, argument, re.IGNORECASE)
    script = Script(f"{begin}{argument if is_call else literal(argument)}", "FILES")
    (statement,) = parse(script)
    assert isinstance(statement, QueryStatement)
    words: FileWords = next(statement.query.find_all(exp.Table)).meta[FILE]
    if (rest := words.at.end + 1) < len(script.text):
        found = script.text[rest:].strip()
        raise MidstreamError(f"FILES: found {found} behind {script.text[len(begin) : rest]}, expected a file")
    return words


def declarations(files: Sequence[FileWords]) -> list[str]:
    """The statements that declare files; the first row of each that does not fit is told.

    Raises   MidstreamError, with what to write in place of the file.
    """
    streams = FileStreams()
    declared: dict[str, StreamDeclaration] = {}
    for file in files:
        given = [(option.name, option.value) for option in file.options]
        try:
            stream = streams.declared(file.path, file.function, given, declared.keys())
        except MidstreamError as error:
            raise MidstreamError(f"{error}{in_place(file, str(error))}") from error
        declared[stream.name.lower()] = stream
        if (misfit := first_misfit(stream)) is not None:
            message = "; ".join(filter(None, (str(misfit), streams.advice(misfit))))
            options.tell([f"{message}{in_place(file, message)}"])
    return list(map(create_stream, declared.values()))


def in_place(file: FileWords, message: str) -> str:
    """The arguments that do what a message advises for FROM; nothing if that has options already."""
    calls: dict[str, None] = {}
    for call, words in _ADVISED.findall(message):
        if call:
            calls[call] = None
        elif not file.options:
            function = file.function or next(
                one for one, kind in FUNCTIONS.items() if kind == kind_of(file.path)
            )
            calls[f"{function}({literal(file.path)}, {words})"] = None
    if not calls:
        return ""
    return f"; in place of {file.path}, midstream init takes {' or '.join(map(_quoted, calls))}"


def _quoted(call: str) -> str:
    """A call as a shell takes it."""
    return shlex.quote(call) if set('"$`\\!') & set(call) else f'"{call}"'
