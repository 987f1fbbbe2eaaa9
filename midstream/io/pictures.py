"""Pictures in files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def drawn(figure: Figure, form: str) -> bytes:
    """A figure as a file of a form, such as svg; the same figure gives the same bytes."""
    from matplotlib import rc_context

    metadata: Any = {"Date": None} if form == "svg" else None
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "midstream", "text.parse_math": False}):
        figure.savefig(content, format=form, metadata=metadata)
    return content.getvalue()


def write_picture(figure: Figure, file: str | os.PathLike[str], form: str) -> None:
    """Write a figure as a png or svg file.

    Raises   ConnectorError.
    """
    write_file(file, drawn(figure, form))
