"""Preconditions of replacing a running plan; where one fails, the migration is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import partial
from typing import TypeVar

from midstream.migration.changes import Change
from midstream.operators.base.box import Box, driver
from midstream.operators.engine.running.planner import form
from midstream.plans.algebra.operators import (
    Arrangement,
    Counting,
    Leaf,
    Logical,
    Relation,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, is_bounded, logical, logical_plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import FOREVER, Time

T = TypeVar("T")


def require_exchangeable(old: Plan, new: Plan) -> None:
    """Refuse plans that differ in anything but the snapshot-reducible part above their windows.

    The equivalence of these parts is checked elsewhere (see `transition`).

    Raises   MigrationRefused, naming the operator and the reason.
    """
    require_same_answers(old, new)
    had, has = (set(input_nodes(logical_plan(plan))) for plan in (old, new))
    if had != has:
        changed = [node for node in (*(had - has), *(has - had)) if not isinstance(logical(node), Source)]
        counting = [node for node in changed if isinstance(logical(node), Counting)]
        operator = logical((counting or changed)[0]) if changed else None
        advice = (
            "a count window gives other rows over another input, so its input must stay as it is"
            if counting
            else _instead_of_moving_windows(old, new)
        )
        raise MigrationRefused(
            "the plans differ below or between their windows, which are not snapshot-reducible; that must "
            f"stay as it is ({advice}): {_only(had, has, repr)}",
            operator=str(operator),
        )


REPLACE = "engine.replace takes over where the new plan has seen all that its results depend on"
"""The advice where windows change places and operators with state do so too."""


def _instead_of_moving_windows(old: Plan, new: Plan) -> str:
    """The advice where windows change places: swap, unless that would lose state."""
    had, has = (set(logical_plan(plan).nodes) for plan in (old, new))
    changed = (logical(node) for node in had ^ has)
    if all(operator.is_stateless or isinstance(operator, TimeWindow | Leaf) for operator in changed):
        return "time windows may be moved along stateless operators by swap"
    return REPLACE


def require_same_answers(old: Plan, new: Plan) -> None:
    """Refuse plans that differ in their outputs, their outputs' columns, or their sources."""
    if tuple(old.outputs) != tuple(new.outputs):
        raise MigrationRefused(
            f"the new plan has the outputs {', '.join(new.outputs)}, expected {', '.join(old.outputs)}"
        )
    for output, root in old.outputs.items():
        had, has = root.schema, new.outputs[output].schema
        if [(c.name, c.type) for c in had] != [(c.name, c.type) for c in has]:
            raise MigrationRefused(
                f"the new plan's output has the columns {has}, expected {had}"
                f"{had.put_right(has, 'the new plan')}",
                output=output,
            )
    if set(old.sources) != set(new.sources):
        only = _only(set(old.sources), set(new.sources), lambda source: f"{source} {source.columns}")
        raise MigrationRefused(f"the plans have different inputs: {only}")


def require_intervals(inputs: Iterable[Node]) -> None:
    """Refuse to fork streams of positive and negative elements."""
    for node in inputs:
        if form(node) != "intervals":
            raise MigrationRefused(
                f"{node.operator} gives positive and negative elements, which only genmig can fork; use it, "
                "or give the query a physical plan with windows of intervals",
                operator=str(node.operator),
            )


def require_reducible(nodes: Iterable[Node], which: str) -> None:
    """Refuse operators that are not snapshot-reducible.

    Their results depend on more than the snapshots from the split time on.
    """
    for node in nodes:
        operator = logical(node)
        if not operator.is_snapshot_reducible:
            raise MigrationRefused(
                f"{operator} of the {which} plan is not snapshot-reducible and cannot be exchanged; leave it "
                "and all below it as it is",
                operator=str(operator),
            )


def require_bounded(roots: Iterable[Node], inputs: Set[Node], which: str) -> None:
    """Refuse part of a plan whose results may be valid where no element of an input is valid.

    The part reaches from some inputs up to the roots. Streams are cut at the split time, and so are results
    that need an element of a stream. Relations are not cut: both plans have all their rows, and both would
    give the results of relations alone.
    """
    for root in roots:
        if not is_bounded(root, inputs):
            raise MigrationRefused(
                f"{logical(root)} of the {which} plan gives rows of a relation where no element of a stream "
                "is valid, which both plans would give; join the relation to a stream, or read it as a "
                "stream of intervals",
                operator=str(logical(root)),
            )


Requirement = Callable[[Iterable[Node], str], None]
"""A function that refuses some operators of a plan; the text says if it is the old or the new plan."""


def require_of_operators(change: Change, *requirements: Requirement) -> None:
    """Refuse old and new operators that are not bounded or do not meet a requirement."""
    parts = zip(("old", "new"), (change.old, change.new), change.parts, strict=True)
    for which, roots, nodes in parts:
        require_bounded(roots, set(change.inputs), which)
        for require in requirements:
            require(nodes, which)


def require_of_intervals(change: Change, *requirements: Requirement) -> None:
    """Do as `require_of_operators`, and refuse to fork streams of positive and negative elements."""
    require_of_operators(change, *requirements)
    require_intervals(change.inputs)


def require_of_elements(change: Change, *requirements: Requirement) -> None:
    """Refuse operators that do not meet a requirement, in all that makes results of elements both plans get.

    This is for strategies that tell by single elements which plan a result belongs to.
    """
    answering = change.answering
    for require in requirements:
        for which, nodes in answering:
            require(nodes, which)


def _require_starts(nodes: Iterable[Node], which: str, method: str, instead: str) -> None:
    """Refuse operators whose results need not start where an element of a stream starts.

    These are operators whose results may start later than all elements that they come from (erratum 13), and
    relations whose rows begin in the course of time.
    """
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, Relation) and not operator.is_constant:
            why = "its rows begin where no element of a stream need start"
        elif not operator.is_start_preserving:
            why = "its results need not start where an element starts"
        else:
            continue
        raise MigrationRefused(
            f"{method} is unsound over {operator} of the {which} plan: {why}, so a start does not tell which "
            f"plan a result belongs to; {instead}",
            operator=str(operator),
        )


require_start_preserving = partial(_require_starts, method="the reference-point method", instead="use genmig")
"""The requirement of the reference-point method."""

require_told_by_starts = partial(
    _require_starts, method="moving states without a log", instead="ask for a log by engine.keep_log()"
)
"""The requirement of moving states where the earlier results are not known."""


def require_finite(old: Box, last: Time) -> None:
    """Refuse an old plan that never ends, naming the operator that keeps an element without an end."""
    if last == FOREVER:
        holders = [
            str(logical(node))
            for node, operator in driver(old).operators()
            if any(end == FOREVER for _, end, _ in operator.state())
        ]
        raise MigrationRefused(
            f"{', '.join(holders) or 'the running plan'} keeps an element that is valid for ever, so that "
            "the running plan has no last instant; put a finite window on the input",
            operator=holders[0] if holders else "None",
        )


def require_stateless(nodes: Iterable[Node], which: str) -> None:
    """Refuse to replace operators of a physical plan at once unless each result comes from one element."""
    nodes = list(nodes)
    moves_windows = any(isinstance(logical(node), TimeWindow | Counting) for node in nodes)
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, Boxed):
            raise MigrationRefused(
                "a migration of the same part is under way, which keeps two plans; swap when it is done",
                operator=str(operator),
            )
        if any(form(stream) != "intervals" for stream in (node, *node.inputs)):
            raise MigrationRefused(
                f"swap would part positive elements from their negative ones at {operator} of the {which} "
                "plan; choose implementations on intervals",
                operator=str(operator),
            )
        if not operator.is_stateless and not isinstance(operator, Arrangement):
            # GenMig needs all windows where they are.
            by = REPLACE if moves_windows else "use genmig"
            instead = by if operator.is_snapshot_reducible else "leave it where it is"
            raise MigrationRefused(
                f"swap would lose the state of {operator} of the {which} plan, which the other plan does not "
                f"have in the same place; {instead}",
                operator=str(operator),
            )


def require_same_windows(old: Plan, new: Plan) -> None:
    """Refuse plans whose elements pass through different windows, or through the same ones in another order.

    Windows may be moved along stateless operators; a window of one chronon may come and go (thesis, 10.7 to
    10.10).
    """
    for output, root in old.outputs.items():
        had, has = _window_paths(root), _window_paths(new.outputs[output])
        if had != has:
            path = min(had ^ has, key=_path_text)
            raise MigrationRefused(
                f"the windows on the way to the output {output} differ: {_only(had, has, _path_text)}",
                operator=str(path[0]),
            )


WindowPath = tuple[Logical, ...]
"""The operators that are not snapshot-reducible, from an output down to a source."""


def _window_paths(root: Node) -> frozenset[WindowPath]:
    paths: dict[Node, frozenset[WindowPath]] = {}
    for node in root.walk():
        operator = logical(node)
        below = frozenset(path for child in node.inputs for path in paths[child])
        if isinstance(operator, Source):
            below = frozenset([(operator,)])
        elif not operator.is_snapshot_reducible and operator != TimeWindow(1):
            below = frozenset((operator, *path) for path in below)
        paths[node] = below
    return paths[root]


def _path_text(path: WindowPath) -> str:
    return " of ".join(map(str, path))


def _only(had: Set[T], has: Set[T], shown: Callable[[T], str]) -> str:
    """The items of only the old plan and of only the new one, as text."""
    only = (("old", had - has), ("new", has - had))
    return "; ".join(
        f"only the {which} plan has {', '.join(sorted(map(shown, some)))}" for which, some in only if some
    )
