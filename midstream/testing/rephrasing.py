"""Equivalent plans by rewrites of one place in a plan, many of which no optimizer would make.

The plans come to differ, to share subplans or to stop sharing them, and to hold elements in other places. A
rewrite changes a subplan in one of the places where it is read, not in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from hypothesis import strategies as st

from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer.search import neighbours, with_linked_joins
from midstream.plans.algebra.implementations.obstacles import gives_constants, is_relation
from midstream.plans.algebra.operators import (
    AntiJoin,
    Coalesce,
    Difference,
    Distinct,
    Filter,
    Intersection,
    MaxUnion,
    Project,
    SemiJoin,
    Split,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    above,
    input_nodes,
    is_chronon_stream,
    logical,
    logical_plan,
    reads_stream,
)
from midstream.plans.expressions.expressions import (
    Col,
    Expression,
    IsNull,
    Not,
    conjunction,
    conjuncts,
    disjunction,
)
from midstream.plans.values.errors import PlanError

Rewrite = Callable[[Node], Iterator[Node]]
"""Yields subplans that are equivalent to a given one."""

MOST_NODES = 16
"""Plans with at least this number of nodes do not grow any more."""


def renamed(node: Node) -> Iterator[Node]:
    """X = all columns of X."""
    same = Project(tuple((name, Col(name)) for name in node.schema.names))
    is_one = node.operator == same and node.inputs[0].schema == node.schema
    yield node.inputs[0] if is_one else Node(same, (node,))


def filtered(node: Node) -> Iterator[Node]:
    """X = filter(true, X), with a condition whose truth only evaluation shows."""
    always = _always(node)
    is_one = node.operator == Filter(always)
    yield node.inputs[0] if is_one else Node(Filter(always), (node,))


def doubled(node: Node) -> Iterator[Node]:
    """X = X + filter(false, X)."""
    yield Node(Union(), (node, Node(Filter(Not(_always(node))), (node,))))


def conditions(node: Node) -> Iterator[Node]:
    """filter(p and q, X) = filter(p, filter(q, X)), filter(p, X) = filter(p, filter(p, X))."""
    if isinstance(node.operator, Filter):
        (below,), parts = node.inputs, conjuncts(node.operator.condition)
        if len(parts) > 1:
            yield Node(Filter(parts[0]), (Node(Filter(conjunction(parts[1:])), (below,)),))
        if isinstance(below.operator, Filter):
            yield Node(below.operator, (Node(node.operator, below.inputs),))
        yield Node(node.operator, (node,))


def unions(node: Node) -> Iterator[Node]:
    """X + Y = Y + X, (X + Y) + Z = X + (Y + Z) = X + Y + Z."""
    if isinstance(node.operator, Union):
        first, *rest = node.inputs
        yield Node(Union(), (*rest, first))
        if isinstance(first.operator, Union):
            yield Node(Union(), (*first.inputs, *rest))
            yield Node(Union(), (first.inputs[0], Node(Union(), (*first.inputs[1:], *rest))))
        if len(rest) > 1:
            yield Node(Union(), (first, Node(Union(), tuple(rest))))


def along_unions(node: Node) -> Iterator[Node]:
    """f(X + Y) = f(X) + f(Y) for filters and projections."""
    match node.operator:
        case Filter() | Project() if isinstance(node.inputs[0].operator, Union):
            yield Node(Union(), tuple(Node(node.operator, (child,)) for child in node.inputs[0].inputs))
        case Union() if isinstance(node.inputs[0].operator, Filter | Project):
            operator = node.inputs[0].operator
            schemas = {child.inputs[0].schema for child in node.inputs if child.operator == operator}
            if all(child.operator == operator for child in node.inputs) and len(schemas) == 1:
                yield Node(operator, (Node(Union(), tuple(child.inputs[0] for child in node.inputs)),))


def windows(node: Node) -> Iterator[Node]:
    """f(window(X)) = window(f(X)) for filters, projections and unions."""
    match node.operator:
        case TimeWindow() as window:
            below = node.inputs[0]
            # A window needs a chronon stream; a relation alone is none.
            if isinstance(below.operator, Filter | Project | Union) and all(map(reads_stream, below.inputs)):
                inputs = tuple(Node(window, (child,)) for child in below.inputs)
                yield Node(below.operator, inputs)
        case Filter() | Project() | Union():
            found = {child.operator for child in node.inputs}
            if len(found) == 1 and isinstance(one := found.pop(), TimeWindow):
                yield Node(one, (Node(node.operator, tuple(c.inputs[0] for c in node.inputs)),))


def multisets(node: Node) -> Iterator[Node]:
    """X = min(X, X) = max(X, X) = (X + X) - X = min(X + X, X)."""
    twice = Node(Union(), (node, node))
    yield Node(Intersection(), (node, node))
    yield Node(MaxUnion(), (node, node))
    yield Node(Difference(), (twice, node))
    yield Node(Intersection(), (twice, node))


def sets(node: Node) -> Iterator[Node]:
    """distinct(X) = distinct(X + X) = distinct(distinct(X)), and likewise for the right input of matches.

    Semi-join and anti-join ignore the multiplicity of rows in their right input.
    """
    match node.operator:
        case Distinct():
            yield Node(Distinct(), (node,))
            yield Node(Distinct(), (Node(Union(), node.inputs * 2),))
        case SemiJoin() | AntiJoin():
            left, right = node.inputs
            if reads_stream(right):
                yield Node(node.operator, (left, Node(Union(), (right, right))))
                yield Node(node.operator, (left, Node(Distinct(), (right,))))


SHOWN: tuple[Rewrite, ...] = (renamed, conditions, along_unions, unions, unions)
"""Rewrites whose results the normal form proves equivalent, so that operators above keep their state."""

STATELESS: tuple[Rewrite, ...] = (*SHOWN, filtered, doubled)
STATEFUL: tuple[Rewrite, ...] = (*STATELESS, multisets, sets)


def _always(node: Node) -> Expression:
    unknown = IsNull(Col(node.schema.names[0]))
    return disjunction([unknown, Not(unknown)])


@st.composite
def rephrased(
    draw: st.DrawFn, plan: Plan, rewrites: Sequence[Rewrite] = STATEFUL, *, rules: bool = True
) -> Plan:
    """An equivalent plan by one or two rewrites; with `rules` also by those of the optimizer."""
    current = logical_plan(plan)
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        if rules and draw(st.booleans()):
            current = with_linked_joins(current)
            if found := list(neighbours(current)):
                current = draw(st.sampled_from(found))
                continue
        current = draw(_rewritten(current, rewrites))
    return current


@st.composite
def _rewritten(draw: st.DrawFn, plan: Plan, rewrites: Sequence[Rewrite]) -> Plan:
    places = [place for place in _places(plan) if reads_stream(_at(plan, place))]
    # Mostly a shared subplan is rewritten in one of its places.
    readers = Counter(_at(plan, place) for place in places)
    shared = [place for place in places if readers[_at(plan, place)] > 1 and _at(plan, place).inputs]
    place = draw(st.sampled_from((*places, *shared * 3)))
    chosen = draw(st.permutations(rewrites)) if len(plan.nodes) < MOST_NODES else (windows, unions)
    for rewrite in chosen:
        if found := list(rewrite(_at(plan, place))):
            return _with(plan, place, draw(st.sampled_from(found)))
    return plan


Place = tuple[Node | str, int]
"""A place where a subplan is read: the reading node or the name of an output, and the port."""


def _places(plan: Plan) -> list[Place]:
    """Places from the outputs down to the inputs of the exchangeable part."""
    upper = above(plan, input_nodes(plan))
    outputs: list[Place] = [(name, 0) for name in plan.outputs]
    return outputs + [(node, port) for node in upper for port in range(len(node.inputs))]


def _at(plan: Plan, place: Place) -> Node:
    reader, port = place
    return plan.outputs[reader] if isinstance(reader, str) else reader.inputs[port]


def _with(plan: Plan, place: Place, new: Node) -> Plan:
    """The plan with another subplan in one place."""
    reader, port = place
    outputs = dict(plan.outputs)
    if isinstance(reader, str):
        return Plan({**outputs, reader: new})
    inputs = tuple(new if i == port else child for i, child in enumerate(reader.inputs))
    return plan.replace(reader, reader.with_inputs(inputs))


@st.composite
def arranged(draw: st.DrawFn, plan: Plan) -> Plan:
    """The plan with splits or coalesces at random places.

    They may also stand below windows and other operators that are not snapshot-reducible, if these accept
    them.
    """
    kinds = (None, None, Split(2), Split(3), Coalesce(1), Coalesce(6))

    def maybe(node: Node) -> Node:
        if is_relation(node) or gives_constants(node):
            return node
        # Endless elements cannot be cut into chronons; elements of one chronon can.
        kind = draw(st.sampled_from((*kinds, Split(1)) if is_chronon_stream(node) else kinds))
        return node if kind is None else Node(kind, (node,))

    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        inputs = tuple(changed[child] for child in node.inputs)
        other = Node(node.operator, tuple(map(maybe, inputs)))
        is_free = logical(node).is_snapshot_reducible or _runs(other)
        changed[node] = other if is_free else node
    return Plan({name: maybe(changed[root]) for name, root in plan.outputs.items()})


def _runs(node: Node) -> bool:
    """True if the operator has an implementation over its inputs; some windows have none."""
    try:
        physical_plan(Plan(node))
    except PlanError:
        return False
    return True
