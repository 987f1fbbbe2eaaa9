"""The layout of partial aggregates: the places of their values, and source that makes and unpacks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import indent

from midstream.operators.aggregation.aggregate_pieces import Piece


class Layout:
    """The layout of partial aggregates: a tuple is one of one row, a list is one of several.

    A tuple has the value of each argument, and once more where both extremes are looked up. A list begins
    with the same places. Behind them are the merged values of other pieces, and the number of rows.

    >>> pieces = {"max0": (0, Piece({}, is_read=True)), "total0": (0, Piece({}))}
    >>> layout = Layout(1, pieces, merges=True)
    >>> layout.alone, layout.several
    ('(a0,)', '[*first, first[0], 1]')
    >>> layout.resolved("entry[total0] -= part_total0 - part_max0")
    'entry[1] -= part_total0 - value0'
    """

    def __init__(self, arguments: int, pieces: Mapping[str, tuple[int, Piece]], *, merges: bool) -> None:
        self._merges = merges
        self._values = [*range(arguments)]
        """The arguments in a tuple."""
        self._places: dict[str, int] = {}
        self._merged: dict[str, str] = {}
        """The pieces behind them in a list, each with the source of its value from a tuple `{}`."""
        taken: set[int] = set()
        for name, (a, piece) in sorted(pieces.items(), key=lambda item: not item[1][1].is_read):
            if piece.counts:
                self._merged[name] = f"{{}}[{a}] is not None"
            elif not merges or a not in taken:
                taken.add(a)
                self._places[name] = a
            elif piece.is_read:
                self._places[name] = len(self._values)
                self._values.append(a)
            else:
                self._merged[name] = f"{{}}[{a}]"

    @property
    def alone(self) -> str:
        """The source of a partial aggregate of one row, from its arguments, such as `a0`."""
        return f"({', '.join(f'a{a}' for a in self._values)}{',' if self._values else ''})"

    @property
    def several(self) -> str:
        """The source of a list from the tuple `first`."""
        return f"[{', '.join(['*first', *(value.format('first') for value in self._merged.values()), '1'])}]"

    @property
    def unpack(self) -> str:
        """The lines that take the partial aggregate `entry` apart."""
        values = [f"value{place}" for place in range(len(self._values))]
        merged = [f"part_{name}" for name in self._merged]
        alone = ["number = 1"]
        if values:
            alone.insert(0, f"{', '.join(values)}, = entry")
        alone += [f"part_{name} = {value.format('entry')}" for name, value in self._merged.items()]
        if not self._merges:
            return "\n".join(alone)
        several = f"{', '.join([*values, *merged, 'number'])}, = entry"
        lines = indent("\n".join(alone), "    ")
        return f"if type(entry) is tuple:\n{lines}\nelse:\n    {several}"

    def resolved(self, source: str) -> str:
        """The source with places and variables instead of the names of pieces."""
        behind = {name: len(self._values) + i for i, name in enumerate(self._merged)}
        for name, place in {**self._places, **behind}.items():
            source = source.replace(f"[{name}]", f"[{place}]").replace(f"place_of_{name}", str(place))
            if name in self._places:
                source = re.sub(rf"\bpart_{name}\b", f"value{place}", source)
        return source
