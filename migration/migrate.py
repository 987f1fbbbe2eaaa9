"""Plan a migration of a query or between Boxes as a value, then begin it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from midstream.migration.auto import AutoStrategy, Prediction, cheapest, predict, refused_by_all
from midstream.migration.changes import PlanDifference, find_changes
from midstream.migration.machine import Migration
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box, require_box
from midstream.operators.base.operator import Operator
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.guest import HostedBox
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.arguments import listed, require, wrong
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time

T = TypeVar("T")

Seat = tuple[int, int]
"""The number of a Box and of one of its outputs, which stay when the node in the plan changes."""

DEMAND_LEAST = ("genmig", "swap")
"""The strategies that require least: where they refuse, the others mostly refuse for the same reasons."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked migration of a query, as a value; it must begin before the next element arrives."""

    host: Host
    query: str
    plan: Plan
    """The plan to move the query to."""
    strategy: Strategy
    changes: PlanDifference
    parts: Sequence[Subplan]
    """The parts to be replaced."""
    edits: Sequence[Edit]
    """For each part, the way to replace it."""
    reason: str = ""
    """Why this strategy was chosen; empty where the caller chose it."""

    def predict(self) -> Prediction:
        """The predicted cost of this migration."""
        return predict(self.host, self.query, self.strategy.name, self.edits)

    def begin(self) -> list[tuple[list[Seat], Migration]]:
        """Put Boxes in place of the parts to be replaced, and give out what is ready at once.

        Returns the migrations, inputs before consumers, with the seats of their outputs.
        """
        host, query = self.host, self.query
        placed: dict[tuple[Node, Node], Node] = {}
        operators: dict[Node, Operator] = {}
        parts: list[tuple[list[Seat], Migration]] = []
        ready: dict[Node, Batch] = {}
        # A swap ends the old operators, and what they give out then must count as theirs.
        host.count_results(query)
        for part, edit in zip(self.parts, self.edits, strict=True):
            new = self.strategy.new_part(part)
            new.box.open()
            migration = self.strategy.begin(edit, new.box, new.reached)
            nodes = host.box_nodes(part.change.new, new.inputs)
            ready |= zip(nodes, migration.begin(), strict=True)
            new.follow(part.box)
            placed |= zip(part.change.pairs, nodes, strict=True)
            operators |= new.operators
            operators |= zip(nodes, HostedBox(migration, new.reached).guests, strict=True)
            parts.append(([seat for node in nodes if (seat := seat_of(node))], migration))
        physical, moved = self.changes.placed(placed)
        host.exchange(query, self.plan, physical, moved, operators)
        for node, batch in ready.items():
            host.emit(node, batch)
        host.adopt_plans()
        host.compile_routes(query)
        return parts


def seat_of(node: Node) -> Seat | None:
    """The seat of a node in a running plan; None where no Box runs in its place."""
    operator = node.operator
    return (operator.number, operator.output) if isinstance(operator, Boxed) else None


def prepare(
    host: Host, plan: Plan, strategy: Strategy, query: str | None = None, *, replace_all: bool = False
) -> Prepared:
    """Check if a strategy can move a query to a plan, and plan the migration; nothing changes yet.

    Raises   MigrationRefused, with the operator and the reason.
    """
    if isinstance(strategy, AutoStrategy):
        strategies = [s for s in STRATEGIES.values() if not isinstance(s, AutoStrategy)]
        return prepare_cheapest(host, plan, strategies, query, replace_all=replace_all)
    changes, parts, edits = _checked(host, plan, strategy, strategy.plan, query, replace_all)
    return Prepared(host, host.query(query).name, plan, strategy, changes, parts, edits)


def require_possible(host: Host, plan: Plan, strategy: Strategy, query: str | None = None) -> None:
    """Refuse what `prepare` refuses, without copying any state.

    Raises   MigrationRefused, with the operator and the reason.
    """
    if isinstance(strategy, AutoStrategy):
        prepare(host, plan, strategy, query)
    else:
        _checked(host, plan, strategy, strategy.require_plan, query, False)


def obstacle(host: Host, plan: Plan, query: str | None = None) -> str | None:
    """The reason why no strategy can move a query to an equivalent plan now; None where one can.

    The equivalence of the plans is not checked.

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
    replace_all: bool,
) -> tuple[PlanDifference, list[Subplan], list[T]]:
    chosen = host.query(query)
    replace_all = replace_all or strategy.replaces_all(chosen)
    strategy.check_plans(chosen.plan, plan)
    changes = find_changes(chosen.physical, plan, host.shared(chosen.name), replace_all=replace_all)
    parts = [Subplan.of(host, chosen, change) for change in changes.changes]
    try:
        for part in parts:
            strategy.check(part)
        return changes, parts, [planned(part) for part in parts]
    except MigrationRefused as refusal:
        # Rows of relations above the windows may be valid for ever, while the windows' results end.
        if replace_all or not any(FOREVER in part.max_ends for part in parts):
            raise
        try:
            return _checked(host, plan, strategy, planned, query, True)
        except MigrationRefused:
            raise refusal from None


def prepare_cheapest(
    host: Host,
    plan: Plan,
    strategies: Iterable[Strategy],
    query: str | None = None,
    *,
    replace_all: bool = False,
) -> Prepared:
    """Prepare a migration by the strategy with the smallest predicted overhead, the first of equals.

    Raises   MigrationRefused, with the reasons of all, where none is applicable.
    """
    prepared: dict[str, Prepared] = {}
    refusals: dict[str, MigrationRefused] = {}
    for strategy in strategies:
        try:
            migration = prepare(host, plan, strategy, query, replace_all=replace_all)
            prepared[migration.strategy.name] = migration
        except MigrationRefused as refusal:
            refusals[strategy.name] = refusal
    best, reason = cheapest([migration.predict() for migration in prepared.values()], refusals)
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
    """Set up a migration between two boxes of any engine; returns it with the results that are ready at once.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress. Boxes
    have no plans to compare, so the caller vouches that they are equivalent. The caller also vouches for what
    a strategy requires of plans: for `genmig-end-timestamp` and `auto`, that the old box's `state()` leaves
    out nothing that matters to later results; for `swap`, that the boxes are stateless. If the old box keeps
    elements, `swap` needs `stateless=True`: the elements are then results that only wait for the sake of
    order. A box that shows no state is believed to have none.

    Raises   MigrationRefused where inputs or outputs have other names; for `swap` where the old box keeps
             something; where it keeps an element that ends later than all of `max_ends`, which must then be
             wrong; for `moving-states`, as a box does not show which elements are still valid. The old box
             goes on.
    """
    expected = "a strategy, such as midstream.migration.find_strategy('genmig')"
    require("migrate_box", strategy, Strategy, expected)
    require("migrate_box: stateless", stateless, bool, "True or False")
    for box in (old, new):
        require_box("migrate_box", box)
    for name, times in (("max_ends", max_ends), ("reached", reached)):
        if len(listed(f"migrate_box: {name}", times, "a list of instants")) != len(old.inputs):
            raise wrong(f"migrate_box: {name}", times, f"an instant for each of {len(old.inputs)} inputs")
        for place, time in enumerate(times):
            expected = "an instant, or ms.BEGINNING for an input that has brought nothing yet"
            require(f"migrate_box: {name}[{place}]", time, (int, float, Fraction), expected)
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
