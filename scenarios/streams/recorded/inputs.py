"""The inputs of a plan over recorded streams, and the columns whose values its cost depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from midstream.io.plan_files import read_plan
from midstream.plans.algebra.operators import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Project,
    Relation,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical
from midstream.plans.expressions.expressions import Col, column_equality, conjuncts
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.plans.values.schema import Type, suggest
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.renaming import studied


@dataclass(frozen=True)
class PlanInput:
    """An input of a plan: a recorded stream, the operators below the window, and the window.

    node       the input as the plan has it
    chain      the node below the window
    length     how long an element is valid, in chronons
    """

    node: Node
    chain: Node
    stream: RecordedStream
    length: int


@dataclass(frozen=True)
class Question:
    """The facts of an input's values that the cost model needs.

    columns    those whose frequencies are counted: joined, grouped or made distinct
    is_sampled true if rows are needed too, because of conditions that frequencies do not answer
    is_counted true if elements are counted; false where another input tells how many there are
    """

    columns: tuple[str, ...]
    is_sampled: bool
    is_counted: bool = True


@dataclass(frozen=True)
class Member:
    """A column of an input, by the input's position among those of the plan."""

    input: int
    column: str
    type: Type


Group = tuple[Member, ...]
"""Columns whose values are compared with each other, or one that is not compared."""


def plan_inputs(plan: Plan, streams: Mapping[str, RecordedStream]) -> tuple[PlanInput, ...]:
    """The inputs of a plan over recorded streams.

    Raises   PlanError where the plan reads a stream or a column that is not recorded, where a window is
             unbounded, or where there is more than filters and projections below a window.
    """
    return tuple(_input(node, streams) for node in input_nodes(plan))


def declared_plan(study: Study, file: Path | None) -> Plan:
    """The plan in a file, else the study's query.

    Raises   InputFileError where there is neither, or where the file cannot be read.
    """
    plan = study.query if file is None else studied(read_plan(file))
    if plan is None:
        raise InputFileError(
            f"study {study.name}: found no query and no plan, expected one of them", path=study.name
        )
    return plan


def require_fitting(plan: Plan, study: Study, file: Path | str | None = None) -> None:
    """Raise InputFileError unless a plan, of a file or of the study itself, fits the study's streams."""
    try:
        plan_inputs(plan, study.streams)
    except PlanError as error:
        raise InputFileError(f"{file or f'study {study.name}'}: {error}", path=file or study.name) from error


def require_priceable(plan: Plan, study: Study, file: Path | str | None = None) -> None:
    """Raise InputFileError unless a plan fits the study's streams, and reads no relation.

    A recording tells nothing about the rows of a relation, so no plan over one can be priced.
    """
    for node in plan.nodes:
        if isinstance(node.operator, Relation):
            raise InputFileError(
                f"{file or f'study {study.name}'}: found {node.operator}, expected streams only; leave the "
                "relation out of the query, or record its rows as a stream",
                path=file or study.name,
            )
    require_fitting(plan, study, file)


def questions(plan: Plan) -> dict[Node, Question]:
    """The questions of the cost model about each input of a plan; equivalent plans have equal questions."""
    inputs = input_nodes(plan)
    owners = Counter(name for node in inputs for name in node.schema.names)
    tops = above(plan, inputs)
    asked = {name for node in tops for name in _counted(node)}
    is_sampled = any(map(_has_other_conditions, tops)) or any(owners[name] > 1 for name in asked)
    # Frequencies are given by name, so a name that two inputs of a union share is left to their samples.
    return {
        node: Question(tuple(n for n in node.schema.names if n in asked and owners[n] == 1), is_sampled)
        for node in inputs
    }


def value_groups(plan: Plan) -> tuple[Group, ...]:
    """The columns whose values are counted, in groups that the plan makes equal.

    Plans with the same meaning have the same groups.
    """
    asked = questions(plan)
    members = {
        name: Member(i, name, node.schema[name].type)
        for i, (node, question) in enumerate(asked.items())
        for name in question.columns
    }
    classes = [sorted(names & members.keys()) for names in equal_names(plan)]
    grouped = {name for names in classes for name in names}
    alone = [[name] for name in members if name not in grouped]
    return tuple(tuple(map(members.__getitem__, names)) for names in sorted(filter(None, [*classes, *alone])))


def equal_names(query: Plan) -> list[set[str]]:
    """The classes of columns that the conditions of a query make equal."""
    classes: list[set[str]] = []
    for node in query.nodes:
        operator = logical(node)
        if isinstance(operator, Join | Filter):
            for columns in filter(None, map(column_equality, conjuncts(operator.condition))):
                touched = [names for names in classes if names & set(columns)]
                classes = [names for names in classes if names not in touched]
                classes.append(set(columns).union(*touched))
    return classes


def _input(node: Node, streams: Mapping[str, RecordedStream]) -> PlanInput:
    operator = logical(node)
    for column in node.schema:
        if column.type is Type.ANY:
            raise PlanError(f"{node!r}: found column {column}, expected a type that can be recorded")
    if isinstance(operator, TimeWindow):
        if operator.size is None:
            raise PlanError(
                f"{node!r}: found an unbounded window, expected one with an end; else costs grow for ever"
            )
        return PlanInput(node, node.inputs[0], _stream(node.inputs[0], streams), operator.size)
    return PlanInput(node, node, _stream(node, streams), 1)


def _stream(chain: Node, streams: Mapping[str, RecordedStream]) -> RecordedStream:
    node = chain
    while isinstance(logical(node), Filter | Project):
        node = node.inputs[0]
    operator = logical(node)
    if not isinstance(operator, Source):
        raise PlanError(
            f"found {operator} below a window, expected only filters and projections of one stream"
        )
    if operator.intervals:
        raise PlanError(f"{operator}: found a stream of intervals, expected one of timestamped rows")
    recorded = recorded_stream(operator, streams)
    for column in operator.columns:
        if column.name not in recorded.columns or recorded.columns[column.name] != column:
            raise PlanError(f"{operator}: found column {column}, expected those declared: {recorded.columns}")
    return recorded


def recorded_stream(source: Source, streams: Mapping[str, RecordedStream]) -> RecordedStream:
    """The stream that a source reads.

    Raises   PlanError where it is not recorded.
    """
    if source.stream not in streams:
        known = f"one of {', '.join(streams)}{suggest(source.stream, streams)}"
        raise PlanError(f"the plan reads stream {source.stream}, expected {known}")
    return streams[source.stream]


def _counted(node: Node) -> set[str]:
    """The columns whose frequencies an operator's cost depends on."""
    match logical(node):
        case Join(condition, _):
            equalities = filter(None, map(column_equality, conjuncts(condition)))
            return {name for columns in equalities for name in columns}
        case Aggregate(keys, _):
            return set(keys)
        case Distinct():
            return set(node.schema.names)
    return set()


def _has_other_conditions(node: Node) -> bool:
    match logical(node):
        case Filter():
            return True
        case Join(condition, _):
            return not all(map(column_equality, conjuncts(condition)))
        case Project(columns):
            return not all(isinstance(expression, Col) for _, expression in columns)
    return False
