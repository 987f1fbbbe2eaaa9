"""CSV as DuckDB's sniffer sees it, with what it passes over in silence."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import NamedTemporaryFile
from typing import Any

from midstream.io.readers import csv_fault
from midstream.io.requirements import require_libraries
from midstream.io.sniffing.csv_columns import (
    CsvColumn,
    csv_columns,
    has_decimal_commas,
    is_row,
    null_note,
    null_words,
    type_note,
    with_doubtful_points,
)
from midstream.io.sniffing.samples import Sample, sample_of
from midstream.io.sniffing.tables import Table
from midstream.io.sources.bad_rows import shown
from midstream.plans.sql.declarations import OptionValue, literal
from midstream.plans.values.errors import InputFileError

SEPARATORS = ",;\t|"

_Record = tuple[int, list[str]]
"""The fields of a record, behind the number of its first line."""

Options = Mapping[str, Any]
"""Options by name; of repeatable ones, a list."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """DuckDB's findings: how a file is written, and the types of its columns."""

    delim: str
    quote: str
    has_header: bool
    skipped: int
    types: tuple[str, ...]


def sniffed_csv(path: str, options: Options) -> Table:
    """The columns of a CSV file, by DuckDB's sniffer and by rules of ours; `options` overrule both.

    - A word such as NA is a missing value where all other values of its column are numbers or dates.
    - Numbers such as 1,5 have decimal commas where fields are not separated by commas, no column has decimal
      points, and commas cannot stand between thousands.
    - Integers beyond 64 bits are integers. So is 5.0 in a column with missing values.
    - Other types are DuckDB's. There is a doubt about a column with values that our readers refuse.

    Raises   MissingExtra without DuckDB; InputFileError for rows that DuckDB would skip, with the line.
    """
    require_libraries(("duckdb",), "duckdb", "CSV needs unless CREATE STREAM declares it")
    sample = sample_of(path, options.get("encoding"), options.get("quote", '"'))
    if "delim" in options:
        sample = _of_one_width(sample, options["delim"], options.get("quote", '"'))
    dialect, records = _layout(sample, options)
    delim, quote = dialect.delim, dialect.quote
    has_header = options.get("header", dialect.has_header)
    found = csv_columns(records, dialect.types, has_header, options)
    guesses, first_found = _guesses(found, delim, options), found
    has_points = "decimal_separator" not in options and "thousands" not in options
    options = {**options, **guesses}
    if guesses:
        dialect = _duckdb(sample, {**options, "delim": delim, "quote": quote})
        found = csv_columns(records, dialect.types, has_header, options)
    if has_header and "header" not in options and is_row(found, options):
        has_header = False
        found = csv_columns(records, dialect.types, has_header, options)
    if has_points and "decimal_separator" not in guesses:
        found = list(with_doubtful_points(found, delim, guesses.get("nullstr", ())))
    notes = [note for column in found if (note := type_note(column, dialect.types[column.position]))]
    if "nullstr" in guesses:
        notes.append(null_note(guesses["nullstr"], first_found, found))
    named = tuple(column.plain for column in found if column.name)
    if len(named) < len(found):
        notes.append("columns without a name are left out")
    return Table(
        "csv",
        named,
        tuple(_written(sample, delim, quote, has_header, options)),
        f"CSV in {sample.encoding or 'utf-8'}, fields by {delim!r}{'' if has_header else ', no header'}",
        tuple(notes),
        sample.is_whole,
        frozenset(column.name for column in found if not column.name),
    )


def _guesses(columns: Sequence[CsvColumn], delim: str, options: Options) -> dict[str, Any]:
    """Options that nobody gave: words for missing values, and commas for decimals."""
    guesses: dict[str, Any] = {}
    if "nullstr" not in options and (words := null_words(columns)):
        guesses["nullstr"] = words
    words = guesses.get("nullstr", ())
    if "decimal_separator" not in options and has_decimal_commas(columns, delim, words):
        guesses["decimal_separator"] = ","
    return guesses


def _written(
    sample: Sample, delim: str, quote: str, has_header: bool, options: Options
) -> list[tuple[str, OptionValue]]:
    """The options that differ from their defaults."""
    found: list[tuple[str, OptionValue]] = []
    if delim != ",":
        found.append(("delim", delim))
    if quote != '"':
        found.append(("quote", quote))
    if not has_header:
        found.append(("header", False))
    if options.get("decimal_separator", ".") != ".":
        found.append(("decimal_separator", options["decimal_separator"]))
    if "thousands" in options:
        found.append(("thousands", options["thousands"]))
    if sample.encoding is not None:
        found.append(("encoding", sample.encoding))
    return found + [("nullstr", word) for word in options.get("nullstr", ())]


def _duckdb(sample: Sample, options: Options) -> _Dialect:
    """The findings of DuckDB in a copy of a sample, which is in UTF-8 and not packed."""
    import duckdb

    words = [
        f", {name} = {literal(options[name])}"
        for name in ("delim", "quote", "header", "decimal_separator", "thousands")
        if name in options
    ]
    if "nullstr" in options:
        words.append(f", nullstr = [{', '.join(map(literal, ['', *options['nullstr']]))}]")
    with NamedTemporaryFile("w", encoding="utf-8", errors="replace", newline="", suffix=".csv") as copy:
        copy.write(sample.text)
        copy.flush()
        sql = (
            'SELECT Delimiter, Quote, "Escape", HasHeader, SkipRows, Columns '
            f"FROM sniff_csv({literal(copy.name)}, sample_size = -1, strict_mode = true{''.join(words)})"
        )
        try:
            with duckdb.connect(config={"threads": 1}) as connection:
                row = connection.execute(sql).fetchone()
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0].replace(copy.name, sample.path)
            raise InputFileError(
                f"{sample.path}: DuckDB finds no way to read it as CSV: {reason}; options such as delim and "
                "quote say how it is written",
                path=sample.path,
            ) from error
    assert row is not None
    delim, quote, escape, has_header, skipped, columns = row
    quote = '"' if quote == "(empty)" else quote
    if escape not in ("(empty)", quote, ""):
        raise InputFileError(
            f"{sample.path}: found quotes behind {escape!r} inside of fields, expected doubled quotes; "
            f"{sample.mended_by('sed', f's/{re.escape(escape)}{quote}/{quote}{quote}/g')} doubles them",
            path=sample.path,
        )
    return _Dialect(delim, quote, has_header, skipped, tuple(column["type"] for column in columns))


def _records(sample: Sample, delim: str, quote: str) -> list[_Record]:
    """The records of a sample, each with the number of its first line."""
    reader = csv.reader(
        io.StringIO(sample.text, newline="\n"),
        strict=True,
        delimiter=delim,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    found: list[_Record] = []
    line = 1
    try:
        for fields in reader:
            if fields:
                found.append((line, fields))
            line = reader.line_num + 1
    except csv.Error as error:
        what, expected = csv_fault(error)
        if "\r" in sample.text and "(CR)" in what:
            ended = sample.mended_by("tr", "\\r", "\\n")
            expected = f"lines that end with LF or CR LF; {ended} ends them so"
        elif '\\"' in sample.text:
            doubled = sample.mended_by("sed", r's/\\"/""/g')
            expected = f"doubled quotes inside of fields; {doubled} doubles those behind backslashes"
        elif quote:
            expected += "; mend the quotes, or write quote = '' if fields have none"
        raise InputFileError(
            f"{sample.path}, line {line}: found {what}, expected {expected}", path=sample.path, line=line
        ) from None
    return found


def _layout(sample: Sample, options: Options) -> tuple[_Dialect, list[_Record]]:
    """The dialect of a sample, and its records.

    DuckDB skips the rows in front of one that is too wide, the header among them, or finds a single column.

    Raises   InputFileError for such a row, with its line.
    """
    line = sample.text.partition("\n")[0]
    likely = options.get("delim", max(SEPARATORS, key=line.count))
    try:
        dialect = _duckdb(sample, options)
    except InputFileError:
        _require_one_width(sample, _records(sample, likely, options.get("quote", '"')), likely)
        raise
    dialect = replace(
        dialect, delim=options.get("delim", dialect.delim), quote=options.get("quote", dialect.quote)
    )
    is_single = len(dialect.types) == 1 and likely in line
    delim = likely if is_single else dialect.delim
    records = _records(sample, delim, dialect.quote)
    _require_one_width(sample, records, delim)
    first_line, first = records[0]
    if dialect.skipped >= first_line or len(first) != len(dialect.types):
        raise InputFileError(
            f"{sample.path}, line {first_line}: found {shown(line)}, which DuckDB skips in silence, expected "
            f"the names of columns or a row; {sample.mended_by('tail', '-n', f'+{records[1][0]}')} leaves it "
            "out"
            if len(records) > 1
            else "rows",
            path=sample.path,
            line=first_line,
        )
    return dialect, records


def _require_one_width(sample: Sample, records: Sequence[_Record], delim: str) -> None:
    """Raise InputFileError for a record with more or fewer fields than most."""
    width = _usual_width(records)
    number, fields = next((one for one in records if len(one[1]) != width), (0, []))
    if not number:
        return
    remedy = (
        f"mend it, or remove the line, or write delim = {literal(delim)}, so that --dead-letters FILE of "
        "midstream sql sets such lines aside"
    )
    if len(records[0][1]) != width:
        remedy = _with_header(sample, records, width, delim)
    raise InputFileError(
        f"{sample.path}, line {number}: found {len(fields)} fields, expected {width}, as most lines have; "
        f"{remedy}",
        path=sample.path,
        line=number,
    )


def _usual_width(records: Sequence[_Record]) -> int:
    return Counter(len(fields) for _, fields in records).most_common(1)[0][0]


def _with_header(sample: Sample, records: Sequence[_Record], width: int, delim: str) -> str:
    """The command that makes a file whose first line has as many fields as most lines."""
    (_, header), *rows = records
    first_row = next(number for number, fields in records if len(fields) == width)
    if len(header) == 1 or len(rows[0][1]) != width:
        without = sample.mended_by("tail", "-n", f"+{first_row}")
        return f"{without} leaves out the lines in front of line {first_row}"
    if len(header) > width:
        nothing = delim * (len(header) - width)
        return (
            f"{sample.mended_by('sed', f'2,$s/$/{nothing}/')} adds fields without a value at the ends of rows"
        )
    names = [f"column{position}" for position in range(len(header), width)]
    behind = sample.mended_by("sed", f"1s/$/{delim}{delim.join(names)}/")
    if not any("".join(fields[len(header) :]) for _, fields in rows):
        return f"{behind} adds names behind"
    in_front = sample.mended_by("sed", f"1s/^/{delim.join(names)}{delim}/")
    return f"{behind} adds names behind, {in_front} in front"


def _of_one_width(sample: Sample, delim: str, quote: str) -> Sample:
    """A sample without the records that are not as wide as most.

    Raises   InputFileError where the first record is none of these, because the run takes it for the header.
    """
    records = _records(sample, delim, quote)
    width = _usual_width(records)
    if len(records[0][1]) != width:
        _require_one_width(sample, records, delim)
    fitting = [fields for _, fields in records if len(fields) == width]
    if len(fitting) == len(records):
        return sample
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delim, quotechar=quote or '"', lineterminator="\n").writerows(fitting)
    return replace(sample, text=text.getvalue())
