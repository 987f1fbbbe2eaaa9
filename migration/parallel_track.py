"""Parallel track: both plans process all arrivals, and each result is taken from one of them.

This is how plans migrated before GenMig (Zhu, Rundensteiner, Heineman 2004; thesis, 28.1). It is here for
comparison: it is right for join trees only, lasts two windows, gives nothing for most of that time, and then
everything at once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain

from midstream.migration.fork import EVERYTHING
from midstream.migration.fuse import Origins
from midstream.migration.machine import Migration, under_way
from midstream.migration.preconditions import require_of_elements, require_of_intervals, require_reducible
from midstream.migration.split_time import split_time
from midstream.migration.strategy import Edit, Part, Strategy, Subplan
from midstream.operators.base.box import Box
from midstream.operators.engine.running.guest import Guest
from midstream.operators.engine.running.planner import form
from midstream.plans.algebra.operators import Filter, Join, Project, Relation, Union
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Batch, Element, Time, chronon_end

_MADE_OF_SINGLE_ELEMENTS = (Filter, Project, Union, Join, Relation)


def require_join_tree(nodes: Iterable[Node], which: str) -> None:
    """Refuse all operators but filter, projection, union and join, and implementations on signed streams.

    Each result of these operators comes from a choice of single elements, and is valid while they all are. So
    both plans give the same elements for new input alone. Elsewhere an element that is not part of a result
    may bound it, and Example 28.1 shows a wrong result of that kind.

    Raises   MigrationRefused, naming the operator.
    """
    for node in nodes:
        operator = logical(node)
        if isinstance(operator, Boxed):
            continue  # a migration that is under way; `require_tracks` sees to that
        if not isinstance(operator, _MADE_OF_SINGLE_ELEMENTS):
            raise MigrationRefused(
                f"parallel track is unsound over {operator} of the {which} plan: it is no part of a "
                "join tree (filter, projection, union, join), so a result of it is not made of old or of new "
                "elements alone; use genmig",
                operator=str(operator),
            )
        if form(node) != "intervals":
            raise MigrationRefused(
                f"parallel track is unsound over {node.operator} of the {which} plan: it gives positive and "
                "negative elements, which become other intervals in another plan; use genmig",
                operator=str(node.operator),
            )


class Tracks:
    """Take the old plan's results that contain an old element, and all results of the new plan.

    An old element is one from before the migration. The old plan also gives the results of new elements
    alone. They need no mark: the new plan gives equal elements, equally often. So the results with an old
    element are the multiset difference

        old track  -  new track

    The other results of the old plan are kept, so that it could go on alone at any time. Once it is gone, a
    result that starts after `last`, when all old elements have ended, cannot contain one. A `last` that is
    later than necessary does no harm.

    Output   Ordered by start. Results of the new plan are kept until the old one is gone, and so is each old
             result that starts after the first that is kept; without `is_ordered`, old results overtake, as
             in the measurements of the thesis (Figure 30.1).
    State    All results of the new plan; old results that wait for them; old results that start at or after
             the new plan's progress, as it may still give equal ones.
    Bound    The results of both.
    Cost     O(1) per element.
    Source   thesis, 28.1

    >>> tracks = Tracks(last=9.5)
    >>> tracks.process([(2, 9, "ab"), (3, 8, "bb")], [(3, 8, "bb")], 4)
    [(2, 9, 'ab')]
    >>> tracks.process([(8, 12, "cc")], [(8, 12, "cc")], 9)
    []
    >>> tracks.complete([], 10)
    [(3, 8, 'bb'), (8, 12, 'cc')]
    """

    def __init__(self, last: Time, *, is_ordered: bool = True) -> None:
        self._last = last
        self._cut: Time = FOREVER
        """The instant up to which both plans have been given the same elements."""
        self._is_ordered = is_ordered
        self._is_old_done = False
        self._undecided: deque[Element] = deque()
        self._twins: Counter[Element] = Counter()
        """New results that the old plan has not given yet; they are in `_new` as well."""
        self._old: deque[Element] = deque()
        self._strange: Batch = []
        """Old results that the new plan should have given too, but did not."""
        self._new: deque[Element] = deque()
        self.origins = Origins()
        self.bound = 0

    def process(self, old: Batch, new: Batch, new_progress: Time) -> Batch:
        """Join results of both plans, given the new plan's progress; old results only before `complete`."""
        self.bound += len(old) + len(new)
        self._new.extend(new)
        self._twins.update(new)
        self._undecided.extend(old)
        self._decide(new_progress)
        is_over = self._is_old_done and new_progress > self._last
        out = self._leave(is_over)
        self.origins.old += len(out)
        if is_over:
            # All results are decided. Those of only one plan show that the plans are not equivalent.
            compared = min(self._last, self._cut)
            missing = sum(n for element, n in self._twins.items() if element[1] <= compared)
            self.origins.unmatched += missing + sum(end <= self._cut for _, end, _ in self._strange)
            out = list(merge(out, self._new, key=START))
            self.origins.new += len(self._new)
            self._forget()
        return out

    def complete(self, remaining: Batch, new_progress: Time) -> Batch:
        """Take the results that the old plan gave when it was ended, all inputs being past the split time."""
        self._is_old_done = True
        return self.process(remaining, [], new_progress)

    def cut(self, split: Time) -> None:
        """Do not compare results that end behind an instant."""
        self._cut = min(self._cut, split)

    def abandon(self) -> Batch:
        """Return the old plan's results that are still held, as it goes on alone; before `complete` only."""
        given_by_both = [e for e in self._new if not self._take_twin(e)]
        out = sorted(chain(self._undecided, self._old, self._strange, given_by_both), key=START)
        self.origins.old += len(out)
        self._forget()
        return out

    def _forget(self) -> None:
        for held in (self._undecided, self._twins, self._old, self._strange, self._new):
            held.clear()

    def _decide(self, new_progress: Time) -> None:
        """Decide for each old result before the new plan's progress if the new plan gave it too."""
        undecided = self._undecided
        while undecided and undecided[0][0] < new_progress:
            element = undecided.popleft()
            if not self._take_twin(element):
                (self._old if element[1] <= self._last else self._strange).append(element)

    def _take_twin(self, element: Element) -> bool:
        count = self._twins.get(element, 0)
        if count == 1:
            del self._twins[element]
        elif count:
            self._twins[element] = count - 1
        return count > 0

    def _leave(self, is_over: bool) -> Batch:
        """The old results that may come out now, in order."""
        old = self._old
        out: Batch = []
        if is_over or not self._is_ordered:
            bound: Time = FOREVER
        else:
            bound = min(queue[0][0] if queue else FOREVER for queue in (self._new, self._strange))
        while old and old[0][0] <= bound:
            out.append(old.popleft())
        return out

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """A lower bound of the starts of later results."""
        waiting = [queue[0][0] for queue in (self._undecided, self._old, self._new, self._strange) if queue]
        return chronon_end(min(old_progress, new_progress, *waiting))

    def __len__(self) -> int:
        return len(self._undecided) + len(self._old) + len(self._new) + len(self._strange)

    def __iter__(self) -> Iterator[Element]:
        return chain(self._undecided, self._old, self._new, self._strange)


class ParallelTrack(Migration):
    """A Box that moves from an old Box to a new one by letting both see everything.

    Input, Output   As Migration.
    State           That of both boxes and of the joiners; that of the old box is released when the last input
                    passes `split`, which is here when it ends: nothing is cut there.
    Source          thesis, 28.1

    `begin()` must be called once, before any event; it returns the results that are ready then.
    """

    _joiners: Sequence[Tracks]
    is_patient = False
    """The new plan may not wait, because its results decide which results of the old plan come out."""

    def horizon(self) -> Time:
        """BEGINNING: nothing is cut at the split time, so a further migration need not wait."""
        return BEGINNING

    def cut(self, split: Time) -> None:
        """Compare the results of both plans up to an outer migration's split time only (see Migration)."""
        for tracks in self._joiners:
            tracks.cut(split)
        if self.old is not None:
            for inside in under_way(self.old):
                inside.cut(split)


@dataclass(frozen=True, slots=True)
class ParallelTrackStrategy(Strategy):
    """Give both plans all elements for some windows."""

    name: str = "parallel-track"
    windows: int = 2
    """The duration of the migration, in windows."""
    is_ordered: bool = True
    """True if results come in order of start."""

    def check(self, part: Subplan) -> None:
        """Accept join trees only."""

        def require_whole_elements(nodes: Iterable[Node], which: str) -> None:
            guests = map(part.host.operators.get, nodes)
            require_tracks(guest.hosted.box for guest in guests if isinstance(guest, Guest))

        require_of_intervals(part.change, require_reducible)
        require_of_elements(part.change, require_join_tree, require_whole_elements)

    def plan(self, part: Part) -> Edit:
        """Split some windows behind the inputs."""
        require_tracks([part.box])
        return Edit(part, behind_windows(part.max_ends, part.reached, self.windows))

    def begin(self, edit: Edit, new: Box, reached: Sequence[Time]) -> Migration:
        """Let both plans see all elements uncut."""
        forks = [EVERYTHING] * len(new.inputs)
        joiners = [Tracks(edit.split, is_ordered=self.is_ordered) for _ in new.outputs]
        return ParallelTrack(edit.part.box, new, edit.split, reached, forks, joiners)


def require_tracks(boxes: Iterable[Box]) -> None:
    """Refuse migrations that are under way by other strategies, which give results in parts.

    Raises   MigrationRefused.
    """
    if not all(isinstance(inside, ParallelTrack) for box in boxes for inside in under_way(box)):
        raise MigrationRefused(
            "parallel track cannot start while a migration by another strategy is under way, which puts "
            "results together from parts; wait until it is done, or use genmig"
        )


def behind_windows(max_ends: Sequence[Time], reached: Sequence[Time], windows: int = 2) -> Time:
    """The instant at which the old box goes: `windows - 1` windows after its input has ended.

    The longest window counts. With intervals one window is enough: a result of an old element ends with it,
    in the old box's state as well. The original keeps state for a window after it was made, so it takes two,
    and the comparison is with that (thesis, chapter 30). `windows=1` ends as soon as the results are right.

    Raises   MigrationRefused where something is valid for ever.
    """
    return split_time(max_ends) + (windows - 1) * _window(max_ends, reached)


def _window(max_ends: Iterable[Time], reached: Iterable[Time]) -> int:
    """The longest time from an input's progress to its largest end, in chronons."""
    pairs = zip(max_ends, reached, strict=True)
    return max((e - r for e, r in pairs if isinstance(e, int) and isinstance(r, int) and e > r), default=0)
