"""The work of a hash join's port, as generated source.

A single element has a way of its own: its key is looked at once for probing and for keeping, and nothing is
called that has nothing to do. The source is a function of its own, or stands in that of a whole route.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from typing import Any, NamedTuple

from midstream.operators.base.output import RELEASE, OrderedOutput
from midstream.operators.base.pairing import Pairing
from midstream.operators.compile.generated import define
from midstream.operators.joins.probes import SIDES, Probe, key_source, known_source
from midstream.operators.joins.sweepareas import Hashed
from midstream.plans.values.streams import Batch, Time

_ONE = """
start, end, {mine} = element
key = {key}
bucket = {p}other_find(key)
if bucket is not None:
    for start2, end2, {theirs} in {candidates}:
        if start2 < end and start < end2{condition}:
            {fresh}.append((start if start >= start2 else start2, end if end <= end2 else end2, {payload}))
if end > there and {known}:
    {keep}
"""

_ANY = """
if {batch}:
    if len({batch}) == 1:
        element, = {batch}
        {one}
    else:
        {fresh} = {p}probe({batch}, {p}other_index)
        {p}insert({batch}, there)
"""

_WORK = """
here, there = {here}, {p}reached[{other}]
{fresh} = []
{take}
{purge}
bound = here if here < there else there
{release}
"""


class Inline(NamedTuple):
    """Statements that do the work of a port, and the objects that they name."""

    source: str
    names: dict[str, Any]


def hash_work(
    port: int,
    areas: tuple[Hashed, Hashed],
    pairing: Pairing,
    probe: Probe,
    output: OrderedOutput,
    reached: list[Time],
    *,
    batch: str = "batch",
    element: str | None = None,
    here: str | None = None,
    fresh: str = "fresh",
    prefix: str = "",
) -> Inline:
    """Probe the other side's area, keep in one's own, purge the other, and release what is due: from a
    variable with a batch, or one with an `element`, to one with the results. `here` is how far the port is;
    afterwards `bound` is how far the join is."""
    side = SIDES[port]
    mine, other = areas[port], areas[1 - port]
    own_area, other_area = f"{prefix}own_", f"{prefix}other_"
    one = _ONE.format(
        p=prefix,
        fresh=fresh,
        mine=side.mine,
        theirs=side.other,
        key=key_source(side.mine, mine.columns),
        known=known_source(side.mine, mine.columns),
        candidates=other.source(other.CANDIDATES, other_area, 0),
        condition="" if pairing.condition == "True" else f" and {pairing.condition}",
        payload=pairing.payload,
        keep=mine.source(mine.KEEP, own_area, 4),
    )
    if element is None:
        take = _ANY.format(p=prefix, batch=batch, fresh=fresh, one=indent(one, " " * 8).strip())
    else:
        take = f"element = {element}{one}"
    source = _WORK.format(
        p=prefix,
        here=f"{prefix}reached[{port}]" if here is None else here,
        other=1 - port,
        fresh=fresh,
        take=take.strip(),
        purge=other.source(other.PURGE, other_area, 0),
        release=RELEASE.format(p=prefix, fresh=fresh).strip(),
    )
    names = {
        **pairing.names,
        **mine.names(own_area),
        **other.names(other_area),
        f"{prefix}reached": reached,
        f"{prefix}probe": probe,
        f"{prefix}insert": mine.insert,
        f"{prefix}release": output.release,
        f"{prefix}queue": output.queue,
        f"{prefix}runs": output.runs,
    }
    return Inline(source, names)


def work_function(work: Inline) -> Callable[[Batch], Batch]:
    """The same as a function."""
    source = f"def work(batch):\n{indent(work.source, '    ')}\n    return fresh"
    function: Callable[[Batch], Batch] = define(source, "work", work.names, "hash join")
    return function
