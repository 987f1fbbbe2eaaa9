"""Contents of a report, for a terminal, a page or a notebook: sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Mark(NamedTuple):
    """A cell of a table that is good, bad, or out of the ordinary; `meaning` says why."""

    text: str
    tone: Literal["good", "bad", "off"]
    meaning: str = ""


Cell = str | Mark
"""A cell of a table; after the first line of a text, the others are secondary."""


@dataclass(frozen=True)
class Table:
    """A table with titles.

    texts    number of first columns that hold words; the others hold numbers
    note     a line below the table
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing, with a version in characters.

    name             differs from those of the other pictures of its section
    words            sentences that say what it shows
    has_own_ground   drawn in colours of its own instead of the page's
    is_wide          as wide as the page
    text             the drawing in characters, for terminals
    """

    name: str
    title: str
    caption: str
    words: Sequence[str]
    draw: Callable[[], Figure]
    has_own_ground: bool = False
    is_wide: bool = False
    text: Callable[[], str] | None = None


@dataclass(frozen=True)
class Report:
    """An outcome for people.

    advice    recommendations, the most important first; empty where that is for others
    facts     few sentences
    holds     False where a check fails
    """

    facts: Sequence[str] = ()
    advice: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    holds: bool = True


@dataclass(frozen=True)
class Section:
    """A part of a page.

    values    names and their values
    texts     texts that are shown as they are, each with its title or ""
    """

    title: str
    report: Report = Report()
    values: Sequence[tuple[str, str]] = ()
    texts: Sequence[tuple[str, str]] = ()
