"""All plans that the rules can make of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from midstream.optimizer.rules import RULES, Rule, Stage, apply, flat
from midstream.optimizer.rules.linking import linked
from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan
from midstream.plans.values.errors import EnumerationLimit

LIMIT = 20_000
"""How many plans are enumerated at most unless the caller says otherwise; a join of six streams has
30,240."""
QUICK_LIMIT = 1_000
"""How many are priced at most where somebody waits: by commands, and between two elements."""


def enumerate_plans(
    plan: Plan | Stream, rules: Sequence[Rule | Stage] = RULES, limit: int = LIMIT
) -> list[Plan]:
    """Every plan that rules make of a plan by any number of steps, the given one first, in a fixed order.

    All plans, the given one too, come as logical plans with their joins written in the rules' own way (see
    `linked`), so that plans that are the same come out equal. Windows, and all below, stay as they are.

    Cost     O(plans × operators × rules).
    Raises   EnumerationLimit where there are more than `limit`.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> len(enumerate_plans(a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).plan()))
    12
    """
    plans: list[Plan] = []
    for equivalent in explore(plan_of("enumerate_plans", plan), rules):
        if len(plans) == limit:
            raise EnumerationLimit(f"the plan has more than {limit} equivalent plans", limit=limit)
        plans.append(equivalent.plan)
    return plans


@dataclass(frozen=True, slots=True)
class Derived:
    """A plan, and how rules lead to it."""

    plan: Plan
    rule: Rule | None = None
    before: Derived | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules, in the order in which they were applied."""
        names: list[str] = []
        step: Derived | None = self
        while step is not None and step.rule is not None:
            names.append(step.rule.name)
            step = step.before
        return tuple(reversed(names))


def explore(plan: Plan, rules: Sequence[Rule | Stage] = RULES) -> Iterator[Derived]:
    """The same plans one by one, those that fewer steps lead to first."""
    rules = flat(rules)
    start = Derived(with_linked_joins(logical_plan(plan)))
    seen = {start.plan}
    queue = deque([start])
    while queue:
        current = queue.popleft()
        yield current
        for rule, equivalent in _steps(current.plan, rules):
            if equivalent not in seen:
                seen.add(equivalent)
                queue.append(Derived(equivalent, rule, current))


def neighbours(plan: Plan, rules: Sequence[Rule | Stage] = RULES) -> Iterator[Plan]:
    """The plans that one application of one rule leads to, from one with linked joins."""
    return (equivalent for _, equivalent in _steps(plan, flat(rules)))


def _steps(plan: Plan, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Plan]]:
    for node in above(plan, input_nodes(plan)):
        for rule in rules:
            for result in apply(rule, node):
                equivalent = plan.replace(node, result)
                yield rule, equivalent if rule.keeps_links else with_linked_joins(equivalent)


def with_linked_joins(plan: Plan) -> Plan:
    """The plan with the joins above its inputs written in the rules' own way."""
    return Plan({name: linked(root) for name, root in plan.outputs.items()})
