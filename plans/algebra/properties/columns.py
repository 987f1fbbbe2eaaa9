"""What is known of the columns of a subplan: which are equal, which are keys, which depend on others, and
which are read."""

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
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties.nodes import logical


@lru_cache(maxsize=4096)
def equal_columns(node: Node) -> tuple[frozenset[str], ...]:
    """The classes of a subplan's columns that are equal in every row of its output, because conditions in it
    say so.

    >>> from midstream.plans.algebra.builder import stream
    >>> pair = stream("a", x="integer").join(stream("b", y="integer", z="integer"), on=[("x", "y")])
    >>> [sorted(names) for names in equal_columns(pair.node)]
    [['x', 'y']]
    """
    below = [equal_columns(child) for child in node.inputs]
    return classes(logical(node).equal_columns(below), node.schema.names)


@lru_cache(maxsize=4096)
def keys(node: Node) -> tuple[frozenset[str], ...]:
    """Sets of columns that no two rows of a subplan's output agree on while both are valid, the shortest
    first; unknown values agree with each other, as in groups. None includes another.

    The key without columns says that there is at most one row at any instant. That nothing is told does not
    mean that nothing holds.

    A column that depends on the rest of a key is left out of it.

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


@lru_cache(maxsize=4096)
def lasting_keys(node: Node) -> tuple[frozenset[str], ...]:
    """Sets of columns that no two rows of a subplan's output agree on, of all instants together: a row is
    there at one instant, and none that agrees with it at another.

    Such a key survives windows, above which it is one at every instant.

    Cost: as `keys`.
    """
    inputs = [_columns(child) for child in node.inputs]
    return _reduced(node, logical(node).lasting_keys(inputs), False)


@lru_cache(maxsize=4096)
def is_duplicate_free(node: Node) -> bool:
    """Whether no row of a subplan's output is valid twice at an instant: it has a key then, if that of all
    columns.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer").window(60)
    >>> is_duplicate_free(bids.node), is_duplicate_free(bids.distinct().node)
    (False, True)
    """
    return bool(keys(node))


@lru_cache(maxsize=4096)
def dependencies(node: Node) -> tuple[Dependency, ...]:
    """The functional dependencies among a subplan's columns: rows that are valid together and agree on some
    columns agree on others.

    They follow from conditions, computed columns, groups and keys. From those that are told the others
    follow: `determined` tells whether.

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


@lru_cache(maxsize=4096)
def lasting_dependencies(node: Node) -> tuple[Dependency, ...]:
    """Those of all time: rows that agree on some columns agree on others, whenever each of them is valid.
    They survive windows.

    Cost: as `dependencies`.
    """
    names = frozenset(node.schema.names)
    of_keys = (Dependency(key, names) for key in lasting_keys(node))
    return visible((*_carried(node, False), *of_keys), names)


def determined(node: Node, columns: Iterable[str]) -> frozenset[str]:
    """The columns that rows of a subplan's output agree on which are valid together and agree on some.

    >>> from midstream.plans.expressions.operands import col
    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", item="integer", price="integer").select("item", "price", dear=col("price") > 9)
    >>> sorted(determined(bids.node, ["price"]))
    ['dear', 'price']
    """
    return closure(columns, dependencies(node))


def is_key(node: Node, columns: Iterable[str]) -> bool:
    """Whether no two rows of a subplan's output that are valid together agree on some columns: they determine
    those of a key.

    >>> from midstream.plans.algebra.builder import stream
    >>> bids, asks = stream("bids", item="integer").distinct(), stream("asks", id="integer").distinct()
    >>> pairs = bids.join(asks, on=[("item", "id")])
    >>> is_key(pairs.node, ["id"]), is_key(pairs.node, [])
    (True, False)
    """
    told = determined(node, columns)
    return any(key <= told for key in keys(node))


def columns_read(plan: Plan) -> dict[Node, frozenset[str]]:
    """By node, the columns that are read above it: without the others the plan's outputs would be the same.
    Of an output all are read.

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


def _reduced(node: Node, told: Sets, is_of_one_instant: bool) -> tuple[frozenset[str], ...]:
    """Keys without the columns that depend on the rest of theirs."""
    if not any(told):
        return tuple(told)
    carried = _carried(node, is_of_one_instant)
    return shortest(_without_dependent(key, carried) for key in told)


def _without_dependent(key: frozenset[str], told: Iterable[Dependency]) -> frozenset[str]:
    for name in sorted(key):
        if name in closure(key - {name}, told):
            key -= {name}
    return key


@lru_cache(maxsize=4096)
def _carried(node: Node, is_of_one_instant: bool) -> tuple[Dependency, ...]:
    """The dependencies of a subplan's output that come from below, or from what its operator says of each
    row."""
    of_child = dependencies if is_of_one_instant else lasting_dependencies
    inputs = [_columns(child)._replace(dependencies=of_child(child)) for child in node.inputs]
    told = logical(node).output_dependencies(inputs)
    return visible((*told, *of_equal(equal_columns(node))), node.schema.names)


def _columns(node: Node) -> Columns:
    return Columns(node.schema, equal_columns(node), keys(node), lasting_keys(node))
