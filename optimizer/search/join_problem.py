"""Neighbouring joins as one problem: inputs, conditions, and which of these a join of some inputs has to
check."""

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
    """A plan of an input, with what is estimated for its output, and what all its operators cost."""

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
        """What it reads."""
        return self.condition.columns()

    @property
    def thinned(self) -> int:
        """The input of which it keeps some rows, if it reads but one."""
        return 0 if self.inputs & (self.inputs - 1) else self.inputs


@dataclass(frozen=True)
class Links:
    """Columns that are to be equal: the inputs that have some of them, and by input one name for each set of
    columns that it guarantees to be equal."""

    inputs: int
    columns: frozenset[str]
    names: Mapping[int, Sequence[str]]

    @property
    def thinned(self) -> int:
        """The inputs of which they keep some rows: columns in them are to be equal."""
        return sum(1 << i for i, names in self.names.items() if len(names) > 1)

    def within(self, subset: int) -> Sequence[str]:
        """The names by which some inputs are linked with others; one, where these have been joined."""
        here = subset & self.inputs
        if not here:
            return ()
        if subset & (subset - 1):
            return (min(min(self.names[i]) for i in members(here)),)
        return self.names[here.bit_length() - 1]


@dataclass(frozen=True)
class JoinProblem:
    """Inputs that are to be joined under conditions, and the output's columns.

    Of each input there are one or more plans that mean the same, and of which none is beaten by another one:
    the cheaper ones give more elements. Each has the same columns, and no name occurs in two inputs. `given`
    is a join order that is there already. `value` tells what an operator adds to the cost of a plan, if that
    is not its processing; then pairs take longer to price.
    """

    inputs: tuple[tuple[Alternative, ...], ...]
    conditions: tuple[Expression, ...]
    columns: tuple[str, ...]
    model: CostModel
    given: Shape | None = None
    value: Callable[[Estimate], float] | None = None

    @property
    def every(self) -> int:
        """All inputs, as a mask."""
        return (1 << len(self.inputs)) - 1

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """One plan of each input, that tells what is common to all."""
        return tuple(alternatives[0].node for alternatives in self.inputs)

    @cached_property
    def schema(self) -> Schema:
        """The columns of all inputs."""
        return Schema(tuple(column for node in self.nodes for column in node.schema))

    @cached_property
    def input_of(self) -> Mapping[str, int]:
        """The input that has a column."""
        return {column.name: i for i, node in enumerate(self.nodes) for column in node.schema}

    @cached_property
    def _linked(self) -> Conditions:
        return Conditions(self.conditions, self.nodes, self.columns)

    @cached_property
    def links(self) -> tuple[Links, ...]:
        """The classes of columns that are to be equal, as far as an input does not guarantee it."""
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
        """The conditions that are no links, each of which is checked by the first join that can."""
        return tuple(
            Checked(sum({1 << self.input_of[name] for name in part.columns()}), part)
            for part in self._linked.others
        )

    def graph(self, products: Products = "auto") -> JoinGraph:
        """What is connected by links, and by conditions that read two inputs. One that reads more of them
        connects none: it is checked where they have met."""
        pairs = [one.inputs for one in self.checked if one.inputs.bit_count() == 2]
        return JoinGraph.of(len(self.inputs), [*(one.inputs for one in self.links), *pairs], products)

    def parts(self, one: int, other: int) -> list[Expression]:
        """The condition of the join of two sets of inputs, in parts, as `linked` writes it."""
        return parts_of(self.links, self.checked, one, other, self.every)

    def checked_by(self, one: int, other: int) -> Iterator[Checked]:
        """The conditions, other than links, that the join of two sets of inputs is the first to be able to
        check."""
        return (each for each in self.checked if _is_first(each.inputs, one, other, self.every))

    def join(self, one: int, other: int, left: Node, right: Node) -> Node:
        """The join of subplans of two sets of inputs, as `linked` writes it."""
        columns = self.columns
        if one | other != self.every:
            visible = {*left.schema.names, *right.schema.names}
            columns = tuple(name for name in self._linked.order if name in visible)
        return Node(Join(conjunction(self.parts(one, other)), columns), (left, right))

    def facts(self, i: int, columns: frozenset[str]) -> Facts:
        """What is known of some columns of an input."""
        facts = self.inputs[i][0].estimate.facts
        return {name: facts[name] for name in self.nodes[i].schema.names if name in columns and name in facts}


def problem_of(node: Node, model: CostModel) -> JoinProblem | None:
    """The problem that a join is the top of, with the joins right below it; None where a subplan is no join.

    What stands below is taken as it is: one plan of each input, with its cost.
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
    linking: Iterable[Links], checked: Iterable[Checked], one: int, other: int, every: int
) -> list[Expression]:
    """What of some conditions the join of two sets of inputs has to check: what it is the first to be able to
    check, and the links between them. What reads nothing is left to the outermost join."""
    parts = [each.condition for each in checked if _is_first(each.inputs, one, other, every)]
    return [*parts, *(part for each in linking for part in links(each.within(one), each.within(other)))]


def is_key(part: Expression, left: Mapping[str, int], one: int, other: int) -> bool:
    """Whether a part of a condition equates a column of one set of inputs with one of the other."""
    names = column_equality(part)
    if not names:
        return False
    first, second = (1 << left[name] for name in names)
    return bool((first & one and second & other) or (first & other and second & one))


def _is_first(inputs: int, one: int, other: int, every: int) -> bool:
    """Whether a join of two sets is the first that has met these inputs. A set of one input is no join."""
    if not inputs:
        return one | other == every
    return not inputs & ~(one | other) and not any(
        not inputs & ~side and side & (side - 1) for side in (one, other)
    )
