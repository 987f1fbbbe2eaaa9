"""Short names of the plans of a chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from midstream.plans.algebra.operators import Filter, Join, Project, TimeWindow
from midstream.plans.algebra.operators.base import Leaf
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.expressions import TRUE


def plan_names(plans: Sequence[Plan]) -> tuple[str, ...]:
    """A line for each plan, in which rows flow from left to right, without windows and projections.

    Plans with the same line are numbered.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b = (stream(name, **{name: "integer"}).window(60) for name in "ab")
    >>> joined = a.filter(a["a"] > 7).join(b, on=[("a", "b")])
    >>> plan_names([joined.plan(), joined.distinct().plan(), joined.plan()])
    ('(a | a > 7) ⋈ b #1', '((a | a > 7) ⋈ b) | distinct', '(a | a > 7) ⋈ b #2')
    """
    names = [" and ".join(_bare(_text(root)) for root in plan.outputs.values()) for plan in plans]
    times, seen, found = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        found.append(name if times[name] == 1 else f"{name} #{seen[name]}")
    return tuple(found)


def _text(node: Node) -> str:
    operator, inside = logical(node), [_text(child) for child in node.inputs]
    match operator:
        case Leaf():
            return operator.label
        case Project() | TimeWindow():
            return inside[0]
        case Filter():
            return f"{inside[0]} | {operator.condition}"
        case Join():
            return _joined("×" if operator.condition == TRUE else "⋈", inside)
    if len(inside) == 1:
        return f"{inside[0]} | {operator.name}"
    return _joined(operator.symbol, inside)


def _joined(symbol: str, inside: Sequence[str]) -> str:
    parts = (f"({text})" if " " in text and _bare(text) == text else text for text in inside)
    return f"({f' {symbol} '.join(parts)})"


def _bare(text: str) -> str:
    """A text without brackets around the whole of it."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if text.startswith("(") and i == len(text) - 1 else text
    return text
