"""What a stage of a study tells: sentences, tables and pictures, for a page or for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """Rows of texts under titles.

    texts    how many of the first columns hold words; the others hold numbers
    note     what is said below
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it shows in words.

    name             tells it from the others of its stage
    has_own_ground   whether it has colours of its own, and not those of the page
    """

    name: str
    title: str
    caption: str
    words: Sequence[str]
    draw: Callable[[], Figure]
    has_own_ground: bool = False


@dataclass(frozen=True)
class Told:
    """What a stage found.

    advice    what to do about it, the most important first; empty where that is for other stages to say
    facts     the rest in few sentences
    holds     whether the answer is yes, where the stage answers a question
    """

    facts: Sequence[str] = ()
    advice: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    holds: bool = True
