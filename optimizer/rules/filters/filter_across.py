"""Filter one side of an operator by the conditions that rows of the other side are known to satisfy.

    join(x = y, filter(p(x), L), R)  =  join(x = y, filter(p(x), L), filter(p(y), R))

likewise from R to L; for semi-joins; for anti-joins, differences and intersections: conditions known on the
left side, applied to the right one; for intersections also the reverse.

Why      A row of R for which p is not true cannot match a row of L: that row would have the same value.
Gain     Fewer rows are kept on the other side.
Source   ours; transitive equalities as in the rules of joins
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from midstream.optimizer.rules.filters.filtered import filtered
from midstream.optimizer.rules.measures import per_path
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.optimizer.rules.true_conditions import is_known, true_conditions
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    Join,
    SemiJoin,
    StrictDifference,
)
from midstream.plans.algebra.operators.columns import classes, equalities
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import equal_columns
from midstream.plans.expressions.expressions import Expression, IsNull, Not, may_raise

KINDS = (Join, SemiJoin, AntiJoin, Difference, StrictDifference, Intersection)


class Missing(NamedTuple):
    """A condition by which a side can be filtered."""

    side: int
    condition: Expression


def match(node: Node) -> Iterable[Missing]:
    """The first missing condition, unless it may raise: then it would also be asked of unmatched rows."""
    yield from islice(missing(node), 1)


def rewrite(node: Node, matched: Missing) -> Node:
    """The operator with that side filtered."""
    side, condition = matched
    return node.with_input(side, filtered([condition], node.inputs[side]))


def missing(node: Node) -> Iterator[Missing]:
    """Conditions known on one side that every matching row of the other side satisfies, if unknown there."""
    for side in _asking(node):
        of_one_column = [
            part
            for part in true_conditions(node.inputs[side])
            if len(part.columns()) == 1 and not may_raise(part)
        ]
        names = _counterparts(node, side) if of_one_column else {}
        for part in sorted(of_one_column, key=str):
            (name,) = part.columns()
            if name in names and not _asks_for_null(part):
                asked = [part.renamed({name: other}) for other in names[name]]
                if not any(is_known(node.inputs[1 - side], one) for one in asked):
                    yield Missing(1 - side, asked[0])


def _asking(node: Node) -> tuple[int, ...]:
    """The sides whose conditions can be asked of the other side: rows of that side need a match."""
    return (0, 1) if isinstance(node.operator, Join | SemiJoin | Intersection) else (0,)


def _counterparts(node: Node, side: int) -> Mapping[str, list[str]]:
    """By column of a side, the columns of its type on the other side that are equal in matching rows."""
    one, other = node.inputs[side], node.inputs[1 - side]
    if not isinstance(node.operator, Join | SemiJoin | AntiJoin):
        return {name: [name] for name in one.schema.names}
    told = [*equalities(node.operator.condition), *equal_columns(one), *equal_columns(other)]
    found: dict[str, list[str]] = {}
    for alike in classes(told, (*one.schema.names, *other.schema.names)):
        for name in alike.intersection(one.schema.names):
            type_ = one.schema[name].type
            there = [b for b in sorted(alike) if b in other.schema and other.schema[b].type is type_]
            found |= {name: there} if there else {}
    return found


def _asks_for_null(part: Expression) -> bool:
    """True for a test of whether a value is known, which is certain for a value equal to another one."""
    return isinstance(part, IsNull) or (isinstance(part, Not) and isinstance(part.condition, IsNull))


def still_missing(node: Node) -> tuple[int, ...]:
    """Number of conditions missing in a subplan."""

    def of(each: Node) -> int:
        return len({*missing(each)}) if isinstance(each.operator, KINDS) else 0

    return (per_path(node, of),)


FILTER_ACROSS = Rule(
    name="filter-across",
    equation="join(x = y, filter(p(x), L), R) = join(x = y, filter(p(x), L), filter(p(y), R))",
    shape=Shape(KINDS),
    match=match,
    rewrite=rewrite,
    measure=still_missing,
)
