"""Plans as text trees, with the output at the top; a shared subplan is drawn once and has a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Node, Plan


def tree(
    plan: Plan,
    below: Callable[[Node], Iterable[str]] = lambda node: (),
) -> str:
    """Draw a plan as text.

    `below` may add lines under each operator, for example its properties.

    >>> from midstream.plans.algebra.builder import stream
    >>> print(tree(stream("s", x="integer").window(9).plan(), below=lambda node: [str(node.schema)]))
    window 9
    │  (x integer)
    └─ source s
          (x integer)
    """
    lines: list[str] = []
    roots = list(plan.outputs.values())
    shared = {n for n in plan.nodes if n.inputs and len(plan.consumers(n)) + roots.count(n) > 1}
    numbers: dict[Node, int] = {}

    def draw(node: Node, first: str, rest: str) -> None:
        text = str(node.operator)
        if node in numbers:
            lines.append(f"{first}see #{numbers[node]}")
            return
        if node in shared:
            numbers[node] = len(numbers) + 1
            text = f"#{numbers[node]} {text}"
        lines.append(first + text)
        rail = rest + ("│  " if node.inputs else "   ")
        lines.extend(rail + line for line in below(node))
        for i, child in enumerate(node.inputs):
            is_last = i == len(node.inputs) - 1
            draw(child, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  "))

    for name, root in plan.outputs.items():
        if len(plan.outputs) > 1:
            lines.append(f"{name}:")
        draw(root, "", "")
    return "\n".join(lines)
