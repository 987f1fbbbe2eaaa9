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
from itertools import islice
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
"""The functions whose state is kept in the loop itself; others have an accumulator."""

MOST = 16
"""The most numbers that a partial aggregate keeps, where one for their sum would take longer."""

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
some = {own}
if type(a{a}) is int and type(some) is int:
    {own} += a{a}
elif type(some) is list:
    some.append(a{a})
    if len(some) > {MOST}:
        shorten(some)
else:
    {own} = [0, some, a{a}]""",
        remove=f"""
if type({part}) is list:
    group.integers{a}, group.rest{a} = without(group.integers{a}, group.rest{a}, {part})
elif type({part}) is int or isinstance({part}, int):
    group.integers{a} -= {part}
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
if type(some) is Variance:
    some.add(a{a}, end)
elif type(some) is list:
    some.append(a{a})
    if len(some) > {MOST}:
        {own} = make{i}()
        for value in some:
            {own}.add(value, end)
else:
    {own} = [some, a{a}]""",
        remove=f"""
if type({part}) is Variance:
    group.other{i}.remove_all({part})
elif type({part}) is list:
    for value in {part}:
        group.other{i}.remove(value)
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


def shorten(numbers: list[Any]) -> None:
    """Replace numbers by fewer ones with the same sum: floats by their rounded sum and what it has lost.

    The first number is no part of the sum: it tells by how many the numbers that are no integers are fewer.

    >>> numbers = [0, 1, 2, *[0.1] * 9]; shorten(numbers); numbers
    [7, 3, 0.9, 2.7755575615628914e-17]
    """
    fewer, *values = numbers
    floats = [value for value in values if type(value) is float]
    others = [value for value in values if type(value) is not float and not isinstance(value, int)]
    number = len(floats) + len(others)
    try:
        while lost := fsum(floats):
            floats.append(-lost)
            others.append(lost)
    except OverflowError:
        return
    if len(others) <= number:
        numbers[:] = [fewer + number - len(others), sum(v for v in values if isinstance(v, int)), *others]


def _without(integers: int, rest: ExactSum | None, numbers: list[Any]) -> tuple[int, ExactSum | None]:
    """The sums of integers and of other numbers without some numbers, as `shorten` leaves them."""
    if rest is not None:
        rest.count -= numbers[0]
    for value in islice(numbers, 1, None):
        if type(value) is not float and isinstance(value, int):
            integers -= value
        elif rest is not None:
            rest.change(value, -1)
    return integers, None if rest is None or (not rest.count and rest.is_zero) else rest


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
    "Variance": Variance,
    "deque": deque,
    "maximum": partial(_with_late, max),
    "minimum": partial(_with_late, min),
    "minus": _minus,
    "plus": _plus,
    "shorten": shorten,
    "without": _without,
}
"""The objects that the lines name."""
