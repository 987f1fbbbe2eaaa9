"""Rules that look right and are not: what people would write, without the guard or the care that it takes.

Each is refuted by `verify_rule` with at most four elements. A rule that is added is worth a wrong one beside
it: its likeliest mistake.
"""

from __future__ import annotations

from collections.abc import Callable

from midstream.optimizer.rules import ANY, Rule, Shape
from midstream.optimizer.rules.joins.partners import partners
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
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
    SemiJoin,
    StrictDifference,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_included, keys
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import (
    TRUE,
    Col,
    Expression,
    IsNull,
    Not,
    column_equality,
    conjunction,
    conjuncts,
    equality,
)
from midstream.plans.values.errors import MidstreamError

WRONG_RULES: list[Rule] = []


def wrong(equation: str, shape: Shape) -> Callable[[Callable[[Node], Node | None]], Rule]:
    """A rule whose right side a function makes of the left one, or does not where there is none."""

    def rule(right: Callable[[Node], Node | None]) -> Rule:
        def match(node: Node) -> list[Node]:
            try:
                result = right(node)
            except MidstreamError:
                return []
            return [result] if result is not None and result.schema == node.schema else []

        made = Rule(right.__name__, equation, shape, match, lambda node, result: result)
        WRONG_RULES.append(made)
        return made

    return rule


def over(operator: Logical, *inputs: Node) -> Node:
    return Node(operator, inputs)


def swapped(node: Node) -> Node:
    """The operator below a node put above it."""
    return node.inputs[0].with_inputs((node.with_inputs(node.inputs[0].inputs),))


def on_each(node: Node) -> Node:
    """An operator of one input put on all inputs of the one below it."""
    below = node.inputs[0]
    return below.with_inputs(tuple(node.with_inputs((child,)) for child in below.inputs))


def on_first(node: Node) -> Node:
    """An operator of one input put on the first input of the one below it."""
    below = node.inputs[0]
    return below.with_inputs((node.with_inputs(below.inputs[:1]), *below.inputs[1:]))


def chosen(names: tuple[str, ...], node: Node) -> Node:
    return over(Project(tuple((name, Col(name)) for name in names)), node)


# Windows and granularities.


@wrong("filter(p, count-window(S)) = count-window(filter(p, S))", Shape(Filter, Shape(CountWindow)))
def filter_below_count_window(node: Node) -> Node:
    """Other rows are counted."""
    return swapped(node)


@wrong("filter(p, partitioned(S)) = partitioned(filter(p, S))", Shape(Filter, Shape(PartitionedWindow)))
def filter_below_partitioned_window(node: Node) -> Node:
    """Unless it reads keys only."""
    return swapped(node)


@wrong("distinct(window(S)) = window(distinct(S))", Shape(Distinct, Shape(TimeWindow)))
def distinct_below_window(node: Node) -> Node:
    """Equal rows of different instants meet in the window."""
    return swapped(node)


@wrong("window(a, window(b, S)) = window(a + b - 1, S)", Shape(TimeWindow, Shape(TimeWindow)))
def windows_in_one(node: Node) -> Node | None:
    """A row is in it once for every instant at which the lower window has it."""
    upper, lower = node.operator, node.inputs[0].operator
    assert isinstance(upper, TimeWindow)
    assert isinstance(lower, TimeWindow)
    if upper.size is None or lower.size is None or upper.slide > 1 or lower.slide > 1:
        return None
    return over(TimeWindow(upper.size + lower.size - 1), *node.inputs[0].inputs)


@wrong("window(a slide b, S) = window(a, S)", Shape(TimeWindow))
def window_without_slide(node: Node) -> Node:
    """Between its advances a window stays as it is."""
    assert isinstance(node.operator, TimeWindow)
    return over(TimeWindow(node.operator.size), *node.inputs)


@wrong("window(join(L, R)) = join(window(L), window(R))", Shape(TimeWindow, Shape(Join)))
def window_below_join(node: Node) -> Node:
    """More rows meet in windows than met before."""
    return on_each(node)


@wrong("aggregate(window(S)) = window(aggregate(S))", Shape(Aggregate, Shape(TimeWindow)))
def aggregate_below_window(node: Node) -> Node:
    """The window has the values of several instants."""
    return swapped(node)


@wrong("rows(union(L, R)) = union(rows(L), rows(R))", Shape(CountWindow, Shape(Union)))
def count_window_below_union(node: Node) -> Node:
    """Twice as many rows."""
    return on_each(node)


@wrong("partitioned(S) = count-window(S)", Shape(PartitionedWindow))
def one_window_for_all_groups(node: Node) -> Node:
    """Rows of one group push those of another out."""
    assert isinstance(node.operator, PartitionedWindow)
    window = node.operator
    return over(CountWindow(window.rows, window.slide, window.ties), *node.inputs)


@wrong("granularity(join(L, R)) = join(granularity(L), R)", Shape(Granularity, Shape(Join)))
def granularity_on_one_input(node: Node) -> Node:
    """The other input changes between the granules."""
    return on_first(node)


@wrong("granularity(difference(L, R)) = difference(granularity(L), R)", Shape(Granularity, Shape(Difference)))
def granularity_on_the_left_of_a_difference(node: Node) -> Node:
    """The other input changes between the granules."""
    return on_first(node)


@wrong("granularity(window(S)) = window(granularity(S))", Shape(Granularity, Shape(TimeWindow)))
def granularity_below_window(node: Node) -> Node:
    """A row between two granules is never seen below."""
    return swapped(node)


@wrong("istream(window(unbounded, S)) = S", Shape(Istream, Shape(TimeWindow)))
def istream_of_any_window(node: Node) -> Node:
    """With a slide, rows come later; a row that leaves as another of its kind comes is no change."""
    return node.inputs[0].inputs[0]


@wrong("istream(union(L, R)) = union(istream(L), istream(R))", Shape(Istream, Shape(Union)))
def istream_below_union(node: Node) -> Node:
    """What one side loses while the other gains it is no change of the union."""
    return on_each(node)


@wrong("istream(distinct(S)) = distinct(istream(S))", Shape(Istream, Shape(Distinct)))
def istream_below_distinct(node: Node) -> Node:
    """A second row of a kind is new, but not to the set."""
    return swapped(node)


@wrong("dstream(S) = istream(S)", Shape(Dstream))
def what_goes_is_what_came(node: Node) -> Node:
    """Not at the same instant."""
    return over(Istream(), *node.inputs)


# Duplicates.


@wrong("distinct(S) = S", Shape(Distinct))
def distinct_removed(node: Node) -> Node:
    """Without a key there may be duplicates."""
    return node.inputs[0]


@wrong("distinct(union(L, R)) = union(distinct(L), distinct(R))", Shape(Distinct, Shape(Union)))
def distinct_below_union(node: Node) -> Node:
    """Both sides may have the row."""
    return on_each(node)


@wrong("distinct(L - R) = distinct(L) - distinct(R)", Shape(Distinct, Shape(Difference)))
def distinct_below_difference(node: Node) -> Node:
    """Of two rows one is left, of one none."""
    return on_each(node)


@wrong("distinct(project(S)) = project(distinct(S))", Shape(Distinct, Shape(Project)))
def distinct_below_projection(node: Node) -> Node:
    """Different rows become equal ones."""
    return swapped(node)


@wrong("distinct(join(L, R)) = join(distinct(L), R)", Shape(Distinct, Shape(Join)))
def distinct_on_one_side(node: Node) -> Node:
    """The other side has duplicates too."""
    return on_first(node)


@wrong("max-union(L, R) = union(L, R)", Shape(MaxUnion))
def max_union_as_union(node: Node) -> Node:
    """What both sides have is added up."""
    return over(Union(), *node.inputs)


# Differences and their kin.


@wrong("(A - B) - C = A - (B - C)", Shape(Difference, Shape(Difference)))
def difference_associates(node: Node) -> Node:
    """What C has is given back."""
    (a, b), c = node.inputs[0].inputs, node.inputs[1]
    return over(Difference(), a, over(Difference(), b, c))


@wrong("union(A, B) - C = union(A - C, B - C)", Shape(Difference, Shape(Union)))
def difference_below_union(node: Node) -> Node:
    """C is taken away once, not twice."""
    return over(Union(), *(over(Difference(), side, node.inputs[1]) for side in node.inputs[0].inputs))


@wrong("union(difference(A, B), B) = A", Shape(Union, Shape(Difference)))
def taken_and_given_back(node: Node) -> Node | None:
    """B may have what A has not."""
    difference, *others = node.inputs
    return difference.inputs[0] if others == [difference.inputs[1]] else None


@wrong("difference(S, filter(p, S)) = filter(not p, S)", Shape(Difference, ANY, Shape(Filter)))
def the_rest_by_negation(node: Node) -> Node | None:
    """Where p is unknown, so is its negation."""
    rows, kept = node.inputs
    assert isinstance(kept.operator, Filter)
    return over(Filter(Not(kept.operator.condition)), rows) if kept.inputs[0] == rows else None


@wrong("difference(L, R) = strict-difference(L, R)", Shape(Difference))
def difference_as_strict(node: Node) -> Node:
    """One row of R takes one of L away, not all."""
    return over(StrictDifference(), *node.inputs)


@wrong("intersection(L, R) = semi-join(L, R)", Shape(Intersection))
def intersection_as_semi_join(node: Node) -> Node:
    """As often as the side that has it less often; and an unknown value equals none in a join."""
    left, right = node.inputs
    names = {name: f"{name}_" for name in right.schema.names}
    renamed = over(Project(tuple((new, Col(old)) for old, new in names.items())), right)
    equal = conjunction(equality(old, new) for old, new in names.items())
    return over(SemiJoin(equal), left, renamed)


@wrong(
    "intersection(A, union(B, C)) = union(intersection(A, B), intersection(A, C))",
    Shape(Intersection, ANY, Shape(Union)),
)
def intersection_below_union(node: Node) -> Node:
    """A row that all have once comes from both."""
    left, union = node.inputs
    return union.with_inputs(tuple(over(Intersection(), left, side) for side in union.inputs))


@wrong("intersection(A - B, C) = intersection(A, C) - B", Shape(Intersection, Shape(Difference)))
def difference_above_intersection(node: Node) -> Node:
    """What is taken away of two is not taken away of one."""
    difference, c = node.inputs
    a, b = difference.inputs
    return over(Difference(), over(Intersection(), a, c), b)


@wrong("A - union(B, C) = union(A - B, A - C)", Shape(Difference, ANY, Shape(Union)))
def difference_from_each(node: Node) -> Node:
    """What B leaves C may take."""
    left, union = node.inputs
    return union.with_inputs(tuple(over(Difference(), left, side) for side in union.inputs))


@wrong("strict(union(A, B), B) = A", Shape(StrictDifference, Shape(Union)))
def strictly_added_and_taken(node: Node) -> Node | None:
    """A's rows that B has go too."""
    union, right = node.inputs
    return union.inputs[0] if union.inputs[1:] == (right,) else None


@wrong("strict(A, strict(A, B)) = intersection(A, B)", Shape(StrictDifference, ANY, Shape(StrictDifference)))
def intersection_of_strict_differences(node: Node) -> Node | None:
    """As often as A has it, not as the one that has it less often."""
    left, lower = node.inputs
    return over(Intersection(), *lower.inputs) if lower.inputs[0] == left else None


@wrong("strict-difference(L, R) = anti-join(all columns are equal, L, R)", Shape(StrictDifference))
def strict_difference_as_anti_join(node: Node) -> Node:
    """Two unknown values are the same, and not equal."""
    left, right = node.inputs
    names = {name: f"{name}_" for name in right.schema.names}
    renamed = over(Project(tuple((new, Col(old)) for old, new in names.items())), right)
    return over(AntiJoin(conjunction(equality(old, new) for old, new in names.items())), left, renamed)


# Semi-joins, anti-joins and joins.


@wrong("semi-join(semi-join(S, L), R) = semi-join(S, union(L, R))", Shape(SemiJoin, Shape(SemiJoin)))
def semi_joins_merged(node: Node) -> Node | None:
    """A match in both is wanted, not in either."""
    lower, right = node.inputs
    left = lower.inputs[1]
    same = lower.operator == node.operator and left.schema == right.schema
    return over(node.operator, lower.inputs[0], over(Union(), left, right)) if same else None


@wrong("semi-join(L, R) = project(join(L, R))", Shape(SemiJoin))
def semi_join_as_join(node: Node) -> Node:
    """A row comes once for each partner."""
    assert isinstance(node.operator, SemiJoin)
    return over(Join(node.operator.condition, node.schema.names), *node.inputs)


@wrong("anti-join(c, L, R) = project(join(not c, L, R))", Shape(AntiJoin))
def anti_join_as_join(node: Node) -> Node:
    """Some partner that does not fit is not the same as none that fits."""
    assert isinstance(node.operator, AntiJoin)
    return over(Join(Not(node.operator.condition), node.schema.names), *node.inputs)


@wrong("anti-join(L, R) = difference(L, semi-join(R, L))", Shape(AntiJoin))
def anti_join_of_negation(node: Node) -> Node:
    """Another partner may satisfy the negation."""
    assert isinstance(node.operator, AntiJoin)
    return over(SemiJoin(Not(node.operator.condition)), *node.inputs)


@wrong("filter(p, anti-join(c, L, R)) = anti-join(p and c, L, R)", Shape(Filter, Shape(AntiJoin)))
def filter_into_anti_join(node: Node) -> Node:
    """What p refuses finds no partner then, and is kept."""
    matching, condition = node.inputs[0].operator, node.operator
    assert isinstance(matching, AntiJoin)
    assert isinstance(condition, Filter)
    return over(AntiJoin(conjunction([condition.condition, matching.condition])), *node.inputs[0].inputs)


@wrong("join(c, L, R) = L", Shape(Join))
def join_left_out_by_key_alone(node: Node) -> Node | None:
    """A key of R says that there is one partner at most; only an inclusion says that there is one."""
    left, right = node.inputs
    return left if keys(right) and node.schema == left.schema else None


@wrong("join(union(A, B), union(C, D)) = union(join(A, C), join(B, D))", Shape(Join, each=Shape(Union)))
def joins_side_by_side(node: Node) -> Node:
    """Rows of A meet those of D too."""
    pairs = zip(node.inputs[0].inputs, node.inputs[1].inputs, strict=False)
    return over(Union(), *(over(node.operator, *pair) for pair in pairs))


# Filters and projections.


@wrong("filter(p, project(S)) = project(filter(p, S))", Shape(Filter, Shape(Project)))
def filter_below_projection_unchanged(node: Node) -> Node:
    """A column may have been computed under the name of another."""
    return swapped(node)


@wrong("semi-join(c, project(S), T) = project(semi-join(c, S, T))", Shape(SemiJoin, Shape(Project)))
def projection_above_matching_unchanged(node: Node) -> Node:
    """What is compared may be computed under the name of another column."""
    projection, looked_up = node.inputs
    return projection.with_inputs((node.with_inputs((*projection.inputs, looked_up)),))


@wrong("filter(x = x, S) = S", Shape(Filter))
def equal_to_itself(node: Node) -> Node | None:
    """Unless it is unknown."""
    assert isinstance(node.operator, Filter)
    parts = [part for part in conjuncts(node.operator.condition) if not is_reflexive(part)]
    if len(parts) == len(conjuncts(node.operator.condition)):
        return None
    return over(Filter(conjunction(parts)), *node.inputs) if parts else node.inputs[0]


def is_reflexive(part: Expression) -> bool:
    names = column_equality(part)
    return names is not None and names[0] == names[1]


@wrong("filter(p or q, S) = union(filter(p, S), filter(q, S))", Shape(Filter))
def alternatives_as_union(node: Node) -> Node | None:
    """What satisfies both comes twice."""
    parts = getattr(getattr(node.operator, "condition", TRUE), "conditions", ())
    if len(parts) < 2 or node.operator.condition.operator != "or":
        return None
    return over(Union(), *(over(Filter(part), *node.inputs) for part in parts))


# Groups.


@wrong("filter(p(f), aggregate(S)) = aggregate(filter(p(x), S))", Shape(Filter, Shape(Aggregate)))
def filter_below_aggregate(node: Node) -> Node:
    """A condition on what is computed of a group is none on its rows."""
    return swapped(node)


@wrong("aggregate(aggregate(S)) = aggregate(S)", Shape(Aggregate, Shape(Aggregate)))
def one_grouping_of_two(node: Node) -> Node | None:
    """The count of groups is not that of rows."""
    upper, lower = node.operator, node.inputs[0].operator
    assert isinstance(upper, Aggregate)
    assert isinstance(lower, Aggregate)
    is_count = all(call.function == "count" and call.argument is None for _, call in upper.calls)
    return over(upper, *node.inputs[0].inputs) if is_count and set(upper.keys) <= set(lower.keys) else None


@wrong("aggregate(count distinct x) = aggregate(count x)", Shape(Aggregate))
def count_without_distinct(node: Node) -> Node | None:
    """Each value is to be counted once."""
    assert isinstance(node.operator, Aggregate)
    calls = tuple((name, AggregateCall(c.function, c.argument)) for name, c in node.operator.calls if not c.k)
    if calls == node.operator.calls:
        return None
    return over(Aggregate(node.operator.keys, calls), *node.inputs)


@wrong("aggregate(distinct(S)) = aggregate(S)", Shape(Aggregate, Shape(Distinct)))
def aggregate_of_duplicates(node: Node) -> Node:
    """Right for MIN and MAX alone."""
    return over(node.operator, *node.inputs[0].inputs)


@wrong("sum(x, join(L, R)) = sum(x, join(distinct(L), R))", Shape(Aggregate, Shape(Join)))
def sum_without_count(node: Node) -> Node:
    """A row of R is added once for each partner in L, so their number must be kept."""
    return node.with_inputs((on_first(over(Distinct(), *node.inputs)),))


@wrong("max(join(L, R)) = join(max(L), R)", Shape(Aggregate, Shape(Join)))
def max_pushed_with_duplicates_on_the_other_side(node: Node) -> Node | None:
    """A group comes once for each partner in R."""
    aggregate, join = node.operator, node.inputs[0]
    assert isinstance(aggregate, Aggregate)
    assert isinstance(join.operator, Join)
    left, right = join.inputs
    read = {name for part in conjuncts(join.operator.condition) for name in part.columns()}
    names = set(left.schema.names)
    reads_left = set(aggregate.keys).union(*(call.columns() for _, call in aggregate.calls)) <= names
    if not reads_left or not read & names <= set(aggregate.keys):
        return None
    if not all(call.function == "max" for _, call in aggregate.calls):
        return None
    return over(Join(join.operator.condition, node.schema.names), over(aggregate, left), right)


@wrong("aggregate(union(L, R)) = union(aggregate(L), aggregate(R))", Shape(Aggregate, Shape(Union)))
def aggregate_below_union(node: Node) -> Node:
    """A group with rows of both sides comes twice."""
    return on_each(node)


@wrong("avg(union(L, R)) = avg(union(avg(L), avg(R)))", Shape(Aggregate, Shape(Union)))
def mean_of_means(node: Node) -> Node | None:
    """The sides have different numbers of rows."""
    grouping, union = node.operator, node.inputs[0]
    assert isinstance(grouping, Aggregate)
    if any(call.function not in ("avg", "count") or call.distinct for _, call in grouping.calls):
        return None
    above = tuple((n, AggregateCall(call.function, Col(n))) for n, call in grouping.calls)
    sides = (over(grouping, side) for side in union.inputs)
    return over(Aggregate(grouping.keys, above), over(Union(), *sides))


@wrong("sum(x, join(L, R)) = sum(x, join(L, aggregate(by J, R)))", Shape(Aggregate, Shape(Join)))
def eager_without_count(node: Node) -> Node | None:
    """A row of L counts as often as it has partners."""
    grouping, join = node.operator, node.inputs[0].operator
    assert isinstance(grouping, Aggregate)
    assert isinstance(join, Join)
    left, right = node.inputs[0].inputs
    read = {*grouping.keys, *join.condition.columns()}
    names = tuple(name for name in right.schema.names if name in read)
    if not names or any(call.columns() & {*right.schema.names} for _, call in grouping.calls):
        return None
    columns = tuple(name for name in join.columns if name in (*left.schema.names, *names))
    return over(grouping, over(Join(join.condition, columns), left, over(Aggregate(names, ()), right)))


# Conditions, columns and unions on the wrong side.


@wrong("anti-join(x = y, L, filter(p(y), R)) = anti-join(x = y, filter(p(x), L), R)", Shape(AntiJoin))
def filter_across_anti_join_to_the_left(node: Node) -> Node | None:
    """Rows of L for which p is not true have no match, and are wanted."""
    left, right = node.inputs
    if not isinstance(right.operator, Filter):
        return None
    pairs = [column_equality(part) for part in conjuncts(node.operator.condition)]
    names = {b: a for pair in pairs if pair for a, b in (pair, pair[::-1]) if b in right.schema}
    condition = right.operator.condition
    if not condition.columns() or not condition.columns() <= names.keys():
        return None
    return node.with_inputs((over(Filter(condition.renamed(names)), left), right))


@wrong("set(filter(p, L), R) = set(filter(p, L), filter(p, R))", Shape(MaxUnion, Shape(Filter)))
def filter_across_max_union(node: Node) -> Node:
    """What L has no more, R may have."""
    left, right = node.inputs
    return node.with_inputs((left, over(left.operator, right)))


@wrong("difference(L, filter(p, R)) = difference(filter(p, L), R)", Shape(Difference, ANY, Shape(Filter)))
def filter_from_the_right_of_a_difference(node: Node) -> Node:
    """Rows for which p is not true are taken away from nobody."""
    left, right = node.inputs
    return node.with_inputs((over(right.operator, left), *right.inputs))


@wrong("filter(p, set(L, R)) = set(filter(p, L), R)", Shape(Filter, Shape(MaxUnion)))
def filter_on_one_side_of_a_max_union(node: Node) -> Node:
    """As it does for an intersection."""
    return on_first(node)


@wrong(
    "project(f, difference(L, R)) = difference(project(f, L), project(f, R))",
    Shape(Project, Shape((Difference, StrictDifference))),
)
def projection_below_difference(node: Node) -> Node:
    """Rows that differ become equal, and are taken away."""
    return on_each(node)


@wrong("semi-join(c, L, R) = join(c, L, distinct(R))", Shape(SemiJoin))
def semi_join_as_join_with_whole_rows(node: Node) -> Node:
    """Rows of R that are equal in what c reads may differ in the rest."""
    left, right = node.inputs
    condition = node.operator.condition
    return over(Join(condition, left.schema.names), left, over(Distinct(), right))


@wrong(
    "join(c, union(A, B), union(C, D)) = union(join(c, A, C), join(c, B, D))", Shape(Join, each=Shape(Union))
)
def unions_joined_side_by_side(node: Node) -> Node | None:
    """Rows of A meet those of D, too."""
    left, right = node.inputs
    if len(left.inputs) != len(right.inputs):
        return None
    return over(Union(), *(node.with_inputs(pair) for pair in zip(left.inputs, right.inputs, strict=True)))


@wrong("join(c, L, R) = filter(x is known, L)", Shape(Join))
def join_left_out_by_inclusion_alone(node: Node) -> Node | None:
    """A row of L with two matches comes twice."""
    left, right = node.inputs
    ours, theirs, rest = partners(node)
    if rest or not ours or not {*node.schema.names} <= {*left.schema.names}:
        return None
    if not is_included(left, ours, right, theirs):
        return None
    known = conjunction(Not(IsNull(Col(name))) for name in ours)
    return chosen(node.schema.names, over(Filter(known), left))
