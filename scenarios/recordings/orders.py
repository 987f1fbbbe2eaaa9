"""Join orders: plans that differ only in the sides of joins, which cost the same, count as one *order*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midstream.plans.algebra.operators import (
    Join,
    Project,
    Source,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import TRUE
from midstream.scenarios.streams.recorded.renaming import only_names


@dataclass(frozen=True)
class Order:
    """Plans that differ only in the sides of joins.

    number     the order's position among all orders
    label      the order for people, with inputs by their aliases, for example "(EWR ⋈ LGA) ⋈ JFK"
    plans      the plans' positions in the list of all plans; the first one stands for all
    """

    number: int
    label: str
    plans: tuple[int, ...]


def group_by_order(plans: Sequence[Plan]) -> tuple[Order, ...]:
    """The orders among some plans, by first occurrence.

    >>> from midstream.optimizer import enumerate_plans
    >>> from midstream.plans.algebra.builder import stream
    >>> a, b, c = (stream(name, **{name: "integer"}).window(9) for name in "abc")
    >>> plans = enumerate_plans(a.join(b, on=[("a", "b")]).join(c, on=[("b", "c")]).plan())
    >>> [(order.label, len(order.plans)) for order in group_by_order(plans)]
    [('(a ⋈ b) ⋈ c', 4), ('(b ⋈ c) ⋈ a', 4), ('(a ⋈ c) ⋈ b', 4)]
    """
    groups: dict[str, list[int]] = {}
    for i, plan in enumerate(plans):
        groups.setdefault(_text(plan, is_exact=True), []).append(i)
    labels = _distinct([_text(plans[positions[0]], is_exact=False) for positions in groups.values()])
    return tuple(
        Order(number, label, tuple(positions))
        for number, (label, positions) in enumerate(zip(labels, groups.values(), strict=True))
    )


def _text(plan: Plan, is_exact: bool) -> str:
    """A plan as text that does not depend on the sides of joins; with all parameters if `is_exact`."""
    return "; ".join(_bare(_node_text(root, is_exact)) for root in plan.outputs.values())


def _node_text(node: Node, is_exact: bool) -> str:
    operator = logical(node)
    if isinstance(operator, Source | TimeWindow):
        return repr(node) if is_exact else _leaf(node)
    if not is_exact and only_names(node):
        return _node_text(node.inputs[0], is_exact)
    inside = [_node_text(child, is_exact) for child in node.inputs]
    detail = f"[{operator}]" if is_exact else ""
    if isinstance(operator, Join):
        # What was joined before stands first, so that labels read from the inside out.
        inside.sort(key=lambda text: (not text.startswith("("), text))
        symbol = "×" if operator.condition == TRUE else "⋈"
        return f"({inside[0]} {symbol}{detail} {inside[1]})"
    if isinstance(operator, Union):
        return f"({f' ∪{detail} '.join(inside)})"
    return f"{operator.symbol}{detail}({_bare(inside[0])})"


def _bare(text: str) -> str:
    """A text without the brackets around all of it; a leading bracket is always one of these."""
    return text[1:-1] if text.startswith("(") else text


def _leaf(node: Node) -> str:
    """The name of an input: its alias in FROM, else that of the stream that it reads."""
    operators = [logical(child) for child in node.walk()]
    stream = "+".join(one.stream for one in operators if isinstance(one, Source))
    alias = _alias([one for one in operators if isinstance(one, Project)])
    return stream if alias is None or alias.lower() == stream.lower() else alias


def _alias(below: Sequence[Project]) -> str | None:
    """The part before the first dot that all names of an input's last projection have in common.

    SQL names the columns of `FROM s x` as `x.column`, in a projection below the window (see `renaming`).
    """
    if not below:
        return None
    parts = [name.partition(".") for name, _ in below[-1].columns]
    aliases = {alias for alias, dot, _ in parts if dot}
    return aliases.pop() if len(aliases) == 1 and all(dot for _, dot, _ in parts) else None


def _distinct(labels: Sequence[str]) -> list[str]:
    """Labels, with a number behind each that occurred before."""
    seen: dict[str, int] = {}
    result = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        result.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return result
