"""Costs of single steps of an operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """Costs of single steps, in microseconds of one CPython 3.11 core.

    To compare processing costs only the ratios matter. Objectives that compare processing with time need the
    costs of the machine: see `midstream calibrate`.

    The defaults are of 20 November 2026, x86-64, Linux: measured in one run over streams of 100,000 elements
    with two integer columns, in batches of 1000: filters that keep none, half and all; a projection; a union;
    hash joins whose elements find 0, 1, 5 and 20 partners, with a further condition that holds always or
    never; duplicate elimination with 10, 100 and 100,000 different rows in a window of 1000; counts, sums and
    maxima, alone and two together, over 1, 100 and 5000 groups. The sums of steps agree with the measured
    times to within a factor of 1.6. The costs of aggregation are of 23 November 2026, when its formula
    changed: counts, sums, means and maxima, alone and together, without groups and with 4, 20, 80 and 2000 of
    them, in windows of 200 to 1500 rows, by process time on a machine that was not idle. With the other
    steps unchanged, 54 such aggregations are priced at 0.76 to 1.32 of their measured times, or 0.62 where
    groups have less than a row. The cost of exact sums is of 27 November 2026: sums and means of
    floats, alone and together, beside the same of integers, without groups and with 4, 20 and 80 of them, in
    windows of 200 and 1500 rows, by process time on a machine that was not idle. 128 such aggregations are
    priced at 0.54 to 1.34 of their measured times, the median of floats with many digits at 0.94; without
    this step they were at 0.18 to 0.48. 40 variances, of integers as well, are at 0.66 to 1.49, where they
    were at 0.08 to 0.25.

    The letters are those of the thesis' Tables 22.1 to 22.4.
    """

    predicate: float = 0.04
    """C_P: evaluate a predicate, or look at one candidate of a join."""
    function: float = 0.06
    """C_F: compute a payload."""
    create: float = 0.03
    """C_C: create an element."""
    output: float = 0.01
    """C_O: append a result to the output."""
    hash: float = 0.06
    """C_H: compute a key and hash it."""
    bucket: float = 0.1
    """C_B: put an element into a bucket, or take it out."""
    link: float = 0.08
    """C_L: put an element into the order of ends, or take it out."""
    remove: float = 0.02
    """C_R: check if an element has expired."""
    queue: float = 0.17
    """C_Q: put a result into the order of starts, or take it out; or a row that waits for a window."""
    group: float = 0.5
    """C_A: find a group and its segment, open it, or drop it."""
    merge: float = 0.02
    """C_M: add a value to an aggregate, or take it out; counting rows does not need it."""
    evaluate: float = 0.06
    """C_E: compute an aggregate's value."""
    exact: float = 0.35
    """Add a float to an exact sum, take it out, or round the sum; 0.25 for floats with few binary digits."""
    place: float = 0.12
    """One halving in a binary search of an ordered SweepArea: of band joins over 300, 1000 and 3000 rows."""
    round: float = 0.05
    """C_S: round a timestamp, of a window with a slide or of a granule."""
    align: float = 0.8
    """Bring an element into the order of several inputs: of queued joins, and of signed streams."""
    factors: Mapping[str, float] = field(default_factory=dict)
    """By formula name, the ratio of the measured time to the sum of steps; 1 if absent."""


STEPS = tuple(name for name in UnitCosts.__dataclass_fields__ if name != "factors")
"""The names of the steps."""


def unit_costs(steps: Mapping[str, float], factors: Mapping[str, float] | None = None) -> UnitCosts:
    """Unit costs by the names of steps; missing steps get their defaults."""
    values: dict[str, Any] = {**steps}
    return UnitCosts(**values, factors=factors or {})


_IN_USE: ContextVar[UnitCosts] = ContextVar("unit costs", default=UnitCosts())  # noqa: B039 - a value


def units_in_use() -> UnitCosts:
    """The unit costs where none are given: those of the innermost `using` block, else the defaults."""
    return _IN_USE.get()


@contextmanager
def using(units: UnitCosts) -> Iterator[None]:
    """Price by these unit costs within a block.

    >>> with using(UnitCosts(hash=2.0)): units_in_use().hash
    2.0
    """
    token = _IN_USE.set(units)
    try:
        yield
    finally:
        _IN_USE.reset(token)
