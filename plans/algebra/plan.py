"""Plans: immutable values around a frozen networkx graph of operators."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from functools import cached_property, wraps
from math import lcm
from types import MappingProxyType
from typing import Any, TypeVar, cast

import networkx as nx

from midstream.plans.algebra.drawing import tree
from midstream.plans.algebra.operators import Logical, Relation, Source
from midstream.plans.algebra.physical import Physical
from midstream.plans.values.arguments import wrong
from midstream.plans.values.errors import PlanError, QueryNote, tell
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.schema import Schema

Operator = Logical | Physical


class Node:
    """An operator with its inputs: a subplan as a value.

    Two nodes are equal if their operators and inputs are equal. The hash is computed once, so that comparing
    nodes with different hashes costs O(1). A node that exists is well-formed: its operator fits its inputs.
    """

    __slots__ = ("_facts", "_hash", "granule", "inputs", "operator", "schema")

    operator: Operator
    inputs: tuple[Node, ...]
    schema: Schema
    granule: int
    """The number of chronons of which all timestamps here are multiples, by the granularity conversions."""

    def __init__(self, operator: Operator, inputs: tuple[Node, ...] = ()) -> None:
        if not isinstance(operator, Operator):
            raise wrong("node", operator, "an operator")
        untyped: Any = inputs
        if not isinstance(untyped, tuple) or not all(isinstance(node, Node) for node in untyped):
            raise wrong(f"{operator}", untyped, "a tuple of nodes as inputs")
        arity = operator.arity
        if len(inputs) < 2 if arity is None else len(inputs) != arity:
            expected = "two or more" if arity is None else arity
            raise PlanError(f"{operator}: found {len(inputs)} inputs, expected {expected}")
        set_ = object.__setattr__
        set_(self, "operator", operator)
        set_(self, "inputs", inputs)
        set_(self, "schema", operator.schema(tuple(node.schema for node in inputs)))
        set_(self, "granule", self._granule())
        set_(self, "_hash", hash((operator, inputs)))
        set_(self, "_facts", {})

    def _granule(self) -> int:
        below = lcm(*_granules(self.inputs))
        try:
            return self.operator.granule_above(below)
        except PlanError as error:
            nodes = (node for child in self.inputs for node in child.walk())
            coarse = {str(node.operator) for node in nodes if node.granule > lcm(*_granules(node.inputs))}
            raise PlanError(
                f"{self.operator} stands above {' and '.join(sorted(coarse))}: {error}",
                operator=str(self.operator),
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a plan node is immutable; {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a plan node is immutable; {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Node, (self.operator, self.inputs))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[no-any-return, attr-defined]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Node) or hash(self) != hash(other):
            return False
        # Compare each pair once: a shared node would else be compared once for each path to it.
        pairs, seen = [(self, other)], set()
        while pairs:
            one, two = pairs.pop()
            if one is two or (id(one), id(two)) in seen:
                continue
            seen.add((id(one), id(two)))
            if hash(one) != hash(two) or one.operator != two.operator or len(one.inputs) != len(two.inputs):
                return False
            pairs.extend(zip(one.inputs, two.inputs, strict=True))
        return True

    def __repr__(self) -> str:
        return f"<{self.operator}{' of ' + ', '.join(map(repr, self.inputs)) if self.inputs else ''}>"

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """This operator over other inputs; this very node if the inputs are the same objects."""
        if len(inputs) == len(self.inputs) and all(a is b for a, b in zip(inputs, self.inputs, strict=True)):
            return self
        return Node(self.operator, inputs)

    def with_input(self, place: int, node: Node) -> Node:
        """This operator with another subplan as the input at a place."""
        return self.with_inputs((*self.inputs[:place], node, *self.inputs[place + 1 :]))

    def walk(self, stops: Container[Node] = ()) -> Iterator[Node]:
        """This node and all nodes below it, each once, inputs before consumers.

        The walk goes down to the nodes in `stops`, and does not yield these.
        """
        seen: set[Node] = set()
        stack = [(self, False)]
        while stack:
            node, is_ready = stack.pop()
            if is_ready:
                yield node
            elif node not in seen and node not in stops:
                seen.add(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.inputs) if child not in seen)


T = TypeVar("T")


def fact_of_node(function: Callable[[Node], T]) -> Callable[[Node], T]:
    """A function of a node whose results stay with the node, and go with it.

    A cache of its own would keep the nodes of queries that are gone.
    """

    @wraps(function)
    def fact(node: Node) -> T:
        facts: dict[Callable[[Node], T], T | None] = node._facts  # type: ignore[attr-defined]
        if function not in facts:
            found = function(node)
            # None stands for the node itself: a node that refers to itself goes late.
            facts[function] = None if found is node else found
            return found
        known = facts[function]
        return cast(T, node) if known is None else known

    return fact


def _granules(nodes: tuple[Node, ...]) -> Iterator[int]:
    return (node.granule for node in nodes)


class Plan(NearNames):
    """The computation of a query, with one or more named outputs.

    A plan is immutable, and equal to another plan if their structures are equal. Equal subplans are one
    shared node.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", price="float")
    >>> one = bids.window(60).filter(bids["price"] > 10).plan()
    >>> print(one)
    filter price > 10
    └─ window 60
       └─ source bids
    >>> one == bids.window(60).filter(bids["price"] > 10).plan()
    True
    >>> [str(node.operator) for node in one.nodes]
    ['source bids', 'window 60', 'filter price > 10']
    """

    __slots__ = ("__dict__", "notes", "outputs")

    outputs: Mapping[str, Node]
    notes: tuple[str, ...]
    """Facts that the author of the query should know; plans that rules make of this one have none."""

    def __init__(self, outputs: Node | Mapping[str, Node], *, notes: tuple[str, ...] = ()) -> None:
        untyped: Any = {"out": outputs} if isinstance(outputs, Node) else outputs
        if not isinstance(untyped, Mapping) or not all(isinstance(node, Node) for node in untyped.values()):
            raise wrong("plan", outputs, "a node, or nodes by the names of outputs")
        named = dict(untyped)
        if not named:
            raise PlanError("a plan needs at least one output")
        object.__setattr__(self, "outputs", MappingProxyType(_shared(named)))
        object.__setattr__(self, "notes", notes)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a plan is immutable; {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a plan is immutable; {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Plan, (dict(self.outputs),))

    def tell_notes(self) -> None:
        """Warn of the notes, at the line outside of Midstream that runs or optimizes the plan."""
        tell(self.notes, QueryNote)

    @property
    def root(self) -> Node:
        """The node of the only output; raises PlanError if there are several outputs."""
        if len(self.outputs) > 1:
            raise PlanError(f"the plan has the outputs {', '.join(self.outputs)}, expected one")
        return next(iter(self.outputs.values()))

    @property
    def schema(self) -> Schema:
        """The columns of the only output."""
        return self.root.schema

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of the plan once, inputs before consumers."""
        order: dict[Node, None] = {}
        for root in self.outputs.values():
            order.update(dict.fromkeys(root.walk()))
        return tuple(order)

    @cached_property
    def graph(self) -> nx.MultiDiGraph[Node]:
        """The plan as a frozen networkx DAG; edges lead from inputs to consumers and carry `port`."""
        graph: nx.MultiDiGraph[Node] = nx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        for node in self.nodes:
            for port, child in enumerate(node.inputs):
                graph.add_edge(child, node, key=port, port=port)
        nx.freeze(graph)
        return graph

    @property
    def sources(self) -> tuple[Source, ...]:
        """The source operators, in order of first use."""
        return tuple(node.operator for node in self.nodes if isinstance(node.operator, Source))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations, in order of first use."""
        return tuple(node.operator for node in self.nodes if isinstance(node.operator, Relation))

    def consumers(self, node: Node) -> list[Node]:
        """The nodes that read a node, once for each port."""
        return list(self._consumers[node])

    @cached_property
    def _consumers(self) -> dict[Node, list[Node]]:
        consumers: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for child in node.inputs:
                consumers[child].append(node)
        return consumers

    def replace(self, old: Node, new: Node) -> Plan:
        """The plan with one subplan replaced everywhere; nodes that do not depend on it stay as they are."""
        # A rebuilt consumer of the old node may equal the old node; it is not replaced again.
        return self._rebuilt(lambda node, inputs: new if node == old else node.with_inputs(inputs))

    def map(self, change: Callable[[Node], Node]) -> Plan:
        """The plan with a function applied to every node, inputs before consumers."""
        return self._rebuilt(lambda node, inputs: change(node.with_inputs(inputs)))

    def _rebuilt(self, change: Callable[[Node, tuple[Node, ...]], Node]) -> Plan:
        changed: dict[Node, Node] = {}
        for node in self.nodes:
            changed[node] = change(node, tuple(changed[child] for child in node.inputs))
        return Plan({name: changed[root] for name, root in self.outputs.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and dict(self.outputs) == dict(other.outputs)

    def __hash__(self) -> int:
        return hash(frozenset(self.outputs.items()))

    def __str__(self) -> str:
        return tree(self)

    def __repr__(self) -> str:
        return f"<Plan {' '.join(f'{name}={node!r}' for name, node in self.outputs.items())}>"


def _shared(outputs: dict[str, Node]) -> dict[str, Node]:
    """Make equal subplans one object, so that a walk visits each once and comparisons end at identity."""
    canonical: dict[Node, Node] = {}
    for root in outputs.values():
        for node in root.walk():
            if node not in canonical:
                canonical[node] = node.with_inputs(tuple(canonical[child] for child in node.inputs))
    return {name: canonical[root] for name, root in outputs.items()}
