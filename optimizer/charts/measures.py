"""What charts have along their dimensions: rates of streams, and selectivities of conditions.

A measure has a name, by which it is found again in the plans of a chart that was saved:

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
    """Something that statistics tell, and that may change.

    least, most    what it can be
    """

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> float: ...

    @property
    def most(self) -> float: ...

    def read(self, known: Statistics) -> float | None:
        """Its value; None where the statistics do not tell."""
        ...

    def change(self, known: Statistics, value: float) -> Statistics:
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
        """As in rate(bids)."""
        return f"rate({_stream(self.source)})"

    def read(self, known: Statistics) -> float | None:
        return known.streams[self.source].rate if self.source in known.streams else None

    def change(self, known: Statistics, value: float) -> Statistics:
        if not 0 < value < math.inf:
            raise ChartError(f"{self.name}: found {value}, expected more than 0")
        other = replace(known.stream(self.source), d=1 / value)
        return replace(known, streams={**known.streams, self.source: other})


@dataclass(frozen=True, slots=True)
class Selectivity:
    """The share of rows, or of pairs, that satisfy a condition.

    forms      it may stand in plans in several, over columns above and below projections
    origins    of an equality of two columns: the sources that these come from, and their names there.
               Without a plan, columns are looked for by name
    """

    forms: tuple[Expression, ...]
    origins: tuple[Origin, ...] | None = None
    least = 0.0
    most = 1.0

    @property
    def name(self) -> str:
        """As in selectivity(price > 7): over the columns of streams, which all plans have."""
        return f"selectivity({self.forms[-1]})"

    def read(self, known: Statistics) -> float | None:
        """What is known of it, else its share of a sample; of an equality, by how the values of both columns
        are distributed. None where nothing tells."""
        for form in self.forms:
            if form in known.selectivities:
                return known.selectivities[form]
        for form in self.forms:
            for node, stream in known.streams.items():
                if stream.sample and stream.sample.rows and form.columns() <= set(node.schema.names):
                    return len(stream.sample.where(form).rows) / len(stream.sample.rows)
        origins = _by_names(self.forms[0], known) if self.origins is None else self.origins
        told = [_distribution(*origin, known) for origin in origins]
        match told:
            case [{} as one, {} as other]:
                return math.fsum(share * other.get(value, 0.0) for value, share in one.items())
        return None

    def change(self, known: Statistics, value: float) -> Statistics:
        return replace(known, selectivities={**known.selectivities, **dict.fromkeys(self.forms, value)})


def _by_names(form: Expression, known: Statistics) -> list[Origin]:
    """The columns of an equality, as streams with such columns have them."""
    return [
        next(((node, name) for node in known.streams if name in node.schema.names), (None, name))
        for name in column_equality(form) or ()
    ]


def _distribution(source: Node | None, column: str, known: Statistics) -> Distribution | None:
    """How the values of a column are distributed, as the cost model has it: known ones before a sample's."""
    if source is None or (stream := known.streams.get(source)) is None:
        return None
    told = {**known.distributions, **stream.distributions}.get(column)
    if told is None and stream.sample is not None and stream.sample.rows:
        return stream.sample.distribution(column)
    return told


def rate_of(stream: Stream) -> Measure:
    """Elements of a stream per chronon."""
    return Rate(stream.node)


def selectivity_of(condition: Operand | Expression) -> Measure:
    """The share of rows, or of pairs, that satisfy a condition."""
    # Known selectivities are kept by their trees.
    return Selectivity((expression_of(condition),))


def measures_of(plans: Iterable[Plan]) -> dict[str, Measure]:
    """All that may change in some plans, by name: rates first."""
    nodes = list(dict.fromkeys(node for plan in plans for node in plan.nodes))
    found: dict[str, Measure] = {}
    for measure in (*_rates(nodes), *_selectivities(nodes)):
        found.setdefault(measure.name, measure)
    return found


def measure_named(name: str, plans: Iterable[Plan]) -> Measure:
    """What is so called in some plans; a condition also by what it is below projections.

    Raises   ChartError, with the names that there are, where nothing is.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("bids", price="integer")
    >>> measure_named("rate(bids)", [s.filter(s["price"] > 7).plan()]).name
    'rate(bids)'
    """
    known = measures_of(plans)
    by_text = {
        _plain(f"selectivity({form})"): measure
        for measure in known.values()
        if isinstance(measure, Selectivity)
        for form in measure.forms
    } | {_plain(one): measure for one, measure in known.items()}
    if _plain(name) not in by_text:
        raise ChartError(f"found {name!r}, expected what may change: {', '.join(known)}")
    return by_text[_plain(name)]


def _plain(name: str) -> str:
    return "".join(name.split()).lower()


def _rates(nodes: Iterable[Node]) -> Iterator[Measure]:
    return (Rate(node) for node in nodes if isinstance(node.operator, Source))


def _selectivities(nodes: Sequence[Node]) -> Iterator[Measure]:
    for text, forms in conditions_by_text(nodes).items():
        if text == str(forms[0]):
            yield Selectivity(tuple(forms), _origins(forms[0], nodes))


def _origins(form: Expression, nodes: Iterable[Node]) -> tuple[Origin, ...]:
    """Where the columns of an equality come from, below a join that asks for it."""
    for node in nodes:
        if isinstance(node.operator, Join) and form in conjuncts(node.operator.condition):
            found = [_origin(name, node) for name in column_equality(form) or ()]
            if None not in found:
                return tuple(one for one in found if one is not None)
    return ()


def _origin(column: str, node: Node) -> Origin | None:
    """The source of a column that a node reads, through operators that leave values as they are."""
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
