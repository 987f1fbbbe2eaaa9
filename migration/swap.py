"""Swap: a plan takes the place of another at once, where what they do not have in common is stateless.

    changed(S before + S after)  =  changed(S before) + changed(S after)        snapshot by snapshot

A part without state says the same of all elements together as of each alone. So the old one answers for the
elements that it was given, with their full validity, the new one for those that come, and nothing runs twice.
That holds of time windows as well, which is why they may be moved along stateless operators (thesis, 10.3.2).
What both plans have in common goes on with its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.fuse import Origins
from midstream.migration.machine import Migration, Phase
from midstream.migration.preconditions import (
    require_bounded,
    require_intervals,
    require_same_answers,
    require_same_windows,
    require_stateless,
)
from midstream.operators.adjustable import Adjustable
from midstream.operators.engine import Engine
from midstream.operators.operator import Operator
from midstream.operators.output import OrderedOutput
from midstream.operators.plan_box import PlanBox
from midstream.operators.planner import physical_plan
from midstream.operators.queries import Query, carried_out, meant
from midstream.plans.arrangements import Arrangement
from midstream.plans.errors import MigrationRefused
from midstream.plans.physical import Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import logical, logical_plan
from midstream.plans.streams import BEGINNING, Batch, Element, Time


class Handover:
    """Results that the old plan held back for the sake of order, and those of the new plan, in order.

    Output   Ordered by start.
    State    What the old plan held, as far as the new one may still come before it.
    Bound    The results of both.
    Cost     O(1) per result that comes in order, else O(log n).

    >>> handover = Handover(split=4)
    >>> handover.complete([(5, 9, "a"), (7, 9, "b")], 4)
    []
    >>> handover.process([], [(6, 8, "c")], 6)
    [(5, 9, 'a'), (6, 8, 'c')]
    """

    def __init__(self, split: Time) -> None:
        self._waiting = OrderedOutput()
        self.origins = Origins()

    @property
    def bound(self) -> int:
        """It has never held more elements than this."""
        return self.origins.old + self.origins.new

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Results of the new plan, and its progress."""
        self.origins.new += len(new)
        # The last result of the new plan may be ahead of the progress that it tells.
        return self._waiting.release(new, max(new_progress, new[-1][0]) if new else new_progress)

    def complete(self, rest: Batch, new_progress: Time) -> Batch:
        """What the old plan held back."""
        self.origins.old += len(rest)
        return self._waiting.release(rest, BEGINNING)

    def abandon(self) -> Batch:
        """A swap is over at once; nothing can be abandoned."""
        return []

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
        return min([new_progress, *(start for start, _, _ in self._waiting)])

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._waiting)


class Swap(Migration):
    """A Box that has moved from an old Box to a new one, and gives out what the old one held back.

    The phase `moving` is skipped; it is `draining` until what was held has come out, mostly at once. The
    Boxes need not have the same inputs.

    Input    As the new Box.
    Output   Snapshot-equivalent to the old Box alone, and ordered, if both mean the same and are stateless.
    State    That of the new Box, and what waits.
    Source   thesis, 27 and 29.6
    """

    def begin(self) -> list[Batch]:
        """End the old Box, and tell the new one how far the inputs are."""
        assert self.old is not None
        self.inputs = self.new.inputs
        ended = [self.old.end(port) for port in range(len(self.old.inputs))]
        self.old = None
        self.phase = Phase.DRAINING
        for output, joiner in enumerate(self._joiners):
            joiner.complete([element for results in ended for element in results[output]], BEGINNING)
        self.peak_held = self._held()
        return super().begin()

    def _is_over(self) -> bool:
        return not self._held()

    def horizon(self) -> Time:
        """What waits must come out before a later split time."""
        return max((end for joiner in self._joiners for _, end, _ in joiner), default=BEGINNING)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a swap in an engine is going to do."""

    query: Query
    plan: Plan
    """The new plan as it was given."""
    physical: Plan
    """The same as it will run, around the operators that stay."""
    old: PlanBox
    """The operators that go."""
    adopted: Mapping[Node, Operator]
    """The operators above the new plan's forks that stay."""
    forks: Mapping[Node, Node]
    """Where the new plan's box begins: by the logical node the physical one."""
    reached: Sequence[Time]
    """How far the forks are."""


def plan_swap(engine: Engine, plan: Plan, query: str | None) -> Exchange:
    """Find out which operators stay, and check that those which go or come are stateless.

    Raises   MigrationRefused, with the operator and the reason.
    """
    chosen = engine.query(query)
    if chosen.box is not None:
        raise MigrationRefused(
            f"a migration of {chosen.name} is under way, which keeps two plans; swap when it is done"
        )
    running, base = chosen.physical, engine.base()
    require_same_answers(chosen.plan, plan)
    require_same_windows(chosen.plan, plan)
    for one, which in ((chosen.plan, "old"), (plan, "new")):
        require_bounded(one, which)
    physical = _around(plan, running)
    stay = set(running.nodes) & set(physical.nodes)
    others = [other for other in engine.queries.values() if other is not chosen and other.box is None]
    shared = {node for other in others for node in other.physical.nodes}
    operators = base.operators()
    require_stateless([node for node in running.nodes if node not in stay], "old")
    require_stateless([node for node in physical.nodes if node not in stay], "new")
    for node in running.nodes:
        if node not in stay:
            _require_private(node, operators[node], shared)
    borders = _borders(running, stay)
    old = PlanBox(
        running,
        borders,
        relations=_no_rows(running),
        running={node: operators[node] for node in running.nodes if node in operators},
        reached=[base.progress_of(node) for node in borders],
    )
    forks = carried_out(physical, shared)
    require_intervals(forks.values())
    below = {node for fork in forks.values() for node in fork.walk()}
    return Exchange(
        chosen,
        plan,
        physical,
        old,
        {node: operators[node] for node in stay - below if node in operators},
        forks,
        _reached(engine, list(forks.values()), operators),
    )


def exchange(engine: Engine, planned: Exchange, swap: Swap) -> Swap:
    """Carry it out. `swap` has not begun yet."""
    chosen = planned.query
    # Ending the operators that go counts as theirs what the swap gives out.
    engine.count_results()
    ready = swap.begin()
    chosen.physical, chosen.forks, chosen.box = planned.physical, dict(planned.forks), swap
    engine.exchange(swap, planned.plan, ready, chosen.name)
    return swap


def new_part(planned: Exchange) -> PlanBox:
    """The new plan above its forks, around the operators that stay there."""
    return PlanBox(
        planned.physical,
        tuple(planned.forks.values()),
        relations=_no_rows(planned.physical),
        running=planned.adopted,
    )


def _around(plan: Plan, running: Plan) -> Plan:
    """The plan as it would run around the operators that run already: what is not told to run in a certain
    way goes on as it does."""
    known: dict[Node, Node] = {}
    for node in running.nodes:
        if not isinstance(logical(node), Arrangement):
            known[meant(node)] = node
    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        is_free = not any(isinstance(below.operator, Physical) for below in node.walk())
        stays = known.get(node) if is_free else None
        changed[node] = stays or node.with_inputs(tuple(changed[child] for child in node.inputs))
    return physical_plan(Plan({name: changed[root] for name, root in plan.outputs.items()}))


def _borders(plan: Plan, stay: set[Node]) -> tuple[Node, ...]:
    """The nodes that stay and that something which goes reads, or that are outputs."""
    read = {child for node in plan.nodes if node not in stay for child in node.inputs}
    return tuple(node for node in plan.nodes if node in stay and node in read | set(plan.outputs.values()))


def _reached(engine: Engine, forks: Sequence[Node], operators: Mapping[Node, Operator]) -> list[Time]:
    """How far the forks are; new windows among them are as far as what they read lets them be."""
    below = Plan({str(i): node for i, node in enumerate(forks)})
    sources = [node for node in below.nodes if not node.inputs and logical(node) in below.sources]
    box = PlanBox(
        below,
        sources,
        relations=_no_rows(below),
        running={node: operators[node] for node in below.nodes if node in operators},
        reached=[engine.base().progress_of(node) for node in sources],
    )
    return [box.progress(i) for i in range(len(forks))]


def _no_rows(plan: Plan) -> Mapping[str, list[Element]]:
    """Operators that stay have their relations' rows; those that come read no relation."""
    return {one.relation: [] for one in logical_plan(plan).relations}


def _require_private(node: Node, operator: Operator, shared: set[Node]) -> None:
    if node in shared:
        raise MigrationRefused(
            f"{logical(node)} of the old plan runs for other queries too, which must keep it",
            operator=str(logical(node)),
        )
    if isinstance(operator, Adjustable) and len(operator.history) > 1:
        raise MigrationRefused(
            f"{logical(node)} of the old plan was resized while it ran, and a new one would not know from "
            "when on; add the new plan as another query",
            operator=str(logical(node)),
        )
