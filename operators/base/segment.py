"""Segments: results under construction."""

from __future__ import annotations

from collections import deque
from typing import Any

from midstream.plans.values.streams import Batch

Segment = list[Any]
"""`[start, end, payload]`, and further fields of an operator; the end is None while it is open."""


def closed(segments: deque[Segment]) -> Batch:
    """Take out the segments up to the first open one; empty ones are dropped.

    >>> segments = deque([[1, 5, "a"], [2, 2, "b"], [3, None, "c"], [4, 6, "d"]])
    >>> closed(segments), len(segments)
    ([(1, 5, 'a')], 2)
    """
    out: Batch = []
    while segments and segments[0][1] is not None:
        start, end, payload = segments.popleft()
        if start < end:
            out.append((start, end, payload))
    return out
