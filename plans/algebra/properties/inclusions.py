"""Inclusions: columns whose values, at every instant, all occur in columns elsewhere.

A subplan takes its values from its inputs; a declared reference takes them from another stream. Windows over
both sides preserve inclusions: they hold for sets of rows of a time, if they hold at each instant.

    S.x ⊆ R.y at every instant                     implies  ω_a(S).x ⊆ ω_a(R).y
    S.x ⊆ R.y within the last d chronons           is       S.x ⊆ ω_{d+1}(R).y
    ω_a(ω_b(R)) and ω_{a+b-1}(R)                   are equal as sets

In a window with bounds, a row stays no longer than the largest size, and at least as long as the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from midstream.plans.algebra.operators import (
    Counting,
    Dstream,
    Granularity,
    Leaf,
    Logical,
    Relation,
    TimeWindow,
)
from midstream.plans.algebra.operators.base import Names, unchanged
from midstream.plans.algebra.operators.checks import least, most
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties.columns import equal_columns
from midstream.plans.algebra.properties.nodes import logical
from midstream.plans.values.streams import FOREVER, Time

Over = tuple[TimeWindow | Granularity, ...]
"""Operators that show more than one instant of their input, from the inside out."""

EVER = TimeWindow(None)
"""The window that keeps all rows so far."""


class Inclusion(NamedTuple):
    """An inclusion of columns in those of a stream or relation, seen through windows.

    Where all values of `columns` are known, `of` has a row with these values in `of_columns`.
    """

    columns: tuple[str, ...]
    of: str
    of_columns: tuple[str, ...]
    over: Over
    is_declared: bool
    """True if the inclusion comes from a declared reference, not from the structure of the subplan."""

    def __str__(self) -> str:
        """The inclusion as text, for example `(item) in items (id) of window 60`."""
        seen = "".join(f" of {operator}" for operator in self.over)
        return f"({', '.join(self.columns)}) in {self.of} ({', '.join(self.of_columns)}){seen}"


class _Tie(NamedTuple):
    """A relation between columns of a subplan and of another subplan or a named stream, seen through `over`.

    `names` maps columns: from the subplan's to the other's in `_sources_of`, the reverse in `_held_by`.
    """

    to: Node | str
    over: Over
    names: Names
    is_declared: bool = False


def inclusions(node: Node) -> tuple[Inclusion, ...]:
    """The streams and relations in which the values of a subplan's columns occur at every instant.

    Cost: O(nodes below × columns).

    >>> from midstream.plans.algebra.builder import stream
    >>> items = stream("items", id="integer")
    >>> bids = stream("bids", item="integer").references([("item", "id")], items, within=9)
    >>> [str(one) for one in inclusions(bids.window(51).node)]
    ['(item) in bids (item) of window 51', '(item) in items (id) of window 60']
    """
    return tuple(
        Inclusion(tuple(tie.names), tie.to, tuple(tie.names.values()), tie.over, tie.is_declared)
        for tie in _sources_of(node)
        if isinstance(tie.to, str)
    )


def is_included(
    node: Node, columns: Sequence[str], container: Node, container_columns: Sequence[str]
) -> bool:
    """True if, at every instant, the known values of some columns all occur in columns of another subplan.

    For each row of `node` in which `columns` are known, `container` has a row with equal values in
    `container_columns`. False means that the inclusion could not be derived; it may still hold.

    Cost: O(nodes below `node` × nodes below `container` × columns).

    >>> from midstream.plans.algebra.builder import relation, stream
    >>> items = relation("items", id="integer", name="string")
    >>> bids = stream("bids", item="integer").references([("item", "id")], items)
    >>> is_included(bids.window(60).node, ["item"], items.select("id").distinct().node, ["id"])
    True
    >>> is_included(bids.node, ["item"], items.filter(items["id"] > 7).node, ["id"])
    False
    """
    pairs = list(zip(columns, container_columns, strict=True))
    held = list(_held_by(container))
    return any(
        tie.to == hold.to and _is_within(tie.over, hold.over) and _meet(pairs, tie, hold, node, container)
        for tie in _sources_of(node)
        for hold in held
    )


def _meet(pairs: Iterable[tuple[str, str]], tie: _Tie, hold: _Tie, node: Node, container: Node) -> bool:
    """True if the columns of each pair belong to one column of the place that `tie` and `hold` share."""
    return all(
        (source := _read(tie.names, column, node)) is not None
        and source in hold.names
        and hold.names[source] in _alike(theirs, container)
        for column, theirs in pairs
    )


def _read(names: Names, column: str, node: Node) -> str | None:
    """The name that a column, or a column equal to it, has on the other side of `names`."""
    return next((names[name] for name in sorted(_alike(column, node)) if name in names), None)


def _alike(column: str, node: Node) -> frozenset[str]:
    return next((names for names in equal_columns(node) if column in names), frozenset({column}))


@fact_of_node
def _sources_of(node: Node) -> tuple[_Tie, ...]:
    """The places in which all values of a subplan's columns occur."""
    operator = logical(node)
    ties = [_Tie(node, (), unchanged(node.schema.names))]
    if isinstance(operator, Leaf):
        ties.append(_Tie(operator.label, (), unchanged(node.schema.names)))
        for one in operator.references:
            size = None if one.within == FOREVER else int(one.within) + 1
            referred = dict(zip(one.columns, one.to_columns, strict=True))
            ties.append(_Tie(one.to, _merged([TimeWindow(size)]), referred, True))
    for port, names in operator.occurs_in(tuple(child.schema for child in node.inputs)):
        ties.extend(_through(node.inputs[port], (), names))
    if seen := _as_seen(operator):
        ties.extend(_through(node.inputs[0], seen, unchanged(node.schema.names)))
    return tuple(ties)


@fact_of_node
def _held_by(node: Node) -> tuple[_Tie, ...]:
    """The places whose values all occur in columns of a subplan."""
    operator = logical(node)
    ties = [_Tie(node, (), unchanged(node.schema.names))]
    if isinstance(operator, Leaf):
        is_constant = isinstance(operator, Relation) and operator.is_constant
        ties.append(_Tie(operator.label, (EVER,) if is_constant else (), unchanged(node.schema.names)))
    for port, names in operator.holds_all_of(tuple(child.schema for child in node.inputs)):
        for tie in _held_by(node.inputs[port]):
            shown = {there: names[here] for there, here in tie.names.items() if here in names}
            ties.append(tie._replace(names=shown))
    if isinstance(operator, TimeWindow | Granularity):
        ties.extend(tie._replace(over=_merged([*tie.over, operator])) for tie in _held_by(node.inputs[0]))
    return tuple(ties)


def _through(child: Node, seen: Over, names: Names) -> Iterator[_Tie]:
    """The places in which values of an input occur, by the columns of the subplan above it."""
    for tie in _sources_of(child):
        found = ((name, _read(tie.names, below, child)) for name, below in names.items())
        shown = {name: there for name, there in found if there is not None}
        if shown:
            yield tie._replace(over=_merged([*tie.over, *seen]), names=shown)


def _as_seen(operator: Logical) -> Over:
    """The windows through which an operator over time shows its input at most."""
    match operator:
        case TimeWindow() | Granularity():
            return (operator,)
        case Dstream():
            return (TimeWindow(2),)
        case Counting():
            return (EVER,)
    return ()


def _merged(over: Iterable[TimeWindow | Granularity]) -> Over:
    """Merge neighbouring windows that move by chronons, and drop operators that show one instant."""
    merged: list[TimeWindow | Granularity] = []
    for operator in over:
        if _longest(operator) == 1 and (isinstance(operator, Granularity) or operator.slide == 1):
            continue
        is_above = bool(merged) and _is_plain(operator) and _is_plain(merged[-1])
        merged.append(_both(merged.pop(), operator) if is_above else operator)
    return tuple(merged)


def _both(lower: TimeWindow | Granularity, upper: TimeWindow | Granularity) -> TimeWindow:
    """One window for two windows on top of each other, by their smallest and largest sizes."""
    longest = _longest(lower) + _longest(upper) - 1
    if longest == FOREVER:
        return EVER
    bounds = int(_shortest(lower) + _shortest(upper) - 1), int(longest)
    return TimeWindow(bounds[1], bounds=None if bounds[0] == bounds[1] else bounds)


def _is_within(one: Over, other: Over) -> bool:
    """True if everything that is seen through `one` is also seen through `other`."""
    if all(map(_is_plain, other)):
        return _reach(one, _longest) <= _reach(other, _shortest)
    if not one:
        return False
    *inner, last = other
    if _is_plain(last) and not _is_plain(one[-1]):
        return _is_within(one, tuple(inner))
    return _is_smaller(one[-1], last) and _is_within(one[:-1], tuple(inner))


def _is_plain(operator: TimeWindow | Granularity) -> bool:
    return isinstance(operator, TimeWindow) and operator.slide == 1


def _is_smaller(one: TimeWindow | Granularity, other: TimeWindow | Granularity) -> bool:
    """True if `one` shows at every instant no more than `other`."""
    if isinstance(one, TimeWindow) and isinstance(other, TimeWindow) and one.slide == other.slide:
        return _longest(one) <= _shortest(other)
    # With bounds, the granules of two conversions may be changed independently.
    return one == other and one.bounds is None


def _longest(operator: TimeWindow | Granularity) -> Time:
    """The largest size or granule that can be set."""
    return most(_setting(operator), operator.bounds)


def _shortest(operator: TimeWindow | Granularity) -> Time:
    """The smallest size or granule that can be set."""
    return least(_setting(operator), operator.bounds)


def _setting(operator: TimeWindow | Granularity) -> int | None:
    return operator.size if isinstance(operator, TimeWindow) else operator.granule


def _reach(over: Over, setting: Callable[[TimeWindow | Granularity], Time]) -> Time:
    """The most chronons for which a row is still seen after its instant, by one `setting` per operator."""
    slides = (operator.slide if isinstance(operator, TimeWindow) else 1 for operator in over)
    return sum(setting(operator) + slide - 2 for operator, slide in zip(over, slides, strict=True))
