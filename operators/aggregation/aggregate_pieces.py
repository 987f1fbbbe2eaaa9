"""The state of aggregate functions per group, as source for the loop of aggregation.

A function needs a list of pieces: slots of the group, and lines that update them when a row enters or leaves.
Functions that need the same piece share it. Count, sum, mean, minimum and maximum are computed in line; the
others by their accumulators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from textwrap import indent
from typing import Any

from midstream.operators.functions.accumulators import Maximum, Minimum, accumulator
from midstream.operators.functions.exact import ExactSum
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Bindings, Expression
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import Time

_MEAN = """
try:
    mean{a} = {total} / {known}
except OverflowError:
    mean{a} = None
"""
"""The mean of integers, as by `rounded_quotient`, but without a call."""

_MEAN_OF_ANY = """
if {rest} is None:
    {of_integers}
else:
    mean{a} = {rest}.over({known}, {total})
"""

_TOP = """
if {late} is None:
    {function}{a} = {kept}[0][{a}]
else:
    {late}, {function}{a} = {function}imum({kept}, {late}, group.start, {a})
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a group's state: its slots with their first values, and the lines that update it.

    The lines see `group`, `entry`, `end` and the arguments `a0`, `a1`, …
    """

    slots: dict[str, str]
    add: str = ""
    """The lines for a row that enters."""
    add_in_order: str = ""
    """Further lines, if no row in the queue ends later."""
    add_late: str = ""
    """Further lines, if one does."""
    remove: str = ""
    """The lines for a row that leaves."""


def _known(a: int) -> Piece:
    """The number of rows whose argument is not NULL."""
    return Piece({f"known{a}": "0"}, add=f"group.known{a} += 1", remove=f"group.known{a} -= 1")


def _integers(a: int) -> Piece:
    """The sum of integers."""
    return Piece({f"integers{a}": "0"}, add=f"group.integers{a} += a{a}", remove=f"group.integers{a} -= a{a}")


def _total(a: int) -> Piece:
    """The sum of any numbers: of integers in line, of others exactly."""
    change = """
if type(a{a}) is int or isinstance(a{a}, int):
    group.integers{a} {sign}= a{a}
else:
    group.rest{a} = {change}(group.rest{a}, a{a})"""
    return Piece(
        {f"integers{a}": "0", f"rest{a}": "None"},
        add=change.format(a=a, sign="+", change="plus"),
        remove=change.format(a=a, sign="-", change="minus"),
    )


def _extreme(a: int, function: str) -> Piece:
    """The rows that no later one exceeds, while ends come in order: a later row then outlives them.

    The first of them is the extreme; it leaves when it ends. Rows that come out of order go to an accumulator
    that looks at ends.
    """
    kept, late = f"group.{function}{a}", f"group.late_{function}{a}"
    last = f"kept[-1][{a}]"
    is_covered, kind = {
        "max": (f"{last} <= a{a}", "Maximum"),
        "min": (f"{last} >= a{a}", "Minimum"),
    }[function]
    return Piece(
        {f"{function}{a}": "deque()", f"late_{function}{a}": "None"},
        add_in_order=f"""
kept = {kept}
while kept and {is_covered}:
    kept.pop()
kept.append(entry)""",
        add_late=f"""
if {late} is None:
    {late} = {kind}()
{late}.add(a{a}, end)""",
        remove=f"""
kept = {kept}
if kept and kept[0] is entry:
    kept.popleft()""",
    )


def _accumulated(a: int, i: int) -> Piece:
    """The accumulator of the i-th call."""
    return Piece(
        {f"other{i}": f"make{i}()"},
        add=f"group.other{i}.add(a{a}, end)",
        remove=f"group.other{i}.remove(a{a})",
    )


@dataclass(slots=True)
class GroupState:
    """The state of all calls per group."""

    schema: Schema
    arguments: list[Expression] = field(default_factory=list)
    pieces: dict[str, tuple[int, Piece]] = field(default_factory=dict)
    """The pieces by name, each with the argument that it reads."""
    computed: dict[str, str] = field(default_factory=dict)
    """Lines that compute a value before a segment closes, by the value's name."""
    names: dict[str, Any] = field(default_factory=dict)
    """The objects that the source names."""

    def value(self, i: int, call: AggregateCall) -> str:
        """The source of the i-th call's value; adds the pieces that it needs."""
        if call.argument is None:
            return "group.rows"
        is_nullable = call.argument.kind(self.schema).nullable
        if call.function == "count" and not call.distinct and not is_nullable:
            return "group.rows"
        if call.argument not in self.arguments:
            self.arguments.append(call.argument)
        a = self.arguments.index(call.argument)
        if call.distinct or call.function not in ("count", "sum", "avg", "min", "max"):
            self.names[f"make{i}"] = partial(accumulator, call)
            self.pieces[f"other{i}"] = a, _accumulated(a, i)
            return f"group.other{i}.value(group.start)"
        known = "group.rows"
        if is_nullable:
            self.pieces[f"known{a}"] = a, _known(a)
            known = f"group.known{a}"
        if call.function == "count":
            return known
        is_integer = call.argument.kind(self.schema).type is Type.INTEGER
        value = self._inline(call.name, a, known, is_integer=is_integer)
        return f"({value} if {known} else None)" if is_nullable else value

    def _inline(self, function: str, a: int, known: str, *, is_integer: bool) -> str:
        if function in ("min", "max"):
            self.pieces[f"{function}{a}"] = a, _extreme(a, function)
            kept, late = f"group.{function}{a}", f"group.late_{function}{a}"
            return self._computed(
                function, a, _TOP.format(a=a, function=function, kept=kept, late=late), known
            )
        total, rest = f"group.integers{a}", f"group.rest{a}"
        self.pieces[f"total{a}"] = a, _integers(a) if is_integer else _total(a)
        if function == "sum":
            return total if is_integer else f"({total} if {rest} is None else {rest}.over(1, {total}))"
        lines = _MEAN.strip().format(a=a, total=total, known=known)
        if not is_integer:
            of_integers = indent(lines, "    ").strip()
            lines = _MEAN_OF_ANY.format(a=a, total=total, known=known, rest=rest, of_integers=of_integers)
        return self._computed("mean", a, lines, known)

    def _computed(self, what: str, a: int, lines: str, known: str) -> str:
        """A value that statements compute, if some row's argument is not NULL."""
        name, lines = f"{what}{a}", lines.strip()
        self.computed[name] = lines if known == "group.rows" else f"if {known}:\n{indent(lines, '    ')}"
        return name

    def lines(self, moment: str) -> str:
        """The lines of all pieces for a moment; they skip arguments that are NULL."""
        blocks = []
        for a, argument in enumerate(self.arguments):
            parts = [getattr(piece, moment).strip() for of, piece in self.pieces.values() if of == a]
            lines = "\n".join(filter(None, parts))
            if lines and argument.kind(self.schema).nullable:
                lines = f"if a{a} is not None:\n{indent(lines, '    ')}"
            blocks.append(lines)
        return "\n".join(filter(None, blocks)) or "pass"

    def compute(self, scope: Bindings) -> str:
        """Lines that compute the arguments."""
        lines = (f"a{a} = {argument.source(scope)}" for a, argument in enumerate(self.arguments))
        return "\n".join(lines) or "pass"

    @property
    def closing(self) -> str:
        """Lines that compute the values of a segment before it closes."""
        return "\n".join(self.computed.values())

    @property
    def slots(self) -> dict[str, str]:
        """All slots with the source of their first values."""
        return {name: first for _, piece in self.pieces.values() for name, first in piece.slots.items()}


def _plus(total: ExactSum | None, value: Any) -> ExactSum:
    total = total or ExactSum()
    total.change(value, 1)
    return total


def _minus(total: ExactSum, value: Any) -> ExactSum | None:
    total.change(value, -1)
    return None if not total.count and total.is_zero else total


def _with_late(
    extreme: Callable[[list[Any]], Any], kept: deque[Any], late: Any, start: Time, a: int
) -> tuple[Any, Any]:
    """The extreme of rows of which some came out of order, together with these.

    The late ones are None once the last of them has left.
    """
    best = late.value(start)
    if best is None:
        return None, kept[0][a]
    return late, extreme([kept[0][a], best]) if kept else best


NAMES: Mapping[str, Any] = {
    "Maximum": Maximum,
    "Minimum": Minimum,
    "deque": deque,
    "maximum": partial(_with_late, max),
    "minimum": partial(_with_late, min),
    "minus": _minus,
    "plus": _plus,
}
"""The objects that the lines name."""
