"""Options of several commands."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

Logarithmic = Annotated[
    bool, typer.Option("--logarithmic", help="Parts of rates are equal times as large, not equally long.")
]
LittleOf = Annotated[
    str, typer.Option(help="What is wanted little of, as in explain: processing, memory, state, …")
]
