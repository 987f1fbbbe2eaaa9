"""Parallel track: both plans run side by side on all that arrives, and a result is taken from one of them.

It is what migrations were before GenMig (Zhu, Rundensteiner, Heineman 2004; thesis, 28.1), and it is here to
be compared with: it is right for join trees only, lasts two windows, gives nothing for most of that time, and
then all at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain
from operator import itemgetter

from midstream.migration.fuse import Origins
from midstream.migration.machine import Migration
from midstream.migration.split_time import split_time
from midstream.operators.box import Box
from midstream.operators.planner import form
from midstream.plans.errors import MigrationRefused
from midstream.plans.logical import Filter, Join, Project, Relation, Union
from midstream.plans.plan import Node
from midstream.plans.properties import logical
from midstream.plans.streams import BEGINNING, Batch, Element, Time, chronon_end

_START = itemgetter(0)
_MADE_OF_SINGLE_ELEMENTS = (Filter, Project, Union, Join, Relation)


def require_join_tree(nodes: Iterable[Node], which: str) -> None:
    """Refuse operators other than filter, projection, union and join, and implementations that pair ends with
    starts anew.

    What is left gives each result for a choice of single elements, valid while they all are. Then the results
    of new elements alone are the same elements, whichever plan gives them. Elsewhere a result may be bounded
    by elements that did not go into it, and Example 28.1 shows what comes of that.

    Raises   MigrationRefused, naming the operator.
    """
    for node in nodes:
        operator = logical(node)
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
    """Take from the old plan what it made of an element from before the migration, and from the new plan all.

    The old plan gives what is made of new elements alone a second time. Those results need no mark to be
    told: they are what the new plan gives, the same elements, as often. So the results with an old element
    are the multiset difference

        old track  -  new track

    A result that ends after `last`, when all old elements have ended, cannot hold one, and is not looked for;
    a `last` that is later than need be does no harm.

    Output   Ordered by start. What the new plan gives is kept until the old one is gone, and so is each old
             result that starts after the first that is kept; without `is_ordered`, old results overtake, as
             in the measurements of the thesis (Figure 30.1).
    State    All results of the new plan; old results that wait for them; old results that start at or after
             the new plan's progress, as it may still give the same.
    Cost     O(1) per element.
    Source   thesis, 28.1

    >>> tracks = Tracks(last=9.5)
    >>> tracks.process([(2, 9, "ab"), (3, 8, "bb")], [(3, 8, "bb")], False, 4)
    [(2, 9, 'ab')]
    >>> tracks.process([(8, 12, "cc")], [(8, 12, "cc")], False, 9)
    []
    >>> tracks.process([], [], True, 10)
    [(3, 8, 'bb'), (8, 12, 'cc')]
    """

    def __init__(self, last: Time, *, is_ordered: bool = True) -> None:
        self._last = last
        self._is_ordered = is_ordered
        self._undecided: deque[Element] = deque()
        self._twins: Counter[Element] = Counter()
        """New results that the old plan has not given yet; they are among `_new`."""
        self._old: deque[Element] = deque()
        self._new: deque[Element] = deque()
        self.origins = Origins()

    def process(self, old: Batch, new: Batch, is_old_done: bool, new_progress: Time) -> Batch:
        """Results of both; whether the old plan has ended; and the progress of the new one."""
        last = self._last
        self._new.extend(new)
        self._twins.update(element for element in new if element[1] <= last)
        self._undecided.extend(element for element in old if element[1] <= last)
        self._decide(new_progress)
        is_over = is_old_done and new_progress > last
        out = self._leave(is_over)
        self.origins.old += len(out)
        if is_over:
            # Everything is decided. What the old plan should have given, too, and did not, shows that the
            # plans do not mean the same.
            self.origins.unmatched += self._twins.total()
            self._twins.clear()
            out = list(merge(out, self._new, key=_START))
            self.origins.new += len(self._new)
            self._new.clear()
        return out

    def _decide(self, new_progress: Time) -> None:
        """Let go of the old results that the new plan gives too; it has given all that start before its
        progress."""
        undecided, twins = self._undecided, self._twins
        while undecided and undecided[0][0] < new_progress:
            element = undecided.popleft()
            if not (count := twins.get(element, 0)):
                self._old.append(element)
            elif count == 1:
                del twins[element]
            else:
                twins[element] = count - 1

    def _leave(self, is_over: bool) -> Batch:
        """The old results whose turn it is."""
        old, new = self._old, self._new
        out: Batch = []
        while old and (is_over or not self._is_ordered or not new or old[0][0] <= new[0][0]):
            out.append(old.popleft())
        return out

    def progress(self, old_progress: Time, new_progress: Time) -> Time:
        """No later result starts before this."""
        waiting = [queue[0][0] for queue in (self._undecided, self._old, self._new) if queue]
        return chronon_end(min(old_progress, new_progress, *waiting))

    def __len__(self) -> int:
        return len(self._undecided) + len(self._old) + len(self._new)

    def __iter__(self) -> Iterator[Element]:
        return chain(self._undecided, self._old, self._new)


class ParallelTrack(Migration):
    """A Box that moves from an old Box to a new one by letting both see everything.

    Input, Output   As Migration.
    State           That of both boxes and of the joiners; that of the old box is released when the last input
                    passes `split`, which is here when it ends: nothing is cut there.
    Source          thesis, 28.1

    `begin()` must be called once, before any event; what it returns is ready then.
    """

    def _feed_new(self, port: int, batch: Batch, progress: Time) -> list[Batch]:
        # Unlike GenMig's, the new plan's time runs with the inputs' from the beginning.
        return self.new.push(port, batch) if batch else self.new.advance(port, progress)

    def horizon(self) -> Time:
        """A further migration need not wait for this one: nothing here is cut at the split time."""
        return BEGINNING


def fork_both(batch: Batch, split: Time) -> tuple[Batch, Batch]:
    """All elements for the new plan, and for the old one those that can still meet an old element.

    >>> fork_both([(1, 9, "a"), (7, 8, "c")], split=4.5)
    ([(1, 9, 'a')], [(1, 9, 'a'), (7, 8, 'c')])
    """
    return batch[: bisect_left(batch, split, key=_START)], batch


def parallel_track(
    old: Box,
    new: Box,
    max_ends: Sequence[Time],
    reached: Sequence[Time],
    *,
    windows: int = 2,
    is_ordered: bool = True,
) -> tuple[ParallelTrack, list[Batch]]:
    """Set up a migration between two boxes; the results that are ready at once come with it.

    `max_ends` are the largest end timestamps seen on each input, `reached` is each input's progress. That
    both boxes are join trees is the caller's to see to (`require_join_tree`).

    With intervals, one window is enough: what is made of an old element ends with it, in the old box's state
    as well. Where state is kept for a window after it was made, as in the original, it takes two, and that is
    what is compared with (thesis, chapter 30); `windows=1` ends as soon as it is right.

    Raises   MigrationRefused where something is valid for ever, or where GenMig is under way in the old box.
    """
    split = behind_windows(old, max_ends, reached, windows)
    last = split_time(max_ends)
    migration = ParallelTrack(
        old, new, split, reached, fork_both, lambda _: Tracks(last, is_ordered=is_ordered)
    )
    return migration, migration.begin()


def behind_windows(old: Box, max_ends: Sequence[Time], reached: Sequence[Time], windows: int = 2) -> Time:
    """When the old box goes: when all that it was given has ended, and as many windows less one later, by the
    longest of them.

    Raises   As `parallel_track`.
    """
    if isinstance(old, Migration) and not isinstance(old, ParallelTrack):
        raise MigrationRefused(
            "parallel track cannot start while a migration by another strategy is under way, which puts "
            "results together from parts; wait until it is done, or use genmig"
        )
    return split_time(max_ends) + (windows - 1) * _window(max_ends, reached)


def _window(max_ends: Iterable[Time], reached: Iterable[Time]) -> int:
    """The longest time from an input's progress until all that it has given has ended, in chronons."""
    pairs = zip(max_ends, reached, strict=True)
    return max((e - r for e, r in pairs if isinstance(e, int) and isinstance(r, int) and e > r), default=0)
