"""The interface of a strategy: check a part, plan its replacement, begin it."""

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
from midstream.operators.base.setting import WithSetting
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import BEGINNING, Batch, Payload, Time


@dataclass(frozen=True, slots=True)
class Part:
    """A Box of any engine that is to be replaced, with its inputs' largest ends and progress."""

    box: Box
    max_ends: Sequence[Time]
    """By input, the largest end timestamp so far."""
    reached: Sequence[Time]
    """By input, its progress."""


@dataclass(frozen=True, slots=True)
class Subplan(Part):
    """A part of a running query, and the change that replaces it."""

    box: PlanBox
    host: Host
    query: RunningQuery
    change: Change

    @classmethod
    def of(cls, host: Host, query: RunningQuery, change: Change) -> Subplan:
        """The part of a query that a change replaces."""
        box = host.running_box(change.old, change.inputs)
        return cls(box, list(map(host.max_end, change.inputs)), list(box.reached), host, query, change)


@dataclass(frozen=True, slots=True)
class Edit:
    """The plan to replace a part, as a value: nothing has changed yet."""

    part: Part
    split: Time
    """The instant at which the new plan takes over."""
    steps: int = 2
    """The extra processing steps of an element that reaches both plans: in the old plan, and in the fuse."""
    initial: Sequence[Batch] = ()
    """By input, the elements that the new plan begins with; empty if it begins without state."""
    promised: Sequence[Batch] | None = None
    """By output, the earlier results that are valid at the split time; None where they do not matter."""
    signed: Mapping[int, Counter[Payload]] = field(default_factory=dict)
    """By signed input, the number of valid copies of each payload."""


@dataclass(frozen=True, slots=True)
class NewPart:
    """The replacement of a subplan: a Box, its inputs and their progress, and new operators below the Box.

    These operators run with all others of the engine from the beginning.
    """

    box: PlanBox
    inputs: Sequence[Node]
    reached: Sequence[Time]
    operators: Mapping[Node, Operator] = field(default_factory=dict)

    def follow(self, old: PlanBox) -> None:
        """Take note of the last elements that levers of the old part got, at its end also later ones.

        A change of the new levers must come behind these.
        """
        gone = (operator for _, operator in old.operators() if isinstance(operator, WithSetting))
        settings = [operator.setting for operator in gone]
        given_until = max((max(one.latest + 1, one.given_until) for one in settings), default=BEGINNING)
        for operator in self.operators.values():
            if isinstance(operator, WithSetting):
                operator.setting.given_until = given_until


@dataclass(frozen=True, slots=True)
class Strategy(ABC):
    """A way to replace a running plan: what it needs, when the new plan takes over, how results are joined.

    Nothing changes before `begin`. A strategy refuses by MigrationRefused, with the operator and the reason.
    The caller makes sure that both plans are equivalent.
    """

    name: str

    needs_log: ClassVar[bool] = False
    """True if the strategy can do more for a query with a log."""

    def replaces_all(self, query: RunningQuery) -> bool:
        """True if everything above a query's windows must be replaced, also nodes that both plans have."""
        return False

    def check_plans(self, old: Plan, new: Plan) -> None:
        """Refuse a pair of plans as a whole."""
        require_exchangeable(old, new)

    @abstractmethod
    def check(self, part: Subplan) -> None:
        """Refuse a part of a query, or its replacement."""

    @abstractmethod
    def plan(self, part: Part) -> Edit:
        """Plan how to replace a part; it may refuse.

        The part belongs to a query, and has been checked; or it is a Box of another engine, of which only the
        Box contract is known.
        """

    def loses(self, old: Box) -> int:
        """The number of elements in the Box of another engine that would be lost."""
        return 0

    def require_plan(self, part: Subplan) -> None:
        """Refuse what `plan` refuses; cheaper where that is possible without making the plan."""
        self.plan(part)

    def new_part(self, part: Subplan) -> NewPart:
        """The replacement of a part of a query, with empty state."""
        inputs = part.change.inputs
        return NewPart(part.host.new_box(part.change.new, inputs), inputs, part.reached)

    @abstractmethod
    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """The migration to a new Box whose inputs are at `reached`; the caller calls its `begin()`."""
