"""Filter, map and union of signed streams, which treat a negative as they treat its positive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from midstream.operators.base.facts import filter_facts, map_facts
from midstream.operators.base.running import Running
from midstream.operators.base.stateless import Stateless, filtering, mapping
from midstream.operators.base.union import Union
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Element


class SignedFilter(Stateless):
    """Keep the signed elements whose payload satisfies a condition.

    Cost     O(1) per element, of which there are two for each interval.
    Source   thesis, 14.2.2

    >>> from midstream.plans.expressions.operands import col
    >>> large = SignedFilter((col("x") > 3).expression, Schema.of(x="integer"))
    >>> large.push(0, [(0, 1, (3,)), (1, 1, (4,)), (5, -1, (3,)), (5, -1, (4,))])
    [(1, 1, (4,)), (5, -1, (4,))]
    """

    def __init__(self, condition: Expression, schema: Schema) -> None:
        super().__init__(filtering(condition, schema))


class SignedMap(Stateless):
    """Compute a new payload for every signed element.

    A negative must equal its positive, so a computed NaN is always the same object.

    Cost     O(1) per element, of which there are two for each interval.
    Source   thesis, 14.2.2

    >>> from midstream.plans.expressions.operands import col
    >>> SignedMap([(col("x") + 1).expression], Schema.of(x="integer")).push(0, [(0, 1, (3,)), (5, -1, (3,))])
    [(0, 1, (4,)), (5, -1, (4,))]
    """

    def __init__(self, expressions: Sequence[Expression], schema: Schema) -> None:
        super().__init__(mapping(expressions, schema))


class SignedUnion(Union):
    """Merge signed streams in order of time.

    Input, State, Cost    as Union
    Source   thesis, 14.2.2

    >>> union = SignedUnion(2)
    >>> union.push(0, [(1, 1, "c"), (8, -1, "c")]), union.push(1, [(3, 1, "d"), (8, 1, "d")])
    ([], [(1, 1, 'c'), (3, 1, 'd'), (8, -1, 'c'), (8, 1, 'd')])
    """

    def state(self) -> Iterable[Element]:
        """The waiting elements, as intervals whose ends are not known."""
        return ((time, FOREVER, payload) for time, _, payload in super().state())


RUNNING: Running = {
    facts.SIGNED_FILTER: lambda node: SignedFilter(*filter_facts(node)),
    facts.SIGNED_MAP: lambda node: SignedMap(*map_facts(node)),
    facts.SIGNED_UNION: lambda node: SignedUnion(len(node.inputs)),
}
