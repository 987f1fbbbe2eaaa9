"""Plan a migration and begin it, of a query or between Boxes; what is going to be done is a value first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from midstream.migration.auto import AutoStrategy, Prediction, cheapest, predict, refused_by_all
from midstream.migration.changes import PlanDifference, find_changes
from midstream.migration.machine import Migration
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box, require_box
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import HostedBox
from midstream.operators.engine.host import Host
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import listed, require, wrong
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time

T = TypeVar("T")

DEMAND_LEAST = ("genmig", "swap")
"""The strategies that ask for least: where they refuse, the others mostly do for the same reasons."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A migration of a query that has been checked: what it is going to do, as a value. It must begin before
    the next element comes."""

    host: Host
    query: str
    plan: Plan
    """To which the query is moved."""
    strategy: Strategy
    changes: PlanDifference
    parts: Sequence[Subplan]
    """What is exchanged."""
    edits: Sequence[Edit]
    """How, part by part."""
    reason: str = ""
    """Why this strategy was chosen; empty where the caller chose it."""

    def predict(self) -> Prediction:
        """What it is expected to cost."""
        return predict(self.host, self.query, self.strategy.name, self.edits)

    def begin(self) -> list[tuple[list[Node], Migration]]:
        """Put Boxes in the place of what is to be exchanged, and give out what is ready at once.

        Gives the migrations, inputs before consumers, with the nodes in whose place their outputs are.
        """
        host, query = self.host, self.query
        placed: dict[tuple[Node, Node], Node] = {}
        operators: dict[Node, Operator] = {}
        parts: list[tuple[list[Node], Migration]] = []
        ready: dict[Node, Batch] = {}
        # Ending operators that go counts as theirs what a swap gives out.
        host.count_results(query)
        for part, edit in zip(self.parts, self.edits, strict=True):
            new = self.strategy.new_part(part)
            new.box.open()
            migration = self.strategy.begin(edit, new.box, new.reached)
            nodes = host.box_nodes(part.change.new, new.inputs)
            ready |= zip(nodes, migration.begin(), strict=True)
            placed |= zip(part.change.pairs, nodes, strict=True)
            operators |= new.operators
            operators |= zip(nodes, HostedBox(migration, new.reached).guests, strict=True)
            parts.append((nodes, migration))
        physical, moved = self.changes.placed(placed)
        host.exchange(query, self.plan, physical, moved, operators)
        for node, batch in ready.items():
            host.emit(node, batch)
        host.adopt_plans()
        host.compile_routes(query)
        return parts


def prepare(
    host: Host, plan: Plan, strategy: Strategy, query: str | None = None, *, whole: bool = False
) -> Prepared:
    """Check whether a query can be moved in a certain way, and plan how; nothing changes yet.

    Raises   MigrationRefused, with the operator and the reason.
    """
    if isinstance(strategy, AutoStrategy):
        others = [one for one in STRATEGIES.values() if not isinstance(one, AutoStrategy)]
        return prepare_cheapest(host, plan, others, query, whole=whole)
    changes, parts, edits = _checked(host, plan, strategy, strategy.plan, query, whole)
    return Prepared(host, host.query(query).name, plan, strategy, changes, parts, edits)


def require_possible(host: Host, plan: Plan, strategy: Strategy, query: str | None = None) -> None:
    """Refuse what `prepare` refuses, without copying what an operator keeps.

    Raises   MigrationRefused, with the operator and the reason.
    """
    if isinstance(strategy, AutoStrategy):
        prepare(host, plan, strategy, query)
    else:
        _checked(host, plan, strategy, strategy.require_plan, query, False)


def obstacle(host: Host, plan: Plan, query: str | None = None) -> str | None:
    """Why no strategy can move a query to a plan that means the same, as things are now; None where one can.

    Whether the plans mean the same is not asked.

    Cost     that of planning a migration; where GenMig refuses, of planning one by each strategy.
    """
    if host.query(query).plan == plan:
        return None
    refusals: dict[str, MigrationRefused] = {}
    for name in dict.fromkeys((*DEMAND_LEAST, *STRATEGIES)):
        strategy = find_strategy(name)
        if not isinstance(strategy, AutoStrategy):
            try:
                require_possible(host, plan, strategy, query)
            except MigrationRefused as refusal:
                refusals[name] = refusal
            else:
                return None
    return refused_by_all({name: refusals[name] for name in DEMAND_LEAST})


def _checked(
    host: Host,
    plan: Plan,
    strategy: Strategy,
    planned: Callable[[Subplan], T],
    query: str | None,
    whole: bool,
) -> tuple[PlanDifference, list[Subplan], list[T]]:
    chosen = host.query(query)
    is_whole = whole or strategy.replaces_all(chosen)
    strategy.check_plans(chosen.plan, plan)
    changes = find_changes(chosen.physical, plan, host.shared(chosen.name), whole=is_whole)
    parts = [Subplan.of(host, chosen, change) for change in changes.changes]
    try:
        for part in parts:
            strategy.check(part)
        return changes, parts, [planned(part) for part in parts]
    except MigrationRefused as refusal:
        # Windows may end where rows of relations that come in above them are valid for ever.
        if is_whole or not any(FOREVER in part.max_ends for part in parts):
            raise
        try:
            return _checked(host, plan, strategy, planned, query, True)
        except MigrationRefused:
            raise refusal from None


def prepare_cheapest(
    host: Host, plan: Plan, strategies: Iterable[Strategy], query: str | None = None, *, whole: bool = False
) -> Prepared:
    """The same by that one of some strategies which has the smallest predicted overhead, the first of equals.

    Raises   MigrationRefused, with the reasons of all, where none is applicable.
    """
    prepared: dict[str, Prepared] = {}
    refusals: dict[str, MigrationRefused] = {}
    for strategy in strategies:
        try:
            one = prepare(host, plan, strategy, query, whole=whole)
            prepared[one.strategy.name] = one
        except MigrationRefused as refusal:
            refusals[strategy.name] = refusal
    best, reason = cheapest([one.predict() for one in prepared.values()], refusals)
    return replace(prepared[best.strategy], reason=reason)


def migrate_box(
    old: Box,
    new: Box,
    strategy: Strategy,
    max_ends: Sequence[Time],
    reached: Sequence[Time],
    *,
    stateless: bool = False,
) -> tuple[Migration, list[Batch]]:
    """Set up a migration between two boxes, of whatever engine; the results that are ready at once come with
    it.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress. Boxes
    have no plans to be compared, so the caller vouches that they mean the same. What a strategy requires of
    plans is the caller's claim, too: for `genmig-end-timestamp` and `auto`, that the old box's `state()`
    leaves out nothing that matters to later results; for `swap`, that the boxes are stateless. An old box
    that keeps elements is believed to be so only where `stateless` says it: then they are results that wait
    for the sake of order. A box that shows no state is believed.

    Raises   MigrationRefused where inputs or outputs have other names; for `swap` where the old box keeps
             something; where it keeps an element that ends later than all of `max_ends`, which must be wrong
             then; for `moving-states`, as nobody knows of boxes what is still valid. The old box goes on.
    """
    require("migrate_box", strategy, Strategy, "a strategy, such as ms.find_strategy('genmig')")
    require("migrate_box: stateless", stateless, bool, "True or False")
    for box in (old, new):
        require_box("migrate_box", box)
    for name, times in (("max_ends", max_ends), ("reached", reached)):
        if len(listed(f"migrate_box: {name}", times, "a list of instants")) != len(old.inputs):
            raise wrong(f"migrate_box: {name}", times, f"an instant for each of {len(old.inputs)} inputs")
    for what, of_old, of_new in (("inputs", old.inputs, new.inputs), ("outputs", old.outputs, new.outputs)):
        if tuple(of_old) != tuple(of_new):
            raise MigrationRefused(
                f"the {what} of the new box are {', '.join(of_new) or 'none'}, expected those of the old box "
                f"in their order: {', '.join(of_old) or 'none'}"
            )
    _require_true_ends(old, max_ends)
    if not stateless and (lost := strategy.loses(old)):
        raise MigrationRefused(
            f"{strategy.name} would lose what the old box keeps, {lost:,} element{'s' if lost > 1 else ''}; "
            "use genmig, or say stateless=True where they are results that only wait for their turn"
        )
    migration = strategy.begin(strategy.plan(Part(old, max_ends, reached)), new, reached)
    return migration, migration.begin()


def _require_true_ends(box: Box, max_ends: Sequence[Time]) -> None:
    latest = max((end for _, end, _ in box.state() if end != FOREVER), default=BEGINNING)
    if latest > max(max_ends, default=BEGINNING):
        raise MigrationRefused(
            f"the old box keeps an element that is valid until {latest}, and max_ends say that none has come "
            f"to its inputs that ends after {max(max_ends, default=BEGINNING)}; give the largest end of all "
            "elements so far, input by input"
        )
