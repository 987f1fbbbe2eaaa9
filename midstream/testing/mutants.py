"""Planted faults: each is a patch that makes migrations wrong, and that checks must find.

with MUTANTS["split-too-early"].patched():
    ...                                    # migrations are wrong in here
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from heapq import heapify
from typing import Any
from unittest.mock import patch

from midstream.migration import (
    changes,
    end_timestamp,
    genmig,
    parallel_track,
    preconditions,
    reference_point,
    swap,
)
from midstream.migration import split_time as split_times
from midstream.migration.backlog import Backlog, append
from midstream.migration.fork import EVERYTHING, Fork
from midstream.migration.fuse import Fuse
from midstream.migration.machine import Migration, Phase
from midstream.migration.promises import Promises
from midstream.migration.reference_point import ReferencePoint
from midstream.migration.split_time import split_time
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.operators import Arrangement
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.equivalence.prover import Meanings
from midstream.plans.values.streams import BEGINNING, Batch, Element, Payload, Time


@dataclass(frozen=True)
class Mutant:
    """A planted fault."""

    name: str
    sentence: str
    """A sentence that describes the fault."""
    patches: tuple[tuple[Any, str, Any], ...]
    """The patched functions, methods and properties: their owner, their name, and their replacement."""
    beyond: str = ""
    """The reason that cases of one migration of one query cannot show it; empty where they can."""

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Plant the fault for the time of a block."""
        with ExitStack() as stack:
            for owner, name, body in self.patches:
                stack.enter_context(patch.object(owner, name, body))
            yield


def _nothing(*_: Any) -> None:
    """Require nothing."""


def _counting(self: Migration, port: int, batch: Batch, progress: Time) -> Any:
    """Count every element after the split time as an input that has passed it."""
    if self.old is None:
        return _event(self, port, batch, progress)
    late = sum(start > self.split for start, _, _ in batch) or int(progress >= self.split)
    left = self.__dict__.get("left", len(self._reached)) - late
    self.__dict__["left"] = left
    with patch.object(Migration, "_is_last", lambda *_: left <= 0):
        return _event(self, port, batch, progress)


def _waiting(self: Migration, port: int, progress: Time) -> bool:
    has_come = any(getattr(joiner, "_beyond", ()) for joiner in self._joiners)
    return has_come and _is_last(self, port, progress)


def _dropping(self: Promises) -> Batch:
    for payload, found in self._balance.items():
        promised = [end for end, n in found.items() for _ in range(-n)]
        self._due += [(end, next(self._arrivals), payload) for end in promised]
        if promised:
            self._kept[payload] = [self._split] * len(promised)
    heapify(self._due)
    self._balance.clear()
    self._size = len(self._due)
    return []


def _in_one_chronon(max_ends: Any) -> Time:
    split = split_time(max_ends)
    return split if split == BEGINNING else int(split)


def _too_early(max_ends: Any) -> Time:
    split = split_time(max_ends)
    return split if split == BEGINNING else split - 1


def _deaf(self: Backlog) -> list[Batch]:
    self.is_behind = False
    results: list[Batch] = [[] for _ in self.box.outputs]
    for port, fork in enumerate(self.forks):
        given, self._pending[port] = fork(self._pending[port], self._reached[port]), []
        if given:
            append(results, self.box.push(port, given))
    return results


def _once(self: Promises, payload: Payload, end: Time, by: int) -> None:
    """A negative number is one of promises."""
    _add(self, payload, end, max(by, -1))


def _shortened(self: Promises, payload: Payload, end: Time, by: int) -> None:
    _add(self, payload, end - 1 if by < 0 and end - 1 > self._split else end, by)


def _forgetful(self: Fuse) -> list[Element]:
    _abandon(self)
    return []


def _stateless(self: QueryGraph, moved: Any, plans: Any, more: Any = None) -> None:
    kept = {old: new for old, new in moved.items() if old == new}
    _rename(self, kept, plans, more or {})


def _hasty(self: Migration, phase: Phase, note: str = "") -> None:
    _enter(self, phase, note)
    if phase is Phase.DRAINING:
        self.successor = self.new


def _silent(self: Migration) -> list[Batch]:
    self._record()
    return self._nothing()


def _generous(self: ReferencePoint, old: Batch, new: Batch, new_progress: Time) -> Batch:
    self._later += [element for element in new if element[0] == self._split]
    return _take(self, old, new, new_progress)


def _losing(self: Migration, port: int, batch: Batch, progress: Time) -> list[Batch]:
    results = _process(self, port, batch, progress)
    return self._nothing() if self.failure else results


def _none(*_: object) -> Iterator[Node]:
    """Operators that hold elements: none."""
    return iter(())


def _around(plan: Plan, running: Plan, *, replace_all: bool = False) -> Plan:
    """The plan as it is, except for windows over another arrangement."""
    found = _as_it_runs(plan, running, replace_all=replace_all)
    if any(isinstance(node.operator, Physical | Boxed) for node in plan.nodes):
        return found
    below = {one for node in plan.nodes if not logical(node).is_snapshot_reducible for one in node.walk()}
    is_arranged = any(isinstance(node.operator, Arrangement) for node in below)
    return physical_plan(plan) if is_arranged else found


_as_it_runs = changes.around
_event, _is_last, _enter, _process = Migration._event, Migration._is_last, Migration._enter, Migration.process
_add, _abandon, _take, _rename = Promises.add, Fuse.abandon, ReferencePoint.process, QueryGraph.rewire

_ALL = (
    Mutant(
        "reference-point-below-aggregation",
        "The reference-point method is used whatever the operators are.",
        ((reference_point, "require_start_preserving", _nothing),),
    ),
    Mutant(
        "parallel-track-over-distinct",
        "Parallel track is used whatever the operators are.",
        ((parallel_track, "require_join_tree", _nothing),),
    ),
    Mutant(
        "relations-alone",
        "Results that relations give alone are not looked for.",
        ((preconditions, "require_bounded", _nothing),),
    ),
    Mutant(
        "late-elements-counted",
        "The inputs that have yet to pass the split time are counted, and every late element counts as one.",
        ((Migration, "process", _counting), (Migration, "_event", _counting)),
    ),
    Mutant(
        "waiting-for-a-result",
        "The old plan is ended when it gives a result from behind the split time, not when all inputs are.",
        ((Migration, "_is_last", _waiting),),
    ),
    Mutant(
        "fragments-dropped",
        "Fragments of the new plan that match no promise of the same end are dropped.",
        ((Promises, "start", _dropping),),
    ),
    Mutant(
        "no-finer-instant",
        "The split time is the largest end timestamp itself.",
        ((split_times, "split_time", _in_one_chronon),),
    ),
    Mutant(
        "split-too-early",
        "The split time lies in the last chronon at which something is still valid.",
        ((split_times, "split_time", _too_early),),
    ),
    Mutant(
        "deaf-fork",
        "The new plan is not told of heartbeats.",
        ((Backlog, "catch_up", _deaf),),
    ),
    Mutant(
        "uncut-fork",
        "The new plan gets elements that start before the split time as they are.",
        ((genmig, "fork", lambda split: Fork(EVERYTHING.part, split)),),
    ),
    Mutant(
        "unknown-progress",
        "The new plan is not told how far the inputs are when it begins.",
        ((Migration, "begin", _silent),),
    ),
    Mutant(
        "promised-once",
        "Several equal results count as one promise.",
        ((Promises, "add", _once),),
    ),
    Mutant(
        "promised-too-little",
        "A promise is remembered as one chronon shorter than it is.",
        ((Promises, "add", _shortened),),
    ),
    Mutant(
        "results-at-the-split-time",
        "The reference-point method takes new results that start at the split time, too.",
        ((ReferencePoint, "process", _generous),),
    ),
    Mutant(
        "forgetful-abort",
        "When a migration is aborted, the old plan's results from beyond the split time are lost.",
        ((Fuse, "abandon", _forgetful),),
        beyond="it takes a migration that is aborted",
    ),
    Mutant(
        "lost-by-failure",
        "When the new plan fails, what the old one gives in that event is lost.",
        ((Migration, "process", _losing),),
        beyond="it takes a new plan that fails",
    ),
    Mutant(
        "unproved-inputs",
        "An operator goes on over other inputs, though nothing shows that they mean the same.",
        ((Meanings, "are_same", lambda self, one, other: True),),
    ),
    Mutant(
        "lost-state",
        "An operator that goes on over other inputs begins anew.",
        ((QueryGraph, "rewire", _stateless),),
    ),
    Mutant(
        "hasty-guest",
        "The new plan goes on alone when the old one is gone, though results are still held.",
        ((Migration, "_enter", _hasty),),
    ),
    Mutant(
        "nothing-is-shared",
        "A migration also exchanges operators that another query needs.",
        ((Host, "shared", lambda self, query=None: set()),),
        beyond="it takes two queries",
    ),
    Mutant(
        "held-elements-forgotten",
        "A swap and the split behind the state do not look at what operators that go on hold.",
        ((swap, "read_around", _none), (end_timestamp, "read_around", _none)),
    ),
    Mutant(
        "windows-over-other-arrangements",
        "A window over another arrangement of its input is exchanged as if it were snapshot-reducible.",
        (
            (changes, "around", _around),
            (genmig, "require_reducible", _nothing),
            (end_timestamp, "require_reducible", _nothing),
        ),
    ),
)

MUTANTS: Mapping[str, Mutant] = {one.name: one for one in _ALL}
"""The mutants by name; docs/verification.md lists them."""
