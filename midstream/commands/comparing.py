"""The cheapest plans of a query side by side: the costs of their operators, and why the first wins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from midstream.commands.explaining import ASSUMED_ROWS, NO_COSTS, assumed_statistics, is_free
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search import Choice, alternatives
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.drawing import tree
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.pictures.diagrams import dot, svg
from midstream.plans.values.errors import PlanError

UNITS = {
    "processing": "µs per chronon",
    "memory": "bytes",
    "state": "elements kept",
    "rate": "results per chronon",
    "buffers": "elements in buffers",
    "latency": "µs of latency",
    "intermediate": "intermediate results per chronon",
}


@dataclass(frozen=True)
class Comparison:
    """The cheapest plans, the first one first; `is_assumed` if the statistics were assumed.

    Texts and drawings show no costs that follow from assumed statistics.
    """

    choices: Sequence[Choice]
    objective: Objective
    is_assumed: bool

    def notes(self, node: Node) -> tuple[str, ...]:
        """The cost, state, bytes and rate of an operator; empty for an input, or without statistics."""
        if self.is_assumed:
            return ()
        for choice in self.choices:
            if (estimate := choice.cost.operators.get(node)) is not None:
                return (
                    f"{estimate.cost:.4g} µs per chronon, {estimate.state:.4g} elements kept, "
                    f"{estimate.bytes:.4g} bytes, {estimate.rate:.4g} results per chronon",
                )
        return ()

    def text(self) -> str:
        """All plans, one below the other, each with its differences from the first."""
        return "\n\n".join([*map(self._plan_text, range(len(self.choices))), self._summary()])

    def dot(self) -> str:
        """All plans in one graph for Graphviz, with shared operators only once."""
        return dot(self._together, self.notes)

    def svg(self) -> str:
        """All plans in one drawing, with shared operators only once."""
        return svg(self._together, self.notes)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data for JSON; terms are not rounded, and infinity is null."""
        return {
            "alternatives": [self._as_dict(number) for number in range(len(self.choices))],
            "statistics": "assumed" if self.is_assumed else "given",
            "all_considered": self.choices[0].is_complete,
            "subplans_considered": self.choices[0].considered,
        }

    def differences(self, number: int) -> dict[str, tuple[float, float]]:
        """The terms of the objective that differ: by name, the first plan's value and this plan's."""
        first, other = self._terms[0], self._terms[number]
        return {
            name: (first[name], other[name])
            for name in first
            if not math.isclose(first[name], other[name], rel_tol=1e-9) and name in self._weighted
        }

    def operators_that_differ(self, number: int) -> list[tuple[str, float | None, float | None]]:
        """Operators whose cost differs between the first plan and this one, the largest difference first.

        Each comes with its costs in both plans, None where a plan lacks it.
        """
        in_both = self.choices[0].cost.operators.keys() & self.choices[number].cost.operators.keys()
        first, other = self._by_text(0, in_both), self._by_text(number, in_both)
        found = [
            (text, one, another)
            for text in dict.fromkeys((*first, *other))
            for one, another in zip_longest(first.get(text, ()), other.get(text, ()))
            if one is None or another is None or not math.isclose(one, another, rel_tol=1e-9)
        ]
        return sorted(found, key=lambda each: -abs((each[1] or 0.0) - (each[2] or 0.0)))

    def _by_text(self, number: int, without: Set[Node]) -> dict[str, list[float]]:
        """The costs of a plan's operators, by the operator's text."""
        found: dict[str, list[float]] = {}
        for node, estimate in self.choices[number].cost.operators.items():
            if node not in without:
                found.setdefault(str(node.operator), []).append(self._own(estimate))
        return {text: sorted(values) for text, values in found.items()}

    def _own(self, estimate: Any) -> float:
        """The cost that an operator adds to the objective, or to processing if the objective is not a sum."""
        by = self.objective if self.objective.is_additive else PROCESSING
        return by.of_operator(estimate)

    @cached_property
    def _terms(self) -> list[dict[str, float]]:
        return [vars(self.objective.terms(choice.cost)) for choice in self.choices]

    @cached_property
    def _weighted(self) -> set[str]:
        weights = {**vars(self.objective), "rate": self.objective.slowness}
        return {name for name in UNITS if weights[name]}

    @cached_property
    def _together(self) -> Plan:
        roots: dict[str, Node] = {}
        for number, choice in enumerate(self.choices):
            (root,) = choice.plan.outputs.values()
            roots[self._title(number)] = root
        return Plan(roots)

    def _title(self, number: int) -> str:
        return ": ".join(filter(None, (f"plan {number + 1}", self._told(number))))

    def _told(self, number: int) -> str:
        if self.is_assumed:
            return ""
        return ", ".join(
            f"{self._terms[number][name]:.4g} {UNITS[name]}" for name in UNITS if name in self._weighted
        )

    def _plan_text(self, number: int) -> str:
        choice = self.choices[number]
        given = " (as the query says it)" if not choice.is_better else ""
        lines = [f"{self._title(number)}{given}"]
        lines += [f"   {line}" for line in tree(choice.plan, below=self.notes).splitlines()]
        return "\n".join([*lines, *(f"   {line}" for line in self._why(number) if number)])

    def _why(self, number: int) -> list[str]:
        if self.is_assumed:
            return []
        differences = self.differences(number)
        if not differences:
            return ["costs the same as plan 1"]
        shown = (
            f"{abs(one - other):.4g} {UNITS[name]} {'less' if one < other else 'more'} "
            f"({one:.4g} instead of {other:.4g})"
            for name, (one, other) in differences.items()
        )
        return [
            f"plan 1 wins: {', '.join(shown)}",
            *(f"  {text}: {self._taken(*taken)}" for text, *taken in self.operators_that_differ(number)),
        ]

    def _taken(self, first: float | None, other: float | None) -> str:
        """A text on the cost of an operator in the first plan and in another one."""
        if first is None:
            return f"only here, {other:.4g} {self._unit}"
        if other is None:
            return f"only in plan 1, {first:.4g} {self._unit}"
        return f"{first:.4g} instead of {other:.4g} {self._unit}"

    @property
    def _unit(self) -> str:
        if not self.objective.is_additive or self._weighted == {"processing"}:
            return UNITS["processing"]
        weights = [getattr(self.objective, name) for name in self._weighted]
        return UNITS[next(iter(self._weighted))] if weights == [1.0] else "in all by weight"

    def _summary(self) -> str:
        there = (
            "no cheaper plan was left out"
            if self.choices[0].is_complete
            else "not all plans were compared: there may be cheaper ones"
        )
        by = (
            f"no statistics were given: {ASSUMED_ROWS} rows of every stream assumed within the longest "
            "window, nothing of values"
            if self.is_assumed
            else "by the statistics given"
        )
        summary = f"{self.choices[0].considered} subplans considered, {there}; {by}"
        return f"{summary}\n{NO_COSTS}" if self.is_assumed else summary

    def _as_dict(self, number: int) -> dict[str, Any]:
        choice = self.choices[number]
        numbers = {node: i for i, node in enumerate(choice.plan.nodes)}
        own: Mapping[Node, Any] = choice.cost.operators
        return {
            "terms": {name: _finite(value) for name, value in self._terms[number].items()},
            "as_given": not choice.is_better,
            "differs_in": {name: list(map(_finite, pair)) for name, pair in self.differences(number).items()},
            "rules": list(choice.rules),
            "nodes": [
                {
                    "id": i,
                    "text": str(node.operator),
                    "inputs": [numbers[child] for child in node.inputs],
                    **{
                        what: _finite(getattr(own[node], what)) if node in own else None
                        for what in ("cost", "state", "bytes", "rate")
                    },
                    "in_first": number == 0 or node in self.choices[0].plan.nodes,
                }
                for node, i in numbers.items()
            ],
        }


def compare(
    plan: Plan, number: int, statistics: Statistics | None = None, objective: Objective = PROCESSING
) -> Comparison:
    """Find the cheapest plans of a query, at most `number`.

    Without statistics, those that `explain` assumes are used.

    Raises   PlanError where a plan says how results are cut, or names implementations: it runs as it is.
    """
    if not is_free(plan):
        raise PlanError("the plan says how results are cut, or names implementations: it has no alternatives")
    known = assumed_statistics(plan) if statistics is None else statistics
    return Comparison(alternatives(plan, known, number, objective=objective), objective, statistics is None)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
