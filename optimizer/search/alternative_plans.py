"""The several cheapest plans of a query, for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from midstream.optimizer.cost import CostModel, PlanCost
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.budget import Budget, Clock, Steps, budget_of
from midstream.optimizer.search.cheapest import ALIKE
from midstream.optimizer.search.choice import Choice, Search
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.several_cheapest import SeveralCheapest, Sides
from midstream.optimizer.search.simplifying import link
from midstream.optimizer.search.trees import Trees
from midstream.optimizer.statistics import Statistics, statistics_of
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import Step
from midstream.plans.values.arguments import require, wrong
from midstream.plans.values.errors import ArgumentError, StatisticsError

COMPARED = 100_000
"""Default limit of the search, in steps: some seconds."""


def alternatives(
    plan: AnyPlan,
    statistics: Statistics | None = None,
    number: int = 5,
    *,
    rules: Sequence[Rule | Stage] = RULES,
    budget: Budget | int = Steps(COMPARED),  # noqa: B008 - a value
    objective: Objective = PROCESSING,
    units: UnitCosts | None = None,
) -> tuple[Choice, ...]:
    """The cheapest plans, at most `number` of them, each as a choice: the cheapest first.

    They come from the original plan, from those of `enumerate_plans` over the same rules in which equivalent
    subplans are the same, and from further applications of rules to the plan that `optimize` chooses. Plans
    that differ only in which input of a join is left count as one, the cheapest. If the budget ends before
    all are known, the plans that rules make of the chosen one are compared: `is_complete` of every choice
    tells if no cheaper plan was left out.

    Raises   StatisticsError if an input has no statistics; ArgumentError for a plan with several outputs.

    >>> from midstream.optimizer.statistics import StreamStatistics
    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(60) for name in "abc")
    >>> known = Statistics({s.node: StreamStatistics(d, 60.0) for s, d in ((a, 1.0), (b, 1.0), (c, 30.0))})
    >>> chain = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")])
    >>> [round(choice.cost.total, 2) for choice in alternatives(chain, known)]
    [2.48, 2.48, 12.03]
    """
    plan = plan_of("alternatives", plan)
    statistics = statistics_of("alternatives", plan, statistics)
    require("alternatives: number", number, int, "a number of plans")
    if number < 1 or number is True:
        raise wrong("alternatives: number", number, "1 or more")
    if len(plan.outputs) != 1:
        raise ArgumentError(f"alternatives: found {len(plan.outputs)} outputs, expected a plan with one")
    budget = budget_of(budget)
    search = Search(plan, statistics, rules=rules, budget=budget, objective=objective, units=units)
    choice = search.finish()
    comparison = _Comparison(
        _explored(choice, rules, budget), CostModel(statistics, units), objective, number
    )
    comparison.compare(budget)
    return comparison.choices(choice)


@dataclass(frozen=True)
class _Explored:
    """A memo with the results of rules for a plan; `is_complete` if no result is missing."""

    memo: Memo
    start: Node
    is_complete: bool

    def steps(self, root: Node, output: str) -> tuple[Step, ...]:
        """The steps of rules from the plan to another one that stands in the memo."""
        self.memo.group(root)
        return tuple(self.memo.derivation(self.start, root, output))


def _explored(choice: Choice, rules: Sequence[Rule | Stage], budget: Budget) -> _Explored:
    """Apply rules to the chosen plan, then to the original one, as far as the budget allows."""
    memo, clock, start = Memo(), Clock(budget), logical_plan(choice.original).root
    exploration = Exploration(memo, rules)
    memo.rewrite(start, *link(start))
    given, memo.added = memo.added, []  # explored later, after the plans near the chosen one
    memo.equate(start, logical_plan(choice.plan).root, choice.steps)
    for waiting in ([], given):
        memo.added += waiting
        while not exploration.is_complete:
            for _ in exploration.round():
                if not clock.may_explore:
                    return _Explored(memo, start, False)
                clock.apply_rule()
    return _Explored(memo, start, True)


class _Comparison:
    """The cheapest plans of a memo, priced as whole plans."""

    def __init__(self, explored: _Explored, model: CostModel, objective: Objective, number: int) -> None:
        self._explored = explored
        self._model = model
        self._objective = objective
        self._number = number
        self._sides = Sides()
        self._found: dict[int, tuple[float, Node, PlanCost]] = {}
        """The cheapest plan by its `Sides` number."""
        self._considered = 0
        self._is_complete = False

    def compare(self, budget: Budget) -> None:
        """Find the cheapest plans by parts; if that is not exact, compare whole plans within the budget."""
        clock, memo, start = Clock(budget), self._explored.memo, self._explored.start
        by_parts = self._objective if self._objective.is_additive else PROCESSING
        several = SeveralCheapest(memo, self._model, self._number, by_parts, clock.combinations)
        is_over = False
        for _ in several.compare(start):
            is_over = not clock.may_compare
            if is_over:
                break
        self._considered += several.priced
        self._consider([link(start)[0], *(one.node for one in several.of(start))])
        is_additive, has_all_plans = self._objective.is_additive, self._explored.is_complete
        is_exact = is_additive and several.is_exact and not is_over
        # If rules have not made all plans, comparing more of them proves nothing.
        is_enough = is_additive and not has_all_plans and len(self._found) >= self._number
        has_all = is_exact or (not is_enough and self._compare_all(clock))
        self._is_complete = has_all_plans and has_all

    def _compare_all(self, clock: Clock) -> bool:
        """Price whole plans; return True if all were priced before the budget ended."""
        plans = Trees(self._explored.memo, lambda group: group.expressions).plans({"": self._explored.start})
        for number, plan in enumerate(plans):
            if number == clock.plans or not clock.may_compare:
                return False
            self._consider([plan.root])
        return True

    def _consider(self, roots: Iterable[Node]) -> None:
        for root in roots:
            self._considered += 1
            try:
                cost = self._model.price(Plan(root))
            except StatisticsError:
                continue  # an input that the original plan does not have
            self._take(root, cost)

    def _take(self, root: Node, cost: PlanCost) -> None:
        sides, value = self._sides.of(root), self._objective.of(cost)
        if sides not in self._found or value * ALIKE < self._found[sides][0]:
            self._found[sides] = value, root, cost

    def choices(self, chosen: Choice) -> tuple[Choice, ...]:
        """The cheapest plans, including the chosen one; it precedes others of equal cost."""
        (output,) = chosen.original.outputs
        sides = self._sides.of(link(logical_plan(chosen.plan).root)[0])
        self._found.pop(sides, None)
        told = replace(chosen, considered=self._considered, is_complete=self._is_complete)
        found = [(self._objective.of(chosen.cost), told)]
        for value, root, cost in self._found.values():
            plan, derive = Plan({output: root}), partial(self._explored.steps, root, output)
            found.append((value, replace(told, plan=plan, cost=cost, derive=derive)))
        least = min(value for value, _ in found)
        is_least = found[0][0] <= least * ALIKE
        rest = sorted(found[1:] if is_least else found, key=lambda one: one[0])
        return tuple(choice for _, choice in [*found[: int(is_least)], *rest][: self._number])
