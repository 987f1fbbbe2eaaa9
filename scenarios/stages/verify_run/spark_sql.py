"""Plans as Spark SQL: the contents of their snapshots at given instants, by plain relational algebra.

An input is joined with the instants once, by the range of its validity; above that every operator works on
the rows of an instant, which the column `at` names. Nothing here runs Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Difference,
    Distinct,
    Filter,
    Intersection,
    Join,
    MaxUnion,
    Project,
    SemiJoin,
    Source,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import (
    Binary,
    Case,
    Cast,
    Col,
    Const,
    Expression,
    IsNull,
    Logic,
    Not,
)
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema, Type

Names = Mapping[str, str]
"""By column, its expression in Spark SQL."""

ARITHMETIC: Mapping[str, str] = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
"""Functions that do not depend on the session's settings; results that do not fit are null."""

AGGREGATES: Mapping[str, str] = {
    "count": "count",
    "sum": "try_sum",
    "min": "min",
    "max": "max",
    "avg": "try_avg",
    "var_pop": "var_pop",
    "var_samp": "var_samp",
    "stddev_pop": "stddev_pop",
    "stddev_samp": "stddev_samp",
}


@dataclass(frozen=True)
class InstantGrid:
    """The instants that are compared: they lie in [first, last], and in cells of `cell` chronons.

    So the range join compares elements only with the instants of their cells.
    """

    first: int
    last: int
    cell: int


@dataclass
class SparkSql:
    """The text for a plan's output; `{instants}` and the names of `streams` in braces stand for frames.

    >>> from midstream import stream
    >>> plan = stream("s", x="integer").window(5).distinct().plan()
    >>> SparkSql(InstantGrid(0, 9, 10)).of(plan).startswith("SELECT DISTINCT at, c0 FROM (")
    True
    """

    grid: InstantGrid
    streams: dict[str, str] = field(default_factory=dict)
    """By recorded stream, the name in braces."""

    def of(self, plan: Plan) -> str:
        """Rows (at, c0, c1, …) of the only output.

        Raises   PlanError, naming what Spark SQL cannot express.
        """
        return self._of(plan.root, None)

    def _of(self, node: Node, window: TimeWindow | None) -> str:
        """The rows of a node; operators that work row by row below a window may as well stand above it."""
        operator = logical(node)
        if window is not None and not isinstance(operator, Filter | Project | Source):
            raise _inexpressible(operator, "below a window")
        match operator:
            case Source():
                return self._range_join(operator, window or TimeWindow(1))
            case TimeWindow():
                return self._of(node.inputs[0], operator)
        inputs = [self._of(child, window) for child in node.inputs]
        schemas = [child.schema for child in node.inputs]
        match operator:
            case Filter(condition):
                return f"SELECT * FROM ({inputs[0]}) WHERE {_text(condition, _names(schemas[0]))}"
            case Project(columns):
                names = _names(schemas[0])
                parts = [f"{_text(expression, names)} AS c{i}" for i, (_, expression) in enumerate(columns)]
                return f"SELECT {', '.join(['at', *parts])} FROM ({inputs[0]})"
            case Union():
                return " UNION ALL ".join(f"({rows})" for rows in inputs)
            case Distinct():
                return f"SELECT DISTINCT {', '.join(['at', *_names(schemas[0]).values()])} FROM ({inputs[0]})"
            case Join(condition, columns):
                return _join(inputs, schemas, condition, columns)
            case SemiJoin(condition) | AntiJoin(condition):
                kind = "SEMI" if isinstance(operator, SemiJoin) else "ANTI"
                on = _text(condition, {**_names(schemas[0], "l."), **_names(schemas[1], "r.")})
                return _matched(kind, inputs, on)
            case Aggregate(keys, calls):
                return _aggregate(inputs[0], schemas[0], keys, calls)
            case Difference():
                return f"({inputs[0]}) EXCEPT ALL ({inputs[1]})"
            case Intersection():
                return f"({inputs[0]}) INTERSECT ALL ({inputs[1]})"
            case MaxUnion():
                return f"(({inputs[0]}) EXCEPT ALL ({inputs[1]})) UNION ALL ({inputs[1]})"
            case StrictDifference():
                same = " AND ".join(f"l.c{i} <=> r.c{i}" for i in range(len(schemas[0])))
                return _matched("ANTI", inputs, same)
        raise _inexpressible(operator, "in any form")

    def _range_join(self, source: Source, window: TimeWindow) -> str:
        """The rows that are valid at each instant (17.1)."""
        name = self.streams.setdefault(source.stream, f"stream_{len(self.streams)}")
        slide = window.slide
        since = f"time + {slide - 1} - pmod(time, {slide})"
        until = str(self.grid.last + 1)
        if window.size is not None:
            until = f"time + {window.size + slide - 1} - pmod(time + {window.size}, {slide})"
        columns = [f"c{i}" for i in range(len(source.columns))]
        chosen = f"SELECT {since} AS since, {until} AS until, {', '.join(columns)} FROM {{{name}}}"
        return valid_at(chosen, columns, self.grid)


def valid_at(elements: str, columns: Sequence[str], grid: InstantGrid) -> str:
    """Elements (since, until, columns) at the instants at which they are valid.

    One range join finds all, and compares each element with the instants of the cells that it meets.
    """
    since = f"greatest(since, {grid.first})"
    until = f"least(until, {grid.last + 1}) - 1"
    cells = f"explode(sequence({cell_of(since, grid.cell)}, {cell_of(until, grid.cell)}))"
    met = f"since <= {grid.last} AND until > {grid.first} AND since < until"
    spread = f"SELECT *, {cells} AS cell FROM ({elements}) WHERE {met}"
    shown = ", ".join(["i.at", *(f"e.{name}" for name in columns)])
    return (
        f"SELECT {shown} FROM ({spread}) e JOIN {{instants}} i "
        "ON e.cell = i.cell AND e.since <= i.at AND i.at < e.until"
    )


def cell_of(time: str, cell: int) -> str:
    """The number of the cell that holds a time; exact for all integers, negative ones too."""
    return f"(({time}) - pmod({time}, {cell})) div {cell}"


def _join(
    inputs: Sequence[str], schemas: Sequence[Schema], condition: Expression, columns: Sequence[str]
) -> str:
    names = {**_names(schemas[0], "l."), **_names(schemas[1], "r.")}
    shown = ", ".join(["l.at", *(f"{names[name]} AS c{i}" for i, name in enumerate(columns))])
    on = _text(condition, names)
    return f"SELECT {shown} FROM ({inputs[0]}) l JOIN ({inputs[1]}) r ON l.at = r.at AND {on}"


def _matched(kind: str, inputs: Sequence[str], on: str) -> str:
    return f"SELECT l.* FROM ({inputs[0]}) l LEFT {kind} JOIN ({inputs[1]}) r ON l.at = r.at AND {on}"


def _aggregate(
    rows: str, schema: Schema, keys: Sequence[str], calls: Sequence[tuple[str, AggregateCall]]
) -> str:
    """The groups of each instant and their aggregates; an instant without rows has none."""
    names = _names(schema)
    groups = [names[key] for key in keys]
    values = [*groups, *(_called(call, names) for _, call in calls)]
    shown = ", ".join(["at", *(f"{value} AS c{i}" for i, value in enumerate(values))])
    return f"SELECT {shown} FROM ({rows}) GROUP BY {', '.join(['at', *groups])}"


def _called(call: AggregateCall, names: Names) -> str:
    if not isinstance(call.function, str) or call.function not in AGGREGATES:
        raise _inexpressible(call, "as an aggregate")
    if call.argument is None:
        return "count(*)"
    distinct = "DISTINCT " if call.distinct else ""
    return f"{AGGREGATES[call.function]}({distinct}{_text(call.argument, names)})"


def _text(expression: Expression, names: Names) -> str:
    """An expression; unknown is null, and logic has three values, as in SQL."""

    def text(part: Expression) -> str:
        return _text(part, names)

    match expression:
        case Col(name):
            return names[name]
        case Const(value):
            return _constant(value)
        case Binary("==", left, right):
            return f"({text(left)} = {text(right)})"
        case Binary("!=" | "<" | "<=" | ">" | ">=" as operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case Binary(operator, left, right) if operator in ARITHMETIC:
            return f"{ARITHMETIC[operator]}({text(left)}, {text(right)})"
        case Binary("/", left, right):
            return f"try_divide(cast({text(left)} AS double), cast({text(right)} AS double))"
        case Logic(operator, conditions):
            return f"({f' {operator.upper()} '.join(map(text, conditions))})"
        case Not(condition):
            return f"(NOT {text(condition)})"
        case IsNull(value):
            return f"({text(value)} IS NULL)"
        case Case(branches, default):
            whens = " ".join(f"WHEN {text(one)} THEN {text(value)}" for one, value in branches)
            return f"(CASE {whens} ELSE {text(default)} END)"
        case Cast(value, Type.FLOAT):
            return f"cast({text(value)} AS double)"
    raise _inexpressible(expression, "as an expression")


def _constant(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return f"cast({value} AS bigint)"
        case float():
            return f"cast('{value!r}' AS double)"
        case str():
            # Whatever the session says of escapes, and without braces.
            return f"decode(unhex('{value.encode().hex()}'), 'UTF-8')"
    raise _inexpressible(value, "as a constant")


def _names(schema: Schema, of: str = "") -> dict[str, str]:
    return {name: f"{of}c{i}" for i, name in enumerate(schema.names)}


def _inexpressible(what: object, where: str) -> PlanError:
    return PlanError(f"found {what}, which Spark SQL does not express {where} here")
