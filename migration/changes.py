"""The differences of two plans: the smallest subplans to replace, and the nodes below that both plans have.

Both plans are compared from the outputs down. An operator that is the same in both keeps its state and goes
on over new inputs, which are equivalent to its old ones. Where the operators differ, a change begins. It ends
at the first nodes that both plans have, wherever they stand in the plans: these go on running and are forked.

    old   aggregate of (a join b) join c          kept        aggregate
    new   aggregate of a join (b join c)          exchanged   (a join b) join c  for  a join (b join c)
                                                  forked      a, b, c
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import networkx as nx

from midstream.operators.engine.running.guest import box_of
from midstream.operators.engine.running.planner import form, physical_plan
from midstream.plans.algebra.operators import Arrangement, Source
from midstream.plans.algebra.physical import Boxed, Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    has_ordered_ends,
    input_nodes,
    is_bounded,
    logical,
    logical_node,
    reads_stream,
)
from midstream.plans.equivalence.prover import Meanings


@dataclass(frozen=True, slots=True)
class Change:
    """Subplans to be replaced by others, grouped because they share operators; all are physical.

    `pairs` are their roots, old and new. `inputs` are the running nodes below them, which go on: those that
    both plans have, and those of the old plan that other queries need as well.
    """

    pairs: tuple[tuple[Node, Node], ...]
    inputs: tuple[Node, ...]

    @property
    def old(self) -> list[Node]:
        """The roots of the subplans to be removed."""
        return [old for old, _ in self.pairs]

    @property
    def new(self) -> list[Node]:
        """The roots of the subplans that replace them."""
        return [new for _, new in self.pairs]

    @property
    def parts(self) -> tuple[list[Node], list[Node]]:
        """The operators to be removed, and those that replace them; inputs before consumers."""
        stops = set(self.inputs)
        return _parts(self.old, stops), _parts(self.new, stops)

    @property
    def answering(self) -> tuple[tuple[str, list[Node]], ...]:
        """The operators that make the results before and after the change, as `("old", …), ("new", …)`.

        They reach from the roots down to the nodes that both plans read, and include operators that go on for
        other queries. From the nodes that both plans read, both get the same elements. A node that only one
        plan reads may give other elements, although they are equivalent. So may a node that both plans read,
        unless the plans are proved equivalent whatever that node gives; without this proof only windows and
        streams count as common.
        """
        stays = _with_all_below(self.inputs)
        streams = _streams(stays)
        ground = {node for node in streams if not (node.inputs and logical(node).is_snapshot_reducible)}
        read = [_with_all_below(roots) for roots in (self.old, self.new)]
        common = {node for node in self.inputs if all(node in below for below in read)}
        stops = ground | common if common <= ground or self.means_the_same_over(common) else ground
        return ("old", _parts(self.old, stops)), ("new", _parts(self.new, stops))

    def means_the_same_over(self, inputs: Iterable[Node]) -> bool:
        """True if the plans are proved equivalent whatever these running nodes below them give.

        Then it does not matter what the nodes have in common.
        """
        meanings = Meanings()
        known = {
            node: Node(Source(f"input {number}", node.schema, intervals=True))
            for number, node in enumerate(inputs)
        }
        return all(meanings.are_same(_over(known, old), _over(known, new)) for old, new in self.pairs)


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """The way from a running plan to a new one: changes, and operators that stay."""

    changes: tuple[Change, ...]
    """The changes, inputs before consumers."""
    _running: Plan
    _stays: Mapping[Node, Node]
    """Operators that go on over other inputs: from the running node to its node in the new plan."""
    _new: Plan

    def placed(self, seats: Mapping[tuple[Node, Node], Node]) -> tuple[Plan, dict[Node, Node]]:
        """The running plan with replaced pairs, and the new nodes of operators that stay.

        `seats` tells the node for each pair of a change.
        """
        made = dict(seats)

        def pair(old: Node, new: Node) -> Node:
            if (old, new) not in made:
                inputs = tuple(map(pair, old.inputs, new.inputs)) if old != new else old.inputs
                made[old, new] = old.with_inputs(inputs)
            return made[old, new]

        roots = {name: pair(root, self._new.outputs[name]) for name, root in self._running.outputs.items()}
        return Plan(roots), {old: pair(old, new) for old, new in self._stays.items()}


def around(plan: Plan, running: Plan, *, replace_all: bool = False) -> Plan:
    """The physical plan that runs `plan` with as many of the running operators as possible.

    An operator without a chosen implementation goes on in the way that it runs now. A window, and all below
    it, goes on in any case: it is not snapshot-reducible, so another implementation, or another arrangement
    below it, cannot take over at a split time. With `replace_all`, Boxes do not go on.
    """
    known: dict[Node, Node] = {}
    becomes: dict[Node, Node] = {}
    for node in running.nodes:
        is_boxed = any(isinstance(below.operator, Boxed) for below in node.walk())
        # A Box may move to a node that already runs, for example where only a window's place differs.
        if isinstance(node.operator, Boxed) and not replace_all and node.operator.means not in running.nodes:
            becomes[node.operator.means] = node
        if is_boxed and not replace_all:
            known.setdefault(logical_node(node), node)
        elif not is_boxed and not isinstance(logical(node), Arrangement):
            known[logical_node(node)] = node
    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        is_free = not any(isinstance(below.operator, Physical) for below in node.walk())
        is_fixed = not logical(node).is_snapshot_reducible
        stays = known.get(logical_node(node)) if is_fixed else known.get(node) if is_free else None
        changed[node] = stays or node.with_inputs(tuple(changed[child] for child in node.inputs))
    physical = physical_plan(Plan({name: changed[root] for name, root in plan.outputs.items()}))
    return physical.map(lambda node: becomes.get(node, node))


def find_changes(
    running: Plan, plan: Plan, needed: Container[Node], *, replace_all: bool = False
) -> PlanDifference:
    """Compare a running physical plan with the plan to move to.

    `needed` are the nodes that other queries need as they are. With `replace_all`, everything above the
    windows that no other query needs is replaced.

    Cost     O(nodes of both plans), again whenever nodes turn out to be needed in two ways.
    """
    new = around(plan, running, replace_all=replace_all)
    common = set(running.nodes) & set(new.nodes)
    needed = {node for node in (*running.nodes, *new.nodes) if node in needed}
    if replace_all:
        windows = _with_all_below(input_nodes(running))
        stops = {node for node in common if node in windows or node in needed}
    else:
        # Signed streams are not forked, so the operators above them are replaced together.
        stops = {n for n in common if form(n) == "intervals" or not logical(n).is_snapshot_reducible}
    kept = _with_all_below({*needed, *stops})
    goes: set[Node] = set()
    """Operators that could stay, but go together with their inputs."""
    meanings = Meanings(above_windows=True)
    while True:
        if replace_all:
            stays: dict[Node, Node] = {}
            pairs = {(root, new.outputs[name]) for name, root in running.outputs.items()}
            same: set[Node] = set()
        else:
            stays, pairs, same = _compare(running, new, kept | goes, meanings)
            bounding = _bounding(stays, pairs, _streams(kept), _streams(stops))
            if bounding:
                goes |= bounding
                continue
        leaving = {node for old, _ in pairs for node in _parts([old], kept)}
        more = _with_all_below(leaving & stays.keys() | same | _torn(running, leaving)) - kept
        if not more:
            break
        kept |= more
    changes = tuple(_grouped(running, new, pairs, kept, stops))
    signed = (form(node) != "intervals" for change in changes for node in change.inputs)
    # A signed operator that stays, and is also in the new part, would run twice.
    twice = (node in kept for change in changes for node in change.parts[1] if reads_stream(node))
    if not replace_all and (any(signed) or any(twice)):
        return find_changes(running, plan, needed, replace_all=True)
    return PlanDifference(changes, running, stays, new)


def _bounding(
    stays: Mapping[Node, Node], pairs: Iterable[tuple[Node, Node]], kept: Set[Node], stops: Set[Node]
) -> set[Node]:
    """Operators that would stay above a pair that gives rows of relations alone.

    Such a pair is not replaced by itself, but together with the operator that bounds it.
    """
    loose = {(old, fresh) for old, fresh in pairs if not (is_bounded(old, kept) and is_bounded(fresh, stops))}
    return {
        old
        for old, fresh in stays.items()
        if not loose.isdisjoint(zip(old.inputs, fresh.inputs, strict=True))
    }


def _torn(running: Plan, leaving: Set[Node]) -> set[Node]:
    """Outputs of Boxes that would go while other outputs of the Box stay.

    A Box cannot end for one of its outputs alone.
    """
    staying = {box_of(node) for node in running.nodes if node not in leaving} - {None}
    return {node for node in leaving if box_of(node) in staying}


def _grouped(
    running: Plan, new: Plan, pairs: Iterable[tuple[Node, Node]], kept: Set[Node], stops: Set[Node]
) -> Iterator[Change]:
    """Group pairs that share operators or a Box into one change.

    A pair whose old operators another pair brings back is grouped with it, so that the migration knows that
    they go.
    """
    running_order, new_order = ({node: i for i, node in enumerate(plan.nodes)} for plan in (running, new))
    graph: nx.Graph[Any] = nx.Graph()
    for pair in sorted(pairs, key=lambda pair: (running_order[pair[0]], new_order[pair[1]])):
        graph.add_node(pair)
        part = (*_parts([pair[0]], kept), *_parts([pair[1]], stops))
        graph.add_edges_from((pair, item) for item in (*part, *map(box_of, part)) if item is not None)
    for component in nx.connected_components(graph):
        group = tuple(item for item in graph if item in component and isinstance(item, tuple))
        borders = {
            border for old, fresh in group for border in (*_borders(old, kept), *_borders(fresh, stops))
        }
        yield Change(group, tuple(sorted(borders, key=running_order.__getitem__)))


def _streams(nodes: Iterable[Node]) -> set[Node]:
    """The nodes that read streams, and so can be inputs of a change."""
    return set(filter(reads_stream, nodes))


def _with_all_below(nodes: Iterable[Node]) -> set[Node]:
    return {below for node in nodes for below in node.walk()}


def _compare(
    running: Plan, new: Plan, fixed: Set[Node], meanings: Meanings
) -> tuple[dict[Node, Node], set[tuple[Node, Node]], set[Node]]:
    """The operators that can stay over other inputs, the pairs that differ, and the unchanged nodes."""
    stays: dict[Node, Node] = {}
    pairs: set[tuple[Node, Node]] = set()
    same: set[Node] = set()
    stack = [(root, new.outputs[name]) for name, root in running.outputs.items()]
    while stack:
        old, fresh = stack.pop()
        if (old, fresh) in pairs or stays.get(old) == fresh:
            continue
        if old == fresh:
            same.add(old)
        elif old not in fixed and old not in stays and _can_stay(old, fresh, meanings):
            stays[old] = fresh
            stack.extend(zip(old.inputs, fresh.inputs, strict=True))
        else:
            pairs.add((old, fresh))
    return stays, pairs, same


def _can_stay(old: Node, new: Node, meanings: Meanings) -> bool:
    """True if a running operator may get the inputs of the new one.

    The inputs must be proved equivalent. Equivalent results are not enough, for example where the sides of a
    join change places. From then on the operator gets elements that are equivalent, but not the same. So it
    must not tell them apart, as windows do, and must not rely on more than their order of start.
    """
    operator = logical(old)
    if isinstance(operator, Boxed) or not operator.is_snapshot_reducible or not old.inputs:
        return False
    if old.operator != new.operator or len(old.inputs) != len(new.inputs):
        return False
    return all(
        old_input == new_input
        or (
            form(old_input) == form(new_input) == "intervals"
            and reads_stream(old_input)
            and meanings.are_same(old_input, new_input)
            and (operator.is_stateless or not has_ordered_ends(old_input))
        )
        for old_input, new_input in zip(old.inputs, new.inputs, strict=True)
    )


def _over(known: Mapping[Node, Node], root: Node) -> Node:
    """The logical form of a subplan, over other inputs."""
    changed = dict(known)

    def change(node: Node) -> Node:
        if node not in changed:
            operator = logical(node)
            changed[node] = (
                change(operator.means)
                if isinstance(operator, Boxed)
                else Node(operator, tuple(map(change, node.inputs)))
            )
        return changed[node]

    return change(root)


def _parts(roots: Sequence[Node], stops: Set[Node]) -> list[Node]:
    """The nodes from the roots down to the stops, without the stops; inputs before consumers.

    The nodes of the last root come first.
    """
    return list(dict.fromkeys(node for root in reversed(roots) for node in root.walk(stops)))


def _borders(root: Node, stops: Set[Node]) -> set[Node]:
    """The first stops below a root, as far as they read streams."""
    part = _parts([root], stops)
    below = {child for node in part for child in node.inputs} if part else {root}
    return {node for node in below if node in stops and reads_stream(node)}
