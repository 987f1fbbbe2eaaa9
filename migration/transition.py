"""A query on its way to another plan: a state machine, from the request until it is done.

Before the migration begins, `Transition.step` moves it on. From then on its Boxes move on by themselves, one
migration for each part in which the plans differ (see `Migration`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar

from midstream.migration.fuse import Origins
from midstream.migration.machine import Migration, Phase
from midstream.migration.migrate import Prepared, Seat, prepare, seat_of
from midstream.migration.preconditions import require_same_answers
from midstream.migration.strategy import Strategy
from midstream.migration.trace import TraceEntry
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.queries import RunningQuery
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.comparison import Prover, compare, next_answer
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import MigrationNote, MigrationRefused
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.streams import BEGINNING, Time
from midstream.plans.values.verdicts import Answer, Equivalence

OVER = (Phase.DONE, Phase.ABORTED, Phase.REFUSED)
"""The last phases."""

WHEN_BUSY = ("chain", "queue", "refuse")
"""The choices of a caller while another migration of the query is under way."""

ENDED_EARLY = (
    "all streams ended before it was known whether the plans mean the same; migrate(plan, wait=True) waits "
    "for the answer"
)

UNPROVED = ("refuse", "accept")
"""The choices of a caller for plans that are neither proved nor refuted."""


@dataclass(frozen=True, slots=True)
class MigrationRequest:
    """A request to move a query to another plan; see `Engine.migrate`."""

    plan: Plan
    strategy: Strategy
    query: RunningQuery
    when_busy: str = "chain"
    replace_all: bool = False
    unproved: str = "refuse"

    def __post_init__(self) -> None:
        if self.when_busy not in WHEN_BUSY:
            raise MigrationRefused(f"found when_busy {self.when_busy!r}, expected chain, queue or refuse")
        if self.unproved not in UNPROVED:
            raise MigrationRefused(f"found unproved {self.unproved!r}, expected {' or '.join(UNPROVED)}")

    def prepare(self, host: Host, plan: Plan) -> Prepared | None:
        """The migration that can begin now; None where it must wait for another one.

        `plan` is the plan with the present settings of levers.

        Raises   MigrationRefused, with the operator and the reason.
        """
        if not self.query.is_exchanged or self.when_busy == "chain":
            return prepare(host, plan, self.strategy, self.query.name, replace_all=self.replace_all)
        if self.when_busy == "refuse":
            raise MigrationRefused(
                f"a migration of {self.query.name} is under way; wait until it is done, or abort it"
            )
        require_same_answers(self.query.plan, plan)
        return None


class Transition(NearNames):
    """A request to migrate, and its progress.

        checking   it is not known yet whether the plans mean the same
        queued     it waits until no part of the query is being exchanged any more
        moving     its Boxes run both plans; see `Migration`
        draining   the old plan is gone in all of them
        done       the new plan stands alone; at once, where the plans do not differ
        aborted    the old plan goes on: the caller said so, or a new plan failed
        refused    it cannot begin: the plans do not mean the same, or no longer can be exchanged

    Its phase is that of the part that has come least far. When the query is removed, a migration that has
    begun is `aborted`, and one that has not is `refused`.

    A MigrationNote tells once that it was refused or aborted after `start`, unless the caller of `abort` did
    it, or `tells` is False because the owner reports it.
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {"stop": "abort", "stat": ""}

    def __init__(
        self, host: Host, request: MigrationRequest, prover: Prover | None = None, *, tells: bool = True
    ) -> None:
        self._host = host
        self.request = request
        self.query = request.query.name
        """The query's name."""
        self.equivalence: Equivalence | None = None
        """The answer on which the migration relies; None before it is known."""
        self._comparing = compare(request.query.plan, request.plan, prover=prover)
        self._own = Phase.CHECKING
        """The phase before it has begun; MOVING from then on, when the phases of its parts count."""
        self._parts: Sequence[tuple[list[Seat], Migration]] = ()
        self._reason = ""
        self._listeners: list[Callable[[dict[str, Any]], object]] = []
        self._tells = tells
        self._is_known = False
        """True if its bad end has been told, or the caller has ended it."""

    def __repr__(self) -> str:
        reason = self.reason.partition("\n")[0]
        return f"<Transition of {self.query}: {self.phase.value}{reason and f', {reason}'}>"

    def start(self, proof: Equivalence | None = None, *, wait: bool = False) -> None:
        """Begin if a proof is given or soon found; otherwise check on, a slice behind each event.

        With `wait`, or when no more events come, the check ends before this returns.

        Raises   MigrationRefused, with the operator and the reason; then the engine goes on as before.
        """
        host, request = self._host, self.request
        # Refuse at once what cannot be done, before the plans are compared.
        prepared = request.prepare(host, request.plan)
        if proof is not None:
            require_proof_of(proof, request.query.plan, request.plan)
        answer = next_answer(self._comparing) if proof is None else proof
        while answer is None and (wait or host.has_ended()):
            answer = next_answer(self._comparing)
        if answer is None:
            request.query.targets[self] = request.plan
            host.work_in_steps(self)
        else:
            require_equivalence(answer, request.unproved, request.query.plan)
            self.equivalence = answer
            self._begin(prepared, request.plan)
        if self.phase not in OVER:
            request.query.under_way[self] = None

    def step(self) -> bool:
        """Take the next step if it is due; returns True if one is due behind the next event, too.

        During the check, this is called behind each event: a push, a heartbeat, an end, a change of queries.
        A queued migration is called when it is its turn, and each one when the query has been removed.
        """
        try:
            match self.phase:
                case Phase.CHECKING if self._host.has_ended():
                    self._own, self._reason = Phase.ABORTED, ENDED_EARLY
                case Phase.CHECKING:
                    self.equivalence = next_answer(self._comparing)
                    if self.equivalence is not None:
                        require_equivalence(self.equivalence, self.request.unproved, self.request.query.plan)
                        self.begin()
                case Phase.QUEUED if not self.request.query.is_exchanged:
                    self.begin()
                case Phase.QUEUED | Phase.MOVING | Phase.DRAINING:
                    pass  # the Boxes move on by themselves; see Migration
        except MigrationRefused as refusal:
            self._own, self._reason = Phase.REFUSED, str(refusal)
        self._settle()
        return self.phase is Phase.CHECKING

    def begin(self) -> None:
        """Begin, or wait in the queue; the caller answers for the equivalence of the plans.

        Raises   MigrationRefused, with the operator and the reason.
        """
        plan = self.request.query.targets.pop(self, self.request.plan)
        self._begin(self.request.prepare(self._host, plan), plan)

    def _begin(self, prepared: Prepared | None, plan: Plan) -> None:
        if prepared is None:
            self._own = Phase.QUEUED
            self.request.query.targets[self] = plan
            self.request.query.waiting.append(self)
            return
        self._parts, self._reason, self._own = prepared.begin(), prepared.reason, Phase.MOVING
        for listener in self._listeners:
            self._replay(listener)
        for number, part in enumerate(self.parts):
            part.listener = partial(self._tell, number)
        self._settle()

    def _settle(self) -> None:
        """Once it is over, drop what it no longer needs, and let a note tell of a bad end."""
        if self.phase not in OVER:
            return
        self._comparing.close()
        self.request.query.targets.pop(self, None)
        self.request.query.under_way.pop(self, None)
        if self._tells and not self._is_known and self.phase is not Phase.DONE:
            self._is_known = True
            self._host.tell(
                f"a migration of query {self.query} was {self.phase.value}: {self.reason}", MigrationNote
            )

    def speak(self) -> None:
        """Let a note tell if it is refused or aborted, as its owner does not report it any more."""
        self._tells = True
        self._settle()
        self._host.step()

    @property
    def phase(self) -> Phase:
        """The current phase."""
        if self._last in OVER or not self._is_gone:
            return self._last
        return Phase.ABORTED if self._own is Phase.MOVING else Phase.REFUSED

    @property
    def _last(self) -> Phase:
        """The phase when the query was last there."""
        if self._own is not Phase.MOVING:
            return self._own
        phases = {part.phase for part in self.parts}
        least_far = (Phase.MOVING, Phase.DRAINING, Phase.ABORTED)
        return next((phase for phase in least_far if phase in phases), Phase.DONE)

    @property
    def _is_gone(self) -> bool:
        """True if the query has been removed, or another one has taken its place."""
        return self._host.queries.get(self.request.query.name) is not self.request.query

    @property
    def reason(self) -> str:
        """The reason for its strategy, for its abort or for its refusal; empty otherwise."""
        if self._is_gone and self._last not in OVER:
            return f"query {self.query} has been removed"
        return self._reason or "; ".join(dict.fromkeys(part.reason for part in self.parts if part.reason))

    @property
    def parts(self) -> Sequence[Migration]:
        """The migrations, inputs before consumers."""
        return tuple(part for _, part in self._parts)

    def abort(self, reason: str = "") -> None:
        """Stay with the old plan, which has answered so far and goes on without loss or duplicates.

        A migration that has not begun will not begin.

        Raises   MigrationRefused where that is too late: a part has passed its split time, or has become a
                 part of another migration, or the query has been removed. Then nothing has changed.
        """
        if self.phase in (Phase.CHECKING, Phase.QUEUED):
            self._own, self._reason, self._is_known = Phase.ABORTED, reason, True
            self._settle()
            return
        if self._is_gone:
            raise MigrationRefused(f"query {self.query} has been removed, and its new plan as well")
        moving = [(seats, part) for seats, part in self._parts if part.phase is Phase.MOVING]
        if not moving:
            raise MigrationRefused(f"the migration is {self.phase.value}, which is too late to abort it")
        running = {seat: node for node in self.request.query.physical.nodes if (seat := seat_of(node))}
        if any(seat not in running for seats, _ in moving for seat in seats):
            raise MigrationRefused("a later migration has begun that includes this one; abort that one first")
        self._reason, self._is_known = reason, True
        for seats, part in moving:
            for seat, batch in zip(seats, part.abort(reason), strict=True):
                self._host.emit(running[seat], batch)
        self._host.adopt_plans()
        self._host.step()

    @property
    def split(self) -> Time:
        """The latest split time of its parts; BEGINNING where there is none."""
        return max((part.split for part in self.parts), default=BEGINNING)

    @property
    def started(self) -> Time:
        """The least progress of the inputs when it began."""
        return min((part.started for part in self.parts), default=BEGINNING)

    @property
    def ended(self) -> Time | None:
        """The least progress of the inputs when the last part was done or aborted; None before."""
        times = [part.ended for part in self.parts]
        return None if None in times else max((time for time in times if time is not None), default=None)

    @property
    def failure(self) -> Exception | None:
        """The exception of a new box, if the migration was aborted for it; else None."""
        return next((part.failure for part in self.parts if part.failure is not None), None)

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The entries of all parts from the beginning to the end, with the number of the part, by time."""
        entries = [
            {"part": number, **entry.as_dict()}
            for number, part in enumerate(self.parts)
            for entry in part.trace
        ]
        return sorted(entries, key=itemgetter("wall_time"))

    def listen(self, listener: Callable[[dict[str, Any]], object]) -> None:
        """Pass each entry of the trace to a function: earlier entries at once, others as they occur."""
        self._listeners.append(listener)
        self._replay(listener)

    def _replay(self, listener: Callable[[dict[str, Any]], object]) -> None:
        for entry in self.trace:
            listener(entry)

    def _tell(self, number: int, entry: TraceEntry) -> None:
        for listener in self._listeners:
            listener({"part": number, **entry.as_dict()})
        self._settle()

    def origins(self) -> Origins:
        """The number of results of its parts so far, by origin."""
        return Origins.together(part.origins() for part in self.parts)


def require_equivalence(answer: Equivalence, unproved: str, old: Plan | None = None) -> None:
    """Refuse plans that are not equivalent, or not known to be unless the caller vouches for them.

    The answer may be about the plans in either order; without the `old` one, it is the first.

    Raises   MigrationRefused, with the answer as `equivalence`.
    """
    if answer.answer is Answer.REFUTED:
        is_turned = old is not None and answer.plans is not None and answer.plans[0] != old
        names = ("new", "old") if is_turned else ("old", "new")
        drawn = "" if answer.counterexample is None else f"\n{answer.counterexample.drawn(*names)}\n"
        raise MigrationRefused(
            f"the plans do not mean the same: {answer.reason}{drawn or '; '}"
            "To change what the query means, replace it: engine.replace(plan, at=T) ends the old query at T "
            "and begins the new one there",
            equivalence=answer,
        )
    if answer.answer is Answer.UNKNOWN and unproved == "refuse":
        raise MigrationRefused(
            f"it is unknown whether the plans mean the same: {answer.reason}. If you know that they do, say "
            'unproved="accept", on the command line --accept-unproved',
            equivalence=answer,
        )


def require_proof_of(proof: Equivalence, old: Plan, new: Plan) -> None:
    """Refuse a proof about other plans.

    Raises   MigrationRefused.
    """
    require("migrate: proof", proof, Equivalence, "what ms.equivalent(running plan, new plan) returns")
    if proof.plans is None or set(proof.plans) != {old, new}:
        found = ": two streams" if proof.plans is None else ""
        raise MigrationRefused(
            f"the proof is about other plans than the running one and the new one{found}; "
            "expected what ms.equivalent(running plan, new plan) returns"
        )
