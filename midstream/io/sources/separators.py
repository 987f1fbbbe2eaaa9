"""Characters inside of numbers: before the decimals, and between thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from midstream.io.sources.converter import Converter


@dataclass(frozen=True, slots=True)
class Separators:
    """The characters of numbers in a file; `plain` writes them as Python reads them.

    decimal      the character before the decimals; None is a point
    thousands    the character between thousands; None if there is none

    >>> german = Separators(",", ".")
    >>> german.plain("1.234,5"), german.plain("12,5"), german.plain("1.25")
    ('1234.5', '12.5', None)
    """

    decimal: str | None = None
    thousands: str | None = None
    _groups: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _points: dict[int, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        between = re.escape(self.thousands or "")
        groups = re.compile(rf"[+-]?[0-9]{{1,3}}(?:{between}[0-9]{{3}})+(?![0-9{between}]).*")
        object.__setattr__(self, "_groups", groups)
        decimal = self.decimal or "."
        object.__setattr__(self, "_points", str.maketrans({decimal: ".", ".": decimal}))

    def plain(self, text: str) -> str | None:
        """A number with a point before its decimals and nothing between thousands; None for no number."""
        if self.thousands is not None and self.thousands in text:
            if self._groups.fullmatch(text) is None:
                return None
            text = text.replace(self.thousands, "")
        # A point is no decimal point where decimals have another character.
        return text.translate(self._points)

    def converter(self, plain: Converter) -> Converter:
        """A converter of numbers with these characters."""

        def one(text: str) -> str:
            number = self.plain(text)
            if number is None:
                raise ValueError(text)
            return number

        return Converter(
            lambda texts: plain.many(list(map(one, texts))),
            lambda text: plain.single(one(text)),
            plain.expected,
        )


POINTS = Separators()
"""Numbers as Python reads them."""
