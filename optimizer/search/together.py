"""Choose the cheapest plans of several queries together, beside those that run already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from midstream.optimizer.cost import PlanCost
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.rules import JOIN_ORDERS, RULES, Rule, Stage, apply, sharing
from midstream.optimizer.rules.sharing.join_columns import PROJECTION_INTO_JOIN, all_columns, chosen
from midstream.optimizer.search.budget import STEPS, Budget, Steps
from midstream.optimizer.search.cheapest import ALIKE
from midstream.optimizer.search.cheapest_together import CheapestTogether
from midstream.optimizer.search.choice import Choice, Search
from midstream.optimizer.search.combining import Parts, combine
from midstream.optimizer.search.common_part import added_part, running_in
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.products import is_product
from midstream.optimizer.search.reach import (
    Candidate,
    Candidates,
    Obstacle,
    OutOfReach,
    first_reachable,
    keeping_inputs,
)
from midstream.optimizer.search.simplifying import link, simplify
from midstream.optimizer.search.weaker_filters import stacked_filters
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence.certificate import Step
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import ArgumentError

COLUMNS = tuple(replace(rule, keeps_links=True) for rule in sharing.COLUMNS)
"""Rules by which joins of the same inputs become the same join.

Their results are not linked again: that would restore the column order of the outermost join.
"""

TOWARDS_OTHERS = sharing.FILTERS
"""Rules that are applied only if they lead to an existing subplan."""


def gives_all_columns(node: Node, matched: object) -> bool:
    """True if a join returns all columns in alphabetical order; only such joins are reordered."""
    assert isinstance(node.operator, Join)
    return node.operator.columns == all_columns(node)


class SearchTogether(Search):
    """A search for the plans of a plan's outputs that cost least together.

    An operator that several outputs use is paid once; one that a plan `beside` uses is not paid.

    Each output is optimized by itself first. Then the plans of all go into one memo, in which joins of the
    same inputs become the same join, up to the order of inputs and columns. A filter or a join that selects
    some results of another one may be put above it. Of each output the undominated plans are combined, with
    regard to shared operators.

    Orders with cross products are considered when an output is optimized by itself; together with the others
    only if `products` is "all".
    """

    def __init__(
        self,
        plan: AnyPlan,
        statistics: Statistics,
        *,
        beside: Mapping[str, AnyPlan] = MappingProxyType({}),
        rules: Sequence[Rule | Stage] = RULES,
        budget: Budget | int = Steps(STEPS),  # noqa: B008 - a value
        products: Products = "auto",
        units: UnitCosts | None = None,
        obstacle: Obstacle | None = None,
    ) -> None:
        plan = plan_of("optimize", plan)
        self._beside = {name: logical_plan(each) for name, each in _plans(beside).items()}
        self._alone = {
            name: Search(Plan(root), statistics, rules=rules, budget=budget, products=products, units=units)
            for name, root in logical_plan(plan).outputs.items()
        }
        super().__init__(
            plan,
            statistics,
            rules=(*_over_all_columns(rules, with_products=products == "all"), *COLUMNS),
            budget=budget,
            products=products,
            units=units,
            obstacle=obstacle,
        )
        self._running = running_in(self._beside)
        self._search_around = lambda: SearchTogether(
            plan,
            statistics,
            beside=beside,
            rules=keeping_inputs(rules, logical_plan(self._plan)),
            budget=self._clock.again,
            products=products,
            units=units,
        )
        self._together = CheapestTogether(self._memo, self._model, self._running.keys())

    def _begin(self, rules: Sequence[Rule | Stage]) -> Iterator[None]:
        """Enter the plan into the memo, unchanged and simplified, and all running plans."""
        plan = logical_plan(self._plan)
        for root in (root for each in (*self._beside.values(), plan) for root in each.outputs.values()):
            self._memo.group(root)
            simple, simplifying = simplify(root, rules)
            rewritten, linking = link(simple)
            self._memo.equate(root, rewritten, (*simplifying, *linking))
            yield
        self._start = dict(plan.outputs)

    def _look(self, rules: Sequence[Rule | Stage]) -> Iterator[None]:
        """Optimize each output, explore all together, then compare."""
        yield from self._begin(rules)
        for search in self._alone.values():
            while not search.advance():
                yield
        yield from self._explore()
        while self._clock.may_explore and self._lead_to_others():
            yield from self._explore()
        self._together.begin(self._start.values())
        for _ in self._together.compare(self._start.values()):
            yield
            if not self._clock.may_compare:
                self._is_complete = False
                break

    def _lead_to_others(self) -> bool:
        """Apply rules that lead to existing subplans; return True if that brought an equation."""
        is_new = False
        expressions = [node for group in self._memo.groups() for node in group.expressions]
        joined = {node.inputs for node in expressions if isinstance(node.operator, Join)}
        for rule in TOWARDS_OTHERS:
            for expression in expressions:
                if expression not in self._memo.group(expression).expressions:
                    continue  # an input of it has turned out to be equal to another one
                for inputs in list(self._memo.bindings(expression, rule.shape)):
                    binding = expression.with_inputs(inputs)
                    for result in apply(rule, binding):
                        if self._leads_there(result, joined):
                            step = Step(rule.name, (), binding, result, rule.equation)
                            is_new |= self._memo.equate(binding, result, [step])
        for stacked, strong, steps in stacked_filters(expressions):
            is_new |= self._memo.equate(stacked, strong, steps)
        for join in expressions:
            if isinstance(join.operator, Join):
                is_new |= self._let_others_read(join)
        return is_new

    def _let_others_read(self, join: Node) -> bool:
        """Derive a join's variant in alphabetical column order from it; return True if that is new."""
        assert isinstance(join.operator, Join)
        columns = all_columns(join)
        if join.operator.columns == columns or set(join.operator.columns) != set(columns):
            return False
        before, after = chosen(columns, join), Node(Join(join.operator.condition, columns), join.inputs)
        rule = PROJECTION_INTO_JOIN
        return self._memo.equate(before, after, [Step(rule.name, (), before, after, rule.equation)])

    def _leads_there(self, result: Node, joined: set[tuple[Node, ...]]) -> bool:
        """True if the input of a filter exists, or joins inputs that are joined somewhere."""
        (below,) = result.inputs
        inputs = tuple(self._memo.group(child).node for child in below.inputs)
        if is_product(below):
            return False
        return below.with_inputs(inputs) in self._memo or inputs in joined

    def _choose(self) -> Choice:
        """The best combination of the plans that are known so far.

        If it is out of reach, the best one with the original inputs; if that is too, their outputs that are
        within reach.
        """
        known = {name: self._known(name) for name in logical_plan(self._plan).outputs}
        combination = combine([[self._parts(root) for root in roots] for roots in known.values()])
        chosen = zip(known, known.values(), combination.numbers, strict=True)
        plan = Plan({name: roots[number] for name, roots, number in chosen})
        candidates = [self._candidate(plan, partial(self._derive, plan))]
        if self._around is not None:
            around = self._around.choice
            candidates.append(self._candidate(around.plan, around.derive))
        found, out_of_reach = first_reachable(self._better_than_given(candidates), self._obstacle)
        if found is None and out_of_reach is not None:
            candidates = [self._as_far_as_possible(each) for each in candidates]
            found, _ = first_reachable(self._better_than_given(candidates), self._obstacle)
        considered = self._together.priced + sum(one.choice.considered for one in self._alone.values())
        is_exact = self._together.is_exact and combination.is_exact
        return self._choice_of(found, out_of_reach, considered, is_exact)

    def _candidate(self, plan: Plan, derive: Callable[[], tuple[Step, ...]]) -> Candidate:
        """A plan, with the cost of its operators that do not run already as its value."""
        cost = self._model.price(plan)
        return Candidate(plan, cost, added_part(cost, self._running).total, derive)

    def _as_far_as_possible(self, candidate: Candidate) -> Candidate:
        """A plan that is out of reach, with the original outputs in place of those that cause it."""
        assert self._obstacle is not None
        taken = self._plan
        for name, root in candidate.plan.outputs.items():
            further = Plan({**taken.outputs, name: root})
            if self._obstacle(further) is None:
                taken = further

        def derive() -> tuple[Step, ...]:
            return tuple(
                step
                for step in candidate.derive()
                if taken.outputs[step.output] == candidate.plan.outputs[step.output]
            )

        return self._candidate(taken, derive)

    def _better_than_given(self, candidates: Iterable[Candidate]) -> Candidates:
        given = added_part(self._original_cost, self._running).total
        better = Candidates()
        for candidate in candidates:
            if candidate.value * ALIKE < given:
                better.add(candidate)
        return better

    def _known(self, name: str) -> list[Node]:
        """The plans of an output to combine: those of the memo, the best one alone, and the original one."""
        root = logical_plan(self._plan).outputs[name]
        if not self._start:
            return [root]
        alone = logical_plan(self._alone[name].choice.plan).root
        return list(dict.fromkeys([root, alone, *(one.node for one in self._together.of(root))]))

    def _parts(self, root: Node) -> Parts:
        operators = self._model.price(Plan(root)).operators
        return {node: each.cost for node, each in operators.items() if node not in self._running}

    def _derive(self, plan: Plan) -> tuple[Step, ...]:
        steps: list[Step] = []
        for name, root in plan.outputs.items():
            alone = self._alone[name].choice
            if logical_plan(alone.plan).root == root:
                steps += (replace(step, output=name) for step in alone.steps)
            else:
                steps += super()._derive(Plan({name: root}))
        return tuple(steps)


def require_processing(objective: Objective) -> None:
    """Raise ArgumentError unless the objective is processing, the only one for plans beside others."""
    if objective != PROCESSING:
        raise ArgumentError(
            "optimize: found another objective, expected processing, the only one for plans beside others"
        )


def apart(together: Choice, queries: Mapping[str, Mapping[str, str]]) -> dict[str, Choice]:
    """Split a choice for several queries into one for each, beside the others.

    `queries` maps each query's outputs to their labels in the common plan.
    """
    chosen = {name: part_of(together.plan, labels) for name, labels in queries.items()}

    def of(name: str, labels: Mapping[str, str]) -> Choice:
        given = part_of(together.original, labels)
        return Choice(
            chosen[name],
            _part(together.cost, chosen[name]),
            given,
            _part(together.original_cost, given),
            together.considered,
            together.is_complete,
            partial(_steps_of, together, {label: output for output, label in labels.items()}),
            running_in({other: plan for other, plan in chosen.items() if other != name}),
            out_of_reach=_part_out_of_reach(together.out_of_reach, labels),
        )

    return {name: of(name, labels) for name, labels in queries.items()}


def part_of(together: Plan, labels: Mapping[str, str]) -> Plan:
    """The plan of one query in a common plan."""
    return Plan({output: together.outputs[label] for output, label in labels.items()})


def _part_out_of_reach(together: OutOfReach | None, labels: Mapping[str, str]) -> OutOfReach | None:
    if together is None:
        return None
    plan = part_of(together.plan, labels)
    return OutOfReach(plan, _part(together.cost, plan), together.reason)


def _part(cost: PlanCost, plan: Plan) -> PlanCost:
    return PlanCost({node: cost.operators[node] for node in plan.nodes if node in cost.operators})


def _steps_of(together: Choice, outputs: Mapping[str, str]) -> tuple[Step, ...]:
    found = (step for step in together.steps if step.output in outputs)
    return tuple(replace(step, output=outputs[step.output]) for step in found)


def _plans(beside: object) -> dict[str, Plan]:
    require("optimize: beside", beside, Mapping, "plans by the names of queries")
    assert isinstance(beside, Mapping)
    return {str(name): plan_of("optimize: beside", plan) for name, plan in beside.items()}


def _over_all_columns(rules: Sequence[Rule | Stage], *, with_products: bool) -> tuple[Rule | Stage, ...]:
    """Rules; those for join orders only apply to joins with all columns, and avoid products unless wanted."""

    def changed(rule: Rule) -> Rule:
        if rule not in JOIN_ORDERS:
            return rule
        guards = (*rule.guards, gives_all_columns)
        return replace(rule, guards=guards, rewrite=rule.rewrite if with_products else _joining(rule))

    return tuple(
        Stage(each.name, tuple(map(changed, each.rules))) if isinstance(each, Stage) else changed(each)
        for each in rules
    )


def _joining(rule: Rule) -> Callable[[Node, Any], Node]:
    """The rewrite of a rule, which leaves a subplan unchanged if the result contains a product."""

    def rewrite(node: Node, matched: object) -> Node:
        result = rule.rewrite(node, matched)
        return node if any(map(is_product, (result, *result.inputs))) else result

    return rewrite
