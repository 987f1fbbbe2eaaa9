"""Pictures in files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from midstream.io.new_file import write_file
from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import InputFileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMS = (".png", ".svg")


def require_picture(file: Path, what: str = "picture") -> None:
    """Raise unless a picture can be drawn to the file; call this before long work."""
    if file.suffix not in FORMS:
        raise InputFileError(f"{file}: expected a {what}'s name to end in {' or '.join(FORMS)}", path=file)
    require_libraries(("matplotlib",), "plot", f"{what}s need")


def write_picture(figure: Figure, file: str | os.PathLike[str], form: str) -> None:
    """Write a figure as a png or svg file.

    Raises   ConnectorError.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format=form)
    write_file(file, drawn.getvalue())
