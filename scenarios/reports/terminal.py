"""Reports on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from midstream.scenarios.reports.contents import Cell, Mark, Report, Section, Table

GAP = 3
"""The cells between two columns."""

STYLES = {"good": "green", "bad": "bold red", "off": "yellow"}
"""Styles of marks, by their tone."""


def show_report(title: str, report: Report, console: Console) -> None:
    """Print a report: its title, if it has one, advice and facts, pictures in characters, and tables."""
    if title:
        console.print(Text(title, style="bold"))
    for line in (*(f"• {line}" for line in report.advice), *report.facts):
        console.print(Text(line))
    for picture in report.pictures:
        if picture.text is not None:
            console.print()
            console.print(Text(picture.text()))
    for table in report.tables:
        console.print()
        show_table(table, console)


def show_sections(title: str, sections: Iterable[Section], console: Console) -> None:
    """Print a title, and the reports of sections; a table without a caption has its section's title."""
    console.print(Text(title, style="bold"))
    for section in sections:
        report = section.report
        tables = [replace(table, caption=table.caption or section.title) for table in report.tables]
        show_report("", replace(report, tables=tables), console)


def show_table(table: Table, console: Console) -> None:
    """Print a table; a table that is too wide becomes several, each with the columns of words."""
    if table.caption:
        console.print(Text(f"{table.caption}:\n"))
    for number, columns in enumerate(_parts(table, console.width)):
        if number:
            console.print()
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for i in columns:
            is_text = i < table.texts
            # A number of which digits are cut off is another number.
            shown.add_column(
                table.titles[i], justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text
            )
        for row in table.rows:
            shown.add_row(*(_text(row[i]) for i in columns))
        console.print(shown)
    if table.note:
        console.print(Text(table.note))


def _text(cell: Cell) -> Text:
    return Text(cell.text, STYLES[cell.tone]) if isinstance(cell, Mark) else Text(cell)


def _parts(table: Table, room: int) -> list[list[int]]:
    """The columns of each table that is printed."""
    texts = [[_text(cell).plain for cell in row] for row in table.rows]
    columns = zip(table.titles, *texts, strict=True)
    widths = [max(map(cell_len, ("", *"\n".join(column).splitlines()))) for column in columns]
    words = list(range(table.texts))
    left = room - sum(min(widths[i], room // 2) + GAP for i in words)
    parts: list[list[int]] = [[]]
    for i in range(table.texts, len(table.titles)):
        if parts[-1] and sum(widths[j] + GAP for j in (*parts[-1], i)) > left:
            parts.append([])
        parts[-1].append(i)
    return [words + part for part in parts]
