"""Adjacent joins as one problem: inputs, conditions, and the conditions that each join has to check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.column_facts import Facts
from midstream.optimizer.cost.estimate import Estimate
from midstream.optimizer.rules.linking import (
    Conditions,
    is_free_join,
    joined_inputs,
    links,
    representatives,
    stated_conditions,
)
from midstream.optimizer.search.join_graph import JoinGraph, Products, members
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import equal_columns
from midstream.plans.expressions.expressions import Expression, column_equality, conjunction
from midstream.plans.values.schema import Schema

Shape = int | tuple["Shape", "Shape"]
"""A join order: an input's number, or the orders of both sides."""


@dataclass(frozen=True)
class Alternative:
    """A plan of an input, with the estimate of its output and the cost of all its operators."""

    node: Node
    estimate: Estimate
    cost: float


@dataclass(frozen=True)
class Checked:
    """A condition that is no link, and the inputs that it reads."""

    inputs: int
    condition: Expression

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the condition reads."""
        return self.condition.columns()

    @property
    def thinned(self) -> int:
        """The input whose rows the condition filters, if it reads only one; else 0."""
        return 0 if self.inputs & (self.inputs - 1) else self.inputs


@dataclass(frozen=True)
class Links:
    """A class of columns that are to be equal.

    inputs     the inputs that have some of these columns, as a mask
    columns    the columns
    names      by input, one name for each set of columns that the input guarantees to be equal
    """

    inputs: int
    columns: frozenset[str]
    names: Mapping[int, Sequence[str]]

    @property
    def thinned(self) -> int:
        """The inputs whose rows the links filter, because several columns in them are to be equal."""
        return sum(1 << i for i, names in self.names.items() if len(names) > 1)

    def within(self, subset: int) -> Sequence[str]:
        """The names by which some inputs are linked with others; one name after a join of several inputs."""
        here = subset & self.inputs
        if not here:
            return ()
        if subset & (subset - 1):
            return (min(min(self.names[i]) for i in members(here)),)
        return self.names[here.bit_length() - 1]


@dataclass(frozen=True)
class JoinProblem:
    """Inputs that are to be joined under conditions, and the output's columns.

    Each input has one or more equivalent plans, none of which another one beats: the cheaper ones have more
    results. They have the same columns, and no name occurs in two inputs. `initial` is a join order that
    exists already. `value` converts an operator's estimate to its cost, if that is not its processing; then
    pairs take longer to price.
    """

    inputs: tuple[tuple[Alternative, ...], ...]
    conditions: tuple[Expression, ...]
    columns: tuple[str, ...]
    model: CostModel
    initial: Shape | None = None
    value: Callable[[Estimate], float] | None = None

    @property
    def every(self) -> int:
        """All inputs, as a mask."""
        return (1 << len(self.inputs)) - 1

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """One plan of each input, for the properties that all of them share."""
        return tuple(alternatives[0].node for alternatives in self.inputs)

    @cached_property
    def schema(self) -> Schema:
        """The columns of all inputs."""
        return Schema(tuple(column for node in self.nodes for column in node.schema))

    @cached_property
    def input_of(self) -> Mapping[str, int]:
        """By column, the number of its input."""
        return {column.name: i for i, node in enumerate(self.nodes) for column in node.schema}

    @cached_property
    def _linked(self) -> Conditions:
        return Conditions(self.conditions, self.nodes, self.columns)

    @cached_property
    def links(self) -> tuple[Links, ...]:
        """The classes of columns that are to be equal, unless the inputs guarantee it."""
        found = []
        for names in self._linked.classes:
            by_input: dict[int, list[str]] = {}
            for name in sorted(names):
                by_input.setdefault(self.input_of[name], []).append(name)
            known = {
                i: representatives(frozenset(alike), equal_columns(self.nodes[i]))
                for i, alike in by_input.items()
            }
            if len(known) > 1 or any(len(alike) > 1 for alike in known.values()):
                found.append(Links(sum(1 << i for i in known), names, known))
        return tuple(found)

    @cached_property
    def checked(self) -> tuple[Checked, ...]:
        """The conditions that are no links; the first join that can check such a condition does."""
        return tuple(
            Checked(sum({1 << self.input_of[name] for name in part.columns()}), part)
            for part in self._linked.others
        )

    def graph(self, products: Products = "auto") -> JoinGraph:
        """The graph of inputs, connected by links and by conditions that read two inputs.

        A condition over more inputs connects none; it is checked once they have been joined.
        """
        pairs = [each.inputs for each in self.checked if each.inputs.bit_count() == 2]
        return JoinGraph.of(len(self.inputs), [*(each.inputs for each in self.links), *pairs], products)

    def parts(self, left: int, right: int) -> list[Expression]:
        """The condition of the join of two sets of inputs, in parts, in the form of `linked`."""
        return parts_of(self.links, self.checked, left, right, self.every)

    def checked_by(self, left: int, right: int) -> Iterator[Checked]:
        """The conditions, except links, that the join of two sets of inputs is the first able to check."""
        return (each for each in self.checked if _is_first(each.inputs, left, right, self.every))

    def join(self, left: int, right: int, left_plan: Node, right_plan: Node) -> Node:
        """The join of subplans of two sets of inputs, in the form of `linked`."""
        columns = self.columns
        if left | right != self.every:
            visible = {*left_plan.schema.names, *right_plan.schema.names}
            columns = tuple(name for name in self._linked.order if name in visible)
        return Node(Join(conjunction(self.parts(left, right)), columns), (left_plan, right_plan))

    def facts(self, i: int, columns: frozenset[str]) -> Facts:
        """Facts about some columns of an input."""
        facts = self.inputs[i][0].estimate.facts
        return {name: facts[name] for name in self.nodes[i].schema.names if name in columns and name in facts}


def problem_of(node: Node, model: CostModel) -> JoinProblem | None:
    """The problem of a join and the joins right below it; None if a subplan is no join.

    The subplans below are taken unchanged: one plan of each input, with its cost.
    """
    if not is_free_join(node):
        return None
    assert isinstance(node.operator, Join)
    inputs = joined_inputs(node)
    numbers = {child: i for i, child in enumerate(inputs)}

    def shape(below: Node) -> Shape:
        if below in numbers:
            return numbers[below]
        left, right = below.inputs
        return shape(left), shape(right)

    left, right = node.inputs
    return JoinProblem(
        tuple(
            (Alternative(child, model.estimate(child), model.price(Plan(child)).total),) for child in inputs
        ),
        tuple(stated_conditions(node, inputs)),
        node.operator.columns,
        model,
        (shape(left), shape(right)),
    )


def parts_of(
    linking: Iterable[Links], checked: Iterable[Checked], left: int, right: int, every: int
) -> list[Expression]:
    """The conditions that the join of two sets of inputs has to check, including the links between them.

    A condition is checked by the first join that has all its inputs; one without columns by the outermost
    join.
    """
    parts = [each.condition for each in checked if _is_first(each.inputs, left, right, every)]
    return [*parts, *(part for each in linking for part in links(each.within(left), each.within(right)))]


def is_key(part: Expression, input_of: Mapping[str, int], left: int, right: int) -> bool:
    """True if a part of a condition equates a column of one set of inputs with a column of the other."""
    names = column_equality(part)
    if not names:
        return False
    first, second = (1 << input_of[name] for name in names)
    return bool((first & left and second & right) or (first & right and second & left))


def _is_first(inputs: int, left: int, right: int, every: int) -> bool:
    """True if the join of two sets is the first one that has all these inputs; one input is no join."""
    if not inputs:
        return left | right == every
    return not inputs & ~(left | right) and not any(
        not inputs & ~side and side & (side - 1) for side in (left, right)
    )
