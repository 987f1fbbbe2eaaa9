"""Chains: functions of single elements that follow each other, run as one loop.

filter price > 10, window 60      [(start, start + 60, row) for start, end, row in batch if row[1] > 10]
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from midstream.operators.base.operator import Code
from midstream.operators.base.walk import Stop
from midstream.plans.algebra.properties import expressions
from midstream.plans.expressions.expressions import may_raise


@dataclass(frozen=True, slots=True)
class Chain:
    """Stops that follow each other, the first one first, with the code of each.

    At most one has a condition and at most one makes another row. So all code reads the row that comes in,
    and the results of each stop can be counted from the chain's input and output.
    """

    links: tuple[tuple[Stop, Code], ...]

    @property
    def below(self) -> int:
        """The number of the stop that it reads."""
        return self.links[0][0].below[0]

    def _first(self, part: str) -> Any:
        return next((getattr(code, part) for _, code in self.links if getattr(code, part) is not None), None)

    @property
    def condition(self) -> str | None:
        """The condition for an element to pass; None where all pass."""
        condition: str | None = self._first("condition")
        return condition

    @property
    def may_raise(self) -> bool:
        """True if a user's function may raise an error in it."""
        return any(may_raise(part) for stop, _ in self.links for part in expressions(stop.node))

    @property
    def made(self) -> str:
        """The source of the resulting element."""
        end = next((code.end for _, code in reversed(self.links) if code.end is not None), "end")
        return f"(start, {end}, {self._first('row') or 'row'})"

    def loop(self, batch: str) -> str:
        """The source of the loop from a batch to its results; elements that pass unchanged are not copied."""
        condition = "" if self.condition is None else f" if {self.condition}"
        if self.made != "(start, end, row)":
            return f"[{self.made} for start, end, row in {batch}{condition}]"
        return f"[x for x in {batch} for start, end, row in (x,){condition}]" if condition else batch

    def goes_on_with(self, code: Code) -> bool:
        """True if another operator can follow in the same loop."""
        has_row = self._first("row") is not None
        if code.condition is not None:
            return not has_row and self.condition is None
        return not (has_row and code.row is not None)


def chained(stops: Sequence[Stop], ends: Set[int], names: dict[str, Any]) -> dict[int, Chain]:
    """The chains among stops, by the number of the last stop of each; a stop in `ends` ends its chain."""
    chains: dict[int, Chain] = {}
    by_number = {stop.number: stop for stop in stops}
    for stop in stops:
        operator = stop.operator
        code = None if operator is None or stop.measured is not None else operator.code(names)
        if code is None:
            continue
        (below,) = stop.below
        before = chains.get(below)
        if before and below not in ends and by_number[below].is_alone and before.goes_on_with(code):
            chains[stop.number] = Chain((*chains.pop(below).links, (stop, code)))
        else:
            chains[stop.number] = Chain(((stop, code),))
    return chains
