"""Cost and state of operators over time, and of those that arrange validity (thesis, 22.4.7 to 22.4.11)."""

from __future__ import annotations

import math

from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Estimate, Work, different, times
from midstream.optimizer.cost.gamma import longest
from midstream.optimizer.cost.outputs import pieces
from midstream.optimizer.cost.over_time import groups
from midstream.optimizer.cost.steps import ordered_result, result, swept
from midstream.plans.algebra.operators import (
    Coalesce,
    CountWindow,
    PartitionedWindow,
    Sample,
    Split,
    TimeWindow,
)


def sample_work(costing: Costing, output: Estimate) -> Work:
    """A hash of each row, and a comparison; what is drawn is a result, and with weights another row."""
    (s,), u, operator = costing.inputs, costing.units, costing.operator
    assert isinstance(operator, Sample)
    made = u.function + u.create if operator.weighted else 0.0
    return Work(s.rate * (2 * u.hash + u.predicate) + output.rate * (u.output + made), 0.0)


def time_window_work(costing: Costing, output: Estimate) -> Work:
    """(22.47), (22.48): a new element for each row; its end is a sum, which is no step of its own.

    With a slide, of which the thesis has no costs, the timestamps are rounded.
    """
    (s,), u = costing.inputs, costing.units
    return Work(times(s.rate, _rounded(costing)) + output.rate * result(u), 0.0)


def _rounded(costing: Costing) -> float:
    """Microseconds to round the timestamps of a row in a time window with a slide.

    Start and end move to the next instants at which the window advances. If both move to the same instant,
    the row does not come out. An unbounded window rounds only the start.
    """
    operator, u = costing.operator, costing.units
    assert isinstance(operator, TimeWindow)
    if operator.slide == 1:
        return 0.0
    return u.round if operator.size is None else 2 * u.round + u.remove


def granularity_work(costing: Costing, output: Estimate) -> Work:
    """(22.45), (22.46): round two timestamps; an element if they differ."""
    (s,), u = costing.inputs, costing.units
    return Work(s.rate * (2 * u.round + u.remove) + output.rate * result(u), 0.0)


def count_window_work(costing: Costing, output: Estimate) -> Work:
    """(22.49), (22.50): N rows in a list; each enters at its end and leaves from its front.

    With a slide, of which the thesis has no costs, rows wait in a queue, and those that enter get a new
    start.
    """
    (s,), u, operator = costing.inputs, costing.units, costing.operator
    assert isinstance(operator, CountWindow)
    cost = output.rate * result(u)
    if operator.slide > 1:
        cost += s.rate * 2 * u.queue + output.rate * u.create
    if operator.rows is None:
        return Work(cost, _queued(operator, s))
    return Work(cost + output.rate * (u.remove + 2 * u.bucket), output.valid + _queued(operator, s))


def partitioned_window_work(costing: Costing, output: Estimate) -> Work:
    """(22.51) to (22.56), without queues: one list has the rows of all groups, and each group its own list.

    A row is put into both lists, and taken out. Rows leave from the front of the first list, so it reaches
    back to the oldest row of any group: the time since N others came has a Gamma distribution, and the
    longest of n such times decides. With a delay, an older row is cut when the next row comes: its first part
    leaves, and the second goes to the end of the list. With a slide, rows wait in a queue of their group.
    """
    (s,), u, operator = costing.inputs, costing.units, costing.operator
    assert isinstance(operator, PartitionedWindow)
    n = groups(costing)
    step = u.hash + 4 * u.bucket
    if operator.slide > 1:
        step += u.hash + 2 * u.queue
    cost = s.rate * step + output.rate * (u.remove + result(u))
    queued = n * _queued(operator, s)
    if operator.rows is None or not s.rate:
        return Work(cost, queued)
    share = min(1.0, operator.rows / operator.slide)
    kept = _listed(operator.rows, operator.slide, n)
    if operator.delay is not None and math.isfinite(s.d):
        # A row that is due is noticed when the next row comes.
        kept = min(kept, output.rate * (operator.delay + s.d))
        cost += s.rate * u.remove + max(0.0, output.rate - times(share, s.valid)) * 2 * u.bucket
    return Work(cost, kept + queued, max(0.0, kept - n * operator.rows))


def _listed(rows: int, slide: int, groups: float) -> float:
    """Average number of rows in the list of a partitioned window with a slide of A rows.

    A group's oldest row entered by an advance; since then N rows of the group have come, and up to A - 1 for
    the next advance. The group with the oldest row of all has N rows in any case.
    """
    events = -(-rows // slide) * slide
    share = min(1.0, rows / slide)
    return share * (groups * longest(events, groups, slide) - (events - (slide - 1) / 2)) + rows


def signed_time_window_work(costing: Costing, output: Estimate) -> Work:
    """A time window over signs: as over intervals, and the negatives wait."""
    (s,), u = costing.inputs, costing.units
    cost = times(s.rate, _rounded(costing)) + 2 * output.rate * (u.bucket + result(u))
    return Work(cost, swept(output, s.lag))


def signed_count_window_work(costing: Costing, output: Estimate) -> Work:
    """A count window over signs: rows go when others come, without a known end; groups delay no others."""
    (s,), u = costing.inputs, costing.units
    return Work(s.rate * (u.hash + u.group + u.bucket) + 2 * output.rate * result(u), output.valid)


def change_work(costing: Costing, output: Estimate) -> Work:
    """Istream and dstream: for each kind, a count of the elements that end at an instant, kept until then."""
    (s,), u = costing.inputs, costing.units
    n = costing.kinds(costing.node.schema.names)
    step = 2 * u.hash + 2 * u.bucket + 2 * u.link + u.remove
    ends = different(s.rate * s.g, n) / s.g if math.isfinite(s.rate) else s.rate
    kept = times(ends, s.l + 1 + s.lag) if s.l < math.inf else 0.0
    return Work(s.rate * step + output.rate * result(u), kept)


def split_work(costing: Costing, output: Estimate) -> Work:
    """(22.40) to (22.44): an element is kept until its last piece begins; each piece is a result."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Split)
    remainders = times(s.rate, (pieces(s, operator.length) - 1) * operator.length)
    return Work(output.rate * ordered_result(costing.units), remainders)


def coalesce_work(costing: Costing, output: Estimate) -> Work:
    """An element waits until it has the greatest length, or until no equal element can start at its end."""
    (s,), u, operator = costing.inputs, costing.units, costing.operator
    assert isinstance(operator, Coalesce)
    until_full = operator.longest - s.l
    wait = max(0.0, until_full) if output.l >= operator.longest else output.l + s.lag
    kept = times(output.rate, wait)
    return Work(s.rate * (u.hash + 2 * u.bucket + u.queue + u.output), kept, kept)


def to_signs_work(costing: Costing, output: Estimate) -> Work:
    """Conversion to signs: the negatives wait, in order of ends."""
    (s,), u = costing.inputs, costing.units
    return Work(s.rate * (u.hash + 2 * u.bucket + u.queue + u.output), swept(s, s.lag))


def to_intervals_work(costing: Costing, output: Estimate) -> Work:
    """Conversion to intervals: a row waits for its negative, and for the rows before it."""
    (s,), u = costing.inputs, costing.units
    kept = s.valid
    return Work(s.rate * (u.hash + 2 * u.bucket + u.queue + u.output), kept, kept)


def _queued(operator: CountWindow | PartitionedWindow, s: Estimate) -> float:
    """Average number of rows that wait for the next advance.

    Of the 0 to A - 1 that have come, those that the window will still contain when it advances.
    """
    slide = operator.slide
    room = slide if operator.rows is None else min(slide, operator.rows)
    return room * (room - 1) / (2 * slide) if s.rate else 0.0
