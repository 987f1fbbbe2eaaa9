"""The ways to exchange a running plan, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from midstream.migration.auto import Prediction, cheapest, rate
from midstream.migration.changes import Change, Changes, find_changes
from midstream.migration.checking import (
    UNPROVED,
    check_in_slices,
    require_equivalence,
    require_proof_of,
)
from midstream.migration.fork import everything, fork
from midstream.migration.fuse import Fuse, ReferencePoint
from midstream.migration.holders import read_around
from midstream.migration.machine import Migration, Phase
from midstream.migration.moving_states import Known, from_log, from_state, nothing
from midstream.migration.parallel_track import (
    ParallelTrack,
    Tracks,
    behind_windows,
    require_join_tree,
)
from midstream.migration.preconditions import (
    require_bounded,
    require_intervals,
    require_reducible,
    require_same_answers,
    require_same_windows,
    require_start_preserving,
    require_stateless,
    require_told_by_starts,
)
from midstream.migration.signed import CutFuse, outstanding, require_known_ends, signed_fork
from midstream.migration.strategy import (
    Prepared,
    Split,
    Strategy,
    split_at_once,
    split_behind_inputs,
    split_behind_progress,
    split_behind_state,
)
from midstream.migration.swap import Handover, Swap, require_private
from midstream.migration.transition import Transition
from midstream.operators.base.box import Box
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import HostedBox
from midstream.operators.engine.host import Host
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.planner import form
from midstream.operators.engine.queries import RunningQuery
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import reads_stream
from midstream.plans.equivalence.comparison import compare, next_answer
from midstream.plans.values.arguments import listed, require, wrong
from midstream.plans.values.errors import MigrationRefused, StatisticsError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Payload, Time
from midstream.plans.values.verdicts import Equivalence


def migrate(
    host: Host,
    plan: Plan | Stream,
    strategy: str = "genmig",
    query: str | None = None,
    *,
    when_busy: str = "chain",
    whole: bool = False,
    proof: Equivalence | None = None,
    unproved: str = "refuse",
    wait: bool = False,
) -> Transition:
    """Move a query of a running engine, by default the first, to another plan that means the same; elements
    keep flowing.

    First it must be known that both plans mean the same: from `proof`, the answer that `equivalent` gave
    before; or else from the normal form of plans; or else a search for a counter-example begins. It goes on
    a step at a time, at every push and heartbeat, and the transition is `checking` until it ends; with `wait`
    it ends before this returns. Plans that are refuted are refused. Plans of which nothing is known
    are, too, unless the caller vouches for them by `unproved="accept"`.

    Only what differs is exchanged: the smallest subplans (see changes), or with `whole` all that is above the
    windows. All else goes on, with its state, and what the query shares with others stays.

    The migration has begun when this returns, and ends by itself: when every input has passed the split time,
    what is old is gone. While another one of the same query is under way, `when_busy` tells what to do:
    "chain" begins at once, and what is under way becomes a part of the old plan; "queue" begins when that is
    over; "refuse".

    Raises   MigrationRefused, with the operator and the reason; then the engine goes on as before. One that
             is queued is checked when its turn comes, and its phase tells whether it was refused.
    """
    plan = plan_of("migrate", plan)
    chosen, found = host.query(query), find_strategy(strategy)
    if when_busy not in ("chain", "queue", "refuse"):
        raise MigrationRefused(f"found when_busy {when_busy!r}, expected chain, queue or refuse")
    if unproved not in UNPROVED:
        raise MigrationRefused(f"found unproved {unproved!r}, expected {' or '.join(UNPROVED)}")
    # What cannot be done is said at once, whatever the plans mean.
    ready = _turn(host, plan, found, chosen, when_busy, whole)

    def begin(answer: Equivalence) -> Transition:
        require_equivalence(answer, unproved)
        transition = ready()
        transition.equivalence = answer
        return transition

    def begin_later(answer: Equivalence) -> Transition:
        nonlocal ready
        if host.queries.get(chosen.name) is not chosen:
            raise MigrationRefused(f"query {chosen.name} has been removed")
        ready = _turn(host, plan, found, chosen, when_busy, whole)
        return begin(answer)

    if proof is not None:
        require_proof_of(proof, chosen.plan, plan)
        return begin(proof)
    comparing = compare(chosen.plan, plan)
    answer = next_answer(comparing)
    while answer is None and (wait or host.has_ended()):
        answer = next_answer(comparing)
    if answer is not None:
        return begin(answer)
    transition = Transition(host, chosen.name, waits_in=Phase.CHECKING)
    checking = check_in_slices(transition, comparing, begin_later)
    next(checking)
    host.work_in_steps(checking)
    return transition


def _turn(
    host: Host, plan: Plan, strategy: Strategy, query: RunningQuery, when_busy: str, whole: bool
) -> Callable[[], Transition]:
    """What is to be called to begin, at once or when what is under way is over."""
    if not query.is_exchanged or when_busy == "chain":
        return prepare(host, plan, strategy, query.name, whole=whole).begin
    if when_busy == "refuse":
        raise MigrationRefused(
            f"a migration of {query.name} is under way; wait until it is done, or abort it"
        )
    require_same_answers(query.plan, plan)

    def begin() -> Transition:
        transition = Transition(host, query.name)

        def when_over() -> None:
            if transition.is_queued:
                try:
                    transition.become(prepare(host, plan, strategy, query.name, whole=whole).begin())
                except MigrationRefused as refusal:
                    transition.refuse(refusal)

        host.when_free(query, when_over)
        return transition

    return begin


def prepare(
    host: Host, plan: Plan, strategy: Strategy, query: str | None = None, *, whole: bool = False
) -> Prepared:
    """Check whether a query can be moved in a certain way; nothing changes yet.

    What is prepared must begin before the next element comes.
    """
    return (strategy.prepare or _prepare)(strategy, host, plan, query, whole)


@dataclass(frozen=True, slots=True)
class _Box:
    """A change, and what is known of it before it is made."""

    change: Change
    old: PlanBox
    reached: Sequence[Time]
    split: Time
    known: Known
    signed: Mapping[int, Counter[Payload]]
    """By signed input, the copies of each payload that are valid."""


def _prepare(strategy: Strategy, host: Host, plan: Plan, query: str | None, whole: bool) -> Prepared:
    chosen = host.query(query)
    strategy.plans(chosen.plan, plan)
    changes = find_changes(chosen.physical, plan, host.shared(chosen.name), whole=whole)
    try:
        boxes = _checked(strategy, host, chosen, changes)
    except MigrationRefused as refusal:
        # Windows may end where rows of relations that come in above them are valid for ever.
        ends = (host.max_end(node) for change in changes.changes for node in change.inputs)
        if whole or FOREVER not in ends:
            raise
        try:
            return _prepare(strategy, host, plan, query, whole=True)
        except MigrationRefused:
            raise refusal from None

    def predict() -> Prediction:
        return Prediction.together(strategy.name, [_predict(box) for box in boxes])

    def _predict(box: _Box) -> Prediction:
        return Prediction.of(
            strategy.name,
            split=box.split,
            now=min((time for time in box.reached if time != BEGINNING), default=BEGINNING),
            rate=_rate(host, query),
            # Where the new plan has its state from the beginning, the old one's is not kept.
            kept=box.old.size() if strategy.known is nothing else 0,
            steps=strategy.steps,
            copied=box.known.copied,
        )

    return Prepared(predict, lambda: _begin(strategy, host, plan, chosen.name, changes, boxes))


def _checked(strategy: Strategy, host: Host, query: RunningQuery, changes: Changes) -> list[_Box]:
    for change in changes.changes:
        for which, roots, nodes in change.answering:
            require_bounded(roots, set(change.inputs), which)
            if not strategy.is_immediate:
                require_reducible(nodes, which)
            strategy.require(nodes, which)
        if strategy.takes_signs:
            require_known_ends(host, change.inputs)
        else:
            require_intervals(change.inputs)
        strategy.permit(host, query.name, change)
    boxes = []
    operators = host.operators
    for change in changes.changes:
        old = host.running_box(change.old, change.inputs)
        ends, reached = list(map(host.max_end, change.inputs)), list(old.reached)
        split = _split_for(strategy, change, operators)(old, ends, reached)
        known = strategy.known(host, query.name, change, old, split)
        signed = {
            port: outstanding(host, node) for port, node in enumerate(change.inputs) if form(node) == "signs"
        }
        boxes.append(_Box(change, old, reached, split, known, signed))
    return boxes


def _split_for(strategy: Strategy, change: Change, operators: Mapping[Node, Operator]) -> Split:
    """How to find the split time. What is read around has been given to the old plan on one way, and is still
    to come on another: then the old plan's state alone does not tell what it answers for."""
    if strategy.split is split_behind_state and any(read_around(change, operators)):
        return split_behind_inputs
    return strategy.split


def _begin(
    strategy: Strategy, host: Host, plan: Plan, query: str, changes: Changes, boxes: Sequence[_Box]
) -> Transition:
    placed: dict[tuple[Node, Node], Node] = {}
    operators: dict[Node, Operator] = {}
    parts: list[tuple[list[Node], Migration]] = []
    ready: dict[Node, Batch] = {}
    # Ending operators that go counts as theirs what a swap gives out.
    host.count_results(query)
    running = host.operators
    for box in boxes:
        inputs, reached = box.change.inputs, box.reached
        new = host.new_box(box.change.new, inputs)
        if strategy.is_immediate:
            for port, progress in enumerate(reached):
                new.advance(port, progress)
            # What another query runs already stays; what this one runs has been ended.
            gone, _ = box.change.parts
            coming = new.operators().items()
            operators |= {node: one for node, one in coming if node not in running or node in gone}
            inputs = tuple(dict.fromkeys(new.plan.outputs.values()))
            reached = [new.progress_of(node) for node in inputs]
            new = host.new_box(box.change.new, inputs)
        new.open()
        migration = _migration(box.old, new, strategy, box.split, reached, box.known, box.signed)
        seats = host.box_nodes(box.change.new, inputs)
        ready |= zip(seats, migration.begin(), strict=True)
        placed |= zip(box.change.pairs, seats, strict=True)
        operators |= zip(seats, HostedBox(migration, reached).guests, strict=True)
        parts.append((seats, migration))
    physical, moved = changes.placed(placed)
    host.exchange(query, plan, physical, moved, operators)
    for seat, batch in ready.items():
        host.emit(seat, batch)
    host.adopt_plans()
    host.compile_routes(query)
    return Transition(host, query, parts)


def _prepare_moved(strategy: Strategy, host: Host, plan: Plan, query: str | None, whole: bool) -> Prepared:
    """By the log where there is one, which is kept of windows and outputs; else by the old plan's state."""
    if host.query(query).is_logged:
        return _prepare(strategy, host, plan, query, whole=True)
    by_state = replace(
        strategy, joiner=ReferencePoint, require=require_told_by_starts, known=from_state, steps=1
    )
    return _prepare(by_state, host, plan, query, whole)


def _prepare_cheapest(strategy: Strategy, host: Host, plan: Plan, query: str | None, whole: bool) -> Prepared:
    prepared: dict[str, Prepared] = {}
    refusals: dict[str, MigrationRefused] = {}
    for one in STRATEGIES.values():
        if one is not strategy:
            try:
                prepared[one.name] = prepare(host, plan, one, query, whole=whole)
            except MigrationRefused as refusal:
                refusals[one.name] = refusal
    best, reason = cheapest([one.predict() for one in prepared.values()], refusals)

    def begin() -> Transition:
        transition = prepared[best.strategy].begin()
        transition.explain(reason)
        return transition

    return Prepared(lambda: best, begin)


def _require_swappable(old: Plan, new: Plan) -> None:
    require_same_answers(old, new)
    require_same_windows(old, new)


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "swap",
            everything,
            Handover,
            require_stateless,
            split=split_at_once,
            machine=Swap,
            steps=0,
            is_immediate=True,
            plans=_require_swappable,
            permit=require_private,
        ),
        Strategy("genmig-reference-point", fork, ReferencePoint, require_start_preserving, steps=1),
        Strategy("genmig-end-timestamp", fork, Fuse, split=split_behind_state),
        Strategy("genmig", fork, Fuse, takes_signs=True),
        Strategy(
            "parallel-track",
            everything,
            Tracks,
            require_join_tree,
            split=behind_windows,
            machine=ParallelTrack,
        ),
        Strategy(
            "moving-states", fork, Fuse, split=split_behind_progress, known=from_log, prepare=_prepare_moved
        ),
        # Of boxes there is nothing to compare: the earlier split time is never the worse.
        Strategy("auto", fork, Fuse, split=split_behind_state, prepare=_prepare_cheapest),
    )
}
"""By name; `auto` takes the one of the others with the smallest predicted overhead, the first of equals."""


def migrate_box(
    old: Box, new: Box, strategy: Strategy, max_ends: Sequence[Time], reached: Sequence[Time]
) -> tuple[Migration, list[Batch]]:
    """Set up a migration between two boxes, of whatever engine; the results that are ready at once come with
    it.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress. Boxes
    have no plans to be compared, so the caller vouches that they mean the same. What a strategy requires of
    plans is the caller's claim, too: for `swap`, that the boxes are stateless but for the order of their
    results; for `genmig-end-timestamp` and `auto`, that the old box's `state()` leaves out nothing that
    matters to later results.

    Raises   MigrationRefused for `moving-states`: of boxes, nobody knows what is still valid.
    """
    require("migrate_box", strategy, Strategy, "a strategy, such as ms.find_strategy('genmig')")
    for box in (old, new):
        if not callable(getattr(box, "state", None)):
            raise wrong("migrate_box", box, "a Box")
    for name, times in (("max_ends", max_ends), ("reached", reached)):
        if len(listed(f"migrate_box: {name}", times, "a list of instants")) != len(old.inputs):
            raise wrong(f"migrate_box: {name}", times, f"an instant for each of {len(old.inputs)} inputs")
    if strategy.known is not nothing:
        raise MigrationRefused(
            f"{strategy.name} needs what a query's log or its operators keep, and a box does not show it"
        )
    migration = _migration(old, new, strategy, strategy.split(old, max_ends, reached), reached)
    return migration, migration.begin()


def _migration(
    old: Box,
    new: Box,
    strategy: Strategy,
    split: Time,
    reached: Sequence[Time],
    known: Known | None = None,
    signed: Mapping[int, Counter[Payload]] = MappingProxyType({}),
) -> Migration:
    known = known or Known()
    forks = [
        signed_fork(signed[port]) if port in signed else strategy.fork(split)
        for port in range(len(new.inputs))
    ]
    if known.given is None:
        joiner = CutFuse if signed else strategy.joiner
        joiners = [joiner(split) for _ in new.outputs]
    else:
        joiners = [strategy.joiner(split, given) for given in known.given]
    return strategy.machine(old, new, split, reached, forks, joiners, initial=known.initial, whole=signed)


def _rate(host: Host, query: str | None) -> float:
    """Elements per chronon of a query's inputs that elements arrive on; 0 where that is not known."""
    try:
        observed = host.observe(query)
    except StatisticsError:
        return 0.0
    forks = host.exchangeable_inputs(query)
    return rate(one for node, one in observed.items() if node in forks and reads_stream(node))


def find_strategy(name: str) -> Strategy:
    """A strategy by name. Raises MigrationRefused where there is none."""
    try:
        return STRATEGIES[name]
    except (KeyError, TypeError):
        known = tuple(STRATEGIES)
        raise MigrationRefused(
            f"there is no strategy {name}{suggest(name, known)}; known: {', '.join(known)}"
        ) from None
