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
from functools import partial
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import selected_facts
from midstream.optimizer.cost.comparisons import (
    MatchingCut,
    OverlapFormula,
    anti_join_cut,
    compared,
    compared_cut,
    difference,
    intersection,
    matched,
    max_union,
    semi_join_cut,
    semi_join_net_cut,
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
    net_cut: Callable[[Costing, Content], Cut] | None = None
    """The same of signed streams, which tell net changes only; None where it does not matter."""


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
    """(22.6), (22.7): a row for each group that has one: as many as there are different keys."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n = costing.kinds(operator.keys)
    facts = selected_facts(operator.keys, s.facts)
    return Content(different(s.valid, n), facts, s.g, different(s.always, n))


def aggregate_cut(costing: Costing, content: Content) -> Cut:
    """(22.6), (22.7) with Remark 22.1.

    A group has a new result at an instant of the granularity where one of its rows starts, and where some end
    and others are left. With the rate ρ = r / n of its rows,

        1/d' = n/g ((1 - e^(-ρ g)) + e^(-ρ g) (1 - e^(-ρ g)) (1 - e^(-ρ l)))

    Where groups have many rows that is n/g (1 - e^(-2 ρ g)), which is (22.7) with (1 - g/l)^(l/g) ~ 1/e.
    Where they hardly ever have one, it is the rate of the rows. Between both cases there is no step.
    """
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Aggregate)
    n = costing.kinds(operator.keys)
    if not math.isfinite(n) or not s.rate:
        return Cut.of(s.rate, content, s.l)
    if n == 1 and s.cut.even and s.l >= s.d and s.l % s.d == 0:
        return Cut(s.d, s.d, even=True)
    return Cut.of(n / s.g * _changing(s, n), content, s.l)


def _changing(s: Estimate, n: float) -> float:
    """The probability that one of n groups has a new result at an instant."""
    each = s.rate / n * s.g
    starts = -math.expm1(-each)
    if math.isinf(s.l):
        return starts
    left = -math.expm1(-s.valid / n)
    return starts + math.exp(-each) * starts * left


def split_cut(costing: Costing, content: Content) -> Cut:
    """(22.8), with the shorter piece that is left at the end of an element."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Split)
    number = pieces(s, operator.length)
    return Cut(inverse(times(s.rate, number)), s.l / number if number < math.inf else float(operator.length))


def pieces(s: Estimate, length: int) -> float:
    """Into how many pieces of a length an element is split, on average.

    Lengths that are multiples of the pieces leave nothing over. An average that is a whole number is taken
    for that of equal lengths, as behind a window; of others half a piece is left.
    """
    if s.l <= length:
        return 1.0
    if not s.g % length:
        return s.l / length
    if math.isfinite(s.l) and s.l == math.floor(s.l):
        return float(-(-s.l // length))
    return s.l / length + 0.5


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
        together = max(1.0, -(-operator.longest // s.l))
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


def distinct_net_cut(costing: Costing, content: Content) -> Cut:
    """A row comes where none is there."""
    (s,) = costing.inputs
    n = costing.kinds(costing.node.schema.names)
    return Cut.of(times(s.rate, math.exp(-s.valid / n) if n else 0.0), content, s.l)


def _comparing(formula: OverlapFormula) -> Output:
    def content(costing: Costing) -> Content:
        return compared(formula, costing.kinds(costing.node.schema.names), *costing.inputs)

    def cut(costing: Costing, content: Content, is_net: bool = False) -> Cut:
        (s, t), kinds = costing.inputs, costing.kinds(costing.node.schema.names)
        return compared_cut(formula, kinds, s, t, content, is_net=is_net)

    return Output(content, cut, partial(cut, is_net=True))


def semi_join_content(costing: Costing) -> Content:
    """The left rows for which some right row matches."""
    return matched(1 - costing.matches.absent, *costing.inputs)


def anti_join_content(costing: Costing) -> Content:
    """The left rows for which none does."""
    return matched(costing.matches.absent, *costing.inputs)


def _matching(formula: MatchingCut) -> Callable[[Costing, Content], Cut]:
    return lambda costing, content: formula(costing.matches, costing.inputs[0], content)


OUTPUTS: dict[str, Output] = {
    "filter": Output(filter_content, filter_cut),
    "project": Output(project_content, same_cut),
    "union": Output(union_content, union_cut),
    "join": Output(join_content, join_cut),
    "distinct": Output(distinct_content, distinct_cut, distinct_net_cut),
    "aggregate": Output(aggregate_content, aggregate_cut),
    "difference": _comparing(difference),
    "strict_difference": _comparing(strict_difference),
    "intersection": _comparing(intersection),
    "max_union": _comparing(max_union),
    "semi_join": Output(semi_join_content, _matching(semi_join_cut), _matching(semi_join_net_cut)),
    "anti_join": Output(anti_join_content, _matching(anti_join_cut)),
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
    l' = l₁ l₂ / (l₁ + l₂); but see `overlapping`."""
    return Cut.of(times(share, overlapping(s, t)), content, _overlap(s.l, t.l, math.gcd(s.g, t.g)))


def overlapping(s: Estimate, t: Estimate) -> float:
    """How many pairs of elements of two inputs begin to be valid together in a chronon (22.4).

        r₁ v₂ + r₂ v₁ - g r₁ r₂         of the rates r and of what is valid, v

    The thesis takes time to be continuous. In ours, elements start together: such a pair is among what the
    one finds valid and among what the other does, and is not to be counted twice.
    """
    by_s, by_t = times(s.rate, t.valid), times(t.rate, s.valid)
    together = min(times(math.gcd(s.g, t.g), s.rate, t.rate), by_s, by_t)
    return by_s + by_t - together if together < math.inf else by_s + by_t


def _overlap(one: float, other: float, g: int) -> float:
    """The average overlap of intervals of two lengths (22.4), in a granularity."""
    if math.isinf(one) or math.isinf(other):
        return min(one, other)
    positions = one + other - min(float(g), one, other)
    return one * other / positions if positions else 0.0
