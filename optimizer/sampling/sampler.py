"""The sampler plan of a query: its joins, two inputs at a time, over a few rows of each.

Source   RTStream paper, 4.2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from midstream.optimizer.rules.linking import joined_inputs, stated_conditions
from midstream.optimizer.sampling.drawing import drawn
from midstream.optimizer.sampling.intervals import (
    CONFIDENCE,
    Interval,
    independent,
    share_of_pairs,
    share_of_rows,
)
from midstream.optimizer.sampling.paired import members
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.operators import Filter, Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import (
    Expression,
    column_equality,
    compile_row,
    conjunction,
    conjuncts,
)
from midstream.plans.values.errors import StatisticsError
from midstream.plans.values.streams import Batch, Element, Time

SHARE = 0.1
"""Default share of rows that is drawn."""


@dataclass(frozen=True)
class Drawing:
    """The drawn rows of an input of joins, and the conditions of filters above it."""

    node: Node
    conditions: tuple[Expression, ...]

    @cached_property
    def filtered(self) -> Node:
        """The input that joins read."""
        return Node(Filter(conjunction(self.conditions)), (self.node,)) if self.conditions else self.node


@dataclass(frozen=True)
class Pair:
    """Two drawings by the names of their outputs, and the condition on pairs of their rows."""

    left: str
    right: str
    condition: Expression


class Sampler:
    """Finds selectivities with a small plan, beside a query or over recordings of its streams.

    For each pair of inputs that joins of the query compare by anything but equal columns, the plan joins a
    share of the rows of both. A hash of their values and the seed decides which rows these are. The rows come
    from the inputs that the query has already, so a sample of a share s costs a hash per row, and s² of the
    pairs.

    plan   has an output per sampled input, and one per pair; pass its results to `take`

    Output   Intervals for conditions of filters right above inputs, and for the condition of each pair, taken
             as one.
    State    The drawn elements and their pairs, until `forget` drops them.
    Raises   StatisticsError if no join compares two inputs by anything but equal columns.

    >>> import midstream as ms
    >>> bids = ms.stream("bids", price="float").window(60)
    >>> asks = ms.stream("asks", limit="float").window(60)
    >>> sampler = Sampler(bids.join(asks, on=ms.col("price") >= ms.col("limit")).plan(), share=0.5)
    >>> list(sampler.plan.outputs)
    ['input 0', 'input 1', 'pair 0 1']
    >>> print(Plan(sampler.plan.outputs["pair 0 1"]))
    join price >= limit
    ├─ filter drawn 0.5(price)
    │  └─ window 60
    │     └─ source bids
    └─ filter drawn 0.5(limit)
       └─ window 60
          └─ source asks
    """

    def __init__(self, query: Plan, share: float = SHARE, seed: int = 0) -> None:
        self._drawings: dict[str, Drawing] = {}
        self._pairs: dict[str, Pair] = {}
        self._seen: dict[str, list[Element]] = defaultdict(list)
        self._since: Time | None = None
        inputs: dict[Node, str] = {}
        for condition, left, right in _compared(query):
            for node in (left, right):
                inputs.setdefault(node, f"input {len(inputs)}")
            names = inputs[left], inputs[right]
            for node, name in zip((left, right), names, strict=True):
                self._drawings[name] = _drawing(node, f"{seed} {name}", share)
            number = " ".join(name.removeprefix("input ") for name in names)
            self._pairs[f"pair {number}"] = Pair(*names, condition)
        if not self._pairs:
            raise StatisticsError(
                "sampler: found no join that compares two inputs by anything but equal columns"
            )
        self.plan = Plan(
            {
                **{name: drawing.node for name, drawing in self._drawings.items()},
                **{name: self._joined(pair) for name, pair in self._pairs.items()},
            }
        )

    def _joined(self, pair: Pair) -> Node:
        sides = tuple(self._drawings[name].filtered for name in (pair.left, pair.right))
        return Node(Join(pair.condition, tuple(name for side in sides for name in side.schema.names)), sides)

    def take(self, output: str, batch: Batch) -> None:
        """Take results of an output of the plan, in order."""
        self._seen[output].extend(batch)

    def forget(self, before: Time) -> None:
        """Use only pairs that become valid from now on, and drop what they do not need."""
        self._since = before
        for name in self._drawings:
            self._seen[name] = [element for element in self._seen[name] if element[1] > before]
        for name in self._pairs:
            self._seen[name] = [element for element in self._seen[name] if element[0] >= before]

    def selectivities(self, confidence: float = CONFIDENCE) -> Mapping[Expression, Interval]:
        """The intervals so far, in O(n log n) of the drawn elements."""
        return dict([*self._of_rows(confidence), *self._of_pairs(confidence)])

    def _of_rows(self, confidence: float) -> Iterator[tuple[Expression, Interval]]:
        for name, drawing in self._drawings.items():
            counts: dict[object, int] = defaultdict(int)
            for _, _, row in self._seen[name]:
                counts[row] += 1
            weight = independent(counts.values()) / (sum(counts.values()) or 1)
            for condition in drawing.conditions:
                holds = compile_row(condition, drawing.node.schema)
                holding = sum(n for row, n in counts.items() if holds(row))
                yield condition, share_of_rows(holding * weight, sum(counts.values()) * weight, confidence)

    def _of_pairs(self, confidence: float) -> Iterator[tuple[Expression, Interval]]:
        for name, pair in self._pairs.items():
            left, right = (list(self._passing(side)) for side in (pair.left, pair.right))
            sides = members(left, right, self._seen[name], self._since)
            yield pair.condition, share_of_pairs(*sides, confidence)

    def _passing(self, name: str) -> Iterable[Element]:
        drawing = self._drawings[name]
        if not drawing.conditions:
            return self._seen[name]
        holds = compile_row(conjunction(drawing.conditions), drawing.node.schema)
        return (element for element in self._seen[name] if holds(element[2]))

    def statistics(self, base: Statistics) -> Statistics:
        """Statistics with the estimated selectivities; where there is no estimate, they stay unchanged.

        If no pair matched, the estimate is a third of the upper bound: the expectation after as many
        failures, if every share was equally likely before.
        """
        found = {
            condition: interval.value or interval.high / 3
            for condition, interval in self.selectivities().items()
            if interval.is_known
        }
        return replace(base, selectivities={**base.selectivities, **found})


def _drawing(node: Node, seed: str, share: float) -> Drawing:
    """A drawing of the input below filters."""
    conditions: list[Expression] = []
    while isinstance(node.operator, Filter):
        conditions += conjuncts(node.operator.condition)
        (node,) = node.inputs
    return Drawing(Node(Filter(drawn(node.schema, seed, share)), (node,)), tuple(conditions))


def _compared(query: Plan) -> Iterator[tuple[Expression, Node, Node]]:
    """Conditions of joins on the rows of two inputs, except equalities of columns."""
    below = {
        child
        for node in query.nodes
        if isinstance(node.operator, Join)
        for child in node.inputs
        if isinstance(child.operator, Join)
    }
    for node in query.nodes:
        if not isinstance(node.operator, Join) or node in below:
            continue
        inputs = joined_inputs(node)
        stated = list(stated_conditions(node, inputs))
        for left, right in combinations(inputs, 2):
            both = {*left.schema.names, *right.schema.names}
            parts = [
                part
                for part in stated
                if part.columns() <= both and all(part.columns() & {*n.schema.names} for n in (left, right))
            ]
            if parts and not any(map(column_equality, parts)):
                yield conjunction(parts), left, right
