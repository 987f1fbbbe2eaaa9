"""Enumeration of all plans that rules make of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import overload

from midstream.optimizer.rules import RULES, Rule, Stage, apply, flat
from midstream.optimizer.rules.linking import linked
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.join_graph import Products
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.products import require_products, wanted_expressions
from midstream.optimizer.search.trees import Trees
from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import EnumerationLimit


class Plans(Sequence[Plan]):
    """Plans that are made on demand and then kept.

    Asking for their number, or for the last one, makes all of them.
    """

    def __init__(self, plans: Iterator[Plan]) -> None:
        self._rest = plans
        self._made: list[Plan] = []

    def __iter__(self) -> Iterator[Plan]:
        made = 0
        while made < self._make(made + 1):
            yield self._made[made]
            made += 1

    def __len__(self) -> int:
        return self._make(None)

    @overload
    def __getitem__(self, index: int) -> Plan: ...
    @overload
    def __getitem__(self, index: slice) -> list[Plan]: ...
    def __getitem__(self, index: int | slice) -> Plan | list[Plan]:
        last = index if isinstance(index, int) else index.stop
        self._make(last + 1 if isinstance(last, int) and last >= 0 else None)
        return self._made[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _make(self, number: int | None) -> int:
        """Make plans until there are `number`, or all; return how many there are."""
        missing = None if number is None else max(0, number - len(self._made))
        self._made.extend(islice(self._rest, missing))
        return len(self._made)


def enumerate_plans(
    plan: AnyPlan,
    rules: Sequence[Rule | Stage] = RULES,
    limit: int | None = None,
    *,
    products: Products = "all",
) -> Plans:
    """Every plan that rules make of a plan in any number of steps, the original first, in a fixed order.

    Plans are made on demand, as there may be very many. With a `limit`, all of them are made at once, and
    more than that many are an error.

    All plans, including the original, are logical plans with their joins in the rules' standard form (see
    `linked`), so that equal plans compare equal. Within a plan, subplans known to be equivalent are the same.
    `products` tells which cross products are allowed: "all"; only those that are "needed", because no
    condition connects two inputs; or "auto", which means all if at most 8 inputs meet.

    Raises   EnumerationLimit if there are more than `limit`.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> chain = a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).filter(a["a"] > 7)
    >>> from midstream.optimizer.rules import JOIN_ORDERS
    >>> len(enumerate_plans(chain.plan(), JOIN_ORDERS))
    12
    """
    plan = plan_of("enumerate_plans", plan)
    require_products("enumerate_plans", products)
    plans = Plans(explore(plan, rules, products))
    if limit is not None:
        require("enumerate_plans: limit", limit, int, "a number of plans, or None")
        if len(plans[: limit + 1]) > limit:
            raise EnumerationLimit(f"the plan has more than {limit} equivalent plans", limit=limit)
    return plans


def explore(plan: Plan, rules: Sequence[Rule | Stage] = RULES, products: Products = "all") -> Iterator[Plan]:
    """The plans of `enumerate_plans` one by one: after each round of rules, the plans that are new."""
    start = with_linked_joins(logical_plan(plan))
    memo = Memo()
    roots = {name: memo.group(root).node for name, root in start.outputs.items()}
    exploration = Exploration(memo, rules)
    seen: set[Plan] = set()
    while True:
        trees = Trees(memo, wanted_expressions(memo, products, start))
        for equivalent in trees.plans(roots):
            if equivalent not in seen:
                seen.add(equivalent)
                yield equivalent
        if exploration.is_complete:
            return
        for _ in exploration.round():
            pass


def neighbours(plan: Plan, rules: Sequence[Rule | Stage] = RULES) -> Iterator[Plan]:
    """The plans that one application of one rule leads to, from a plan with linked joins."""
    for node in above(plan, input_nodes(plan)):
        for rule in flat(rules):
            for result in apply(rule, node):
                equivalent = plan.replace(node, result)
                yield equivalent if rule.keeps_links else with_linked_joins(equivalent)


def with_linked_joins(plan: Plan) -> Plan:
    """The plan with the joins above its inputs in the rules' standard form."""
    return Plan({name: linked(root) for name, root in plan.outputs.items()})
