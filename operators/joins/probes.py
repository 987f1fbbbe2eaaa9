"""Probes: generated loops from a batch of one side, over the other side's SweepArea, to pairs.

A probe reads the `index` of a SweepArea and gives pairs in the order of the batch. The condition and the
payload of a pair are computed in line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from midstream.operators.base.pairing import Pairing
from midstream.operators.compile.generated import define
from midstream.plans.values.streams import Batch

Probe = Callable[[Batch, Any], Batch]
"""A function from a batch of one side and the index of the other side's SweepArea to the pairs."""


class PortNames(NamedTuple):
    """The names of the two payloads in a pair, seen from the port that an element arrives on."""

    mine: str
    theirs: str


SIDES = (PortNames("left", "right"), PortNames("right", "left"))
"""The names by port."""


_PROBE = """
def probe(batch, index):
    {prepare}
    return [
        (start if start >= start2 else start2, end if end <= end2 else end2, {payload})
        for start, end, {mine} in batch
        {candidates}
        if start2 < end and start < end2{condition}
    ]
"""


def key_source(payload: str, columns: Sequence[int]) -> str:
    """The source of a payload's key: the value of one column, or a tuple of several."""
    parts = [f"{payload}[{i}]" for i in columns]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def hash_probe(side: PortNames, columns: Sequence[int], pairing: Pairing, candidates: str) -> Probe:
    """A probe of the `candidates` in the `bucket` of equal key.

    A key that holds None finds none, as nothing is kept under it.
    """
    bucket = f"(bucket := find({key_source(side.mine, columns)}))"
    # A single element mostly finds no bucket, and then the comprehension would cost more.
    single = f"if len(batch) == 1 and {key_source('batch[0][2]', columns)} not in index: return []"
    return generate(
        side,
        pairing,
        prepare=f"{single}\n    find = index.get",
        candidates=f"if {bucket} is not None for start2, end2, {side.theirs} in {candidates}",
    )


def scan(side: PortNames, pairing: Pairing, *, is_fifo: bool) -> Probe:
    """A probe of all elements."""
    elements = "index" if is_fifo else "index.values()"
    return generate(side, pairing, candidates=f"for start2, end2, {side.theirs} in {elements}")


def generate(side: PortNames, pairing: Pairing, candidates: str, prepare: str = "pass") -> Probe:
    """A probe from the source of its loop over candidates `start2, end2` and the other side's payload."""
    source = _PROBE.format(
        prepare=prepare,
        payload=pairing.payload,
        mine=side.mine,
        candidates=candidates,
        condition="" if pairing.condition == "True" else f" and {pairing.condition}",
    )
    probe: Probe = define(source, "probe", dict(pairing.names), "probe")
    return probe
