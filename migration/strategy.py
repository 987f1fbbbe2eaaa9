"""A way to exchange a running plan, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from midstream.migration.auto import Prediction
from midstream.migration.changes import Change
from midstream.migration.fork import Fork
from midstream.migration.fuse import Joiner
from midstream.migration.machine import Migration, under_way
from midstream.migration.moving_states import Known, behind_progress, nothing
from midstream.migration.preconditions import require_exchangeable, require_finite
from midstream.migration.split_time import last_instant, split_time
from midstream.migration.transition import Transition
from midstream.operators.base.box import Box
from midstream.operators.engine.host import Host
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import BEGINNING, Time

Split = Callable[[Box, Sequence[Time], Sequence[Time]], Time]
"""The split time, from the old box, the inputs' largest ends and their progress."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A migration that has been checked and may begin."""

    predict: Callable[[], Prediction]
    """What it is expected to cost."""
    begin: Callable[[], Transition]


def split_behind_inputs(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Behind all that the old plan has been given (thesis, 29.6)."""
    return split_time([*max_ends, *_horizon(old)])


def split_behind_state(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Behind all that the old plan still answers for (thesis, 29.4.2)."""
    last = last_instant(old, max_ends)
    require_finite(old, last)
    return split_time([last, *_horizon(old)])


def split_at_once(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Where the inputs are."""
    return min(reached, default=BEGINNING)


def split_behind_progress(old: Box, max_ends: Sequence[Time], reached: Sequence[Time]) -> Time:
    """Behind the inputs, wherever they are."""
    return max(behind_progress(max_ends, reached), split_time(_horizon(old)))


def _horizon(old: Box) -> list[Time]:
    """Up to where migrations that are under way in the old plan need it."""
    return [migration.horizon() for migration in under_way(old)]


def _anything(*_: object) -> None:
    """No requirement."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """Forks, joiners, when the new plan takes over, and what both plans must fulfil."""

    name: str
    fork: Callable[[Time], Fork]
    """Makes the fork of an input, for a split time."""
    joiner: Callable[..., Joiner]
    """Makes the joiner of an output, for a split time; and for the results that were given out before, where
    they are known."""
    require: Callable[[Iterable[Node], str], None] = _anything
    """Of the operators that go, and of those that come."""
    split: Split = split_behind_inputs
    """When the new plan takes over."""
    machine: type[Migration] = Migration
    steps: int = 2
    """What happens to an element that reaches both plans, beyond what the new one does: the old plan works on
    it, and the fuse."""
    is_immediate: bool = False
    """Whether the new plan's operators run with all others from the beginning."""
    plans: Callable[[Plan, Plan], None] = require_exchangeable
    """Of both plans as a whole."""
    permit: Callable[[Host, str, Change], None] = _anything
    """Of what is to be exchanged in an engine's query."""
    known: Callable[[Host, str, Change, PlanBox, Time], Known] = nothing
    """Of the time behind the split time, when a change of an engine's query begins; it may refuse."""
    takes_signs: bool = False
    """Whether inputs may be signed; then the joiner must be a Fuse."""
    prepare: Callable[[Strategy, Host, Plan, str | None, bool], Prepared] | None = None
    """How it is checked and begun in an engine, where others do that."""
