"""Where two plans differ: the smallest subplans to be exchanged, and what they have in common below them.

Both plans are compared from the outputs down. As long as an operator is the same in both, it can go on with
its state over other inputs, which mean the same; where it is another one, a change begins. It ends at the
first nodes that both plans have, be it anywhere in them: these run on, and are forked.

    old   aggregate of (a join b) join c          kept        aggregate
    new   aggregate of a join (b join c)          exchanged   (a join b) join c  for  a join (b join c)
                                                  forked      a, b, c
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import networkx as nx

from midstream.operators.engine.hosting import box_of
from midstream.operators.engine.planner import form, physical_plan
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
    """Subplans that are to be exchanged for others, together as they share operators; all are physical.

    `pairs` are their roots, old and new. `inputs` are running nodes below them, which go on: what both plans
    have in common, and what the old ones read that somebody else needs as well.
    """

    pairs: tuple[tuple[Node, Node], ...]
    inputs: tuple[Node, ...]

    @property
    def old(self) -> list[Node]:
        """The roots of what goes."""
        return [old for old, _ in self.pairs]

    @property
    def new(self) -> list[Node]:
        """The roots of what comes."""
        return [new for _, new in self.pairs]

    @property
    def parts(self) -> tuple[list[Node], list[Node]]:
        """The operators that go, and those that come, inputs before consumers."""
        stops = set(self.inputs)
        return _parts(self.old, stops), _parts(self.new, stops)

    @property
    def answering(self) -> tuple[tuple[str, list[Node]], ...]:
        """What answers before the change, and what does afterwards: all operators from its roots down to what
        both plans read. Such as go on for somebody else are among them.

        From there both get the same elements. What only one of them reads may give others that mean the same,
        and so may what both read where it is not proved that they mean the same whatever that gives. Then
        windows and streams are all that they have in common.
        """
        stays = _with_all_below(self.inputs)
        ground = {one for one in _streams(stays) if not (one.inputs and logical(one).is_snapshot_reducible)}
        read = [_with_all_below(roots) for roots in (self.old, self.new)]
        common = {node for node in self.inputs if all(node in below for below in read)}
        stops = ground | common if common <= ground or self.means_the_same_over(common) else ground
        return ("old", _parts(self.old, stops)), ("new", _parts(self.new, stops))

    def means_the_same_over(self, inputs: Iterable[Node]) -> bool:
        """Whether it is proved that both plans mean the same whatever some running nodes below them give, so
        that what these have in common does not matter."""
        meanings = Meanings()
        known = {
            node: Node(Source(f"input {number}", node.schema, intervals=True))
            for number, node in enumerate(inputs)
        }
        return all(meanings.are_same(_over(known, old), _over(known, new)) for old, new in self.pairs)


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """What becomes of a running plan."""

    changes: tuple[Change, ...]
    """Inputs before consumers."""
    _running: Plan
    _stays: Mapping[Node, Node]
    """Operators that go on over other inputs: by the node that runs the one that is to run."""
    _new: Plan

    def placed(self, seats: Mapping[tuple[Node, Node], Node]) -> tuple[Plan, dict[Node, Node]]:
        """The running plan with other nodes in the place of the pairs of all changes, and what becomes of the
        operators that stay."""
        made = dict(seats)

        def pair(old: Node, new: Node) -> Node:
            if (old, new) not in made:
                inputs = tuple(map(pair, old.inputs, new.inputs)) if old != new else old.inputs
                made[old, new] = old.with_inputs(inputs)
            return made[old, new]

        roots = {name: pair(root, self._new.outputs[name]) for name, root in self._running.outputs.items()}
        return Plan(roots), {old: pair(old, new) for old, new in self._stays.items()}


def around(plan: Plan, running: Plan, *, whole: bool = False) -> Plan:
    """A plan as it would run around the operators that run already: what is not told to run in a certain way
    goes on as it does, and so do windows in any case, with all below them. They are not snapshot-reducible:
    another implementation of one, or another arrangement below it, cannot take over at a split time. With
    `whole`, Boxes do not go on."""
    known: dict[Node, Node] = {}
    becomes: dict[Node, Node] = {}
    for node in running.nodes:
        is_boxed = any(isinstance(below.operator, Boxed) for below in node.walk())
        # A Box may become what runs already, as where two plans differ in a window's place.
        if isinstance(node.operator, Boxed) and not whole and node.operator.means not in running.nodes:
            becomes[node.operator.means] = node
        if is_boxed and not whole:
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
    running: Plan, plan: Plan, needed: Container[Node], *, whole: bool = False
) -> PlanDifference:
    """Compare a running physical plan with one that is to run. `needed` are the nodes that other queries
    need as they are. With `whole`, all that is above the windows and not needed otherwise is exchanged.

    Cost     O(nodes of both plans), again whenever nodes turn out to be needed in two ways.
    """
    new = around(plan, running, whole=whole)
    common = set(running.nodes) & set(new.nodes)
    needed = {node for node in (*running.nodes, *new.nodes) if node in needed}
    if whole:
        windows = _with_all_below(input_nodes(running))
        stops = {node for node in common if node in windows or node in needed}
    else:
        # Signed streams are not forked, so what is made of them is exchanged together.
        stops = {n for n in common if form(n) == "intervals" or not logical(n).is_snapshot_reducible}
    kept = _with_all_below({*needed, *stops})
    goes: set[Node] = set()
    """Operators that could stay, but go with what is below them."""
    meanings = Meanings(above_windows=True)
    while True:
        if whole:
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
    # Signed operators that stay, and come as well, would run twice.
    twice = (node in kept for change in changes for node in change.parts[1] if reads_stream(node))
    if not whole and (any(signed) or any(twice)):
        return find_changes(running, plan, needed, whole=True)
    return PlanDifference(changes, running, stays, new)


def _bounding(
    stays: Mapping[Node, Node], pairs: Iterable[tuple[Node, Node]], kept: Set[Node], stops: Set[Node]
) -> set[Node]:
    """Operators that would stay above what gives rows of relations alone. That is not exchanged by itself,
    but with what bounds it."""
    loose = {(old, fresh) for old, fresh in pairs if not (is_bounded(old, kept) and is_bounded(fresh, stops))}
    return {
        old
        for old, fresh in stays.items()
        if not loose.isdisjoint(zip(old.inputs, fresh.inputs, strict=True))
    }


def _torn(running: Plan, leaving: Set[Node]) -> set[Node]:
    """Outputs of Boxes that would go while other outputs of theirs stay: a Box does not end for one of its
    outputs alone."""
    staying = {box_of(node) for node in running.nodes if node not in leaving} - {None}
    return {node for node in leaving if box_of(node) in staying}


def _grouped(
    running: Plan, new: Plan, pairs: Iterable[tuple[Node, Node]], kept: Set[Node], stops: Set[Node]
) -> Iterator[Change]:
    """Pairs that share operators, or a Box, become one change: also where what one takes away comes with
    another, so that whoever carries out the change knows that it goes."""
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
    """Those that read streams, and so can be inputs of a change."""
    return set(filter(reads_stream, nodes))


def _with_all_below(nodes: Iterable[Node]) -> set[Node]:
    return {below for node in nodes for below in node.walk()}


def _compare(
    running: Plan, new: Plan, fixed: Set[Node], meanings: Meanings
) -> tuple[dict[Node, Node], set[tuple[Node, Node]], set[Node]]:
    """Which operators can stay over other inputs, which subplans differ, and which do not."""
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
    """Whether a running operator may be given the inputs of another one.

    They must be proved to mean the same; that what is made of them does is not enough, as where the sides of
    a join change places. What the operator gets from then on is equivalent to what it would have got, but not
    the same elements. It must not tell them apart, as windows do; and it must not count on more than their
    order of start.
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
    """A subplan, logically, over other inputs."""
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
    """The nodes from some down to roots, without them, inputs before consumers; those of the last root come
    first."""
    return list(dict.fromkeys(node for root in reversed(roots) for node in root.walk(stops)))


def _borders(root: Node, stops: Set[Node]) -> set[Node]:
    """The first of some nodes that are met from a root, as far as they read streams."""
    part = _parts([root], stops)
    below = {child for node in part for child in node.inputs} if part else {root}
    return {node for node in below if node in stops and reads_stream(node)}
