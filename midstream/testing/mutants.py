"""Planted faults: ways to get migrations wrong, each as a patch of the code, which checks must find.

with MUTANTS["split-too-early"].patched():
    ...                                    # migrations are wrong in here
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
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
from midstream.operators.engine.host import Host
from midstream.operators.engine.planner import physical_plan
from midstream.operators.engine.query_graph import QueryGraph
from midstream.plans.algebra.operators import Arrangement
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.equivalence.prover import Meanings
from midstream.plans.values.streams import BEGINNING, Batch, Element, Payload, Time


@dataclass(frozen=True)
class Mutant:
    """A fault."""

    name: str
    sentence: str
    """What is wrong."""
    patched: Callable[[], AbstractContextManager[Any]]
    """Makes it so for the time of a block."""
    beyond: str = ""
    """Why cases of one migration of one query cannot show it; empty where they can."""

    def __str__(self) -> str:
        return self.name


def _put(owner: Any, name: str, body: Any) -> Callable[[], AbstractContextManager[Any]]:
    """Another function in a module, or another method or property of a class."""
    return lambda: patch.object(owner, name, body)


def _all(*patches: Callable[[], AbstractContextManager[Any]]) -> Callable[[], AbstractContextManager[Any]]:
    """Several at once."""

    @contextmanager
    def patched() -> Iterator[None]:
        with ExitStack() as stack:
            for one in patches:
                stack.enter_context(one())
            yield

    return patched


def _nothing(*_: Any) -> None:
    """Requires nothing."""


def _counting(self: Migration, port: int, batch: Batch, progress: Time) -> Any:
    """Every element from behind the split time counts as an input that has passed it."""
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
    """No operator holds anything."""
    return iter(())


def _around(plan: Plan, running: Plan, *, whole: bool = False) -> Plan:
    """As it is, but for windows over what is arranged in another way."""
    found = _as_it_runs(plan, running, whole=whole)
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
        _put(reference_point, "require_start_preserving", _nothing),
    ),
    Mutant(
        "parallel-track-over-distinct",
        "Parallel track is used whatever the operators are.",
        _put(parallel_track, "require_join_tree", _nothing),
    ),
    Mutant(
        "relations-alone",
        "Results that relations give alone are not looked for.",
        _put(preconditions, "require_bounded", _nothing),
    ),
    Mutant(
        "late-elements-counted",
        "The inputs that have yet to pass the split time are counted, and every late element counts as one.",
        _all(_put(Migration, "process", _counting), _put(Migration, "_event", _counting)),
    ),
    Mutant(
        "waiting-for-a-result",
        "The old plan is ended when it gives a result from behind the split time, not when all inputs are.",
        _put(Migration, "_is_last", _waiting),
    ),
    Mutant(
        "fragments-dropped",
        "Fragments of the new plan that match no promise of the same end are dropped.",
        _put(Promises, "start", _dropping),
    ),
    Mutant(
        "no-finer-instant",
        "The split time is the largest end timestamp itself.",
        _put(split_times, "split_time", _in_one_chronon),
    ),
    Mutant(
        "split-too-early",
        "The split time lies in the last chronon at which something is still valid.",
        _put(split_times, "split_time", _too_early),
    ),
    Mutant(
        "deaf-fork",
        "The new plan is not told of heartbeats.",
        _put(Backlog, "catch_up", _deaf),
    ),
    Mutant(
        "uncut-fork",
        "The new plan gets elements that start before the split time as they are.",
        _put(genmig, "fork", lambda split: Fork(EVERYTHING.part, split)),
    ),
    Mutant(
        "unknown-progress",
        "The new plan is not told how far the inputs are when it begins.",
        _put(Migration, "begin", _silent),
    ),
    Mutant(
        "promised-once",
        "Several equal results count as one promise.",
        _put(Promises, "add", _once),
    ),
    Mutant(
        "promised-too-little",
        "A promise is remembered as one chronon shorter than it is.",
        _put(Promises, "add", _shortened),
    ),
    Mutant(
        "results-at-the-split-time",
        "The reference-point method takes new results that start at the split time, too.",
        _put(ReferencePoint, "process", _generous),
    ),
    Mutant(
        "forgetful-abort",
        "What the old plan has given of the time behind the split time is lost when a migration is aborted.",
        _put(Fuse, "abandon", _forgetful),
        beyond="it takes a migration that is aborted",
    ),
    Mutant(
        "lost-by-failure",
        "When the new plan fails, what the old one gives in that event is lost.",
        _put(Migration, "process", _losing),
        beyond="it takes a new plan that fails",
    ),
    Mutant(
        "unproved-inputs",
        "An operator goes on over other inputs, though nothing shows that they mean the same.",
        _put(Meanings, "are_same", lambda self, one, other: True),
    ),
    Mutant(
        "lost-state",
        "An operator that goes on over other inputs begins anew.",
        _put(QueryGraph, "rewire", _stateless),
    ),
    Mutant(
        "hasty-guest",
        "The new plan goes on alone when the old one is gone, though results are still held.",
        _put(Migration, "_enter", _hasty),
    ),
    Mutant(
        "nothing-is-shared",
        "What another query needs is exchanged as well.",
        _put(Host, "shared", lambda self, query=None: set()),
        beyond="it takes two queries",
    ),
    Mutant(
        "held-elements-forgotten",
        "A swap and the split behind the state do not look at what operators that go on hold.",
        _all(_put(swap, "read_around", _none), _put(end_timestamp, "read_around", _none)),
    ),
    Mutant(
        "windows-over-other-arrangements",
        "A window over another arrangement of its input is exchanged as if it were snapshot-reducible.",
        _all(
            _put(changes, "around", _around),
            _put(genmig, "require_reducible", _nothing),
            _put(end_timestamp, "require_reducible", _nothing),
        ),
    ),
)

MUTANTS: Mapping[str, Mutant] = {one.name: one for one in _ALL}
"""By name, as docs/verification.md lists them."""
