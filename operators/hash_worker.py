"""The work of a hash join's port, generated whole.

A single element has a way of its own: its key is looked at once for probing and for keeping, and nothing is
called that has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from midstream.operators.output import OrderedOutput
from midstream.operators.probes import SIDES, Pairing, Probe, compiled, key_source, known_source
from midstream.operators.sweepareas import Hashed
from midstream.plans.streams import Batch, Time

_WORK = """
def work(batch):
    here, there = reached[{port}], reached[{other}]
    fresh = batch
    if len(batch) == 1:
        element, = batch
        start, end, {mine} = element
        key = {key}
        fresh = [
            (start if start >= start2 else start2, end if end <= end2 else end2, {payload})
            for start2, end2, {theirs} in {candidates}
            if start2 < end and start < end2{condition}
        ] if key in other_index else []
        if end > there and {known}:
            {keep}
    elif batch:
        fresh = probe(batch, other_index)
        insert(batch, there)
    {purge}
    bound = here if here < there else there
    if fresh or queue and queue[0][0] <= bound or runs and runs[0][0] <= bound:
        return release(fresh, bound)
    return []
"""


def hash_worker(
    port: int,
    areas: tuple[Hashed, Hashed],
    pairing: Pairing,
    probe: Probe,
    output: OrderedOutput,
    reached: list[Time],
) -> Callable[[Batch], Batch]:
    """Probe the other side's area, keep in one's own, purge the other, and release what is due."""
    side = SIDES[port]
    mine, other = areas[port], areas[1 - port]
    source = _WORK.format(
        port=port,
        other=1 - port,
        mine=side.mine,
        theirs=side.other,
        key=key_source(side.mine, mine.columns),
        known=known_source(side.mine, mine.columns),
        candidates=other.source(other.CANDIDATES, "other_", 0),
        condition="" if pairing.condition == "True" else f" and {pairing.condition}",
        payload=pairing.payload,
        keep=mine.source(mine.KEEP, "own_", 12),
        purge=other.source(other.PURGE, "other_", 4),
    )
    names: dict[str, Any] = {
        **pairing.names,
        **mine.names("own_"),
        **other.names("other_"),
        "reached": reached,
        "probe": probe,
        "insert": mine.insert,
        "release": output.release,
        "queue": output.queue,
        "runs": output.runs,
    }
    exec(compiled(source), names)
    work: Callable[[Batch], Batch] = names["work"]
    return work
