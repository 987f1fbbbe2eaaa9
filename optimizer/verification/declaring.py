"""Random declarations of keys and references of streams, for rules that need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import expressions
from midstream.plans.expressions.expressions import column_equality, conjuncts

Columns = tuple[str, str]


def declared(random: Random, root: Node) -> Node:
    """A subplan in which some streams have a key, and some refer to the key of another one.

    Mostly, these are columns that a condition above compares.
    """
    sources = {
        node.operator.stream: node.operator for node in root.walk() if isinstance(node.operator, Source)
    }
    changed = dict(sources)
    pairs = [pair for pair in _compared(root) if random.random() < 0.8]
    for one, other in pairs or [(random.choice(source.columns.names),) * 2 for source in sources.values()]:
        for name, source in sources.items():
            if other in source.columns and random.random() < 0.5:
                changed[name] = replace(changed[name], keys=(Key((other,), random.random() < 0.2),))
            if one in source.columns and random.random() < 0.5:
                changed[name] = _referring(random, changed[name], one, other, sources)
    plan = Plan(root)
    return plan.map(lambda node: _with(node, changed)).root


def _compared(root: Node) -> Iterator[Columns]:
    """The columns that conditions equate, in both orders."""
    for node in root.walk():
        for condition in expressions(node):
            for part in conjuncts(condition):
                if pair := column_equality(part):
                    yield from (pair, pair[::-1])


def _referring(random: Random, source: Source, own: str, other: str, sources: dict[str, Source]) -> Source:
    """A stream that refers to another one with that column, if there is one."""
    others = [name for name, to in sources.items() if other in to.columns and name != source.stream]
    if not others:
        return source
    return replace(source, references=(Reference((own,), random.choice(others), (other,)),))


def _with(node: Node, sources: dict[str, Source]) -> Node:
    operator = node.operator
    return Node(sources[operator.stream]) if isinstance(operator, Source) else node
