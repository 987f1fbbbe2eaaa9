"""The parts of a change of settings that may come at instants of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from networkx.utils import UnionFind

from midstream.plans.algebra.operators import Granularity
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import logical


def change_parts(settings: Mapping[Node, Any]) -> list[dict[Node, Any]]:
    """Split new settings of levers into parts, to be carried out in this order.

    A granule can become finer only at multiples of the one before it. Together, many conversions would wait
    for a multiple of all their granules, which may be years away. So each of them is a part, with the levers
    above it, as these must fit its granule. The last part has all other levers.

    A change gives other names to the nodes above it, none of which is in a later part.
    """
    finer = {node for node, setting in settings.items() if _becomes_finer(node, setting)}
    together: UnionFind[Node] = UnionFind(finer)
    for lever in settings:
        if below := [node for node in lever.walk() if node in finer]:
            together.union(lever, *below)
    parts: dict[Node | None, dict[Node, Any]] = {}
    others: dict[Node, Any] = {}
    for lever, setting in settings.items():
        part = parts.setdefault(together[lever], {}) if lever in together.parents else others
        part[lever] = setting
    return [*parts.values(), *([others] if others else [])]


def _becomes_finer(lever: Node, setting: Any) -> bool:
    operator = logical(lever)
    return isinstance(operator, Granularity) and setting % operator.granule != 0
