"""Options of several commands."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

Logarithmic = Annotated[
    bool,
    typer.Option("--logarithmic", help="Parts of rates grow by equal factors."),
]
LittleOf = Annotated[
    str, typer.Option(help="The costs to keep small, as in explain: processing, memory, state, …")
]
