"""The formulas of the thesis' cost model (22.3) for the outputs of our operators, by the names that operators
give.

Each operator has two. One gives the content of its output, which is true snapshot by snapshot, from the
contents of its inputs; so it is the same for all plans that mean the same. The other one says how the output
is cut into elements. Three departures from the thesis: the granule behind several inputs is their common one;
a product with an infinite validity on one side keeps that of the other; and the number of different rows is
smooth (see `distinct_content`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import selected_facts
from midstream.optimizer.cost.comparisons import (
    OverlapFormula,
    compared,
    compared_cut,
    difference,
    intersection,
    matched,
    matched_cut,
    matching_share,
    max_union,
    strict_difference,
)
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate, different, inverse, times
from midstream.optimizer.cost.mapped_facts import projected, united
from midstream.optimizer.cost.over_time import (
    appearing,
    change_cut,
    count_window_content,
    count_window_cut,
    dstream_content,
    granularity_content,
    granularity_cut,
    istream_content,
    partitioned_window_content,
    partitioned_window_cut,
    time_window_content,
    time_window_cut,
)
from midstream.plans.algebra.operators import Aggregate, Coalesce, Join, Project, Split
from midstream.plans.algebra.properties import logical


class Output(NamedTuple):
    """The formulas of an operator's output."""

    content: Callable[[Costing], Content]
    """Reads the contents of the inputs, and nothing of how they are cut (but see `union_content`)."""
    cut: Callable[[Costing, Content], Cut]
    """How the output, of this content, is cut."""


def filter_content(costing: Costing) -> Content:
    """(22.1): the share of rows that satisfy the condition."""
    (s,) = costing.inputs
    share, facts = costing.satisfying(costing.conditions)
    return Content(times(share, s.valid), facts, s.g, times(share, s.always))


def filter_cut(costing: Costing, content: Content) -> Cut:
    """(22.1): d' = d / share, l' = l."""
    (s,) = costing.inputs
    share, _ = costing.satisfying(costing.conditions)
    return Cut(inverse(times(share, s.rate)), s.l)


def project_content(costing: Costing) -> Content:
    """(22.2)."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Project)
    return replace(s.content, facts=projected(operator.columns, costing.node.schema, s.facts))


def union_content(costing: Costing) -> Content:
    """(22.3): what is valid on any side."""
    valid = math.fsum(s.valid for s in costing.inputs)
    # By elements, not by rows that are valid: where lengths differ, the rates above a filter of the union are
    # what would else be wrong, and costs follow from rates.
    facts = united(costing.node.schema, [(s.rate, s.facts) for s in costing.inputs])
    always = math.fsum(s.always for s in costing.inputs)
    return Content(valid, facts, math.gcd(*(s.g for s in costing.inputs)), always)


def union_cut(costing: Costing, content: Content) -> Cut:
    """(22.3): 1/d' = 1/d₁ + 1/d₂."""
    rate = math.fsum(s.rate for s in costing.inputs)
    return Cut.of(rate, content, max(s.l for s in costing.inputs))


def join_content(costing: Costing) -> Content:
    """(22.4) with a selectivity: of the pairs of rows that are valid together, the share that satisfies the
    condition."""
    (s, t), operator = costing.inputs, costing.operator
    assert isinstance(operator, Join)
    share, known = costing.satisfying(costing.conditions)
    facts, always = selected_facts(operator.columns, known), times(share, s.always, t.always)
    return Content(times(share, s.valid, t.valid), facts, math.gcd(s.g, t.g), always)


def join_cut(costing: Costing, content: Content) -> Cut:
    """(22.4) with a selectivity."""
    share, _ = costing.satisfying(costing.conditions)
    s, t = costing.inputs
    return pairs_cut(share, s, t, content)


def distinct_content(costing: Costing) -> Content:
    """How many different rows are valid at an instant: n (1 - e^(-valid/n)), where n different ones occur.

    In place of (22.5), which takes the smaller of n and valid. Both are limits of ours, but where they are
    near each other (22.5) is too high by up to 58 %: of as many rows as there are different ones, many are
    equal. And at that point the work for an element jumps, from that for the first row of its kind to that
    for a further one, so that the slightest change of a rate could make another plan the cheapest. That the
    number of equal rows has a Poisson distribution is what the formulas of difference and its kin presume as
    well.
    """
    (s,) = costing.inputs
    n = costing.kinds(costing.node.schema.names)
    return replace(s.content, valid=different(s.valid, n), always=different(s.always, n))


def distinct_cut(costing: Costing, content: Content) -> Cut:
    """(22.5): d' = d. This presumes that an element outlives the equal ones before it, which is so unless a
    join has cut its end."""
    (s,) = costing.inputs
    return replace(Cut.of(s.rate, content, s.l), d=s.d)


def aggregate_content(costing: Costing) -> Content:
    """(22.6), (22.7): a row for each group; where groups are more than rows, each row is one."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n = costing.kinds(operator.keys)
    return Content(n if n < s.valid else s.valid - s.always, selected_facts(operator.keys, s.facts), s.g)


def aggregate_cut(costing: Costing, content: Content) -> Cut:
    """(22.6), (22.7): d' = l'/n."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n = costing.kinds(operator.keys)
    if n < s.valid:
        length = _segment(s.g, s.l, n * s.d)
        return Cut(length / n, length)
    return s.cut


def split_cut(costing: Costing, content: Content) -> Cut:
    """(22.8), with the shorter piece that is left at the end of an element."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Split)
    number = pieces(s, operator.length)
    return Cut(inverse(times(s.rate, number)), s.l / number if number < math.inf else float(operator.length))


def pieces(s: Estimate, length: int) -> float:
    """Into how many pieces of a length an element is split, on average.

    Lengths that are multiples of the granule, and so of the pieces, or are as good as constant, leave nothing
    over; of others half a piece is left.
    """
    if s.l <= length:
        return 1.0
    exact = s.l / length
    return exact if not s.g % length or exact == round(exact, 0) else exact + 0.5


def coalesce_cut(costing: Costing, content: Content) -> Cut:
    """As many elements fewer as go on where an equal one has ended.

    Pieces of a split do; of others, so many as elements of one kind that start at an instant have in common
    with those that end there, if they come independently of each other. None becomes longer than asked for.
    """
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Coalesce)
    below = logical(costing.node.inputs[0])
    if isinstance(below, Split) and 0 < s.l < operator.longest:
        # From the first piece on, as many as are needed to be so long.
        together = float(operator.longest) / s.l
        together = math.ceil(together) if together < math.inf else together
        return Cut.of(times(s.rate, 1 / together), content, float(operator.longest))
    share = appearing(costing, s) / s.rate if 0 < s.rate < math.inf else 1.0
    least = s.l / operator.longest if s.l < operator.longest else 1.0
    return Cut.of(times(s.rate, max(share, min(1.0, least))), content, s.l)


def same_content(costing: Costing) -> Content:
    """That of the only input."""
    return costing.inputs[0].content


def same_cut(costing: Costing, content: Content) -> Cut:
    """That of the only input: of projections and conversion."""
    return costing.inputs[0].cut


def _comparing(formula: OverlapFormula) -> Output:
    def content(costing: Costing) -> Content:
        return compared(formula, costing.kinds(costing.node.schema.names), *costing.inputs)

    def cut(costing: Costing, content: Content) -> Cut:
        s, t = costing.inputs
        return compared_cut(formula, costing.kinds(costing.node.schema.names), s, t, content)

    return Output(content, cut)


def _matching(keeps_matching: bool) -> Output:
    def share(costing: Costing) -> float:
        return matching_share(keeps_matching, costing.satisfying(costing.conditions)[0], costing.inputs[1])

    def content(costing: Costing) -> Content:
        return matched(share(costing), *costing.inputs)

    def cut(costing: Costing, content: Content) -> Cut:
        return matched_cut(share(costing), costing.inputs[0])

    return Output(content, cut)


OUTPUTS: dict[str, Output] = {
    "filter": Output(filter_content, filter_cut),
    "project": Output(project_content, same_cut),
    "union": Output(union_content, union_cut),
    "join": Output(join_content, join_cut),
    "distinct": Output(distinct_content, distinct_cut),
    "aggregate": Output(aggregate_content, aggregate_cut),
    "difference": _comparing(difference),
    "strict_difference": _comparing(strict_difference),
    "intersection": _comparing(intersection),
    "max_union": _comparing(max_union),
    "semi_join": _matching(True),
    "anti_join": _matching(False),
    "split": Output(same_content, split_cut),
    "coalesce": Output(same_content, coalesce_cut),
    "convert": Output(same_content, same_cut),
    "time_window": Output(time_window_content, time_window_cut),
    "count_window": Output(count_window_content, count_window_cut),
    "partitioned_window": Output(partitioned_window_content, partitioned_window_cut),
    "granularity": Output(granularity_content, granularity_cut),
    "istream": Output(istream_content, change_cut),
    "dstream": Output(dstream_content, change_cut),
}


def pairs_cut(share: float, s: Estimate, t: Estimate, content: Content) -> Cut:
    """(22.4): d' = d₁ d₂ / (l₁ + l₂), divided by the share of pairs that are results;
    l' = l₁ l₂ / (l₁ + l₂)."""
    return Cut.of(times(share, overlapping(s, t)), content, _overlap(s.l, t.l))


def overlapping(s: Estimate, t: Estimate) -> float:
    """How many pairs of elements of two inputs begin to be valid together in a chronon."""
    return times(s.rate, t.valid) + times(t.rate, s.valid)


def _overlap(one: float, other: float) -> float:
    """The average overlap of intervals of two lengths (22.4)."""
    if math.isinf(one) or math.isinf(other):
        return min(one, other)
    return one * other / (one + other) if one + other else 0.0


def _segment(g: int, length: float, d: float) -> float:
    """The length of an aggregate's segments (22.6)."""
    if not d or length <= g:
        return float(g)
    if math.isinf(d):
        return length  # nothing else starts
    if math.isinf(length):
        return -g / math.expm1(-g / d)  # starts only: nothing ends
    return -g / math.expm1(2 * length / d * math.log1p(-g / length))
