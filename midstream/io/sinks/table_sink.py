"""Show results as a table, which moves on a terminal."""

from __future__ import annotations

import io
import sys
from collections import deque
from typing import TYPE_CHECKING

from midstream.io.file_formats import VALIDITY
from midstream.io.output import STDOUT, TextOutput
from midstream.io.sinks.sink import Sink, Times, integers
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

LINES = 40
"""The number of results that a table shows where no terminal says how high it is."""

AROUND = 8
"""The lines of a terminal that are not for results: the frame, the caption and the next prompt."""


class TableSink(Sink):
    """Shows the last results as a table: at once on a terminal, else at the end.

    State    The results that are shown.

    >>> with TableSink("results.txt", Schema.of(item="integer", name="string?")) as sink:
    ...     sink.write([(1000, 6000, (7, "lamp")), (2000, float("inf"), (8, None))])
    >>> from pathlib import Path
    >>> print(Path("results.txt").read_text().rstrip())
     start    end   item   name
    ────────────────────────────
      1000   6000      7   lamp
      2000             8
    2 results
    """

    def __init__(self, path: str, schema: Schema, name: str | None = None, times: Times = integers) -> None:
        self.schema = schema
        self._times = times
        self._count = 0
        self._output = TextOutput(path, name)
        self._live: Live | None = None
        self._last: deque[Element] = deque(maxlen=LINES)
        if path == STDOUT and sys.stdout.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console()
            self._last = deque(maxlen=max(1, console.size.height - AROUND))
            self._live = Live(console=console, refresh_per_second=8, get_renderable=self._table)
            self._live.start()

    @property
    def is_wanted(self) -> bool:
        return self._output.is_wanted

    def write(self, batch: Batch) -> None:
        self._count += len(batch)
        self._last.extend(batch)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
        else:
            from rich.console import Console

            text = io.StringIO()
            Console(file=text, width=10_000).print(self._table())
            lines = "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
            self._output.write(lines)
        self._output.close()

    def _table(self) -> Group:
        from rich.box import SIMPLE_HEAD
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = len(self._last)
        rest = (
            "" if shown == self._count else f", of which the last {shown:,} are shown; --format jsonl has all"
        )
        table = Table(
            box=SIMPLE_HEAD,
            header_style="",
            show_edge=False,
        )
        for name in VALIDITY:
            table.add_column(name, justify="right", no_wrap=True)
        for column in self.schema:
            is_number = column.type in (Type.INTEGER, Type.FLOAT)
            table.add_column(Text(column.name), justify="right" if is_number else "left")
        unit = self._times()
        show = str if unit is None else iso_format(unit.nanoseconds)

        def instant(time: Time) -> str:
            return "" if time in (BEGINNING, FOREVER) else show(int(time))

        for start, end, row in list(self._last):
            table.add_row(instant(start), instant(end), *map(_text, row))
        return Group(table, Text(f"{self._count:,} results{rest}"))


def _text(value: object) -> str:
    from rich.markup import escape

    if value is None:
        return ""
    return escape(str(value).lower() if isinstance(value, bool) else str(value))
