"""Arrivals that meet at an instant, where a migration begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from midstream.arrivals import Event
from midstream.io.sources.rows import part


def meeting(
    arrivals: Iterable[Event], streams: Iterable[str], at: int, since: int, *, is_held: bool
) -> Iterator[Event]:
    """Arrivals with a mark at the point where all streams have reached an instant, or have ended.

    An element that starts at `since` or later shows that its stream has reached it. If `is_held`, later
    events of such a stream wait for the other streams; as recorded streams are read in step, this is a batch
    of each.
    """
    missing, reached, waiting = set(streams), set[str](), list[Event]()
    for event in _cut(arrivals, at, since):
        kind, name, _ = event
        if is_held and missing and name in reached:
            waiting.append(event)
        else:
            yield event
        if kind == "advance":
            reached.add(name)
        elif name in missing and (kind == "end" or name in reached):
            missing.discard(name)
            if reached and not missing:
                yield "mark", "", at
                yield from waiting


def _cut(arrivals: Iterable[Event], at: int, since: int) -> Iterator[Event]:
    """Arrivals with a heartbeat on each stream in front of its first element that starts at `since` or later.

    That element may start long after the instant.
    """
    reached = set[str]()
    for kind, name, batch in arrivals:
        reach = None
        if kind == "push" and name not in reached:
            reach = next((i for i, (start, _, _) in enumerate(batch) if start >= since), None)
        if reach is None:
            yield kind, name, batch
            continue
        reached.add(name)
        if reach:
            yield kind, name, part(batch, 0, reach)
        yield "advance", name, at
        yield kind, name, part(batch, reach)
