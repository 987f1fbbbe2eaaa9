"""Shares of rows: what is known, what samples tell, and what is taken for granted otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from midstream.optimizer import CostModel, Sample, Statistics, StreamStatistics, enumerate_plans, price
from midstream.optimizer.cost.selectivity import DEFAULT_EQUALITY, DEFAULT_OTHER
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.expressions import Const, Expression, conjunction, equality
from midstream.plans.expressions.operands import col, opaque

A = stream("a", intervals=True, x="integer", y="integer?")
B = stream("b", intervals=True, z="integer", w="integer?")
C = stream("c", intervals=True, u="integer")


def known(*inputs: tuple[Stream, list[tuple[Any, ...]]], **more: Any) -> Statistics:
    """Streams with one element a chronon, each valid for one, and these rows as samples."""
    return Statistics(
        {
            s.node: StreamStatistics(1.0, 1.0, sample=Sample(s.schema, rows) if rows else None)
            for s, rows in inputs
        },
        **more,
    )


def rate(query: Stream, statistics: Statistics) -> float:
    """The estimated rate of a query's results."""
    return price(query.plan(), statistics).operators[query.node].rate


def pairs(query: Stream, statistics: Statistics) -> float:
    """The share of the overlapping pairs that a join keeps: of chronons, one overlaps in each."""
    return rate(query, statistics)


ROWS = [(1, 5), (2, None), (2, 7), (4, 5)]


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        pytest.param(col("x") > 1, 0.75, id="a column"),
        pytest.param(col("x") < col("y"), 0.75, id="two columns of one row"),
        pytest.param(col("y") > 1, 0.75, id="unknown is not true"),
        pytest.param(col("y").is_null(), 0.25, id="unknown"),
        pytest.param(~(col("y").eq(5)), 0.25, id="not unknown is unknown"),
        pytest.param(col("y").eq(col("y")), 0.75, id="nothing unknown is equal to itself"),
        pytest.param((col("x") > 1) & (col("y") > 5), 0.25, id="of one row, not independent"),
        pytest.param((col("x") > 1) & (col("x") < 2), 0.0, id="a contradiction"),
        pytest.param(Const(True), 1.0, id="true"),
        pytest.param(Const(False), 0.0, id="false"),
        pytest.param(Const(None), 0.0, id="a condition that is unknown"),
        pytest.param(opaque(lambda x: x % 2 == 0, ["x"], "boolean"), 0.75, id="a callable"),
        pytest.param(opaque(lambda x: 1 / (x - 1) > 0, ["x"], "boolean"), DEFAULT_OTHER, id="one that fails"),
        pytest.param(opaque(lambda: True, [], "boolean"), 1.0, id="a callable of nothing"),
    ],
)
def test_filter_by_sample(condition: Expression, share: float) -> None:
    assert rate(A.filter(condition), known((A, ROWS))) == pytest.approx(share)


def test_a_filter_behind_a_filter_is_asked_of_the_rows_that_are_left() -> None:
    """Of four rows two have x = 2, of which one has a known y; alone the conditions hold for 1/2 and 3/4."""
    statistics = known((A, ROWS))
    both = (col("x").eq(2)) & (col("y") > 1)
    assert rate(A.filter(col("x").eq(2)).filter(col("y") > 1), statistics) == 0.25
    assert rate(A.filter(both), statistics) == 0.25


def test_known_selectivities_come_first() -> None:
    statistics = known((A, ROWS), selectivities={col("x") > 1: 0.5})
    assert rate(A.filter(col("x") > 1), statistics) == 0.5
    assert rate(A.filter((col("x") > 1) & (col("y") > 1)), statistics) == pytest.approx(0.5 * 2 / 3)


def test_nothing_is_known() -> None:
    statistics = known((A, []), (B, []))
    assert rate(A.filter(col("x") > 1), statistics) == DEFAULT_OTHER
    assert pairs(A.join(B, on=[("x", "z")]), statistics) == DEFAULT_EQUALITY
    assert pairs(A.join(B, on=col("x") < col("z")), statistics) == DEFAULT_OTHER
    assert pairs(A.join(B), statistics) == 1.0


def test_something_is_known_of_one_side_only() -> None:
    statistics = known((A, ROWS), (B, []))
    assert pairs(A.join(B, on=[("x", "z")]), statistics) == DEFAULT_EQUALITY


def test_equality_by_distributions() -> None:
    """x is 1, 2, 2, 4 and z is 2, 2, 3, 4: equal with probability 1/2 · 1/2 + 1/4 · 1/4."""
    statistics = known((A, ROWS), (B, [(2, 0), (2, 0), (3, 0), (4, 0)]))
    assert pairs(A.join(B, on=[("x", "z")]), statistics) == pytest.approx(5 / 16)


def test_unknown_values_equal_nothing() -> None:
    """y is 5 in half of the rows and w too; where they are unknown they do not meet."""
    statistics = known((A, ROWS), (B, [(0, 5), (0, None), (0, None), (0, 5)]))
    assert pairs(A.join(B, on=[("y", "w")]), statistics) == pytest.approx(1 / 4)


def test_equal_values_of_different_types_meet() -> None:
    numbers = stream("numbers", intervals=True, z="float")
    statistics = known((A, ROWS), (numbers, [(2.0,), (2.5,)]))
    assert pairs(A.join(numbers, on=[("x", "z")]), statistics) == pytest.approx(1 / 4)


def test_known_distributions_come_before_samples() -> None:
    statistics = known((A, ROWS), (B, []), distributions={"x": {7: 1.0}, "z": {7: 0.5, 8: 0.5}})
    assert pairs(A.join(B, on=[("x", "z")]), statistics) == 0.5
    assert rate(A.filter(col("x") > 6), statistics) == 1.0
    assert rate(B.filter(col("z") > 7), statistics) == 0.5
    assert pairs(A.join(B, on=col("x") < col("z")), statistics) == 0.5
    assert pairs(A.join(B, on=col("x") < col("z") - 1), statistics) == 0.0


def test_what_is_told_of_a_column_holds_whatever_is_joined_before() -> None:
    """Of a's rows those with 7 find a partner in c. In what order joins are made changes no price, so x < z
    is asked of all that is told of x: of 1 and 7 alike. A projection between the joins changes nothing."""
    told = {"x": {1: 0.5, 7: 0.5}, "z": {7: 0.5, 8: 0.5}, "u": {7: 1.0}}
    statistics = known((A, ROWS), (B, [(2, None)]), (C, [(2,)]), distributions=told)
    joined = A.join(C, on=[("x", "u")])
    for left in (joined, joined.select(x=col("x"))):
        assert pairs(left.join(B, on=col("x") < col("z")), statistics) == pytest.approx(0.5 * 0.75)


def test_a_filter_below_a_join_leaves_fewer_of_the_values_that_are_told() -> None:
    statistics = known((A, ROWS), (B, [(2, None)]), distributions={"z": {0: 0.25, 3: 0.25, 9: 0.5}})
    assert pairs(A.join(B.filter(col("z") > 1), on=col("x") < col("z")), statistics) == pytest.approx(
        0.75 * (1 / 3 * 3 / 4 + 2 / 3)
    )


def test_a_distribution_leaves_the_rest_to_unknown_values() -> None:
    statistics = known((A, []), distributions={"y": {1: 0.5, 2: 0.25}})
    assert rate(A.filter(col("y").is_null()), statistics) == pytest.approx(0.25)
    assert rate(A.filter(col("y") > 1), statistics) == pytest.approx(0.25)


def test_conditions_over_two_samples_are_tried_on_pairs() -> None:
    """x < z for 1, 2, 2, 4 against 2, 3: in (2 + 1 + 1 + 0) of 8 pairs."""
    statistics = known((A, ROWS), (B, [(2, None), (3, 1)]))
    assert pairs(A.join(B, on=col("x") < col("z")), statistics) == 0.5
    assert pairs(A.join(B, on=col("x") < col("w")), statistics) == 0.0
    assert pairs(A.join(B, on=(2 * col("x") + col("z")).eq(col("y"))), statistics) == pytest.approx(2 / 8)


def test_pairs_of_large_samples_are_thinned_evenly() -> None:
    ascending, middle = [(i, 0) for i in range(1000)], [(500, 0)]
    assert pairs(A.join(B, on=col("x") < col("z")), known((A, ascending), (B, middle))) == 0.5


def test_values_that_found_a_partner_are_those_that_go_on() -> None:
    """x is 1 or 2, z is 2 or 3: what is joined has 2 only, so a third stream with 2 matches it always."""
    statistics = known((A, [(1, 0), (2, 0)]), (B, [(2, 0), (3, 0)]), (C, [(2,)]))
    query = A.join(B, on=[("x", "z")])
    assert rate(query.filter(col("x") > 1), statistics) == rate(query, statistics)
    assert rate(query.filter(col("z") > 2), statistics) == 0.0
    assert rate(query.join(C, on=[("x", "u")]), statistics) == pytest.approx(rate(query, statistics))


def test_what_is_equal_shares_what_becomes_known_of_it() -> None:
    """First x = z, then x = u: from then on z too has the only value of u."""
    statistics = known((A, [(i, 0) for i in range(4)]), (B, [(i, 0) for i in range(4)]), (C, [(2,)]))
    query = A.join(B, on=[("x", "z")]).join(C, on=[("x", "u")])
    assert rate(query, statistics) > 0
    assert rate(query.filter(col("z").ne(2)), statistics) == 0.0


def test_what_is_equal_within_a_row_shares_it_too() -> None:
    """x = y in two of three rows; z has the value of the first twice as often as that of the second."""
    statistics = known((A, [(0, 0), (3, 3), (1, 2)]), (B, [(0, 0), (0, 0), (3, 0), (1, 0)]))
    query = A.join(B, on=[("x", "z"), ("y", "z")])
    for column in "xyz":
        share = rate(query.filter(col(column) > 1), statistics) / rate(query, statistics)
        assert share == pytest.approx(1 / 3)
    later = A.join(B, on=[("x", "z")]).filter(col("x").eq(col("y")))
    assert rate(later.filter(col("y").eq(1)), statistics) == 0.0


def test_columns_with_the_same_distribution_are_not_thereby_equal() -> None:
    """One mapping may describe several columns; joining two of them says nothing of a third."""
    shared = {1: 0.9, 2: 0.1}
    statistics = known((A, []), (B, []), (C, []), distributions={"x": shared, "z": shared, "u": shared})
    separate = known(
        (A, []), (B, []), (C, []), distributions={"x": dict(shared), "z": dict(shared), "u": dict(shared)}
    )
    query = A.join(C).join(B, on=[("x", "z")]).filter(col("u").eq(1))
    assert rate(query, statistics) == rate(query, separate)


def test_known_equalities_hold_for_equal_columns() -> None:
    """z = u is known; the plan asks x = u, where x = z already."""
    statistics = known(
        (A, []), (B, []), (C, []), selectivities={equality("x", "z"): 0.5, equality("u", "z"): 0.01}
    )
    joined = A.join(B, on=[("x", "z")])
    asked = joined.join(C, on=[("x", "u")])
    assert rate(asked, statistics) == pytest.approx(rate(joined, statistics) * 0.01)


def test_both_sides_of_a_self_join_have_rows_of_their_own() -> None:
    """Rows of one sample on both sides are not the same row."""
    joined = A.join(C, on=[("x", "u")])
    left, right = joined.alias("l"), joined.alias("r")
    statistics = known((A, [(i, 0) for i in range(4)]), (C, [(i,) for i in range(4)]))
    query = left.join(right, on=[("l.x", "r.x")])
    expected = rate(joined, statistics) ** 2 / 4
    assert rate(query, statistics) == pytest.approx(expected)
    assert rate(left.join(right, on=col("l.y").eq(col("r.u"))), statistics) == pytest.approx(expected)


def test_a_projection_keeps_what_is_known() -> None:
    statistics = known((A, ROWS), (B, [(2, 0), (3, 0)]))
    assert rate(A.select(sum=col("x") + col("y")).filter(col("sum") > 7), statistics) == 0.5
    assert rate(A.rename({"x": "q"}).filter(col("q") > 1), statistics) == 0.75
    joined = A.join(B, on=[("x", "z")]).rename({"x": "q"})
    assert rate(joined.filter(col("q").eq(2)), statistics) == rate(joined, statistics)
    assert rate(joined.filter(col("q").eq(col("z")) & (col("z") > 2)), statistics) == 0.0


def test_a_projection_that_fails_on_a_row_keeps_what_it_copies() -> None:
    failing = A.select("x", bad=opaque(lambda x: 1 // (x - 1), ["x"], "integer"))
    statistics = known((A, ROWS))
    assert rate(failing.filter(col("x") > 1), statistics) == 0.75
    assert rate(failing.filter(col("bad") > 1), statistics) == DEFAULT_OTHER


def test_a_union_has_the_values_of_its_inputs_by_their_rates() -> None:
    """Ten times as many elements of a as of b, though the samples are of one size."""
    other = B.rename({"z": "x", "w": "y"})
    statistics = Statistics(
        {
            A.node: StreamStatistics(1.0, 1.0, sample=Sample(A.schema, [(1, 0)] * 100)),
            B.node: StreamStatistics(10.0, 1.0, sample=Sample(B.schema, [(2, 0)] * 100)),
        }
    )
    assert rate(A.union(other).filter(col("x").eq(2)), statistics) == pytest.approx(0.1)


def test_a_union_of_joined_columns_mixes_their_distributions() -> None:
    statistics = known((A, [(1, 0), (2, 0)]), (C, [(2,), (3,)]))
    joined = A.join(C, on=[("x", "u")]).select("x")
    query = A.select("x").union(joined)
    joined_rate = rate(joined, statistics)
    twos = (0.5 + joined_rate) / (1 + joined_rate)
    assert rate(query.filter(col("x").eq(2)), statistics) == pytest.approx(rate(query, statistics) * twos)


def test_filters_on_a_joined_column_weigh_the_same_above_and_below_the_join() -> None:
    statistics = known((A, [(i % 7, 0) for i in range(50)]), (B, [(i % 3, 0) for i in range(20)]))
    above = A.join(B, on=[("x", "z")]).filter(col("x") > 1)
    below = A.filter(col("x") > 1).join(B, on=[("x", "z")])
    assert rate(above, statistics) == pytest.approx(rate(below, statistics))


def test_two_columns_of_a_row_that_are_equal_to_the_same_column() -> None:
    """x = z and y = z ask of the row of a that x = y, which half of the rows are, and not twice that z has a
    value that occurs."""
    statistics = known((A, [(0, 0), (1, 2), (2, 1), (3, 3)]), (B, [(0, 0), (3, 0)]))
    both, one = col("x").eq(col("y")), col("y").eq(col("z"))
    for query in (
        A.join(B, on=[("x", "z"), ("y", "z")]),
        A.join(B, on=both & one),
        A.filter(both).join(B, on=one),
    ):
        assert pairs(query, statistics) == pytest.approx(1 / 2 * 1 / 2)


THREE = [A, B, C]


@st.composite
def sampled_joins(draw: st.DrawFn) -> tuple[Plan, Statistics]:
    """Joins of three streams under conditions of all kinds, with samples of streams and values of columns."""
    names = [name for s in THREE for name in s.schema.names]
    column = st.sampled_from(names).map(col)
    small = st.integers(0, 3)
    condition = st.one_of(
        st.tuples(column, column).map(lambda pair: pair[0] == pair[1]),
        st.tuples(column, column).map(lambda pair: pair[0] == pair[1]),
        st.tuples(column, column).map(lambda pair: pair[0] < pair[1]),
        st.tuples(column, small).map(lambda pair: pair[0] < pair[1]),
        st.tuples(column, column, column).map(lambda three: three[0] + three[1] == three[2]),
    )
    chosen = [one.expression for one in draw(st.lists(condition, max_size=4))]
    query = A.join(B).join(C, on=conjunction(chosen))
    value, maybe = st.integers(0, 3), st.one_of(st.integers(0, 3), st.none())
    streams = {}
    for s in THREE:
        row = st.tuples(*(maybe if column.nullable else value for column in s.schema))
        rows = draw(st.lists(row, min_size=1, max_size=12))
        d, length = draw(st.floats(0.1, 100)), draw(st.floats(1, 100))
        sample = draw(st.sampled_from([Sample(s.schema, rows)] * 3 + [None]))
        streams[s.node] = StreamStatistics(d, length, sample=sample)
    counts = st.dictionaries(value, st.integers(1, 5), min_size=1)
    told = draw(st.dictionaries(st.sampled_from(names), counts, max_size=2))
    shares = {name: {v: n / sum(count.values()) for v, n in count.items()} for name, count in told.items()}
    return query.plan(), Statistics(streams, distributions=shares)


@given(sampled_joins())
def test_all_join_orders_have_the_same_result(case: tuple[Plan, Statistics]) -> None:
    plan, statistics = case
    model = CostModel(statistics)
    found = enumerate_plans(plan, [JOIN_COMMUTATIVITY, JOIN_ASSOCIATIVITY])
    assert len(found) == 12
    estimates = [model.price(member).operators[member.root] for member in found]
    event(f"something comes out: {estimates[0].rate > 0}")
    for estimate in estimates:
        assert estimate.rate == pytest.approx(estimates[0].rate, rel=1e-6)
        assert estimate.l == pytest.approx(estimates[0].l, rel=1e-6)


def test_what_was_priced_before_changes_no_price() -> None:
    """Of rows that have a partner, another share satisfies the same condition."""
    low, high, third = (
        stream(name, **{column: "integer"}) for name, column in (("low", "x"), ("high", "z"), ("third", "u"))
    )
    statistics = known((low, [(0,), (1,), (8,), (9,)]), (high, [(3,), (4,), (5,)]), (third, [(8,), (9,)]))
    windows = [each.window(9) for each in (low, high, third)]
    below = col("x") < col("z")
    all_of_them = windows[0].join(windows[1], on=below).plan()
    with_partner = windows[0].join(windows[2], on=[("x", "u")]).join(windows[1], on=below).plan()
    model = CostModel(statistics)
    for plan in (all_of_them, with_partner):
        assert model.price(plan) == price(plan, statistics)
        # What conditions select may be known from another model.
        assert CostModel(statistics, selectivity=model.selectivity).price(plan) == price(plan, statistics)
