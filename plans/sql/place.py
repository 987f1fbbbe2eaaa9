"""Places of expressions in a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import Expression
from midstream.plans.sql.scalars import Reader, UserFunction
from midstream.plans.sql.scope import Scope
from midstream.plans.values.units import TimeUnit

Special = Callable[[exp.Expr], Expression | None]


@dataclass(frozen=True)
class Place:
    """A scope with functions, aggregates and a unit; `special` translates some parts of expressions first."""

    scope: Scope
    unit: TimeUnit
    functions: Mapping[str, UserFunction]
    aggregates: Mapping[str, UserAggregate]
    special: Special = field(default=lambda _: None)

    def reader(self, translated: Mapping[int, Expression] | None = None) -> Reader:
        """A reader of expressions here; `translated` are parts that are already translated, by identity."""

        def special(tree: exp.Expr) -> Expression | None:
            if translated is not None and id(tree) in translated:
                return translated[id(tree)]
            return self.special(tree)

        scope = self.scope
        return Reader(
            scope.script, self.unit, self.functions, scope.schema, scope.resolve, special, scope.time_of
        )

    def over(self, node: Node) -> Place:
        """This place over another stream with the same columns."""
        return replace(self, scope=replace(self.scope, node=node))
