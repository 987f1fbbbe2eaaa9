"""Contents of a report, for a terminal, a page or a notebook: sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from midstream.scenarios.studies.declaration import Study


Summary = dict[str, Any]
"""Results of a stage as plain data, for JSON."""


@dataclass(frozen=True)
class Table:
    """A table of texts with titles.

    texts    number of first columns that hold words; the others hold numbers
    note     a line below the table
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing, with a version in characters.

    name             differs from those of the stage's other pictures
    has_own_ground   drawn in colours of its own instead of the page's
    text             the drawing in characters, for terminals
    """

    name: str
    title: str
    caption: str
    words: Sequence[str]
    draw: Callable[[], Figure]
    has_own_ground: bool = False
    text: Callable[[], str] | None = None


@dataclass(frozen=True)
class Report:
    """An outcome for people.

    advice    recommendations, the most important first; empty where that is for other stages
    facts     few sentences
    holds     False where a check of the stage fails
    """

    facts: Sequence[str] = ()
    advice: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    holds: bool = True


def frame(study: Study, starts: range) -> Summary:
    """The header of every study's summary: its name and title, and its buckets."""
    return {
        "study": study.name,
        "title": study.title,
        "unit": study.clock.unit,
        "bucket": starts.step,
        "buckets": len(starts),
        "first": starts[0] if starts else None,
        "last": starts[-1] if starts else None,
    }


def bucket_facts(study: Study, summary: Summary) -> list[str]:
    """The number of buckets, and the time that they cover."""
    if not summary["buckets"]:
        return ["The streams hold no elements."]
    clock, end = study.clock, summary["last"] + summary["bucket"]
    return [
        f"{summary['buckets']:,} buckets of {clock.show_duration(summary['bucket'])}, from "
        f"{clock.show(summary['first'])} to {clock.show(end)}."
    ]


def more_buckets(summary: Summary, listed: int) -> str:
    """A note on the buckets that a table does not list."""
    more = summary["buckets"] - listed
    return f"… and {more:,} more buckets: files have all, the option rows lists more" if more else ""
