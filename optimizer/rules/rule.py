"""What a rule is, and how one is applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import MidstreamError, PlanError


@dataclass(frozen=True, slots=True)
class Rule:
    """An equation between subplans, read from left to right.

    `match` finds the places, all told apart by what it yields; `guard` says under which condition the
    equation holds there; `rewrite` gives the other side. `keeps_links` tells that joins which are written in
    the one way (see `linked`) stay so.
    """

    name: str
    equation: str
    match: Callable[[Node], Iterable[Any]]
    rewrite: Callable[[Node, Any], Node]
    guard: Callable[[Node, Any], bool] | None = None
    keeps_links: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.equation}"


def apply(rule: Rule, node: Node) -> Iterator[Node]:
    """The subplans that a rule makes of a node.

    What holds for all rules is checked here: the columns stay what they are, in name, type and order. That
    the result is well-formed, a plan node checks itself. Raises PlanError, naming the rule, where the rule is
    wrong.
    """
    for matched in rule.match(node):
        if rule.guard is not None and not rule.guard(node, matched):
            continue
        try:
            result = rule.rewrite(node, matched)
        except MidstreamError as error:
            raise PlanError(f"rule {rule.name} on {node!r}: {error}", rule=rule.name) from error
        if result.schema != node.schema:
            raise PlanError(
                f"rule {rule.name} on {node!r} changed {node.schema} to {result.schema}", rule=rule.name
            )
        if result != node:
            yield result
