"""Pictures in files."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from midstream.io.new_file import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_picture(figure: Figure, file: str | os.PathLike[str], form: str) -> None:
    """Write a figure as a png or svg file. Raises ConnectorError."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=form)
    write_file(file, drawn.getvalue())
