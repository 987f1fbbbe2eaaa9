"""A query on its way to another plan: one migration for each part in which the plans differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from midstream.migration.fuse import Origins
from midstream.migration.machine import Migration, Phase
from midstream.migration.trace import TraceEntry
from midstream.operators.base.operator import Operator
from midstream.operators.engine.host import Host
from midstream.operators.engine.plan_box import PlanBox
from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, Time
from midstream.plans.values.verdicts import Equivalence

OVER = (Phase.DONE, Phase.ABORTED, Phase.REFUSED)
"""The phases that none follows."""


class Transition:
    """What became of a request to migrate.

    Its phase is that of the part that is least far: before it begins `checking`, whether the plans mean the
    same, or `queued`; then `moving`, `draining`, `done`. It is `aborted` where a part was, and `refused`
    where the plans do not mean the same, or its turn came and it could not begin. Where the
    plans do not differ there are no parts, and it is done at once. When the query is removed, what has begun
    is `aborted`, and what has not is `refused`.
    """

    def __init__(
        self,
        host: Host,
        query: str,
        parts: Sequence[tuple[list[Node], Migration]] | None = None,
        *,
        reason: str = "",
        waits_in: Phase = Phase.QUEUED,
    ) -> None:
        self._host, self._running = host, host.query(query)
        self.query = query
        """The query's name."""
        self.equivalence: Equivalence | None = None
        """How it is known that the plans mean the same; None before that is known."""
        self._parts = parts
        self._waits_in = waits_in
        self._end: Phase | None = None
        self._reason = reason
        self._listeners: list[Callable[[dict[str, Any]], object]] = []

    @property
    def reason(self) -> str:
        """Why its strategy was chosen, why it was aborted, or why it was refused; empty otherwise."""
        if self._is_gone and self._own_phase not in OVER:
            return f"query {self.query} has been removed"
        return self._reason or "; ".join(dict.fromkeys(part.reason for part in self.parts if part.reason))

    @property
    def parts(self) -> Sequence[Migration]:
        """The migrations, inputs before consumers."""
        return tuple(part for _, part in self._parts or ())

    def operators(self) -> Iterator[tuple[Node, Operator]]:
        """What runs inside of its parts, of the old plan and of the new one, where these are ours."""
        for part in self.parts:
            for box in (part.old, part.new):
                if isinstance(box, PlanBox):
                    yield from box.operators().items()

    @property
    def phase(self) -> Phase:
        """Where it stands."""
        own = self._own_phase
        if own in OVER or not self._is_gone:
            return own
        return Phase.REFUSED if self._parts is None else Phase.ABORTED

    @property
    def _own_phase(self) -> Phase:
        """Where it stood when the query was there last."""
        if self._end is not None or self._parts is None:
            return self._end or self._waits_in
        phases = {part.phase for part in self.parts}
        order = (Phase.MOVING, Phase.DRAINING, Phase.ABORTED)
        return next((phase for phase in order if phase in phases), Phase.DONE)

    @property
    def _is_gone(self) -> bool:
        """Whether the query has been removed, or another one has taken its place."""
        return self._host.queries.get(self._running.name) is not self._running

    @property
    def is_queued(self) -> bool:
        """Whether it has yet to begin."""
        return self.phase is Phase.QUEUED

    @property
    def is_checking(self) -> bool:
        """Whether it is not known yet if the plans mean the same."""
        return self.phase is Phase.CHECKING

    def take_turn(self, begin: Callable[[], Transition]) -> None:
        """Take over what one that waited becomes, or is refused for."""
        try:
            begun = begin()
        except MigrationRefused as refusal:
            self._end, self._reason = Phase.REFUSED, str(refusal)
            self.equivalence = getattr(refusal, "equivalence", self.equivalence)
            return
        self._parts, self._reason, self._waits_in = begun._parts, begun._reason, begun._waits_in
        if begun.equivalence is not None:
            self.equivalence = begun.equivalence
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            self.listen(listener)

    def abort(self, reason: str = "") -> None:
        """Stay with the old plan, which has answered so far and goes on: nothing is lost, and nothing comes
        twice. One that has not begun will not begin.

        Raises   MigrationRefused where that is too late: a part has passed its split time, or has become a
                 part of another migration, or the query has been removed. Then nothing has changed.
        """
        if self.is_queued or self.is_checking:
            self._end, self._reason = Phase.ABORTED, reason
            return
        if self._is_gone:
            raise MigrationRefused(f"query {self.query} has been removed, and what it was moving to as well")
        running = self._running.physical.nodes
        moving = [(seats, part) for seats, part in self._parts or () if part.phase is Phase.MOVING]
        if not moving:
            raise MigrationRefused(f"the migration is {self.phase.value}, which is too late to abort it")
        if any(seat not in running for seats, _ in moving for seat in seats):
            raise MigrationRefused(
                "a later migration has begun, of which this one is a part; abort that one first"
            )
        self._reason = reason
        for seats, part in moving:
            for seat, batch in zip(seats, part.abort(reason), strict=True):
                self._host.emit(seat, batch)
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
        """What a new box raised, if that is why it was aborted."""
        return next((part.failure for part in self.parts if part.failure is not None), None)

    @property
    def trace(self) -> list[dict[str, Any]]:
        """What it looked like from its beginning to its end: the entries of all parts, with the number of the
        part, in the order in which they were made."""
        entries = [
            {"part": number, **entry.as_dict()}
            for number, part in enumerate(self.parts)
            for entry in part.trace
        ]
        return sorted(entries, key=itemgetter("wall_time"))

    def listen(self, listener: Callable[[dict[str, Any]], object]) -> None:
        """Hand each entry of the trace to a function: those that are there at once, others as they occur."""
        self._listeners.append(listener)
        for entry in self.trace:
            listener(entry)
        for number, part in enumerate(self.parts):
            part.listener = partial(self._tell, number)

    def _tell(self, number: int, entry: TraceEntry) -> None:
        for listener in self._listeners:
            listener({"part": number, **entry.as_dict()})

    def origins(self) -> Origins:
        """Where the results of its parts came from so far."""
        return Origins.together(part.origins() for part in self.parts)
