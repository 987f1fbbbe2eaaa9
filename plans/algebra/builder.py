"""Write a query in Python, operator by operator.

>>> bids = stream("bids", item="integer", price="float").alias("b").window(60)
>>> asks = stream("asks", item="integer", price="float").alias("a").window(60)
>>> pairs = bids.join(asks, on=bids["b.item"] == asks["a.item"])
    >>> query = pairs.group_by("b.item").aggregate(best=max_("b.price"))
>>> print(query.plan())
aggregate max(b.price) as best by b.item
└─ join a.item = b.item
   ├─ window 60
   │  └─ project item as b.item, price as b.price
   │     └─ source bids
   └─ window 60
      └─ project item as a.item, price as a.price
         └─ source asks
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Never, Protocol

from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Coalesce,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    Logical,
    MaxUnion,
    PartitionedWindow,
    Project,
    Relation,
    Sample,
    SemiJoin,
    Source,
    Split,
    StrictDifference,
    Ties,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import timestamped, windowless
from midstream.plans.algebra.scaling import scaled
from midstream.plans.expressions.aggregates import AggregateCall, Estimate, max_
from midstream.plans.expressions.expressions import Col, Expression, conjunction, conjuncts, equality, ordered
from midstream.plans.expressions.operands import Operand, col, expression_of
from midstream.plans.values.arguments import listed, require, require_mapping, require_name, wrong
from midstream.plans.values.errors import ArgumentError, ExpressionError, PlanError, SchemaError
from midstream.plans.values.finite import python_value
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.schema import ColumnType, Schema, parse_column
from midstream.plans.values.streams import FOREVER, Element

if TYPE_CHECKING:
    from midstream.plans.values.units import TimeUnit

Duration = int | timedelta
"""A duration: a number of chronons, or a timedelta if the stream declares a unit of time."""

On = Operand | Expression | Iterable[tuple[str, str]] | None
"""The condition of a join, or pairs (left column, right column) that must be equal; None joins every pair."""

__all__ = ["Group", "Stream", "max_", "node_of", "plan_of", "relation", "stream"]


@dataclass(frozen=True, slots=True)
class Stream(NearNames):
    """A stream under construction; every method returns a new stream."""

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "where": "filter",
        "project": "select",
        "agg": "aggregate",
        "groupBy": "group_by",
        **dict.fromkeys(("drop_duplicates", "dropDuplicates"), "distinct"),
        **dict.fromkeys(("union_all", "unionAll", "concat", "vstack"), "union"),
        **dict.fromkeys(("except_all", "exceptAll"), "difference"),
        **dict.fromkeys(("intersect_all", "intersectAll"), "intersection"),
        **dict.fromkeys(("cross_join", "crossJoin", "merge"), "join"),
        "withColumnsRenamed": "rename",
        "list": "",
    }

    node: Node
    unit: TimeUnit | None = field(default=None, compare=False)
    """The declared unit of its chronons, in which timedeltas are counted; None if no unit is declared."""

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return self.node.schema

    def __getitem__(self, name: str) -> Operand:
        """A column of this stream, as an operand.

        Raises   SchemaError where there is no such column.
        """
        require_name("column", name, "the name of a column")
        self.schema.index(name)
        return col(name)

    __iter__ = None  # Python would ask for columns by number, and find that 0 is no name.

    def plan(self) -> Plan:
        """The finished plan, with this stream as its output.

        It notes operators that combine rows of streams without a window; the engine warns of them.
        """
        plan = Plan(self.node)
        sentences = dict.fromkeys(_note(operator, streams) for operator, streams in windowless(plan))
        return Plan(self.node, notes=tuple(sentences)) if sentences else plan

    def unique(self, *columns: str, of_all_time: bool = False, enforced: bool = True) -> Stream:
        """Declare that no two rows of this stream or relation agree on some columns.

        The declaration holds for rows that are valid together, or, with `of_all_time`, for all rows. Unknown
        values agree with each other. An engine checks the declaration, unless `enforced` is False.

        Raises   PlanError where an operator has already been applied to the stream or relation.

        >>> from midstream.plans.algebra.properties import keys
        >>> bids = stream("bids", id="integer", item="integer").unique("id", of_all_time=True)
        >>> [sorted(key) for key in keys(bids.window(60).node)]
        [['id']]
        """
        key = Key(tuple(_names("unique", columns)), of_all_time, enforced)
        return self._declared("unique", keys=(*self._leaf("unique").keys, key))

    def references(
        self,
        on: Iterable[tuple[str, str]],
        other: Stream | str,
        *,
        within: Duration | None = 0,
        enforced: bool = True,
    ) -> Stream:
        """Declare that each row of this stream or relation refers to a row of another one.

        For each row whose left columns of the pairs `on` are known, the other stream or relation has a row
        with equal values in the right columns. That row is valid at the same instant, or was valid at most
        `within` chronons before; None means at any time before. An engine checks the declaration, unless
        `enforced` is False.

        Raises   PlanError where an operator has already been applied to either stream or relation.
        """
        pairs = [_pair(pair) for pair in listed("references: on", on, "a list of pairs of columns")]
        own, others = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        if isinstance(other, str):
            to = other
        else:
            leaf = Stream(node_of("references", other))._leaf("references")
            leaf.columns.select(tuple(dict.fromkeys(others)))
            to = leaf.label
        time = FOREVER if within is None else self._chronons("references: within", within)
        reference = Reference(own, to, others, time, enforced)
        return self._declared("references", references=(*self._leaf("references").references, reference))

    def _leaf(self, who: str) -> Source | Relation:
        """The stream or relation itself; raises PlanError if an operator has been applied to it."""
        if not isinstance(self.node.operator, Source | Relation):
            raise PlanError(
                f"{who}: found {self.node.operator}, expected a stream or a relation itself: it is declared "
                "before operators are applied to it"
            )
        return self.node.operator

    def _declared(self, who: str, **changes: Any) -> Stream:
        return Stream(Node(replace(self._leaf(who), **changes)), self.unit)

    def sample(self, share: float, *, bounds: tuple[float, float] | None = None, seed: int = 0) -> Stream:
        """Keep a share of the rows of a stream, drawn by a hash of timestamp and row.

        Whoever draws by one seed draws the same rows, and a smaller share is a part of a larger one. Equal
        rows of one instant are drawn together. `bounds` are the smallest and the largest share that can be
        set at run time; without them the share is fixed.

        Raises   PlanError for what is not a stream itself: a row is drawn by all its columns.

        >>> print(stream("bids", item="integer").sample(0.5, bounds=(0.1, 1)).window(60).plan())
        window 60
        └─ sample 50 % (from 10 % to 100 %)
           └─ source bids
        """
        leaf = timestamped(self.node)
        if leaf is None:
            raise PlanError(
                f"sample: found {self.node.operator}, expected a stream of timestamps itself: write "
                "stream.sample(…).window(…)"
            )
        return self._then(Sample(leaf.label, share, seed, _least_and_greatest("sample: bounds", bounds)))

    def window(
        self, size: Duration | None, slide: Duration = 1, *, bounds: tuple[Duration, Duration] | None = None
    ) -> Stream:
        """Keep each row valid for `size` chronons, None for ever; advance by `slide` chronons at once.

        `bounds` are the smallest and the largest size that can be set at run time; without them the size is
        fixed.
        """
        return self._then(
            TimeWindow(
                self._chronons("window", size),
                self._chronons("window: slide", slide),
                self._bounds("window: bounds", bounds),
            )
        )

    def last(
        self,
        rows: int | None,
        *,
        by: Sequence[str] = (),
        slide: int = 1,
        ties: Ties = "error",
        delay: Duration | None = None,
        bounds: tuple[int, int] | None = None,
    ) -> Stream:
        """Keep the last `rows` rows valid, None for all; with `by`, those of each group of equal columns.

        `bounds` are the smallest and the largest number of rows that can be set at run time; without them it
        is fixed. A row stays until as many later ones have come as the number was when it came.

        The window advances once every `slide` rows. Rows with equal timestamps are refused, unless
        `ties="arrival"` declares that they count in order of arrival. A group without new rows holds back the
        other groups by at most `delay` chronons.
        """
        extremes = _least_and_greatest("last: bounds", bounds)
        if by:
            names, most = tuple(_names("last: by", by)), self._chronons("last: delay", delay)
            return self._then(PartitionedWindow(names, rows, slide, ties, most, extremes))
        if delay is not None:
            raise PlanError("found a delay without groups, expected `by`: no group can hold back another")
        return self._then(CountWindow(rows, slide, ties, extremes))

    def granularity(self, granule: Duration, *, bounds: tuple[Duration, Duration] | None = None) -> Stream:
        """Look at the rows at multiples of `granule` chronons only, and hold them until the next multiple.

        `bounds` are the smallest and the largest granule that can be set at run time; without them the
        granule is fixed.
        """
        return self._then(
            Granularity(self._chronons("granularity", granule), self._bounds("granularity: bounds", bounds))
        )

    def istream(self) -> Stream:
        """The rows that appear, each valid for the chronon in which it appears."""
        return self._then(Istream())

    def dstream(self) -> Stream:
        """The rows that disappear, each valid for the first chronon after its end."""
        return self._then(Dstream())

    def rstream(self) -> Stream:
        """All rows, with their validity cut into single chronons."""
        return self.split(1)

    def split(self, length: Duration) -> Stream:
        """Cut validity into pieces of at most `length` chronons; snapshots do not change."""
        return self._then(Split(self._chronons("split", length)))

    def coalesce(self, longest: Duration) -> Stream:
        """Merge adjacent validity of equal rows, held back at most `longest` chronons; snapshots stay."""
        return self._then(Coalesce(self._chronons("coalesce", longest)))

    def filter(self, condition: Operand | Expression) -> Stream:
        """Keep the rows for which a condition is true."""
        return self._then(Filter(conjunction([_condition("filter", condition)])))

    def select(self, *columns: str | Operand, **computed: Any) -> Stream:
        """Keep columns, then add computed columns, which need names.

            select("x", y=col("x") * 2)  =  select("x", (col("x") * 2).alias("y"))

        Raises   PlanError where an expression has no name, or is the name of a column in quotes: write `col`
                 for the column, and `lit` for a constant.
        """
        names = {name.lower(): name for name in self.schema.names}
        for name, value in computed.items():
            if isinstance(value, str) and value.lower() in names:
                raise PlanError(
                    f"select: found {name}={value!r}, which is a column's name; expected "
                    f"col({names[value.lower()]!r}) for the column, or lit({value!r}) for that text"
                )
        named = [*map(_column, columns), *((name, expression_of(e)) for name, e in computed.items())]
        return self._then(Project(tuple(named)))

    def rename(self, names: Mapping[str, str]) -> Stream:
        """Rename columns, by a mapping from old names to new ones."""
        require_mapping("rename", names, "new names by old ones: {'x': 'y'}")
        for name in names:
            self.schema.index(name)
        return self._then(Project(tuple((names.get(name, name), Col(name)) for name in self.schema.names)))

    def alias(self, prefix: str) -> Stream:
        """Put `prefix.` before the name of every column, as in SQL's qualified names."""
        require_name("alias", prefix, "a prefix for the names of columns")
        return self.rename({name: f"{prefix}.{name}" for name in self.schema.names})

    def union(self, *others: Stream) -> Stream:
        """All rows of all streams."""
        return self._with("union", Union(), *others)

    def difference(self, other: Stream) -> Stream:
        """Remove one row for each equal row of the other stream that is valid together with it."""
        return self._with("difference", Difference(), other)

    def strict_difference(self, other: Stream) -> Stream:
        """Remove every row that equals a row of the other stream that is valid together with it."""
        return self._with("strict_difference", StrictDifference(), other)

    def intersection(self, other: Stream) -> Stream:
        """The rows that are in both streams, each with the smaller of its two multiplicities."""
        return self._with("intersection", Intersection(), other)

    def max_union(self, other: Stream) -> Stream:
        """The rows of either stream, each with the larger of its two multiplicities."""
        return self._with("max_union", MaxUnion(), other)

    def semi_join(self, other: Stream, on: On = None) -> Stream:
        """The rows with a match, valid together with them, in the other stream; `on` as in `join`."""
        return self._with("semi_join", SemiJoin(_matching(on)), other)

    def anti_join(self, other: Stream, on: On = None) -> Stream:
        """The rows without a match, valid together with them, in the other stream; `on` as in `join`."""
        return self._with("anti_join", AntiJoin(_matching(on)), other)

    def join(
        self,
        other: Stream,
        on: On = None,
        columns: Sequence[str] | None = None,
    ) -> Stream:
        """Pair the rows of two streams that are valid together.

        `on` is a condition over the columns of both, or a list of pairs (left column, right column) to be
        equal; without it every pair counts. `columns` chooses and orders the output; by default the left
        columns, then the right ones.
        """
        right = node_of("join", other)
        names = self.schema.names + right.schema.names
        chosen = names if columns is None else tuple(_names("join: columns", columns))
        return self._with("join", Join(_matching(on), chosen), other)

    def distinct(self) -> Stream:
        """Every valid row once, without duplicates."""
        return self._then(Distinct())

    def group_by(self, *keys: str | Operand) -> Group:
        """Group rows that agree on some columns; `.aggregate` then computes one row for each group."""
        names = tuple(_names("group_by", keys))
        for name in names:
            self.schema.index(name)
        return Group(self, names)

    def aggregate(self, *unnamed: Never, **calls: AggregateCall | Estimate) -> Stream:
        """Compute aggregate functions over all valid rows; each keyword names an output column."""
        return Group(self, ()).aggregate(*unnamed, **calls)

    def apply(self, operator: Logical, *others: Stream) -> Stream:
        """Apply any operator, with this stream as its first input."""
        require("apply", operator, Logical, "an operator")
        return self._with(operator.name, operator, *others)

    def _then(self, operator: Logical) -> Stream:
        return Stream(Node(operator, (self.node,)), self.unit)

    def _with(self, who: str, operator: Logical, *others: Stream) -> Stream:
        node = Node(operator, (self.node, *(node_of(who, other) for other in others)))
        units = {unit for one in (self, *others) if (unit := getattr(one, "unit", None)) is not None}
        if len(units) > 1:
            names = " and ".join(sorted(unit.name for unit in units))
            raise PlanError(f"{who}: found streams in {names}, expected one unit of time")
        return Stream(node, units.pop() if units else None)

    def _chronons(self, who: str, duration: Any) -> Any:
        """A duration as a number of chronons; the operator checks numbers."""
        if not isinstance(duration, timedelta):
            return python_value(duration)
        if self.unit is None:
            raise wrong(
                who, duration, "chronons, as no unit is declared: ms.stream(…, time_unit='seconds') has one"
            )
        chronons, remainder = divmod(duration // timedelta(microseconds=1) * 1000, self.unit.nanoseconds)
        if remainder:
            raise wrong(who, duration, f"a whole number of {self.unit.name}, the unit of chronons")
        return chronons

    def _bounds(self, who: str, bounds: Any) -> Any:
        """Bounds in chronons; the operator checks numbers."""
        both = _least_and_greatest(who, bounds)
        return None if both is None else tuple(self._chronons(who, one) for one in both)


def _least_and_greatest(who: str, bounds: Any) -> Any:
    """The least and the greatest setting; the operator checks numbers."""
    if bounds is None:
        return None
    both = listed(who, bounds, "the least and the greatest, as in (1, 60)")
    if len(both) != 2:
        raise wrong(who, bounds, "the least and the greatest, as in (1, 60)")
    return tuple(both)


@dataclass(frozen=True, slots=True)
class Group(NearNames):
    """A stream with its grouping columns."""

    _elsewhere: ClassVar[Mapping[str, str]] = {"agg": "aggregate"}

    stream: Stream
    keys: tuple[str, ...]

    def aggregate(self, *unnamed: Never, **calls: AggregateCall | Estimate) -> Stream:
        """Compute aggregate functions for each group; each keyword names an output column.

        Raises   PlanError where a function has no name or is none, or where an estimate has no sample.
        """
        if unnamed:
            raise _unnamed(unnamed)
        for name, call in calls.items():
            if not isinstance(call, AggregateCall | Estimate):
                raise PlanError(
                    f"aggregate {name}: found {call!r}, expected an aggregate such as count() or max_('x')"
                )
        rows, made = scaled(self.stream.node, calls)
        return Stream(Node(Aggregate(self.keys, made), (rows,)), self.stream.unit)


def stream(
    name: str,
    schema: Schema | Mapping[str, ColumnType] | None = None,
    /,
    *,
    intervals: bool = False,
    time_unit: str | None = None,
    **types: ColumnType,
) -> Stream:
    """A named input stream with its columns, for example `stream("bids", item="integer", price="float")`.

    Each row is valid for the chronon of its timestamp. With `intervals`, the elements of the stream carry
    their own intervals. `time_unit` is the unit of a chronon, such as "seconds"; with it, durations may be
    timedeltas.
    """
    require("stream: intervals", intervals, bool, "True or False; other names of types go into a mapping")
    unit = _unit(time_unit)
    source = Source(name, _columns(name, schema, types), intervals, unit=None if unit is None else unit.name)
    return Stream(Node(source), unit)


def recorded_stream(name: str, schema: Schema, unit: TimeUnit, elements: Iterable[Element]) -> Stream:
    """A stream whose elements are known, in chronons of a unit: a run of its plan needs no others."""
    return Stream(Node(Source(name, schema, unit=unit.name, elements=elements)), unit)


def relation(
    name: str,
    schema: Schema | Mapping[str, ColumnType] | None = None,
    /,
    *,
    temporal: bool = False,
    **types: ColumnType,
) -> Stream:
    """A named relation with its columns, to join streams to.

    Its rows are constant. With `temporal`, its elements carry the intervals in which they are valid.
    """
    require("relation: temporal", temporal, bool, "True or False; other names of types go into a mapping")
    return Stream(Node(Relation(name, _columns(name, schema, types), not temporal)))


def _unit(name: str | None) -> TimeUnit | None:
    if name is None:
        return None
    from midstream.plans.values.units import TimeUnit  # loads what reads SQL

    require_name("stream: time_unit", name, "a unit of time such as 'seconds'")
    try:
        return TimeUnit.of(name)
    except ValueError as error:
        raise wrong(
            "stream: time_unit", name, f"a unit of time: {error}; a column of this name goes into a mapping"
        ) from error


class HasPlan(Protocol):
    """An object with a plan, such as a query of a script, a running query, or a choice of the optimizer."""

    @property
    def plan(self) -> Plan:
        """The plan."""


AnyPlan = Plan | Stream | HasPlan
"""The forms in which functions take a plan: itself, a stream under construction, or what has a plan."""


def plan_in(value: object) -> Plan | None:
    """The plan of a stream under construction, or of what has one; None where there is none."""
    if isinstance(value, Plan):
        return value
    if isinstance(value, Stream):
        return value.plan()
    plan = getattr(value, "plan", None)
    if not isinstance(plan, Plan):
        return None
    notes = getattr(value, "notes", ())
    return Plan(plan.outputs, notes=notes) if notes else plan


def plan_of(who: str, value: object) -> Plan:
    """The plan of a stream under construction, or of what has one; raises ArgumentError for others."""
    plan = plan_in(value)
    if plan is None:
        raise _no_stream(who, value, "a plan, or a stream under construction")
    return plan


def require_plan_first(call: str, second: object) -> None:
    """Raise ArgumentError if the second argument of a call is a plan or a stream."""
    if isinstance(second, Plan | Stream):
        raise ArgumentError(f"found the plan as the second argument, expected it as the first: {call}")


def node_of(who: str, value: object) -> Node:
    """A node, or the node of a stream under construction, or of the only output of what has a plan."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Stream):
        return value.node
    if (plan := plan_in(value)) is not None:
        return plan.root
    raise _no_stream(who, value, "a stream under construction")


def _no_stream(who: str, value: object, expected: str) -> ArgumentError:
    """The error for a value that is no stream, with the line to write for one that leads to a stream."""
    match value:
        case Group(keys=keys):
            columns = ", ".join(map(repr, keys))
            instead = f"write group_by({columns}).aggregate(n=ms.count()), as a grouping alone has no rows"
        case Node():
            instead = "write ms.Plan(node)"
        case str() if " " in value:
            instead = "write ms.sql(text) for a query in SQL"
        case _:
            return wrong(who, value, expected)
    return wrong(who, value, f"{expected}; {instead}")


def _unnamed(calls: Sequence[object]) -> PlanError:
    """The error for aggregates that are not given as keywords, with the line to write."""
    (first, *_), named = calls, [call for call in calls if isinstance(call, AggregateCall | Estimate)]
    if isinstance(first, Mapping):
        return PlanError("aggregate: found a mapping, expected keywords: aggregate(**mapping)")
    keywords = ", ".join(f"{call.name}=…" for call in named) or "n=count()"
    return PlanError(
        f"aggregate: found {', '.join(map(str, calls))} without a name, expected a keyword for each output "
        f"column: aggregate({keywords})"
    )


def _note(operator: Logical, streams: Iterable[str]) -> str:
    """The note on an operator that combines rows of streams without a window."""
    first, names = min(streams), " and ".join(sorted(streams))
    return (
        f"{operator.name} sees rows of {names} at their own timestamp only, as there is no window: each row "
        f"is valid for one chronon; write .window(…) behind stream {first}, or .window(1) if that is meant"
    )


def _names(who: str, columns: object) -> list[str]:
    """Names of columns; each may be given as a string or as a column."""
    names: list[str] = []
    for column in listed(who, columns, "a list of names of columns"):
        expression = column.expression if isinstance(column, Operand) else column
        name = expression.name if isinstance(expression, Col) else expression
        require_name(who, name, "the name of a column")
        names.append(str(name))
    return names


def _columns(
    name: str, schema: Schema | Mapping[str, ColumnType] | None, types: Mapping[str, ColumnType]
) -> Schema:
    require_name("stream", name, "the name of a stream")
    if schema is not None and not isinstance(schema, Schema):
        require_mapping(f"stream {name}", schema, "a schema, or types by column: {'item': 'integer'}")
    if schema is not None and types:
        raise SchemaError(
            f"stream {name}: found columns both as a schema and as keywords, expected one of them"
        )
    if isinstance(schema, Schema):
        return schema
    return Schema(tuple(parse_column(key, value) for key, value in (schema or types).items()))


def _column(column: object) -> tuple[str, Expression]:
    """A selected column: its name and its expression."""
    if isinstance(column, str):
        return column, Col(column)
    if isinstance(column, Operand | Expression):
        expression = expression_of(column)
        if isinstance(column, Operand) and column.name is not None:
            return column.name, expression
        if isinstance(expression, Col):
            return expression.name, expression
    raise PlanError(
        f"select: found {column}, expected the name of a column; a computed column needs a name: "
        "select(name=…), or .alias(name)"
    )


def _condition(who: str, condition: object) -> Expression:
    """A condition on rows.

    A constant is refused: it is the result of a comparison that Python made once, not for each row.
    """
    if isinstance(condition, Operand | Expression) or callable(condition):
        return expression_of(condition)
    raise ExpressionError(f"{who}: found {condition!r}, expected a condition such as ms.col('price') > 10")


def _matching(on: Any) -> Expression:
    """The condition of a join."""
    if on is None:
        return conjunction([])
    if isinstance(on, Operand | Expression):
        parts = conjuncts(expression_of(on))
    elif isinstance(on, Iterable) and not isinstance(on, str | Mapping):
        parts = tuple(equality(*_pair(pair)) for pair in on)
    else:
        raise _wrong_match(on)
    return conjunction(map(ordered, parts))


def _pair(pair: object) -> tuple[str, str]:
    match pair:
        case (str(left), str(right)):
            return left, right
    raise _wrong_match(pair)


def _wrong_match(found: object) -> PlanError:
    return PlanError(
        f"on: found {found!r}, expected a condition over the columns of both sides, or a list of pairs "
        "(left column, right column) to be equal, such as [('item', 'id')]"
    )
