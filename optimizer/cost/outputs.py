"""The formulas of the thesis' cost model (22.3) for operators' outputs, by the names that operators use.

Each operator has two formulas. One computes the content of its output, which is true snapshot by snapshot,
from the contents of its inputs; so equivalent plans have the same content. The other computes the cut of the
output into elements. There are three departures from the thesis: several inputs have their common granule; a
product with an infinite validity on one side keeps the length of the other; and the number of distinct rows
is smooth (see `distinct_content`).
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
    sample_content,
    sample_cut,
    time_window_content,
    time_window_cut,
)
from midstream.plans.algebra.operators import Aggregate, Coalesce, Join, Project, Split
from midstream.plans.algebra.properties import logical


class Output(NamedTuple):
    """The formulas of an operator's output."""

    content: Callable[[Costing], Content]
    """The content; it reads the contents of the inputs and not their cuts (but see `union_content`)."""
    cut: Callable[[Costing, Content], Cut]
    """The cut of the output, which has this content."""
    net_cut: Callable[[Costing, Content], Cut] | None = None
    """The cut of the output in signed streams, which carry net changes only; None if it is equal to `cut`."""


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
    """(22.2): as many rows, of other columns."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Project)
    return replace(s.content, facts=projected(operator.columns, costing.node.schema, s.facts))


def union_content(costing: Costing) -> Content:
    """(22.3): the rows of all inputs."""
    valid = math.fsum(s.valid for s in costing.inputs)
    # Weighted by rates and not by valid rows: if lengths differ, the latter would make the rates above a
    # filter of the union wrong, and costs follow from rates.
    facts = united(costing.node.schema, [(s.rate, s.facts) for s in costing.inputs])
    always = math.fsum(s.always for s in costing.inputs)
    return Content(valid, facts, math.gcd(*(s.g for s in costing.inputs)), always)


def union_cut(costing: Costing, content: Content) -> Cut:
    """(22.3): 1/d' = 1/d₁ + 1/d₂."""
    rate = math.fsum(s.rate for s in costing.inputs)
    return Cut.of(rate, content, max(s.l for s in costing.inputs))


def join_content(costing: Costing) -> Content:
    """(22.4) with a selectivity: the share of the pairs valid together that satisfies the condition."""
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
    """The number of distinct rows valid at an instant: n (1 - e^(-valid/n)), where n distinct rows occur.

    It replaces (22.5), which takes the smaller of n and valid. Where these are near each other, (22.5) is
    too high by up to 58 %: of as many rows as there are distinct ones, many are equal. At that point the
    work for an element would also jump from that for the first row of its kind to that for a further one, so
    the slightest change of a rate could make another plan the cheapest. The formulas of difference and
    similar operators also presume that the number of equal rows has a Poisson distribution.
    """
    (s,) = costing.inputs
    n = costing.kinds(costing.node.schema.names)
    return replace(s.content, valid=different(s.valid, n), always=different(s.always, n))


def distinct_cut(costing: Costing, content: Content) -> Cut:
    """(22.5): d' = d.

    This presumes that an element outlives the equal ones before it, which holds unless a join has cut its
    end.
    """
    (s,) = costing.inputs
    return replace(Cut.of(s.rate, content, s.l), d=s.d)


def aggregate_content(costing: Costing) -> Content:
    """(22.6), (22.7): a row for each group that has a valid row: as many as there are distinct keys."""
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
    """The probability that one of n groups has a new result at an instant of the granularity."""
    each = s.rate / n * s.g
    starts = -math.expm1(-each)
    if math.isinf(s.l):
        return starts
    left = -math.expm1(-s.valid / n)
    return starts + math.exp(-each) * starts * left


def split_cut(costing: Costing, content: Content) -> Cut:
    """(22.8), including the shorter last piece of an element."""
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Split)
    number = pieces(s, operator.length)
    return Cut(inverse(times(s.rate, number)), s.l / number if number < math.inf else float(operator.length))


def pieces(s: Estimate, length: int) -> float:
    """The average number of pieces of a length into which an element is split.

    Lengths that are multiples of `length` leave no remainder. If the average length is a whole number, all
    lengths are taken to be equal, as behind a window; otherwise half a piece is added.
    """
    if s.l <= length:
        return 1.0
    if not s.g % length:
        return s.l / length
    if math.isfinite(s.l) and s.l == math.floor(s.l):
        return float(-(-s.l // length))
    return s.l / length + 0.5


def coalesce_cut(costing: Costing, content: Content) -> Cut:
    """The cut behind a coalesce, which merges an element with an equal one that starts at its end.

    All pieces of a split merge. Otherwise the number of merged elements is the average minimum of the
    elements of one kind that start and that end at an instant, if these are independent. No merged element
    is longer than `longest`.
    """
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Coalesce)
    below = logical(costing.node.inputs[0])
    if isinstance(below, Split) and 0 < s.l < operator.longest:
        # As many pieces as are needed for this length.
        together = max(1.0, -(-operator.longest // s.l))
        return Cut.of(times(s.rate, 1 / together), content, float(operator.longest))
    share = appearing(costing, s) / s.rate if 0 < s.rate < math.inf else 1.0
    least = s.l / operator.longest if s.l < operator.longest else 1.0
    return Cut.of(times(s.rate, max(share, min(1.0, least))), content, s.l)


def same_content(costing: Costing) -> Content:
    """The content of the only input."""
    return costing.inputs[0].content


def same_cut(costing: Costing, content: Content) -> Cut:
    """The cut of the only input: for projections and conversion."""
    return costing.inputs[0].cut


def distinct_net_cut(costing: Costing, content: Content) -> Cut:
    """A result begins with a row if no equal one is valid."""
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
    """The left rows that match at least one right row."""
    return matched(1 - costing.matches.absent, *costing.inputs)


def anti_join_content(costing: Costing) -> Content:
    """The left rows that match no right row."""
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
    "sample": Output(sample_content, sample_cut),
    "granularity": Output(granularity_content, granularity_cut),
    "istream": Output(istream_content, change_cut),
    "dstream": Output(dstream_content, change_cut),
}


def pairs_cut(share: float, s: Estimate, t: Estimate, content: Content) -> Cut:
    """(22.4), with the share of pairs that are results; but see `overlapping`.

    d' = d₁ d₂ / (l₁ + l₂) / share        l' = l₁ l₂ / (l₁ + l₂)
    """
    return Cut.of(times(share, overlapping(s, t)), content, _overlap(s.l, t.l, math.gcd(s.g, t.g)))


def overlapping(s: Estimate, t: Estimate) -> float:
    """Pairs of elements of two inputs that begin to be valid together in a chronon (22.4).

        r₁ v₂ + r₂ v₁ - g r₁ r₂         of the rates r and of the numbers of valid rows v

    The thesis takes time to be continuous. Here elements can start together: each finds the other valid, and
    such a pair must not be counted twice.
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
