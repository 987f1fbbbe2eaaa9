"""The measures along the dimensions of charts: rates of streams, and selectivities of conditions.

A measure has a name that identifies it in the plans of a saved chart:

    rate(bids)                  elements of the stream per chronon
    selectivity(price > 7)      the share of rows, or of pairs, that satisfy the condition
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from midstream.optimizer.charts.chart import ChartError
from midstream.optimizer.rules.substitution import definitions
from midstream.optimizer.statistics import Distribution, Statistics
from midstream.optimizer.statistics_file import conditions_by_text
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.operators import Filter, Join, Project, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Col, Expression, column_equality, conjuncts
from midstream.plans.expressions.operands import Operand, expression_of

Origin = tuple[Node | None, str]
"""A source, if there is one, and a column of it."""


class Measure(Protocol):
    """A property of statistics that may change.

    least, most    its smallest and its largest possible value
    """

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> float: ...

    @property
    def most(self) -> float: ...

    def read(self, statistics: Statistics) -> float | None:
        """The value; None if the statistics do not contain it."""
        ...

    def change(self, statistics: Statistics, value: float) -> Statistics:
        """The statistics with another value."""
        ...


@dataclass(frozen=True, slots=True)
class Rate:
    """Elements of a stream per chronon."""

    source: Node
    least = 0.0
    most = math.inf

    @property
    def name(self) -> str:
        """The name, as in rate(bids)."""
        return f"rate({_stream(self.source)})"

    def read(self, statistics: Statistics) -> float | None:
        return statistics.streams[self.source].rate if self.source in statistics.streams else None

    def change(self, statistics: Statistics, value: float) -> Statistics:
        if not 0 < value < math.inf:
            raise ChartError(f"{self.name}: found {value}, expected more than 0")
        other = replace(statistics.stream(self.source), d=1 / value)
        return replace(statistics, streams={**statistics.streams, self.source: other})


@dataclass(frozen=True, slots=True)
class SelectivityMeasure:
    """The share of rows, or of pairs, that satisfy a condition.

    forms      the forms of the condition in plans, over columns above and below projections
    origins    for an equality of two columns, their sources and their names there; without a plan, columns
               are found by name
    """

    forms: tuple[Expression, ...]
    origins: tuple[Origin, ...] | None = None
    least = 0.0
    most = 1.0

    @property
    def name(self) -> str:
        """The name, as in selectivity(price > 7): over the columns of streams, which all plans have."""
        return f"selectivity({self.forms[-1]})"

    def read(self, statistics: Statistics) -> float | None:
        """The known selectivity, else the share of a sample; None if neither exists.

        For an equality, the share follows from the distributions of both columns.
        """
        for form in self.forms:
            if form in statistics.selectivities:
                return statistics.selectivities[form]
        for form in self.forms:
            for node, stream in statistics.streams.items():
                if stream.sample and stream.sample.rows and form.columns() <= set(node.schema.names):
                    return len(stream.sample.where(form).rows) / len(stream.sample.rows)
        origins = _by_names(self.forms[0], statistics) if self.origins is None else self.origins
        told = [_distribution(*origin, statistics) for origin in origins]
        match told:
            case [{} as one, {} as other]:
                return math.fsum(share * other.get(value, 0.0) for value, share in one.items())
        return None

    def change(self, statistics: Statistics, value: float) -> Statistics:
        return replace(
            statistics, selectivities={**statistics.selectivities, **dict.fromkeys(self.forms, value)}
        )


def _by_names(form: Expression, statistics: Statistics) -> list[Origin]:
    """The columns of an equality with the first stream that has a column of that name."""
    return [
        next(((node, name) for node in statistics.streams if name in node.schema.names), (None, name))
        for name in column_equality(form) or ()
    ]


def _distribution(source: Node | None, column: str, statistics: Statistics) -> Distribution | None:
    """The distribution of the values of a column, as in the cost model: known ones before a sample's."""
    if source is None or (stream := statistics.streams.get(source)) is None:
        return None
    told = {**statistics.distributions, **stream.distributions}.get(column)
    if told is None and stream.sample is not None and stream.sample.rows:
        return stream.sample.distribution(column)
    return told


def rate_of(stream: Stream) -> Measure:
    """Elements of a stream per chronon."""
    return Rate(stream.node)


def selectivity_of(condition: Operand | Expression) -> Measure:
    """The share of rows, or of pairs, that satisfy a condition."""
    # Known selectivities are kept by their trees.
    return SelectivityMeasure((expression_of(condition),))


def measures_of(plans: Iterable[Plan]) -> dict[str, Measure]:
    """All measures of some plans by name: rates first."""
    nodes = list(dict.fromkeys(node for plan in plans for node in plan.nodes))
    found: dict[str, Measure] = {}
    for measure in (*_rates(nodes), *_selectivities(nodes)):
        found.setdefault(measure.name, measure)
    return found


def measure_named(name: str, plans: Iterable[Plan]) -> Measure:
    """The measure of that name in some plans; a condition may be written as it is below projections.

    Raises   ChartError, with the existing names, if there is none.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("bids", price="integer")
    >>> measure_named("rate(bids)", [s.filter(s["price"] > 7).plan()]).name
    'rate(bids)'
    """
    known = measures_of(plans)
    by_text = {
        _plain(f"selectivity({form})"): measure
        for measure in known.values()
        if isinstance(measure, SelectivityMeasure)
        for form in measure.forms
    } | {_plain(one): measure for one, measure in known.items()}
    if _plain(name) not in by_text:
        raise ChartError(f"found {name!r}, expected one of {', '.join(known)}")
    return by_text[_plain(name)]


def _plain(name: str) -> str:
    return "".join(name.split()).lower()


def _rates(nodes: Iterable[Node]) -> Iterator[Measure]:
    return (Rate(node) for node in nodes if isinstance(node.operator, Source))


def _selectivities(nodes: Sequence[Node]) -> Iterator[Measure]:
    for text, forms in conditions_by_text(nodes).items():
        if text == str(forms[0]):
            yield SelectivityMeasure(tuple(forms), _origins(forms[0], nodes))


def _origins(form: Expression, nodes: Iterable[Node]) -> tuple[Origin, ...]:
    """The sources of the columns of an equality, below a join that has it as a condition."""
    for node in nodes:
        if isinstance(node.operator, Join) and form in conjuncts(node.operator.condition):
            found = [_origin(name, node) for name in column_equality(form) or ()]
            if None not in found:
                return tuple(one for one in found if one is not None)
    return ()


def _origin(column: str, node: Node) -> Origin | None:
    """The source of a column that a node reads, through operators that leave values unchanged."""
    for child in node.inputs:
        if column in child.schema.names:
            match child.operator:
                case Source():
                    return child, column
                case Project():
                    read = definitions(child).get(column)
                    return _origin(read.name, child) if isinstance(read, Col) else None
                case Filter() | Join() | TimeWindow():
                    return _origin(column, child)
    return None


def _stream(node: Node) -> str:
    return node.operator.stream if isinstance(node.operator, Source) else repr(node)
