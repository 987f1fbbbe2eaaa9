"""Hypothesis strategies for plans over the whole algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm

from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.implementations.obstacles import gives_constants, is_relation
from midstream.plans.algebra.operators import (
    Counting,
    Dstream,
    Intersection,
    Istream,
    Join,
    Relation,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical
from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    count_distinct,
    max_,
    median,
    min_,
    stddev_pop,
    sum_,
    top_k,
    var_samp,
)
from midstream.plans.expressions.expressions import Binary, Col, Const, Expression, conjunction, equality
from midstream.plans.expressions.operands import Operand, col, greatest, lit
from midstream.plans.values.schema import Schema, Type

WHOLE: Mapping[str, bool] = {
    "windows": True,
    "arrangements": True,
    "relations": True,
    "tuples": True,
    "shared": True,
}
"""Arguments for `plans` that allow the whole algebra."""

LARGEST_SETTING = 8
"""Every bounded window and granularity may grow to this number of granules."""


@st.composite
def condition(draw: st.DrawFn, names: Sequence[str]) -> Expression:
    """A condition over integer columns."""
    return draw(_condition(names)).expression


@st.composite
def _condition(draw: st.DrawFn, names: Sequence[str]) -> Operand:
    column = st.sampled_from(names).map(col)
    operand = st.one_of(column, st.integers(0, 3).map(lit))
    one = col(draw(st.sampled_from(names)))
    other = draw(operand)
    match draw(st.integers(0, 7)):
        case 0:
            return one < other
        case 1:
            return one != other
        case 2:
            return ~(one <= other)
        case 3:
            return (one == other) | (one > draw(operand))
        case 4:
            return one % 2 == other
        case 5:
            return (one % other).is_null()
        case 6:
            return greatest(one, draw(operand), one % 2) == other
        case _:
            return (one == other) & (draw(column) >= draw(operand))


@dataclass
class _Options:
    """The operators that may be drawn, with a counter that makes column names unique."""

    preserving: bool
    joins_only: bool
    forever: bool
    windows: bool
    arrangements: bool
    relations: bool
    tuples: bool
    shared: bool
    adjustable: bool
    used: int = 0
    made: list[Stream] = field(default_factory=list)
    """The subplans so far."""

    def number(self) -> int:
        """A number that is not used yet."""
        self.used += 1
        return self.used

    def bounds(self, granule: int = 1) -> tuple[int, int] | None:
        """Bounds that differ from those of all other settings; None where settings are fixed."""
        return (granule, granule * (LARGEST_SETTING + self.number())) if self.adjustable else None

    def shares(self) -> tuple[float, float] | None:
        """Bounds of the share of a sample, that differ likewise; multiples of the least one lie between."""
        return (1 / (LARGEST_SETTING + self.number()), 1.0) if self.adjustable else None


@st.composite
def plans(
    draw: st.DrawFn,
    *,
    depth: int = 3,
    preserving: bool = False,
    joins_only: bool = False,
    forever: bool = True,
    windows: bool = False,
    arrangements: bool = False,
    relations: bool = False,
    tuples: bool = False,
    shared: bool = False,
    adjustable: bool = False,
) -> Plan:
    """A random plan over the streams a, b and c with integer columns.

    By default, plans have all snapshot-reducible operators, over time windows that slide by one chronon.

    preserving      leaves out operators that do not preserve starts
    joins_only      leaves only joins and filters
    forever         False leaves out unbounded windows; then the streams must not have endless elements
    windows         adds samples, all kinds of windows, granularity conversion, istream and dstream, also
                    above other operators
    arrangements    adds split and coalesce
    relations       adds the relations `constant` and `temporal`, which are joined and compared with streams
    tuples          adds top_k, whose values cannot be compared with numbers
    shared          lets several operators read one subplan
    adjustable      gives bounds to granularities and to bounded windows, from one granule, or one row, to at
                    least LARGEST_SETTING of them, and to samples, up to all; all bounds differ, so that they
                    can be found in plans that rules make

    `WHOLE` is all of windows, arrangements, relations, tuples and shared.
    """
    options = _Options(
        preserving or joins_only,
        joins_only,
        forever,
        windows,
        arrangements,
        relations,
        tuples,
        shared,
        adjustable,
    )
    return Plan(draw(_subplans(depth, options)).node)  # without notes: it need not make sense


@st.composite
def _subplans(draw: st.DrawFn, depth: int, options: _Options) -> Stream:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        made = draw(_leaf(options))
    else:
        below = _subplans(depth - 1, options)
        one = draw(below)
        make: Callable[..., st.SearchStrategy[Stream]] = draw(st.sampled_from(_kinds(options)))
        made = draw(make(one, below, options))
    options.made.append(made)
    return made


def _kinds(options: _Options) -> list[Callable[..., st.SearchStrategy[Stream]]]:
    """Strategies for the allowed operators, with the frequent ones several times."""
    kinds = [_filtered, _joined, _joined]
    if not options.joins_only:
        kinds += [_projected, _united]
    if not options.preserving:
        kinds += [_distinct, _aggregated, _matched, _compared]
        if options.arrangements:
            kinds.append(_arranged)
    if options.windows:
        kinds.append(_followed)
    return kinds


@st.composite
def _filtered(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    return one.filter(draw(condition(_numbers(one.schema))))


@st.composite
def _projected(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    names = _numbers(one.schema)
    kept = draw(st.lists(st.sampled_from(one.schema.names), min_size=1, unique=True))
    # Every subplan has a column of numbers, for the conditions above it.
    is_computed = draw(st.booleans()) or not any(name in names for name in kept)
    computed = {f"p{options.number()}": draw(_computed(names))} if is_computed else {}
    return one.select(*kept, **computed)


@st.composite
def _united(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    other = draw(_other(below, options))
    if _has_same_columns(one, other):
        return one.union(other)
    left, right = _alike(one, other, options)
    return left.union(right)


@st.composite
def _joined(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    other = _with_own_names(one, draw(_other(below, options)), options)
    if is_relation(other.node) and draw(st.booleans()):
        one, other = other, one
    return one.join(other, on=draw(_join_condition(_numbers(one.schema), _numbers(other.schema))))


def _distinct(one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> st.SearchStrategy[Stream]:
    return st.just(one.distinct())


@st.composite
def _aggregated(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    number = options.number()
    keys = draw(st.lists(st.sampled_from(one.schema.names), max_size=2, unique=True))
    makers = [lambda c: count(), count, sum_, min_, max_, avg, count_distinct, median, stddev_pop, var_samp]
    chosen = draw(st.lists(st.sampled_from(makers), min_size=1, max_size=3))
    names = st.sampled_from(_numbers(one.schema))
    calls: dict[str, AggregateCall] = {f"g{number}_{i}": make(draw(names)) for i, make in enumerate(chosen)}
    if options.tuples and draw(st.integers(0, 3)) == 0:
        calls[f"g{number}_k"] = top_k(draw(names), draw(st.integers(1, 2)), distinct=draw(st.booleans()))
    return one.group_by(*keys).aggregate(**calls)


@st.composite
def _matched(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    other = _with_own_names(one, draw(_other(below, options)), options)
    on = draw(_join_condition(_numbers(one.schema), _numbers(other.schema)))
    return one.semi_join(other, on=on) if draw(st.booleans()) else one.anti_join(other, on=on)


@st.composite
def _compared(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    kind = draw(st.sampled_from(("difference", "strict_difference", "intersection", "max_union")))
    other = draw(_other(below, options))
    # Long rows are seldom equal.
    left, right = _alike(one, other, options, most=2)
    compared: Stream = getattr(left, kind)(right)
    return compared


@st.composite
def _arranged(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    if gives_constants(one.node):
        return one
    if draw(st.booleans()):
        return one.coalesce(draw(st.sampled_from((1, 3, 8))))
    return one.split(draw(st.sampled_from((2, 5) if _may_be_endless(one.node, options) else (1, 2, 5))))


@st.composite
def _followed(draw: st.DrawFn, one: Stream, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    """An operator over time, such as istream or a window.

    Windows need chronons: they are not drawn over streams that may be endless, nor over constants.
    """
    if gives_constants(one.node):
        return one
    kind = draw(st.sampled_from(("granularity", "istream", "dstream", "window", "window", "last")))
    if _may_be_endless(one.node, options) and kind in ("window", "last"):
        kind = "granularity"
    match kind:
        case "granularity":
            granule = draw(st.sampled_from((1, 2, 3) if options.adjustable else (2, 3)))
            return one.granularity(lcm(one.node.granule, granule), bounds=options.bounds(one.node.granule))
        case "istream":
            return one.istream()
        case "dstream":
            return one.dstream()
        case "last":
            keys = draw(st.lists(st.sampled_from(one.schema.names), max_size=1))
            # At every instant there is one row of each group: no ties.
            most = one.group_by(*keys).aggregate(**{f"w{options.number()}": max_(_numbers(one.schema)[0])})
            rows, slide = draw(st.integers(1, 3)), draw(st.integers(1, 2))
            return most.last(rows, by=keys, slide=slide, bounds=options.bounds())
        case _:
            size, granule = draw(st.sampled_from((1, 2, 4))), one.node.granule
            slide = draw(st.sampled_from((1, 1, 3)))
            return one.window(
                size * granule, slide=slide * granule if slide > 1 else 1, bounds=options.bounds(granule)
            )


@st.composite
def _other(draw: st.DrawFn, below: st.SearchStrategy[Stream], options: _Options) -> Stream:
    """A second input: a new subplan, an existing one, or one over a relation.

    The first input always reads a stream.
    """
    if options.shared and draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(options.made))
    if not options.relations or draw(st.integers(0, 3)):
        return draw(below)
    number = options.number()
    temporal = draw(st.booleans())
    name = "temporal" if temporal else "constant"
    one = relation(name, temporal=temporal, x="integer", y="integer")
    one = one.rename({"x": f"x{number}", "y": f"y{number}"})
    match draw(st.integers(0, 4)):
        case 0:
            return one.filter(draw(condition(one.schema.names)))
        case 1 if not options.preserving:
            return one.distinct()
        case _:
            return one


@st.composite
def _leaf(draw: st.DrawFn, options: _Options) -> Stream:
    number = options.number()
    name = draw(st.sampled_from("abc"))
    # a brings intervals of its own; b and c bring timestamps and get windows, or none, which is a now-window
    source = stream(name, intervals=name == "a", x="integer", y="integer")
    if name != "a":
        source = draw(_window(source, options))
    return source.rename({"x": f"x{number}", "y": f"y{number}"})


@st.composite
def _window(draw: st.DrawFn, source: Stream, options: _Options) -> Stream:
    """A window over timestamps; the order of arrival breaks ties."""
    size = draw(st.sampled_from((*([None] if options.forever else []), 1, 3, 6, 6)))
    kind = draw(st.integers(0, 7)) if options.windows else 0
    if options.windows and draw(st.integers(0, 4)) == 0:
        source = source.sample(draw(st.sampled_from((0.25, 0.5, 1.0))), bounds=options.shares())
    bounds = options.bounds() if size is not None else None
    if kind < 4:
        return source.window(size, bounds=bounds) if size != 1 or options.adjustable else source
    if draw(st.integers(0, 2)) == 0:
        source = source.filter(draw(condition(source.schema.names)))
    if kind == 4:
        return source.window(size, slide=draw(st.sampled_from((2, 3, 8))), bounds=bounds)
    count_ = draw(st.sampled_from((*([None] if options.forever else []), 1, 2, 4)))
    slide = draw(st.sampled_from((1, 1, 2)))
    if kind == 5:
        return source.last(count_, slide=slide, ties="arrival")
    if kind == 6:
        delay = draw(st.sampled_from((None, None, 1, 4)))
        return source.last(count_, by=["x"], slide=slide, ties="arrival", delay=delay)
    return source.granularity(draw(st.sampled_from((2, 5))), bounds=options.bounds())


def _numbers(schema: Schema) -> list[str]:
    """The columns that conditions can compare."""
    return [column.name for column in schema if column.type in (Type.INTEGER, Type.FLOAT)]


def _may_be_endless(node: Node, options: _Options) -> bool:
    """True if a subplan may have an element that is valid for ever."""
    inputs = (_may_be_endless(child, options) for child in node.inputs)
    match logical(node):
        case Source(intervals=intervals):
            return intervals and options.forever
        case Relation(is_constant=is_constant):
            return is_constant or options.forever
        case TimeWindow(size):
            return size is None
        case Counting():
            return True
        case Istream() | Dstream():
            return False
        case Join() | Intersection():
            return all(inputs)
        case _:
            return any(inputs)


def _computed(names: Sequence[str]) -> st.SearchStrategy[Operand]:
    column = st.sampled_from(names).map(col)
    return st.one_of(
        st.tuples(column, column).map(lambda pair: pair[0] + pair[1]),
        st.tuples(column, column).map(lambda pair: pair[0] * 2 - pair[1]),
        column.map(lambda one: one % 2),
    )


def _has_same_columns(one: Stream, other: Stream) -> bool:
    return [(c.name, c.type) for c in one.schema] == [(c.name, c.type) for c in other.schema]


def _with_own_names(one: Stream, other: Stream, options: _Options) -> Stream:
    """The second of two subplans, with its columns renamed where both share names."""
    common = [name for name in other.schema.names if name in one.schema]
    number = options.number() if common else 0
    return other.rename({name: f"s{number}_{i}" for i, name in enumerate(common)}) if common else other


def _alike(one: Stream, other: Stream, options: _Options, most: int | None = None) -> tuple[Stream, Stream]:
    """Two subplans reduced to common columns, at most `most`."""
    width = min(len(one.schema), len(other.schema), most or len(one.schema))
    number = options.number()
    return _narrowed(one, width, number), _narrowed(other, width, number)


def _narrowed(one: Stream, width: int, number: int) -> Stream:
    """The first columns under common names; a constant replaces a column without integers."""
    columns = list(one.schema)[:width]
    return one.select(
        **{
            f"u{number}_{i}": Col(column.name) if column.type is Type.INTEGER else Const(0)
            for i, column in enumerate(columns)
        }
    )


@st.composite
def _join_condition(draw: st.DrawFn, left: Sequence[str], right: Sequence[str]) -> Expression:
    parts: list[Expression] = []
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        parts.append(equality(draw(st.sampled_from(left)), draw(st.sampled_from(right))))
    if draw(st.integers(0, 3)) == 0:
        parts.append(Binary("<", Col(draw(st.sampled_from(left))), Col(draw(st.sampled_from(right)))))
    return conjunction(parts)


@st.composite
def implemented(draw: st.DrawFn, plan: Plan, *, upper: bool = False) -> Plan:
    """A plan with a random implementation for every operator, or only for the exchangeable `upper` ones.

    Operators below a window that counts rows use intervals: converters do not keep the order of arrival,
    which that window may need.
    """
    counted = [node for node in plan.nodes if isinstance(logical(node), Counting)]
    below = {node for window in counted for child in window.inputs for node in child.walk()}
    kept = set(plan.nodes) - set(above(plan, input_nodes(plan))) if upper else set()
    changed: dict[Node, Node] = {}
    for node in plan.nodes:
        inputs = tuple(changed[child] for child in node.inputs)
        chosen = node.operator
        if node not in kept and not isinstance(chosen, Physical):
            names = [
                one.name
                for one in IMPLEMENTATIONS.get(type(chosen), ())
                if one.obstacle(Node(Physical(one.name, chosen), inputs)) is None
                and (node not in below or one.gives == "intervals")
            ]
            chosen = Physical(draw(st.sampled_from(names)), chosen) if names else chosen
        changed[node] = Node(chosen, inputs)
    return Plan({name: changed[root] for name, root in plan.outputs.items()})
