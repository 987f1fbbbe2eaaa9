"""The specification of the logical algebra: plans evaluated snapshot by snapshot.

Everything else is tested against it. Each operator has a definition from thesis chapters 8, 17 and 20,
written as a program: the rows that are valid at one instant. The programs are slow, and meant to be obviously
right.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="string")
    >>> plan = s.window(2).distinct().plan()
    >>> snapshots(plan, {"s": [(1, 2, ("c",)), (2, 3, ("a",)), (2, 3, ("a",))]})[2] == {("c",): 1, ("a",): 1}
    True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from midstream.plans.algebra.builder import AnyPlan, plan_of
from midstream.plans.algebra.operators import Leaf, OverTime, RowByRow, Sample, Snapshot, SnapshotReducible
from midstream.plans.algebra.operators.base import History, Row
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import has_arrival_order, logical
from midstream.plans.values.arguments import listed_by_name
from midstream.plans.values.snapshots import NormalForm, from_snapshots
from midstream.plans.values.streams import BEGINNING, FOREVER, Element


def snapshots(plan: AnyPlan, streams: Mapping[str, Iterable[Element]]) -> dict[int, Snapshot]:
    """The snapshots of a plan's only output, at every instant at which something may be valid.

    `streams` holds the elements of every source and every relation. The last instant of the result stands for
    all later instants. If some rows are always valid, the first instant stands for all earlier ones.

    Cost: O(instants × window × elements × operators).

    Raises TieError where rows that a window counts have equal timestamps, and no order was declared.
    """
    plan = plan_of("snapshots", plan)
    inputs = listed_by_name("streams", streams)
    instants = _instants(plan, inputs)
    origin = instants.start

    pointwise = {n: meaning(n) for n in plan.nodes if isinstance(logical(n), SnapshotReducible)}

    @cache
    def elements(leaf: Node, label: str) -> list[Element]:
        return leaf.schema.as_declared(inputs.get(label, []))

    @cache
    def at(node: Node, instant: int) -> Snapshot:
        if instant < origin:
            return Counter()
        operator = logical(node)
        if isinstance(operator, Leaf):  # (6.2)
            return Counter(e for t_s, t_e, e in elements(node, operator.label) if t_s <= instant < t_e)
        if isinstance(operator, OverTime):
            return operator.snapshot(history(node.inputs[0]), instant)
        return pointwise[node](*(at(child, instant) for child in node.inputs))

    @cache
    def history(node: Node) -> History:
        rows = cache(lambda: timestamped_rows(node, elements, appearing))
        return History(origin, lambda t: at(node, t), rows, node.schema)

    def appearing(node: Node) -> list[Row]:
        return [(t, e) for t in instants for e in at(node, t).elements()]

    return {instant: at(plan.root, instant) for instant in instants}


def specified(plan: AnyPlan, streams: Mapping[str, Iterable[Element]]) -> NormalForm:
    """The normal form of a plan's only output, according to the specification."""
    inputs = listed_by_name("streams", streams)
    return from_snapshots(snapshots(plan, inputs), since_ever=_are_always(inputs))


def meaning(node: Node) -> Callable[..., Snapshot]:
    """The relational operator on multisets that a snapshot-reducible operator applies at every instant."""
    operator = logical(node)
    if not isinstance(operator, SnapshotReducible):
        raise TypeError(f"{operator} is not snapshot-reducible")
    return operator.meaning(tuple(child.schema for child in node.inputs))


def timestamped_rows(
    node: Node, elements: Callable[[Node, str], list[Element]], appearing: Callable[[Node], list[Row]]
) -> list[Row]:
    """The rows of a node with their instants.

    They are in order of arrival where that is known, else in the order of `appearing`, which lists them by
    instant.
    """
    operator = logical(node)
    if isinstance(operator, RowByRow):
        of_row = operator.of_row(node.inputs[0].schema)
        below = timestamped_rows(node.inputs[0], elements, appearing)
        return [(t, made) for t, e in below for made in of_row(e)]
    if isinstance(operator, Sample):
        drawn = operator.of_row()
        below = timestamped_rows(node.inputs[0], elements, appearing)
        return [(t, made) for t, e in below for made in drawn(t, e)]
    if isinstance(operator, Leaf) and has_arrival_order(node):
        return [(int(t), e) for t, _, e in elements(node, operator.label)]
    return appearing(node)


def _instants(plan: Plan, inputs: Mapping[str, list[Element]]) -> range:
    """The instants from the first start to one instant after the last change.

    The last change follows the last finite end by no more than the reach of all operators over time together.
    If rows are valid that have no beginning, one instant before the first start is added.
    """
    times = [t for elements in inputs.values() for start, end, _ in elements for t in (start, end)]
    finite = [int(t) for t in times if t not in (BEGINNING, FOREVER)]
    if not finite:
        return range(1)
    first = min(finite) - _are_always(inputs)
    reach = sum(operator.reach for operator in map(logical, plan.nodes) if isinstance(operator, OverTime))
    return range(first, max(finite) + reach + 1)


def _are_always(inputs: Mapping[str, list[Element]]) -> bool:
    """True if some row is valid without a beginning."""
    return any(start == BEGINNING for elements in inputs.values() for start, _, _ in elements)
