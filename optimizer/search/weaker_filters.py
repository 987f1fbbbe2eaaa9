"""A filter above another one with a weaker condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from midstream.optimizer.rules import apply
from midstream.optimizer.rules.filters.filter_merging import FILTER_MERGING
from midstream.optimizer.rules.filters.filtered import parts_of, without
from midstream.optimizer.rules.filters.implied_condition import IMPLIED_CONDITION
from midstream.optimizer.rules.raising import asks_no_more
from midstream.optimizer.rules.true_conditions import is_implied
from midstream.plans.algebra.operators import Filter
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Step
from midstream.plans.expressions.expressions import conjunction

Stacked = tuple[Node, Node, tuple[Step, ...]]
"""A filter over a weaker one; the single filter that is equivalent; and the rules that lead to it."""


def stacked_filters(nodes: Iterable[Node]) -> Iterator[Stacked]:
    """Filters over the same input of which one implies the other, without containing its condition.

    A row that passes x > 5 also passes x > 3; so x > 5 can be evaluated on the rows that passed x > 3.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer").window(9)
    >>> [(stacked, node, steps)] = stacked_filters([s.filter(s["x"] > 5).node, s.filter(s["x"] > 3).node])
    >>> print(stacked.operator, "of", stacked.inputs[0].operator)
    filter x > 5 of filter x > 3
    >>> [step.rule for step in steps]
    ['filter-merging', 'implied-condition']
    """
    filters: dict[Node, list[Node]] = {}
    for node in nodes:
        if isinstance(node.operator, Filter):
            filters.setdefault(node.inputs[0], []).append(node)
    for over_same in filters.values():
        for strong, weak in permutations(over_same, 2):
            ours, theirs = parts_of(strong), parts_of(weak)
            if not {*theirs} <= {*ours} and all(is_implied(part, ours, weak.schema) for part in theirs):
                stacked = Node(Filter(conjunction(without(ours, theirs))), (weak,))
                if asks_no_more(stacked, strong) and (steps := _steps(stacked, strong)):
                    yield stacked, strong, steps


def _steps(stacked: Node, strong: Node) -> tuple[Step, ...]:
    """The steps from the stacked filters to the single one; empty if these rules do not lead there."""
    steps: list[Step] = []
    current = stacked
    for rule in (FILTER_MERGING, *(IMPLIED_CONDITION for _ in parts_of(stacked.inputs[0]))):
        after = next(apply(rule, current), None)
        if after is None:
            return ()
        steps.append(Step(rule.name, (), current, after, rule.equation))
        current = after
        if current == strong:
            return tuple(steps)
    return ()
