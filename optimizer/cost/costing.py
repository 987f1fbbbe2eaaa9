"""An operator to price, with everything that cost formulas may read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Protocol

from midstream.optimizer.cost.column_facts import Facts, combinations, paired
from midstream.optimizer.cost.comparisons import Matches, matches
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.cost.selectivity import Classes, Selectivity, Shares
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.implementations import Implementation
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.plan import Node, fact_of_node
from midstream.plans.algebra.properties import equal_columns, expressions, logical
from midstream.plans.expressions.expressions import TRUE, Expression, conjuncts, join_keys, walk
from midstream.plans.expressions.ranges import find_range
from midstream.plans.values.schema import Schema


class PairCosting(Protocol):
    """The two inputs of a join, and the selectivities of its condition that implementations use.

    The formulas of joins need nothing else, so a search can price a pair of inputs without a node.
    """

    @property
    def inputs(self) -> Sequence[Estimate]:
        """The left and the right input."""

    @property
    def units(self) -> UnitCosts:
        """Costs of single steps."""

    @property
    def key_share(self) -> float:
        """The share of pairs that agree in the columns that the condition equates."""

    @property
    def range_share(self) -> float:
        """The share of pairs whose keys are in the range that the condition states."""


SIMPLE = 8
"""Number of operators and calls in expressions that the units of predicates and functions cover."""


@dataclass(frozen=True)
class Costing:
    """A node, and the estimates of its inputs."""

    node: Node
    inputs: Sequence[Estimate]
    units: UnitCosts
    selectivity: Selectivity
    implementation: Implementation
    """The implementation that the node names, or that the planner would choose."""
    adjusted: Logical | None = None
    """The operator with another setting of its lever; None for that of the node."""
    _satisfying: dict[tuple[Expression, ...], tuple[float, Facts]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def operator(self) -> Logical:
        """The logical operator of the node, or its adjusted form."""
        return self.adjusted or logical(self.node)

    def over(self, inputs: Sequence[Estimate], adjusted: Logical | None) -> Costing:
        """This node over inputs with other lengths and rates, and with another setting.

        The shares of rows that satisfy conditions stay as they are: they follow from values, which settings
        of windows, granules and samples do not change.
        """
        return Costing(
            self.node,
            inputs,
            self.units,
            self.selectivity,
            self.implementation,
            adjusted,
            self._satisfying,
        )

    @property
    def conditions(self) -> tuple[Expression, ...]:
        """The conjuncts of the operator's condition."""
        return _conditions(self.node)

    @property
    def evaluated(self) -> float:
        """Work to evaluate the operator's expressions, as a multiple of a simple expression.

        It is the number of operators and calls, where more than SIMPLE of them.
        """
        steps = sum(1 for one in expressions(self.node) for part in walk(one) if part.parts())
        return max(1.0, steps / SIMPLE)

    @cached_property
    def facts(self) -> Facts:
        """Facts about the columns of all inputs; for two inputs, facts about pairs of rows."""
        return reduce(paired, (s.facts for s in self.inputs))

    @cached_property
    def schemas(self) -> tuple[Schema, ...]:
        """The schemas of the inputs."""
        return tuple(child.schema for child in self.node.inputs)

    def satisfying(self, conditions: Iterable[Expression]) -> tuple[float, Facts]:
        """The share of rows, or of pairs of rows, that satisfy conditions, and facts about them."""
        parts = tuple(conditions)
        if parts not in self._satisfying:
            schema, classes = _columns_of_inputs(self.node)
            self._satisfying[parts] = self.selectivity.of(parts, schema, self.facts, classes)
        return self._satisfying[parts]

    @cached_property
    def key_share(self) -> float:
        """The share of pairs that agree in the columns that a join's condition equates."""
        _, rest = _join_keys(self.node)
        others = conjuncts(rest)
        return self._share([part for part in self.conditions if part not in others])

    @cached_property
    def range_share(self) -> float:
        """The share of pairs whose keys are in the range that a join's condition states."""
        band = find_range(self.operator.expressions[0], *self.schemas)
        assert band is not None
        return self._share(band.parts)

    @cached_property
    def matches(self) -> Matches:
        """Of a semi-join or anti-join, how the matches of a left row begin and end."""
        return matches(self.shares_of_left_rows, self.inputs[1])

    @cached_property
    def shares_of_left_rows(self) -> Shares:
        """Of a semi-join or anti-join, the shares of right rows that left rows match."""
        (condition,) = expressions(self.node)
        s, t = self.inputs
        total, _ = self.satisfying(self.conditions)
        return self.selectivity.by_left_row(condition, s.facts, t.facts, total)

    @cached_property
    def right_columns(self) -> tuple[str, ...]:
        """The columns of the right input that the condition of a join reads."""
        return tuple(name for name in self.schemas[1].names if name in self.operator.expressions[0].columns())

    @cached_property
    def asks_for_equality_only(self) -> bool:
        """True if a join's condition consists of equalities of columns only."""
        keys, rest = _join_keys(self.node)
        return bool(keys) and rest == TRUE

    def _share(self, conditions: Sequence[Expression]) -> float:
        return self.satisfying(conditions)[0] if conditions else 1.0

    def kinds(self, names: Iterable[str]) -> float:
        """Number of distinct combinations of values of some columns of the first input."""
        return combinations(names, self.inputs[0].facts)


# Facts that do not depend on statistics are computed once for a node, however often it is priced.


@fact_of_node
def _conditions(node: Node) -> tuple[Expression, ...]:
    (condition,) = expressions(node)
    return conjuncts(condition)


@fact_of_node
def _join_keys(node: Node) -> tuple[list[tuple[str, str]], Expression]:
    (condition,) = expressions(node)
    left, right = node.inputs
    return join_keys(condition, left.schema, right.schema)


@fact_of_node
def _columns_of_inputs(node: Node) -> tuple[Schema, Classes]:
    """The columns of all inputs, and which of them are equal."""
    schema = reduce(Schema.concat, (child.schema for child in node.inputs))
    return schema, {name: names for child in node.inputs for names in equal_columns(child) for name in names}
