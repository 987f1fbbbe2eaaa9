"""Checks of a benchmark's options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import suggest


class BenchmarkError(MidstreamError):
    """A benchmark cannot be run with these options.

    The message names the option and the values that it takes.
    """


class HasName(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=HasName)


def chosen_items(names: str | None, items: Sequence[N]) -> tuple[N, ...]:
    """The items for a list of names, separated by commas; all by default."""
    if names is None:
        return tuple(items)
    known = {item.name: item for item in items}
    return tuple(known[name] for name in chosen_words("--items", names, tuple(known)))


def chosen_words(option: str, text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words that a text names, separated by commas, each once.

    >>> chosen_words("--collector", "off, on", ("on", "off"))
    ('off', 'on')
    """
    wanted = [word.strip() for word in text.split(",")]
    for word in wanted:
        if word not in words:
            raise BenchmarkError(
                f"{option}: found {word!r}{suggest(word, words)}, expected some of {', '.join(words)}",
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
