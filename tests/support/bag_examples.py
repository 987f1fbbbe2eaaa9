"""Subplans that rules about bags are meant for, where those of their shape seldom are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from row_examples import ROW_EXAMPLES, ZEROS, has_a_sign

from midstream.optimizer.rules import ALL_STAGES, ANY, Rule, flat
from midstream.optimizer.verification import Subplans
from midstream.optimizer.verification.conditions import matching
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import (
    AntiJoin,
    Difference,
    Intersection,
    Logical,
    MaxUnion,
    SemiJoin,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.expressions import Expression
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.errors import MidstreamError

Drawn = Callable[[Random], Node]

MINUS = (Difference(), StrictDifference())
COMPARING = (Intersection(), MaxUnion())


def over(operator: Logical, *inputs: Node) -> Node:
    return Node(operator, inputs)


class Drawing:
    """Subplans of the same columns, and conditions between them and others."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._subplans = Subplans(random)
        self.first = self._subplans.draw(ANY, None, 1)

    def alike(self) -> Node:
        """Another subplan with the columns of the first."""
        return self._subplans.draw(ANY, self.first.schema.names, 1)

    def other(self) -> Node:
        """A subplan with columns of its own."""
        return self._subplans.draw(ANY, self._subplans.fresh(self.random.choice((1, 1, 2))), 0)

    def others(self, number: int) -> list[Node]:
        """Subplans with the same columns, which are their own."""
        names = self._subplans.fresh(self.random.choice((1, 1, 2)))
        return [self._subplans.draw(ANY, names, 0) for _ in range(number)]

    def condition(self, left: Node, right: Node) -> Expression:
        """A condition on pairs."""
        return matching(self.random, left.schema.names, right.schema.names)

    def one(self, operators: Sequence[Logical]) -> Logical:
        return self.random.choice(operators)

    def part(self, kinds: Sequence[type] = (SemiJoin, AntiJoin, Difference, Intersection)) -> Node:
        """Part of the rows of the first."""
        kind = self.random.choice(kinds)
        if kind in (SemiJoin, AntiJoin):
            other = self.other()
            return over(kind(self.condition(self.first, other)), self.first, other)
        return over(kind(), self.first, self.alike())


def drawn(make: Callable[[Drawing], Node]) -> Drawn:
    """What is drawn until it is well-formed."""

    def draw(random: Random) -> Node:
        while True:
            try:
                return make(Drawing(random))
            except MidstreamError:
                continue

    return draw


def difference_of_union(draw: Drawing) -> Node:
    taken = draw.alike()
    return over(Difference(), over(Union(), *draw.random.sample([draw.first, taken], 2)), taken)


def difference_of_unions(draw: Drawing) -> Node:
    both, left, right = draw.first, draw.alike(), draw.alike()
    return over(
        Difference(),
        over(Union(), *draw.random.sample([both, left], 2)),
        over(Union(), *draw.random.sample([both, right], 2)),
    )


def difference_of_max_union(draw: Drawing) -> Node:
    taken = draw.alike()
    sides = draw.random.sample([draw.first, taken], 2)
    return over(draw.one(MINUS), over(MaxUnion(), *sides), taken)


def intersection_from_differences(draw: Drawing) -> Node:
    return over(Difference(), draw.first, over(Difference(), draw.first, draw.alike()))


def with_itself(operators: Sequence[Logical]) -> Drawn:
    return drawn(lambda draw: over(draw.one(operators), draw.first, draw.first))


def union_of_difference(draw: Drawing) -> Node:
    right = draw.alike()
    return over(Union(), over(Difference(), draw.first, right), right)


def union_with_difference(draw: Drawing) -> Node:
    right = draw.alike()
    return over(Union(), right, over(Difference(), draw.first, right))


def union_of(one: Logical, other: Logical) -> Drawn:
    def make(draw: Drawing) -> Node:
        right = draw.alike()
        return over(Union(), over(one, draw.first, right), over(other, draw.first, right))

    return drawn(make)


def union_of_matching(one: type, other: type) -> Drawn:
    def make(draw: Drawing) -> Node:
        right = draw.other()
        condition = draw.condition(draw.first, right)
        return over(Union(), *(over(kind(condition), draw.first, right) for kind in (one, other)))

    return drawn(make)


def with_part(operator: Logical) -> Drawn:
    return drawn(lambda draw: over(operator, draw.first, draw.part()))


def difference_from_matching(draw: Drawing) -> Node:
    return over(draw.one(MINUS), draw.first, draw.part((SemiJoin, AntiJoin)))


def differences_of_each(draw: Drawing) -> Node:
    minus, taken = draw.one(MINUS), draw.alike()
    together = draw.one((Union(), *COMPARING))
    return over(together, over(minus, draw.first, taken), over(minus, draw.alike(), taken))


def matching_twice(draw: Drawing) -> Node:
    right = draw.other()
    condition = draw.condition(draw.first, right)
    lower, upper = (draw.one((SemiJoin(condition), AntiJoin(condition))) for _ in range(2))
    return over(upper, over(lower, draw.first, right), right)


def matching_of_each(draw: Drawing) -> Node:
    right = draw.other()
    condition = draw.condition(draw.first, right)
    matching = draw.one((SemiJoin(condition), AntiJoin(condition)))
    together = draw.one((Union(), *COMPARING, *MINUS))
    return over(together, *(over(matching, rows, right) for rows in (draw.first, draw.alike())))


def anti_joins(draw: Drawing) -> Node:
    left, right = draw.others(2)
    anti_join = AntiJoin(draw.condition(draw.first, left))
    return over(anti_join, over(anti_join, draw.first, left), right)


BAG_EXAMPLES: dict[str, Drawn] = {
    "difference-of-union": drawn(difference_of_union),
    "difference-of-unions": drawn(difference_of_unions),
    "difference-of-max-union": drawn(difference_of_max_union),
    "intersection-from-differences": drawn(intersection_from_differences),
    "same-as-itself": with_itself(COMPARING),
    "difference-from-itself": with_itself(MINUS),
    "union-of-difference": drawn(union_of_difference),
    "union-with-difference": drawn(union_with_difference),
    "union-of-taken-and-left": union_of(Difference(), Intersection()),
    "union-of-left-and-taken": union_of(Intersection(), Difference()),
    "union-of-less-and-more": union_of(Intersection(), MaxUnion()),
    "union-of-more-and-less": union_of(MaxUnion(), Intersection()),
    "union-of-matched-and-not": union_of_matching(SemiJoin, AntiJoin),
    "union-of-not-and-matched": union_of_matching(AntiJoin, SemiJoin),
    "max-union-with-part": with_part(MaxUnion()),
    "intersection-with-part": with_part(Intersection()),
    "difference-from-matching": drawn(difference_from_matching),
    "difference-above": drawn(differences_of_each),
    "matching-twice": drawn(matching_twice),
    "matching-above-each": drawn(matching_of_each),
    "anti-joins-merging": drawn(anti_joins),
}
"""By rule."""


A, B = ZEROS
C = stream("c", {"z": "integer", "y": "integer"}, intervals=True).select("z", "y", x=(col("z") - 0.5) * 0.0)
K = stream("k", k="integer", intervals=True)
SIGN = opaque(has_a_sign, ["x"], "boolean", total=True)


def in_turn(one: Drawn, *examples: Stream) -> Drawn:
    """What is drawn, and some in which an expression tells the zeros apart."""
    return lambda random: random.choice(examples).node if random.random() < 0.3 else one(random)


def told_apart(rule: Rule) -> tuple[Stream, ...]:
    """Subplans of a rule's shape in which an expression tells the zeros apart."""
    matched, joined = A.semi_join(K, on=SIGN), A.join(K, on=SIGN)
    examples = (
        A.select(w=SIGN).distinct(),
        joined.distinct(),
        A.distinct().select(w=SIGN).distinct(),
        A.distinct().join(K, on=SIGN, columns=["k"]).distinct(),
        K.join(A.distinct(), on=SIGN, columns=["k"]).distinct(),
        K.semi_join(A, on=SIGN),
        K.anti_join(A, on=SIGN),
        K.semi_join(A.distinct(), on=SIGN),
        K.anti_join(A.distinct(), on=SIGN),
        matched.distinct(),
        A.distinct().semi_join(K, on=SIGN),
        A.distinct().join(K.distinct(), on=SIGN),
        A.select("x", "y", w=SIGN).distinct(),
        A.distinct().select("x", "y", w=SIGN),
        A.group_by("y").aggregate(m=max_(SIGN)),
        A.distinct().group_by("y").aggregate(m=max_(SIGN)),
        *(
            query
            for other in (A.difference(B), A.strict_difference(B), A.intersection(B), A.max_union(B))
            for query in (other.semi_join(K, on=SIGN), other.anti_join(K, on=SIGN))
        ),
        *(
            query
            for one, other in ((matched, B.semi_join(K, on=SIGN)), (matched, B))
            for query in (one.difference(other), one.strict_difference(other), one.intersection(other))
        ),
        A.group_by("x").aggregate(n=count()).semi_join(K, on=SIGN),
        matched.group_by("x").aggregate(n=count()),
        A.strict_difference(matched),
        joined.group_by("k").aggregate(n=count(), m=max_("y")),
        joined.group_by("k").aggregate(m=max_("k")),
        C.group_by("x", "y").aggregate(n=count()).group_by("y").aggregate(m=max_(SIGN)),
    )
    return tuple(query for query in examples if rule.shape.fits(query.node))


def with_zeros(rule: Rule) -> Drawn:
    """How subplans for a rule are drawn that must not tell equal rows apart."""
    other = BAG_EXAMPLES.get(rule.name, lambda random: Subplans(random).of(rule.shape))
    return in_turn(other, *told_apart(rule))


BAG_EXAMPLES |= {
    rule.name: with_zeros(rule)
    for rule in flat(ALL_STAGES)
    if rule.name not in ROW_EXAMPLES
    and any(guard.__name__.endswith("_apart") for guard in rule.guards)
    and told_apart(rule)
}
