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
from math import fsum
from textwrap import indent
from typing import Any

from midstream.operators.functions.accumulators import Maximum, Minimum, Variance, accumulator
from midstream.operators.functions.exact import ExactSum
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Bindings, Expression
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.streams import Time

INLINE = frozenset({"count", "sum", "avg", "min", "max"})

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
    {function}{a} = {kept}[0][{function}{a}]
else:
    {late}, {function}{a} = {function}imum({kept}, {late}, group.start, place_of_{function}{a})
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a group's state: its slots with their first values, and the lines that update it.

    A partial aggregate has a value for the piece: `entry[name]`, by the piece's name, or `part_name` when it
    leaves. The lines also see `group`, `end` and the arguments `a0`, `a1`, …
    """

    slots: dict[str, str]
    add: str = ""
    """The lines for a row that enters."""
    add_in_order: str = ""
    """Further lines, if no row in the queue ends later."""
    add_late: str = ""
    """Further lines, if one does."""
    merge: str = ""
    """The lines that merge a row into the partial aggregate `entry`."""
    merge_in_order: str = ""
    """Further lines, if no row in the queue ends later."""
    replace: str = ""
    """The lines for a partial aggregate that becomes `entry` instead of `first`."""
    remove: str = ""
    """The lines for a partial aggregate that leaves."""
    is_read: bool = False
    """True if values of partial aggregates are read before these leave."""
    counts: bool = False
    """True if the value of a partial aggregate is the number of its rows whose argument is not NULL."""


def _known(a: int) -> Piece:
    """The number of rows whose argument is not NULL."""
    name = f"known{a}"
    return Piece(
        {name: "0"},
        add=f"group.{name} += 1",
        merge=f"entry[{name}] += 1",
        remove=f"group.{name} -= part_{name}",
        counts=True,
    )


def _integers(a: int) -> Piece:
    """The sum of integers."""
    return Piece(
        {f"integers{a}": "0"},
        add=f"group.integers{a} += a{a}",
        merge=f"entry[total{a}] += a{a}",
        remove=f"group.integers{a} -= part_total{a}",
    )


def _total(a: int) -> Piece:
    """The sum of any numbers: of integers in line, of others exactly."""
    own, part = f"entry[total{a}]", f"part_total{a}"
    return Piece(
        {f"integers{a}": "0", f"rest{a}": "None"},
        add=f"""
if type(a{a}) is int or isinstance(a{a}, int):
    group.integers{a} += a{a}
else:
    group.rest{a} = plus(group.rest{a}, a{a})""",
        merge=f"""
total = {own}
if type(a{a}) is int and type(total) is int:
    {own} += a{a}
else:
    if type(total) is not MixedSum:
        total = {own} = MixedSum(total)
    if type(a{a}) is int or isinstance(a{a}, int):
        total.integers += a{a}
    else:
        total.others.append(a{a})
        if len(total.others) > {MOST}:
            total.reduce()""",
        remove=f"""
if type({part}) is int or isinstance({part}, int):
    group.integers{a} -= {part}
elif type({part}) is MixedSum:
    group.integers{a} -= {part}.integers
    group.rest{a} = minus_all(group.rest{a}, {part})
else:
    group.rest{a} = minus(group.rest{a}, {part})""",
    )


def _extreme(a: int, function: str) -> Piece:
    """The partial aggregates that no later one exceeds, while ends come in order: a later one outlives them.

    The first of them is the extreme; it leaves when it ends. Rows that come out of order go to an accumulator
    that looks at ends.
    """
    name = f"{function}{a}"
    kept, late, own = f"group.{name}", f"group.late_{name}", f"entry[{name}]"
    is_covered, is_better, kind = {
        "max": (f"kept[-1][{name}] <= a{a}", f"{own} < a{a}", "Maximum"),
        "min": (f"kept[-1][{name}] >= a{a}", f"{own} > a{a}", "Minimum"),
    }[function]
    put = f"""
kept = {kept}
while kept and {is_covered}:
    kept.pop()
kept.append(entry)"""
    return Piece(
        {name: "deque()", f"late_{name}": "None"},
        add_in_order=put,
        add_late=f"""
if {late} is None:
    {late} = {kind}()
{late}.add(a{a}, end)""",
        merge=f"""
if {is_better}:
    {own} = a{a}""",
        merge_in_order=f"""
if {own} is a{a}:
{indent(put.strip(), "    ")}""",
        replace=f"""
kept = {kept}
if kept and kept[-1] is first:
    kept[-1] = entry""",
        remove=f"""
kept = {kept}
if kept and kept[0] is entry:
    kept.popleft()""",
        is_read=True,
    )


def _variance(a: int, i: int) -> Piece:
    """The accumulator of the i-th call, from which the values of another one can be taken."""
    own, part = f"entry[other{i}]", f"part_other{i}"
    return Piece(
        {f"other{i}": f"make{i}()"},
        add=f"group.other{i}.add(a{a}, end)",
        merge=f"""
some = {own}
if type(some) is not Variance:
    alone, some = some, make{i}()
    some.add(alone, end)
    {own} = some
some.add(a{a}, end)""",
        remove=f"""
if type({part}) is Variance:
    group.other{i}.remove_all({part})
else:
    group.other{i}.remove({part})""",
    )


def _accumulated(a: int, i: int) -> Piece:
    """The accumulator of the i-th call."""
    return Piece(
        {f"other{i}": f"make{i}()"},
        add=f"group.other{i}.add(a{a}, end)",
        remove=f"group.other{i}.remove(part_other{i})",
    )


@dataclass(slots=True)
class GroupState:
    """The state of all calls per group."""

    schema: Schema
    merges: bool
    """True if rows with equal ends become one partial aggregate."""
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
        if call.distinct or call.function not in INLINE:
            self.names[f"make{i}"] = partial(accumulator, call)
            make = _variance if call.merges else _accumulated
            self.pieces[f"other{i}"] = a, make(a, i)
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
            lines = _TOP.format(a=a, function=function, kept=kept, late=late)
            return self._computed(function, a, lines, known)
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
        """The lines of all pieces for a moment at which a row comes; they skip arguments that are NULL."""
        blocks = []
        for a, argument in enumerate(self.arguments):
            is_nullable = argument.kind(self.schema).nullable
            parts = []
            for name, (of, piece) in self.pieces.items():
                lines = getattr(piece, moment).strip()
                if of != a or not lines:
                    continue
                if moment == "merge" and is_nullable and not piece.counts:
                    own = f"entry[{name}]"
                    lines = f"if {own} is None:\n    {own} = a{a}\nelse:\n{indent(lines, '    ')}"
                parts.append(lines)
            lines = "\n".join(parts)
            if lines and is_nullable:
                lines = f"if a{a} is not None:\n{indent(lines, '    ')}"
            blocks.append(lines)
        return "\n".join(filter(None, blocks)) or "pass"

    @property
    def remove(self) -> str:
        """The lines of all pieces for a partial aggregate that leaves; they skip values that are NULL."""
        blocks = []
        for name, (a, piece) in self.pieces.items():
            lines = piece.remove.strip()
            if self.arguments[a].kind(self.schema).nullable and not piece.counts:
                lines = f"if part_{name} is not None:\n{indent(lines, '    ')}"
            blocks.append(lines)
        return "\n".join(blocks) or "pass"

    @property
    def replace(self) -> str:
        """The lines of all pieces for a partial aggregate that becomes a list."""
        return (
            "\n".join(piece.replace.strip() for _, piece in self.pieces.values() if piece.replace) or "pass"
        )

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


MOST = 8
"""The most numbers that a MixedSum leaves as they are."""


class MixedSum:
    """The exact sum of a partial aggregate's numbers: the sum of its integers, and a few other numbers.

    As nothing is ever taken out of it, it need not be an ExactSum, which takes longer.

    >>> total = MixedSum(1)
    >>> total.others += [0.1] * 9; total.reduce()
    >>> total.integers, total.others, total.number
    (1, [0.9, 2.7755575615628914e-17], 9)
    """

    __slots__ = ("_reduced", "integers", "others")

    def __init__(self, first: Any) -> None:
        is_integer = isinstance(first, int)
        self.integers = first if is_integer else 0
        self.others = [] if is_integer else [first]
        self._reduced = 0

    @property
    def number(self) -> int:
        """The number of values that are no integers."""
        return len(self.others) + self._reduced

    def reduce(self) -> None:
        """Replace floats by fewer ones with the same sum: the rounded sum, and what rounding has lost."""
        floats = [number for number in self.others if type(number) is float]
        others = [number for number in self.others if type(number) is not float]
        try:
            while rest := fsum(floats):
                floats.append(-rest)
                others.append(rest)
        except OverflowError:
            return
        if len(others) < len(self.others):
            self._reduced += len(self.others) - len(others)
            self.others = others


def _plus(total: ExactSum | None, value: Any) -> ExactSum:
    total = total or ExactSum()
    total.change(value, 1)
    return total


def _minus(total: ExactSum, value: Any) -> ExactSum | None:
    total.change(value, -1)
    return None if not total.count and total.is_zero else total


def _minus_all(total: ExactSum | None, values: MixedSum) -> ExactSum | None:
    if total is None:  # so far all values have been integers
        return None
    total.count += len(values.others) - values.number
    for value in values.others:
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
    "MixedSum": MixedSum,
    "Variance": Variance,
    "deque": deque,
    "maximum": partial(_with_late, max),
    "minimum": partial(_with_late, min),
    "minus": _minus,
    "minus_all": _minus_all,
    "plus": _plus,
}
"""The objects that the lines name."""
