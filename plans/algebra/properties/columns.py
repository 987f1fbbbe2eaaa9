"""Properties of a subplan's columns: equal columns, keys, dependencies, and columns that are read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from midstream.plans.algebra.operators.columns import (
    Columns,
    Dependency,
    Sets,
    classes,
    closure,
    of_equal,
    shortest,
    visible,
)
from midstream.plans.algebra.plan import Node, Plan, fact_of_node
from midstream.plans.algebra.properties.nodes import logical


@fact_of_node
def equal_columns(node: Node) -> tuple[frozenset[str], ...]:
    """The classes of a subplan's columns that its conditions make equal in every row of the output.

    >>> from midstream.plans.algebra.builder import stream
    >>> pair = stream("a", x="integer").join(stream("b", y="integer", z="integer"), on=[("x", "y")])
    >>> [sorted(names) for names in equal_columns(pair.node)]
    [['x', 'y']]
    """
    below = [equal_columns(child) for child in node.inputs]
    return classes(logical(node).equal_columns(below), node.schema.names)


@fact_of_node
def keys(node: Node) -> tuple[frozenset[str], ...]:
    """The keys of a subplan's output: no two rows agree on the columns of a key while both are valid.

    Unknown values agree with each other, as in groups. The shortest keys come first, and no key includes
    another. A column that depends on the rest of a key is left out of it. The key without columns says that
    at most one row is valid at any instant. The list may be incomplete.

    Cost: O(MOST_KEYS² × columns) per node, once.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer").window(60)
    >>> [sorted(key) for key in keys(bids.group_by("item").aggregate(n=count()).node)]
    [['item']]
    >>> keys(bids.node), keys(bids.aggregate(n=count()).node)
    ((), (frozenset(),))
    """
    inputs = [_columns(child) for child in node.inputs]
    return _reduced(node, logical(node).output_keys(inputs), logical(node).sees_one_instant)


@fact_of_node
def lasting_keys(node: Node) -> tuple[frozenset[str], ...]:
    """The keys of a subplan's output that hold over all time, not only among rows that are valid together.

    A row with a lasting key is valid at one instant, and no row that agrees with it on the key is valid at
    another. A window turns such a key into a key at every instant.

    Cost: as `keys`.
    """
    inputs = [_columns(child) for child in node.inputs]
    return _reduced(node, logical(node).lasting_keys(inputs), False)


@fact_of_node
def is_duplicate_free(node: Node) -> bool:
    """True if no row of a subplan's output is valid twice at one instant.

    Then the output has a key: all its columns, if no smaller one.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer").window(60)
    >>> is_duplicate_free(bids.node), is_duplicate_free(bids.distinct().node)
    (False, True)
    """
    return bool(keys(node))


@fact_of_node
def dependencies(node: Node) -> tuple[Dependency, ...]:
    """The functional dependencies among a subplan's columns, for rows that are valid together.

    They follow from conditions, computed columns, groups and keys. The list is not closed: `determined`
    computes the columns that follow from it.

    Cost: O(columns × MOST_DEPENDENCIES²) set operations per node, once.

    >>> from midstream.plans.expressions.aggregates import count
    >>> from midstream.plans.expressions.operands import col
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer").window(60)
    >>> numbers = bids.filter(col("bidder").eq(7)).group_by("item", "bidder").aggregate(n=count())
    >>> [str(one) for one in dependencies(numbers.node)]
    ['{} → {bidder}', '{item} → {n}']
    """
    carried = _carried(node, logical(node).sees_one_instant)
    names = frozenset(node.schema.names)
    return visible((*carried, *(Dependency(key, names) for key in keys(node))), names)


@fact_of_node
def lasting_dependencies(node: Node) -> tuple[Dependency, ...]:
    """The functional dependencies that hold among rows of all instants together; windows preserve them.

    Cost: as `dependencies`.
    """
    names = frozenset(node.schema.names)
    of_keys = (Dependency(key, names) for key in lasting_keys(node))
    return visible((*_carried(node, False), *of_keys), names)


def determined(node: Node, columns: Iterable[str]) -> frozenset[str]:
    """The columns that depend on some columns, among rows of a subplan's output that are valid together.

    >>> from midstream.plans.expressions.operands import col
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", price="integer").select("item", "price", dear=col("price") > 9)
    >>> sorted(determined(bids.node, ["price"]))
    ['dear', 'price']
    """
    return closure(columns, dependencies(node))


def is_key(node: Node, columns: Iterable[str]) -> bool:
    """True if no two rows of a subplan's output agree on some columns while both are valid.

    The columns then determine the columns of a key.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids, asks = stream("bids", item="integer").distinct(), stream("asks", id="integer").distinct()
    >>> pairs = bids.join(asks, on=[("item", "id")])
    >>> is_key(pairs.node, ["id"]), is_key(pairs.node, [])
    (True, False)
    """
    dependent = determined(node, columns)
    return any(key <= dependent for key in keys(node))


def columns_read(plan: Plan) -> dict[Node, frozenset[str]]:
    """The columns of each node that the outputs of a plan depend on; all columns of an output node.

    Cost: O(operators × columns).

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", bidder="integer", price="integer").window(60)
    >>> plan = bids.filter(bids["price"] > 10).select("item").plan()
    >>> [sorted(columns_read(plan)[node]) for node in plan.nodes]
    [['item', 'price'], ['item', 'price'], ['item'], ['item']]
    """
    read: dict[Node, frozenset[str]] = {node: frozenset() for node in plan.nodes}
    for root in plan.outputs.values():
        read[root] |= frozenset(root.schema.names)
    for node in reversed(plan.nodes):
        schemas = tuple(child.schema for child in node.inputs)
        for child, names in zip(node.inputs, logical(node).columns_read(read[node], schemas), strict=True):
            read[child] |= names
    return read


def _reduced(node: Node, keys: Sets, is_of_one_instant: bool) -> tuple[frozenset[str], ...]:
    """Keys without the columns that depend on the rest of the key."""
    if not any(keys):
        return tuple(keys)
    carried = _carried(node, is_of_one_instant)
    return shortest(_without_dependent(key, carried) for key in keys)


def _without_dependent(key: frozenset[str], dependencies: Iterable[Dependency]) -> frozenset[str]:
    for name in sorted(key):
        if name in closure(key - {name}, dependencies):
            key -= {name}
    return key


@lru_cache(maxsize=1024)
def _carried(node: Node, is_of_one_instant: bool) -> tuple[Dependency, ...]:
    """The dependencies of a subplan's output that its inputs or its operator imply; keys imply others."""
    of_child = dependencies if is_of_one_instant else lasting_dependencies
    inputs = [_columns(child)._replace(dependencies=of_child(child)) for child in node.inputs]
    own = logical(node).output_dependencies(inputs)
    return visible((*own, *of_equal(equal_columns(node))), node.schema.names)


def _columns(node: Node) -> Columns:
    return Columns(node.schema, equal_columns(node), keys(node), lasting_keys(node))
