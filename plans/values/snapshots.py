"""The snapshot normal form of a physical stream, and equality decided on it.

Two physical streams are equivalent if their snapshots agree at every instant (thesis, Definition 12.1).
Sampling instants could miss one; the normal form cannot. It is, for each payload, the step function from time
to multiplicity, with neighbouring steps of equal height merged. It is unique, so that streams are equivalent
exactly if their normal forms are equal.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from midstream.plans.values.arguments import reading
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time
from midstream.plans.values.verdicts import Equivalence, SnapshotDifference

_ELEMENTS = "elements (start, end, payload) with numbers for times and payloads that can be hashed"

Step = tuple[Time, Time, int]
"""The start and end of a step, and the multiplicity of the payload in between."""

NormalForm = dict[Payload, tuple[Step, ...]]


def normal_form(elements: Iterable[Element]) -> NormalForm:
    """The unique step functions of a stream.

    Cost: O(n log n).

    >>> normal_form([(1, 5, "a"), (3, 9, "a"), (9, 12, "a")])
    {'a': ((1, 3, 1), (3, 5, 2), (5, 12, 1))}
    """
    changes: dict[Payload, Counter[Time]] = defaultdict(Counter)
    with reading("normal_form", _ELEMENTS):
        for start, end, payload in elements:
            changes[payload][start] += 1
            changes[payload][end] -= 1
        return {payload: steps for payload, at in changes.items() if (steps := _steps(at))}


def _steps(changes: Mapping[Time, int]) -> tuple[Step, ...]:
    steps: list[Step] = []
    height, since = 0, None
    for time in sorted(changes):
        if changes[time]:
            if since is not None and height:
                steps.append((since, time, height))
            height += changes[time]
            since = time
    return tuple(steps)


def from_snapshots(snapshots: Mapping[int, Mapping[Payload, int]], *, since_ever: bool = False) -> NormalForm:
    """The normal form of a stream with these snapshots at consecutive instants.

    The last snapshot holds for ever; with `since_ever`, the first one holds since the beginning of time.
    """
    elements: list[Element] = []
    first, last = min(snapshots, default=0), max(snapshots, default=0)
    for instant, snapshot in snapshots.items():
        start = BEGINNING if since_ever and instant == first else instant
        end = FOREVER if instant == last else instant + 1
        for payload, count in snapshot.items():
            elements.extend([(start, end, payload)] * count)
    return normal_form(elements)


def snapshot(elements: Iterable[Element], instant: Time) -> Counter[Payload]:
    """The multiset of payloads that are valid at an instant (thesis, Definition 10.1)."""
    with reading("snapshot", f"an instant in chronons, and {_ELEMENTS}"):
        return Counter(payload for start, end, payload in elements if start <= instant < end)


def equivalent(left: Iterable[Element], right: Iterable[Element]) -> Equivalence:
    """Compare two streams snapshot by snapshot.

    Cost: O(n log n).

    >>> bool(equivalent([(1, 5, "a"), (5, 9, "a")], [(1, 9, "a")]))
    True
    >>> print(equivalent([(1, 5, "a")], [(1, 9, "a"), (2, 3, "a")]))
    not equivalent, 2 differences:
      'a' in [2, 3): 1 times on the left, 2 on the right
      'a' in [5, 9): 0 times on the left, 1 on the right
    """
    return compare(normal_form(left), normal_form(right))


def compare(left: NormalForm, right: NormalForm) -> Equivalence:
    """Compare two normal forms; differences are in order of time."""
    differences: list[SnapshotDifference] = []
    for payload in dict.fromkeys([*left, *right]):
        ours, theirs = left.get(payload, ()), right.get(payload, ())
        if ours != theirs:
            differences.extend(_differences(payload, ours, theirs))
    return Equivalence.of(sorted(differences, key=lambda d: (d.start, d.end, repr(d.payload))))


def _differences(
    payload: Payload, ours: tuple[Step, ...], theirs: tuple[Step, ...]
) -> Iterable[SnapshotDifference]:
    changes: dict[Time, list[int]] = defaultdict(lambda: [0, 0])
    for side, steps in enumerate((ours, theirs)):
        for start, end, height in steps:
            changes[start][side] += height
            changes[end][side] -= height
    left = right = 0
    since: Time | None = None
    spans: list[SnapshotDifference] = []
    for time in sorted(changes):
        if since is not None and left != right:
            if spans and spans[-1].end == since and (spans[-1].left, spans[-1].right) == (left, right):
                since = spans.pop().start
            spans.append(SnapshotDifference(payload, since, time, left, right))
        left += changes[time][0]
        right += changes[time][1]
        since = time
    return spans
