"""A running query: its plan, its sinks, and the lower end of its exchangeable part."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from midstream.operators.base.walk import Take
from midstream.operators.engine.running.bounds import (
    Kind,
    LeverBounds,
    intersection,
    kind,
    shown_bounds,
    twins,
)
from midstream.operators.engine.running.log import Log
from midstream.operators.engine.running.renaming import Renaming
from midstream.operators.engine.running.settings import LeverSettings
from midstream.operators.engine.running.tally import Tally
from midstream.plans.algebra.operators import OverTime, Source
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    input_nodes,
    is_lever,
    lever_of,
    levers_of,
    logical,
    logical_node,
    timestamped,
)
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time


class Stepwise(Protocol):
    """Work that is done a step at a time, such as a search or a migration, so that elements need not wait."""

    def step(self) -> bool:
        """Take a step, if one is due; returns True to be asked again behind the next event."""


@dataclass(slots=True, eq=False)
class RunningQuery:
    """A running query in the query graph."""

    name: str
    plan: Plan
    """The plan as it was given, or the target of a migration under way."""
    physical: Plan
    """The plan as it runs; subplans that are being exchanged are Boxed."""
    number: int
    """The number of the query, in order of arrival."""
    complete_from: Time
    """The instant from which its results are those of a query that has run from the beginning.

    FOREVER if that will never be so.
    """
    begins: Time = BEGINNING
    """The instant from which results are its own, after it took the place of another query."""
    sinks: dict[str, list[Take]] = field(init=False)
    """The sinks by output."""
    twins: frozenset[Kind] = field(init=False)
    """The kinds of which it has several levers; no migration changes them."""
    lasting: Time = BEGINNING
    """The largest end of elements that passed windows that are gone."""
    stuck: set[int] = field(default_factory=set)
    """The numbers of Boxes that have become plans and stay Boxes, as another query runs equal operators."""
    waiting: deque[Stepwise] = field(default_factory=deque)
    """The queued migrations; they begin when no part of the plan is being exchanged any more."""
    targets: dict[Stepwise, Plan] = field(default_factory=dict)
    """The plans to which migrations that have not begun will move it, with the present settings of levers."""
    under_way: dict[Stepwise, None] = field(default_factory=dict)
    """The migrations that are not over; they take a step when the query has been removed."""
    tally: Tally = field(default_factory=Tally)
    """The counts since it runs."""
    settings: LeverSettings = field(default_factory=LeverSettings)
    """The settings of its levers."""

    first: dict[str, Batch] = field(default_factory=dict)
    """By output, its results before anything arrives: those of rows of relations."""
    logs: dict[str, Log] = field(default_factory=dict)
    """By output, the results that are still valid; empty if no log is requested."""

    def __post_init__(self) -> None:
        self.sinks = {output: [] for output in self.plan.outputs}
        self.twins = twins(self.plan)

    def output(self, name: str | None = None) -> str:
        """The name of an output; the first one without a name.

        Raises   UnknownStreamError where there is none.
        """
        names = tuple(self.plan.outputs)
        if name is not None and name not in names:
            raise UnknownStreamError(
                f"there is no output {name}{suggest(name, names)}; known: {', '.join(names)}"
            )
        return names[0] if name is None else name

    @property
    def own_terms(self) -> Renaming:
        """Nodes and plans as the query declares its levers, from those that run."""
        return Renaming(self.settings.declared(self.plan), {})

    def as_it_runs(self, plan: Plan) -> Plan:
        """A plan for the query, with the bounds that its levers show as they run."""
        levers = self.settings.declared(self.plan)
        if not levers:
            return plan
        own = self.own_terms
        exact = {own.node(lever): lever_of(lever) for lever in levers}
        # In the new plan a lever may stand elsewhere.
        moved = {(operator, kind(lever)): lever_of(lever) for lever, operator in levers.items()}
        shown = {
            lever: operator
            for lever in levers_of(plan)
            if (operator := exact.get(lever) or moved.get((lever_of(lever), kind(lever)))) is not None
        }
        return Renaming(shown, {}).plan(plan)

    @property
    def is_logged(self) -> bool:
        """True if a log of its windows and its outputs is kept."""
        return bool(self.logs)

    @property
    def is_exchanged(self) -> bool:
        """True if a part of the plan is being exchanged."""
        numbers = {n.operator.number for n in self.physical.nodes if isinstance(n.operator, Boxed)}
        return not numbers <= self.stuck


def in_force(lever: Node, queries: Iterable[RunningQuery]) -> LeverBounds | None:
    """The bounds that all queries with a lever declare; None if they have no setting in common."""
    return intersection(query.settings.bounds(lever) for query in queries)


def lowest(physical: Plan, shared: Container[Node] = frozenset()) -> tuple[Node, ...]:
    """The windows of a physical plan, its sources without a window, and its `shared` nodes.

    Of these, only the first ones from the outputs down.
    """
    return input_nodes(physical, {node for node in physical.nodes if node in shared})


def carried_out(physical: Plan, shared: Container[Node] = frozenset()) -> dict[Node, Node]:
    """The nodes of `lowest` by the logical node that each carries out; of several, the last one."""
    return {logical_node(node): node for node in lowest(physical, shared)}


def missed_until(node: Node, ends: Callable[[Source], Time]) -> Time:
    """The instant before which a subplan that starts to run now may lack results of earlier elements.

    It is the latest end of such a result. `ends` gives the end of a stream's last element so far, BEGINNING
    if there was none.
    """
    operator = logical(node)
    if isinstance(operator, Source):
        return ends(operator)
    latest = max((missed_until(child, ends) for child in node.inputs), default=BEGINNING)
    if latest in (BEGINNING, FOREVER) or not isinstance(operator, OverTime):
        return latest
    until = operator.remembers_until(latest)
    if is_lever(node) and not all(_have_arrived(child, latest) for child in node.inputs):
        # What was missed below may still come here, and get a setting to come.
        lever = lever_of(node)
        greatest = lever.with_setting(shown_bounds(node)[1])
        assert isinstance(greatest, OverTime)
        until = max(until, latest - 1 + greatest.reach)
    return until


def _have_arrived(node: Node, latest: Time) -> bool:
    """True if no element of a subplan starts later than the elements of streams behind it."""
    for below in node.walk():
        operator = logical(below)
        if isinstance(operator, Source) and timestamped(below) is None:
            return False
        if isinstance(operator, OverTime) and operator.remembers_until(latest) != latest:
            return False
    return True
