"""What a strategy is: a file with a check, a plan and a beginning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from midstream.migration.changes import Change
from midstream.migration.machine import Migration
from midstream.migration.preconditions import require_exchangeable
from midstream.operators.base.box import Box
from midstream.operators.base.operator import Operator
from midstream.operators.engine.host import Host
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.queries import RunningQuery
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Batch, Payload, Time


@dataclass(frozen=True, slots=True)
class Part:
    """A Box that is to be replaced, of whatever engine, and what its inputs have had."""

    box: Box
    max_ends: Sequence[Time]
    """By input, the largest end timestamp so far."""
    reached: Sequence[Time]
    """By input, its progress."""


@dataclass(frozen=True, slots=True)
class Subplan(Part):
    """A part of a running query, and what is to take its place."""

    box: PlanBox
    host: Host
    query: RunningQuery
    change: Change

    @classmethod
    def of(cls, host: Host, query: RunningQuery, change: Change) -> Subplan:
        """The part of a query that a change is about."""
        box = host.running_box(change.old, change.inputs)
        return cls(box, list(map(host.max_end, change.inputs)), list(box.reached), host, query, change)


@dataclass(frozen=True, slots=True)
class Edit:
    """How a part is going to be replaced, as a value: nothing has changed yet."""

    part: Part
    split: Time
    """When the new plan takes over."""
    steps: int = 2
    """What happens to an element that reaches both plans, beyond what the new one does: the old plan works on
    it, and the fuse."""
    initial: Sequence[Batch] = ()
    """Per input, what the new plan is given to begin with, where it does not begin empty."""
    promised: Sequence[Batch] | None = None
    """Per output, the results valid at the split time that came out before, where that matters."""
    signed: Mapping[int, Counter[Payload]] = field(default_factory=dict)
    """By signed input, the copies of each payload that are valid."""


@dataclass(frozen=True, slots=True)
class NewPart:
    """What takes the place of a subplan: a Box, its inputs and their progress; and operators below it that
    run with all others from the beginning."""

    box: PlanBox
    inputs: Sequence[Node]
    reached: Sequence[Time]
    operators: Mapping[Node, Operator] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Strategy(ABC):
    """A way to replace a running plan: what it needs, when the new plan takes over, how results are joined.

    Nothing changes before `begin`. What is refused is refused by MigrationRefused, with the operator and the
    reason. Whoever calls sees to it that both plans mean the same.
    """

    name: str

    needs_log: ClassVar[bool] = False
    """Whether it does more for a query of which a log is kept."""

    def replaces_all(self, query: RunningQuery) -> bool:
        """Whether all that is above a query's windows must be exchanged, also what both plans have in
        common."""
        return False

    def check_plans(self, old: Plan, new: Plan) -> None:
        """Refuse plans as a whole."""
        require_exchangeable(old, new)

    @abstractmethod
    def check(self, part: Subplan) -> None:
        """Refuse a part of a query, or what is to take its place."""

    @abstractmethod
    def plan(self, part: Part) -> Edit:
        """How to replace a part: of a query, which has been checked, or between Boxes of another engine, of
        which nothing is known but what they show. It may refuse."""

    def loses(self, old: Box) -> int:
        """How many elements that the Box of another engine keeps would be lost."""
        return 0

    def require_plan(self, part: Subplan) -> None:
        """Refuse what `plan` refuses; cheaper, where that can be told without making the plan."""
        self.plan(part)

    def new_part(self, part: Subplan) -> NewPart:
        """What takes the place of a part of a query, with empty state."""
        inputs = part.change.inputs
        return NewPart(part.host.new_box(part.change.new, inputs), inputs, part.reached)

    @abstractmethod
    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """The migration to a new Box, whose inputs are as far as `reached`; it has yet to `begin()`."""
