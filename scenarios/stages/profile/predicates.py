"""The shares of rows, or of pairs of rows, that satisfy the conditions of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from midstream.optimizer.sampling.intervals import Interval, share_of_rows
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.expressions import Expression, compile_row, conjunction
from midstream.plans.values.schema import Schema
from midstream.scenarios.stages.profile.conditions import (
    QueryCondition,
    at_source,
    conditions_of,
    equalities_between,
    filter_node,
)
from midstream.scenarios.stages.profile.drawing import DrawnElements, sampled_share
from midstream.scenarios.streams.recorded.inputs import PlanInput, equal_names

COUNTED, SAMPLED, UNKNOWN = "counted", "sampled", "unknown"


@dataclass(frozen=True)
class PredicateProfile:
    """A condition of a query, and the share of rows, or of pairs valid together, that satisfy it.

    by         counted in full, sampled, or unknown where it is about neither rows nor pairs of inputs
    share      of a sample, with the bounds that hold the share of all in 90 of 100 samples
    premises   the earlier conditions on the same pair: the share is that of pairs that satisfy these
    """

    condition: Expression
    by: str
    share: Interval | None
    premises: tuple[Expression, ...] = ()

    @property
    def expected(self) -> float | None:
        """The share to go by; a third of the high bound if the sample holds no match.

        That is the expected share after as many failures if every share was equally likely before.
        """
        if self.share is None or not self.share.is_known:
            return None
        return self.share.value or (self.share.high / 3 if self.by == SAMPLED else 0.0)


Counts = Mapping[tuple[int, int], tuple[int, int]]
"""By two inputs: their pairs valid together, and those that agree on all columns that must be equal."""


def predicates(
    query: Plan, inputs: Sequence[PlanInput], drawn: Mapping[str, DrawnElements], counts: Counts
) -> tuple[PredicateProfile, ...]:
    """All conditions of a query, in its order."""
    conditions = conditions_of(query, inputs)
    found: dict[Expression, PredicateProfile] = {}
    for condition in conditions:
        if condition.meaning is None:
            found[condition.part] = PredicateProfile(condition.part, UNKNOWN, None)
        elif len(condition.inputs) == 1:
            one = inputs[condition.inputs[0]]
            found[condition.part] = _of_rows(condition, one, drawn[one.stream.name])
    for pair in combinations(range(len(inputs)), 2):
        between = [condition for condition in conditions if condition.inputs == pair]
        for predicate in _of_pair(query, between, pair, inputs, drawn, counts):
            found[predicate.condition] = predicate
    unknown = (PredicateProfile(each.part, UNKNOWN, None) for each in conditions)
    return tuple(found.get(each.condition, each) for each in unknown)


def _of_rows(condition: QueryCondition, one: PlanInput, drawn: DrawnElements) -> PredicateProfile:
    assert condition.meaning is not None
    meaning = at_source(condition.meaning, filter_node(condition.meaning, one))
    if meaning is None:
        return PredicateProfile(condition.part, UNKNOWN, None)
    holds = compile_row(meaning, one.stream.columns)
    holding = sum(1 for _, row in drawn.elements if holds(row))
    share = share_of_rows(holding, len(drawn.elements))
    if drawn.share == 1.0 and drawn.elements:
        return PredicateProfile(condition.part, COUNTED, Interval(share.value, share.value, share.value))
    return PredicateProfile(condition.part, SAMPLED, share)


def _of_pair(
    query: Plan,
    between: Sequence[QueryCondition],
    pair: tuple[int, int],
    inputs: Sequence[PlanInput],
    drawn: Mapping[str, DrawnElements],
    counts: Counts,
) -> list[PredicateProfile]:
    """Profile the conditions between two inputs: count an equality that is the only one, sample the others.

    It is the only one if no other equality holds between the inputs, directly or by way of others. Each other
    condition is sampled among the pairs that satisfy those before it, so that the product of the shares is
    the share of pairs that satisfy all.
    """
    equalities = [each for each in between if each.equates]
    others = [each for each in between if not each.equates]
    is_alone = len(equalities_between(inputs[pair[0]], inputs[pair[1]], equal_names(query))) == 1
    overlapping, matched = counts[pair]
    found = []
    if is_alone and equalities and overlapping:
        share = matched / overlapping
        found.append(PredicateProfile(equalities[0].part, COUNTED, Interval(share, share, share)))
    meanings = [each.meaning for each in others if each.meaning is not None]
    for i, each in enumerate(others):
        share_of = sampled_condition(meanings[: i + 1], i, pair, inputs, drawn, overlapping)
        premises = tuple(before.part for before in others[:i])
        found.append(PredicateProfile(each.part, SAMPLED, share_of, premises))
    return found


def sampled_condition(
    parts: Sequence[Expression],
    premises: int,
    pair: tuple[int, int],
    inputs: Sequence[PlanInput],
    drawn: Mapping[str, DrawnElements],
    overlapping: int,
) -> Interval:
    """The share of pairs that satisfy some conditions, among the pairs that satisfy the first ones.

    premises   the number of these first conditions
    """
    left, right = (inputs[i] for i in pair)
    schema = Schema((*left.node.schema.columns, *right.node.schema.columns))
    holds = compile_row(conjunction(parts[premises:]), schema)
    asked = compile_row(conjunction(parts[:premises]), schema) if premises else None
    ours, theirs = drawn[left.stream.name], drawn[right.stream.name]
    if ours is theirs:
        ours, theirs = ours.half(0), theirs.half(1)
    return sampled_share(
        ours.of(left),
        theirs.of(right),
        (left.length, right.length),
        overlapping,
        holds,
        asked,
    )
