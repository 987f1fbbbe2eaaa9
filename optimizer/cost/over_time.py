"""Outputs of the operators over time: windows, granularity conversion, and the streams of changes.

They allow to price a query before it runs, from the statistics of its sources, and with other windows and
granules. The thesis' formulas (22.9) to (22.12) presume chronons or long intervals. Ours are stated by the
number of rows valid at an instant, which holds for both, and cover windows that advance by more than one.
"""

from __future__ import annotations

import math
from dataclasses import replace

from midstream.optimizer.cost.comparisons import MANY_ROWS, in_common
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate, inverse, times
from midstream.optimizer.cost.gamma import gamma_tail
from midstream.optimizer.cost.selectivity import DEFAULT_EQUALITY
from midstream.plans.algebra.operators import CountWindow, Granularity, PartitionedWindow, Sample, TimeWindow
from midstream.plans.algebra.properties import is_chronon_stream

UNKNOWN_GROUPS = 1 / DEFAULT_EQUALITY
"""Number of groups of a partitioned window without statistics.

It agrees with the default selectivity of an equality: each group has an equal share of the rows.
"""


def sample_content(costing: Costing) -> Content:
    """A share of the rows; each column has its values in the same shares, if there are many rows."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Sample)
    return replace(s.content, valid=s.valid * operator.share)


def sample_cut(costing: Costing, content: Content) -> Cut:
    """A share of the elements; each is valid for as long as before."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Sample)
    return Cut.of(s.rate * operator.share, content, s.l)


def time_window_content(costing: Costing) -> Content:
    """(22.10): the rows valid at each of the last w instants (8.17); of chronons, w / d."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, TimeWindow)
    size = math.inf if operator.size is None else float(operator.size)
    return Content(times(s.valid, size), s.facts, _granule(costing, operator))


def _granule(costing: Costing, operator: TimeWindow) -> int:
    """The granule of the output: rows come and go when the window advances; chronons go at the age `size`."""
    g = max(costing.inputs[0].g, operator.slide)
    if operator.slide != 1 or operator.size is None or not is_chronon_stream(costing.node.inputs[0]):
        return g
    return math.gcd(g, operator.size)


def time_window_cut(costing: Costing, content: Content) -> Cut:
    """(22.10): d' = d, l' = w.

    A window that advances by a > w shows the share w / a of the rows, each for a chronons.
    """
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, TimeWindow)
    if operator.size is None:
        return Cut(inverse(s.valid), math.inf)
    length = max(operator.size, operator.slide)
    is_even = s.cut.even and operator.slide == 1
    return Cut(inverse(times(s.valid, operator.size / length)), float(length), is_even)


def granularity_content(costing: Costing) -> Content:
    """(22.9): the number of valid rows stays the same."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Granularity)
    return replace(s.content, g=operator.granule)


def granularity_cut(costing: Costing, content: Content) -> Cut:
    """(22.9): d' = d and l' = l, but d' = ĝ d / l and l' = ĝ where l < ĝ."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Granularity)
    length = max(s.l, operator.granule)
    return Cut(inverse(times(s.rate, s.l / length if length < math.inf else 1.0)), length)


def count_window_content(costing: Costing) -> Content:
    """(22.11): N rows, once so many have come."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, CountWindow)
    return Content(_rows(operator.rows, s), s.facts, s.g)


def count_window_cut(costing: Costing, content: Content) -> Cut:
    """(22.11): d' = d, l' = N d; if the window advances by A > N rows, N of A rows are results."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, CountWindow)
    if operator.rows is None:
        return Cut(inverse(s.valid), math.inf)
    return Cut.of(times(s.valid, min(1.0, operator.rows / operator.slide)), content, math.inf)


def partitioned_window_content(costing: Costing) -> Content:
    """(22.12): N rows of each of n groups."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, PartitionedWindow)
    return Content(times(groups(costing), _rows(operator.rows, s)), s.facts, s.g)


def partitioned_window_cut(costing: Costing, content: Content) -> Cut:
    """(22.12): d' = d, l' = n N d.

    With a delay, a row is cut each time it has been held back for that long. A row stays until N others of
    its group have come; this time has a Gamma distribution.
    """
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, PartitionedWindow)
    if operator.rows is None:
        return Cut(inverse(s.valid), math.inf)
    rate = times(s.valid, min(1.0, operator.rows / operator.slide))
    if operator.delay is not None and rate:
        scale = groups(costing) * s.d
        # A row that is due is noticed when the next row comes.
        rate *= 1 + _cuts(operator.rows, (operator.delay + s.d) / scale if scale else math.inf)
    return Cut.of(rate, content, math.inf)


def istream_content(costing: Costing) -> Content:
    """The rows that appear in a chronon; a row that replaces an equal one does not count."""
    (s,) = costing.inputs
    return Content(appearing(costing, s), s.facts, s.g)


def dstream_content(costing: Costing) -> Content:
    """The rows that disappear in a chronon: as many as appear, unless they never end."""
    (s,) = costing.inputs
    return Content(appearing(costing, s) if s.l < math.inf else 0.0, s.facts, s.g)


def change_cut(costing: Costing, content: Content) -> Cut:
    """Elements of one chronon each."""
    return Cut(inverse(content.valid), 1.0)


def appearing(costing: Costing, s: Estimate) -> float:
    """Rows that appear in a chronon.

    For each of n kinds, elements start at an instant of the granularity and others end there: two numbers
    with Poisson distributions of the same average, r g / n. Their minimum is the number of elements that
    replace others.
    """
    n = costing.kinds(costing.node.schema.names)
    if not math.isfinite(n) or math.isinf(s.l) or math.isinf(s.rate):
        return s.rate
    each = s.rate * s.g / n
    if each > MANY_ROWS:
        # Half the average distance of two such numbers, approximated by normal distributions.
        return min(s.rate, n * math.sqrt(each / math.pi) / s.g)
    return s.rate - n * in_common(each, each) / s.g


def groups(costing: Costing) -> float:
    """Number of groups of a partitioned window."""
    operator = costing.operator
    assert isinstance(operator, PartitionedWindow)
    n = costing.kinds(operator.keys)
    return n if math.isfinite(n) else UNKNOWN_GROUPS


def _rows(rows: int | None, s: Estimate) -> float:
    """Number of rows in a window that counts rows; none if none arrive."""
    return 0.0 if not s.valid else math.inf if rows is None else float(rows)


def _cuts(rows: int, delay: float) -> float:
    """Average number of cuts of a row that stays until `rows` others have come, `delay` in their distance."""
    cuts, k = 0.0, 0
    while k < 1000:
        k += 1
        tail = gamma_tail(rows, k * delay)
        cuts += tail
        if tail < 1e-3:
            break
    return cuts
