"""Options of several commands."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

Logarithmic = Annotated[
    bool,
    typer.Option("--logarithmic", help="Parts of rates grow by equal factors."),
]
STRATEGY_NAMES = (
    "swap, genmig-reference-point, genmig-end-timestamp, genmig, parallel-track, moving-states, auto"
)
"""The names of all strategies, which a test compares: help does not load migration."""

LittleOf = Annotated[
    str, typer.Option(help="The costs to keep small, as in explain: processing, memory, state, …")
]
