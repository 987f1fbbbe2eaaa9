"""Choose the cheapest of all equivalent plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter
from typing import TypedDict

from midstream.optimizer.cost import CostModel, PlanCost
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import JOIN_ORDERS, RULES, Rule, Stage, flat
from midstream.optimizer.search.budget import STEPS, Budget, Clock, Steps, budget_of
from midstream.optimizer.search.cheapest import ALIKE, Cheapest
from midstream.optimizer.search.common_part import CommonPart, Running, added_part, common_parts
from midstream.optimizer.search.entered_orders import EnteredOrders
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.products import inputs_that_meet, require_products
from midstream.optimizer.search.reach import (
    Candidate,
    Candidates,
    Obstacle,
    OutOfReach,
    first_reachable,
    keeping_inputs,
)
from midstream.optimizer.search.reordering import reorder
from midstream.optimizer.search.simplifying import link, simplify
from midstream.optimizer.search.trees import Trees
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import Certificate, Step, plans_along
from midstream.plans.values.arguments import require, require_callable
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.verdicts import Answer, Equivalence

FEW_ORDERED = 5
"""With more inputs than this, whole plans are not compared in all join orders."""
SLICE = 0.0005
"""Seconds of search between which elements may pass."""


@dataclass(frozen=True)
class Choice(NearNames):
    """The cheapest plan found, its cost, and the cost of the original plan.

    `considered` counts priced subplans; `is_complete` is true if no cheaper plan was left out.
    """

    plan: Plan
    cost: PlanCost
    original: Plan
    original_cost: PlanCost
    considered: int
    is_complete: bool
    derive: Callable[[], tuple[Step, ...]] = field(default=tuple, repr=False, compare=False)
    """Computes the steps on demand."""
    running: Running = field(default_factory=dict, repr=False, compare=False)
    """Subplans that already run for other queries and add no cost."""
    objective: Objective = PROCESSING
    """The objective by which plans were compared."""
    out_of_reach: OutOfReach | None = None
    """A better plan to which the running one cannot migrate."""

    def __str__(self) -> str:
        text = f"{self.cost.total:.4g} µs per chronon"
        if self.is_better:
            text += f" instead of {self.original_cost.total:.4g}, by {', '.join(self.rules)}"
        return text if self.out_of_reach is None else f"{text}; {self.out_of_reach}"

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps of rules from the original plan, as a logical plan, to the chosen one."""
        return self.derive()

    @property
    def is_better(self) -> bool:
        """True if the chosen plan differs from the original one."""
        return self.plan != self.original

    @property
    def added(self) -> float:
        """Microseconds of processing per chronon of the operators that do not run already."""
        return added_part(self.cost, self.running).total

    @property
    def common(self) -> tuple[CommonPart, ...]:
        """Subplans that several outputs of the chosen plan share, or that it shares with running queries."""
        return common_parts(self.plan, self.cost, self.running)

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules, in the order of their application."""
        return tuple(step.rule for step in self.steps)

    @property
    def plans(self) -> Iterator[Plan]:
        """The plans that the steps lead to, in order; the last one is the chosen plan."""
        return plans_along(logical_plan(self.original), self.steps)

    @property
    def proof(self) -> Equivalence:
        """The proof that the chosen plan is equivalent to the original one."""
        certificate = Certificate(self.steps)
        reason = str(certificate) if self.steps else "the plan did not change"
        return Equivalence(Answer.PROVED, reason, plans=(self.original, self.plan), certificate=certificate)


class SearchSettings(TypedDict, total=False):
    """The options of a `Search` of any kind, as of `optimize`."""

    rules: Sequence[Rule | Stage]
    budget: Budget | int
    products: Products
    units: UnitCosts | None
    obstacle: Obstacle | None


class Search(NearNames):
    """A search for the cheapest plan, advanced step by step.

    It uses the statistics that it began with. `choice` is the best plan so far; once the search `is_done`, it
    is the result of `optimize`. A budget in milliseconds counts from the beginning.

    An `obstacle` tells which plans cannot replace the running one. If the best plan is one of these, a second
    search follows, by rules that leave windows and everything below them unchanged, with the rest of a budget
    in milliseconds or with as many steps. The choice is the best reachable candidate of both.
    """

    def __init__(
        self,
        plan: AnyPlan,
        statistics: Statistics,
        *,
        rules: Sequence[Rule | Stage] = RULES,
        budget: Budget | int = Steps(STEPS),  # noqa: B008 - a value
        products: Products = "auto",
        objective: Objective = PROCESSING,
        units: UnitCosts | None = None,
        obstacle: Obstacle | None = None,
    ) -> None:
        require_products("optimize", products)
        require("optimize: objective", objective, Objective, "an objective, such as MEMORY")
        if obstacle is not None:
            require_callable("optimize: obstacle", obstacle, "a function of a plan, such as engine.obstacle")
        self._objective = objective
        self._clock = Clock(budget_of(budget))
        self._plan = plan_of("optimize", plan)
        self._model = CostModel(statistics, units)
        self._memo = Memo()
        self._start: dict[str, Node] = {}
        self._running: Running = {}
        self._better = Candidates()
        self._compared = 0
        self._obstacle = obstacle
        self._around: Search | None = None
        """The second search, by rules that leave the inputs unchanged, if it was necessary."""
        self._search_around: Callable[[], Search] = lambda: Search(
            plan,
            statistics,
            rules=keeping_inputs(rules, logical_plan(self._plan)),
            budget=self._clock.again,
            products=products,
            objective=objective,
            units=units,
        )
        every = flat(rules)
        orders_joins = all(rule in every for rule in JOIN_ORDERS)
        is_small = inputs_that_meet(logical_plan(self._plan)) <= FEW_ORDERED
        if not objective.is_additive and is_small:
            orders_joins = False  # whole plans are compared, and take their orders from the memo
        explored = _others(rules) if orders_joins else rules
        self._exploration = Exploration(self._memo, explored)
        self._orders = EnteredOrders(
            self._memo, flat(explored), self._model, products, filters_pay=objective == PROCESSING
        )
        self._orders_joins = orders_joins
        self._cheapest = Cheapest(
            self._memo,
            self._model,
            orders=self._orders if orders_joins else None,
            products=products,
            pairs=self._clock.pairs,
            value=objective.of_operator if objective.is_additive and objective != PROCESSING else None,
        )
        self._is_complete = objective.is_additive or is_small
        """True if no plan was left out so far; with many inputs, not all whole plans can be compared."""
        self._work = self._steps(rules)
        self._choice: Choice | None = None
        self.is_done = False

    @cached_property
    def _original_cost(self) -> PlanCost:
        return self._model.price(self._plan)

    @property
    def choice(self) -> Choice:
        """The best plan so far."""
        return self._choice or self._choose()

    def advance(self, steps: int = 1) -> bool:
        """Do some further steps, or all that remain; return True if the search is done."""
        for _ in range(steps):
            if not self.is_done and next(self._work, self) is self:
                self._choice = self.choice
                self.is_done = True
        return self.is_done

    def finish(self) -> Choice:
        """Do all remaining steps and return the choice."""
        while not self.is_done:
            self.advance()
        return self.choice

    def step(self) -> bool:
        """Search for about half a millisecond; return True if steps remain.

        The length of these slices does not affect the result.
        """
        until = perf_counter() + SLICE
        while not self.advance() and perf_counter() < until:
            pass
        return not self.is_done

    def _estimate(self, plan: Plan) -> Iterator[None]:
        """Estimate the operators of a plan, inputs first, to price it quickly later; pauses after each."""
        for node in plan.nodes:
            with suppress(StatisticsError):  # operators below the inputs may be unknown
                self._model.estimate(node)
                yield

    def _begin(self, rules: Sequence[Rule | Stage]) -> Iterator[None]:
        """Enter the plan into the memo with linked joins, as it is and simplified.

        Rules that simplify are not always better: a contradiction makes conditions FALSE that could have gone
        to several inputs.
        """
        for name, root in logical_plan(self._plan).outputs.items():
            linked, linking = link(root)
            self._memo.rewrite(root, linked, linking)
            simple, simplifying = simplify(root, rules)
            rewritten, linking = link(simple)
            self._memo.equate(root, rewritten, (*simplifying, *linking))
            self._start[name] = root
            yield

    def _steps(self, rules: Sequence[Rule | Stage]) -> Iterator[None]:
        """Search; if the best plan is out of reach, search among plans with the original inputs."""
        yield from self._look(rules)
        if self._obstacle is None:
            return
        choice = self._choose()
        if choice.out_of_reach is None:
            self._choice = choice  # asking for obstacles again would take as long again
        else:
            self._is_complete = False  # a plan out of reach may have beaten reachable ones
            self._around = self._search_around()
            while not self._around.advance():
                yield

    def _look(self, rules: Sequence[Rule | Stage]) -> Iterator[None]:
        """Explore, then compare; pauses before each application of a rule and after each priced plan."""
        yield from self._estimate(self._plan)
        assert self._original_cost is not None
        yield from self._begin(rules)
        yield from self._explore()
        for _ in self._cheapest.compare(self._start.values()):
            yield
            if not self._clock.may_compare:
                self._is_complete = False
                return
        if not self._objective.is_additive:
            yield from self._compare_plans()
        for candidate in list(self._candidates()):
            yield from self._estimate(candidate)

    def _explore(self) -> Iterator[None]:
        """Apply rules until no new plan appears or the budget ends; pauses before each rule."""
        is_entered = not self._orders_joins
        while not (self._exploration.is_complete and is_entered):
            if is_entered or not self._exploration.is_complete:
                work = self._exploration.round()
                is_entered = not self._orders_joins
            else:
                work, is_entered = self._orders.enter(), True
            for _ in work:
                if not self._clock.may_explore:
                    self._is_complete = False
                    return
                self._clock.apply_rule()
                yield
        self._is_complete &= self._orders.is_complete

    def _compare_plans(self) -> Iterator[None]:
        """Price whole plans; pauses after each."""
        trees = Trees(self._memo, lambda group: group.expressions)
        for plan in trees.plans(self._start):
            if self._compared == self._clock.plans or not self._clock.may_compare:
                self._is_complete = False
                return
            self._consider(plan)
            self._compared += 1
            yield

    def _consider(self, plan: Plan) -> float:
        """Keep a plan if it is better than the original one; return its value."""
        try:
            cost = self._model.price(plan)
        except StatisticsError:
            return math.inf  # an input that the original plan does not have
        value = self._objective.of(cost)
        if value * ALIKE < self._objective.of(self._original_cost):
            self._better.add(Candidate(plan, cost, value, partial(self._derive, plan)))
        return value

    def _choose(self) -> Choice:
        """The best reachable plan compared so far, priced as a whole plan."""
        least = [self._consider(plan) for plan in self._candidates()]
        # The original plan is in the memo. If it beats the plans that are cheapest by parts, the model says
        # different things of equivalent parts, and further plans may do so.
        original = self._objective.of(self._original_cost) * ALIKE
        is_refuted = self._objective.is_additive and bool(least) and min(least) > original
        if self._around is not None and (around := self._around.choice).is_better:
            value = self._objective.of(around.cost)
            self._better.add(Candidate(around.plan, around.cost, value, around.derive))
        found, out_of_reach = first_reachable(self._better, self._obstacle)
        considered = self._cheapest.priced + self._compared
        is_exact = self._cheapest.is_exact and not is_refuted
        return self._choice_of(found, out_of_reach, considered, is_exact)

    def _choice_of(
        self, found: Candidate | None, out_of_reach: OutOfReach | None, considered: int, is_exact: bool
    ) -> Choice:
        """The choice of a candidate, or of the original plan if there is none."""
        return Choice(
            self._plan if found is None else found.plan,
            self._original_cost if found is None else found.cost,
            self._plan,
            self._original_cost,
            considered + (self._around.choice.considered if self._around else 0),
            self._is_complete and is_exact,
            tuple if found is None else found.derive,
            self._running,
            self._objective,
            out_of_reach,
        )

    def _candidates(self) -> Iterator[Plan]:
        """The undominated plans; with several outputs, the cheapest of each output combined."""
        outputs = {name: self._cheapest.of(root) for name, root in self._start.items()}
        if outputs and all(outputs.values()):
            for i in range(max(map(len, outputs.values()))):
                yield Plan({name: found[min(i, len(found) - 1)].node for name, found in outputs.items()})

    def _derive(self, plan: Plan) -> tuple[Step, ...]:
        steps: list[Step] = []
        for name, root in plan.outputs.items():
            self._tell(root)
            steps += self._memo.derivation(self._start[name], root, name)
        return tuple(steps)

    def _tell(self, node: Node) -> None:
        """Enter a compared plan into the memo, with the steps that lead to it."""
        if node in self._memo:
            return
        if node not in self._cheapest.ordered:
            for child in node.inputs:
                self._tell(child)
            self._memo.group(node)
            return
        before, leaves = self._cheapest.ordered[node].origin(node)
        for leaf in leaves:
            self._tell(leaf)
        steps = reorder(before, node, leaves)
        self._memo.rewrite(node, before, [step.reversed for step in reversed(steps)])


def _others(rules: Sequence[Rule | Stage]) -> list[Rule | Stage]:
    """Rules without those that only change join orders."""
    stages = [
        Stage(each.name, tuple(rule for rule in each.rules if rule not in JOIN_ORDERS))
        if isinstance(each, Stage)
        else each
        for each in rules
    ]
    return [each for each in stages if each not in JOIN_ORDERS]
