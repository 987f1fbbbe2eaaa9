"""What a benchmark was asked for, checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from midstream.io.new_file import checked_folder
from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.schema import suggest

PICTURES = (".png", ".svg")


class BenchmarkError(MidstreamError):
    """A benchmark was asked for that cannot be run. The message names the option and what it takes."""


class HasName(Protocol):
    """What has a name."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=HasName)


def chosen_items(names: str | None, items: Sequence[N]) -> tuple[N, ...]:
    """The items that a list of names, separated by commas, stands for; all by default."""
    known = {item.name: item for item in items}
    return (
        tuple(items)
        if names is None
        else tuple(known[n] for n in chosen_words("--items", names, tuple(known)))
    )


def chosen_words(option: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Some of the known words, separated by commas, each once.

    >>> chosen_words("--collector", "off, on", ("on", "off"))
    ('off', 'on')
    """
    wanted = [word.strip() for word in text.split(",")]
    for word in wanted:
        if word not in known:
            raise BenchmarkError(
                f"{option}: found {word!r}{suggest(word, known)}, expected some of {', '.join(known)}",
                found=word,
            )
    return tuple(dict.fromkeys(wanted))


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Positive integers separated by commas, each once.

    >>> numbers("--batch-sizes", "1, 64,64")
    (1, 64)
    """
    parts = [part.strip().replace("_", "") for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and int(part) > 0):
            raise BenchmarkError(
                f"{option}: found {part!r}, expected positive integers, as in 1,64", found=part
            )
    return tuple(dict.fromkeys(map(int, parts)))


def positive(option: str, number: int) -> int:
    """The number, if it is positive."""
    if number < 1:
        raise BenchmarkError(f"{option}: found {number}, expected a positive integer", found=number)
    return number


def checked_picture(file: Path) -> None:
    """Raise unless a chart can be drawn to the file: found out before anything is measured."""
    if file.suffix not in PICTURES:
        raise InputFileError(f"{file}: expected a chart's name to end in {' or '.join(PICTURES)}", path=file)
    checked_folder(file)
    require_libraries(("matplotlib",), "plot", "charts need")
