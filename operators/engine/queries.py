"""A running query: its plan, its sinks, and where the part of it begins that can be exchanged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Protocol

from midstream.operators.base.way import Take
from midstream.operators.engine.counting import Tally
from midstream.operators.engine.log import Log
from midstream.plans.algebra.operators import OverTime, Source
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import input_nodes, logical, logical_node
from midstream.plans.values.errors import UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time


class Stepwise(Protocol):
    """What is done a step at a time, such as a search or a migration, so that elements need not wait."""

    def step(self) -> bool:
        """Take a step, if one is due; tells whether to ask again behind the next event."""


@dataclass(slots=True, eq=False)
class RunningQuery:
    """A query that runs, as the query graph keeps it."""

    name: str
    plan: Plan
    """As it was given, or the one to which a migration under way is moving."""
    physical: Plan
    """As it runs; subplans that are being exchanged are Boxed."""
    number: int
    """Queries are numbered as they come."""
    complete_from: Time
    """From this instant on its results are those of a query that has run from the beginning; FOREVER where
    that will never be so."""
    begins: Time = BEGINNING
    """Where it took the place of another query, from which instant on results are its own."""
    sinks: dict[str, list[Take]] = field(init=False)
    """By output."""
    lasting: Time = BEGINNING
    """Until when what came through windows that are gone may be valid."""
    stuck: set[int] = field(default_factory=set)
    """The numbers of Boxes that have become plans and stay Boxes, as another query runs equal operators."""
    waiting: deque[Stepwise] = field(default_factory=deque)
    """The migrations that are queued; they begin when no part of the plan is being exchanged any more."""
    tally: Tally = field(default_factory=Tally)
    """The counts since it runs."""

    first: dict[str, Batch] = field(default_factory=dict)
    """By output, what it gives before anything arrives: what is made of rows of relations."""
    logs: dict[str, Log] = field(default_factory=dict)
    """By output, the results that are still valid; empty where nobody asked for a log."""

    def __post_init__(self) -> None:
        self.sinks = {output: [] for output in self.plan.outputs}

    def output(self, name: str | None = None) -> str:
        """The name of an output; the first one without. Raises UnknownStreamError where there is none."""
        names = tuple(self.plan.outputs)
        if name is not None and name not in names:
            raise UnknownStreamError(
                f"there is no output {name}{suggest(name, names)}; known: {', '.join(names)}"
            )
        return names[0] if name is None else name

    @property
    def is_logged(self) -> bool:
        """Whether a log is kept, of its windows and its outputs."""
        return bool(self.logs)

    @property
    def is_exchanged(self) -> bool:
        """Whether a part of the plan is being exchanged."""
        numbers = {n.operator.number for n in self.physical.nodes if isinstance(n.operator, Boxed)}
        return not numbers <= self.stuck


def lowest(physical: Plan, shared: Container[Node] = frozenset()) -> tuple[Node, ...]:
    """The windows of a physical plan, sources without a window, and nodes that are `shared`, as far as they
    are the first that are met from the outputs."""
    return input_nodes(physical, {node for node in physical.nodes if node in shared})


def carried_out(physical: Plan, shared: Container[Node] = frozenset()) -> dict[Node, Node]:
    """The same by the logical node that each carries out; of several that carry out one, the last."""
    return {logical_node(node): node for node in lowest(physical, shared)}


def missed_until(node: Node, ends: Callable[[Source], Time]) -> Time:
    """Before which instant a subplan that starts to run now may lack what came before: where the last of it
    ends.

    `ends` tells of a stream where the last element so far ends, BEGINNING where there was none.
    """
    operator = logical(node)
    if isinstance(operator, Source):
        return ends(operator)
    latest = max((missed_until(child, ends) for child in node.inputs), default=BEGINNING)
    if latest in (BEGINNING, FOREVER) or not isinstance(operator, OverTime):
        return latest
    return operator.remembers_until(latest)
