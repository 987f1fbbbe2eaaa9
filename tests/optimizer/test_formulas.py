"""The formulas against numbers computed by hand, and at the edges of what numbers can be."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import Estimate, PlanCost, Sample, Statistics, StreamStatistics, UnitCosts, price
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    max_,
    median,
    stddev_samp,
    sum_,
    var_pop,
)
from midstream.plans.expressions.expressions import equality
from midstream.plans.expressions.operands import call
from midstream.testing import plans

S = stream("s", intervals=True, x="integer", y="integer")
T = stream("t", intervals=True, z="integer", w="integer")

UNITS = UnitCosts(
    predicate=1,
    function=10,
    create=100,
    output=1_000,
    hash=10_000,
    bucket=100_000,
    link=1_000_000,
    remove=10_000_000,
    queue=100_000_000,
    group=1_000_000_000,
    merge=10_000_000_000,
    evaluate=100_000_000_000,
)
"""So that the digits of a cost per element tell how often each step was counted."""


def waiting(d: int) -> float:
    """How long one waits for an element of a stream; it may come in the same chronon: about d - 1/2."""
    return d * d * (1 - math.exp(-1 / d))


SLOW = StreamStatistics(d=10.0, l=60.0)
SLOWER = StreamStatistics(d=20.0, l=30.0)


def exactly(number: float) -> object:
    """Nearer than the smallest of the unit costs."""
    return pytest.approx(number, rel=1e-13)


def root(query: Stream, statistics: Statistics) -> Estimate:
    """What is estimated for a query's outermost operator."""
    return price(query.plan(), statistics, UNITS).operators[query.node]


def with_values(d: float, length: float, *columns: list[int], g: int = 1) -> Statistics:
    """Statistics of S whose sample has these columns."""
    sample = Sample(S.schema, list(zip(*columns, strict=True)))
    return Statistics({S.node: StreamStatistics(d, length, g=g, sample=sample)})


def test_filter() -> None:
    """(22.1): d' = d / sel = 10 / 0.25; (22.13); (22.14): 1/10 predicates and 1/40 outputs."""
    dear = (S["x"] > 7).expression
    found = root(S.filter(dear), Statistics({S.node: SLOW}, {dear: 0.25}))
    assert (found.d, found.l, found.g) == (40.0, 60.0, 1)
    assert found.state == 0
    assert found.cost == exactly(0.1 * 1 + 0.025 * 1_000)


def test_map() -> None:
    """(22.2); (22.13); (22.15): a function, an element and an output for each of 1/10 elements."""
    found = root(S.select("x"), Statistics({S.node: SLOW}))
    assert (found.d, found.l, found.g) == (10.0, 60.0, 1)
    assert found.state == 0
    assert found.cost == exactly(0.1 * 1_110)


def test_union() -> None:
    """(22.3): 1/d' = 1/10 + 1/40 = 1/8; l' = (60/10 + 20/40) / (1/8) = 52; (22.16); (22.17)."""
    other = T.rename({"z": "x", "w": "y"})
    statistics = Statistics({S.node: SLOW, T.node: StreamStatistics(d=40.0, l=20.0)})
    found = root(S.union(other), statistics)
    assert (found.d, found.l, found.g) == (8.0, 52.0, 1)
    # (22.16) has none: that of S which comes before the next of T, 40 chronons later, and the reverse.
    assert found.state == pytest.approx(0.1 * waiting(40) + 0.025 * waiting(10))
    assert found.cost == exactly(0.125 * 100_001_000)


def test_product() -> None:
    """(22.4): 1/d' = (60 + 30) / (10 · 20) = 0.45; l' = 60 · 30 / (60 + 30) = 20. In each chronon 0.1 · 0.05
    pairs start together, and are not counted twice: 1/d' = 0.445, l' = 9 / 0.445.

    (22.18): 60/10 of one side, and what has come since the other's last element, which was 20 chronons ago on
    average: 20/10 more; 30/20 + 10/20 of the other. Where elements come at random instants, that is twice as
    long ago as the thesis has it. Of the pairs, the third that are made when an element of the
    first input comes wait 20 chronons for the second, the others 10.
    """
    found = root(S.join(T), Statistics({S.node: SLOW, T.node: SLOWER}))
    assert found.rate == pytest.approx(0.445)
    assert found.l == pytest.approx(9 / 0.445)
    assert found.state == pytest.approx(8 + 2 + (0.15 * waiting(20) + 0.3 * waiting(10)) * 0.445 / 0.45)


HASHED = 2 * (10_000 + 100_000 + 1_000_000 + 10_000_000)
"""Per element: hash to insert and to probe, a bucket and the order of ends to enter and to leave, a hit and
a miss of the remove predicate."""
RESULT = 10 + 100 + 1_000 + 100_000_000
"""Per result: its payload, its element, and its place in the output."""


def test_hash_join() -> None:
    """(22.19) to (22.23): 0.1 + 0.05 elements, 0.445 overlapping pairs; a tenth have equal keys."""
    statistics = Statistics({S.node: SLOW, T.node: SLOWER}, {equality("x", "z"): 0.1})
    found = root(S.join(T, on=[("x", "z")]), statistics)
    assert found.rate == pytest.approx(0.0445)
    assert found.l == pytest.approx(9 / 0.445)
    assert found.state == pytest.approx(10 + 0.1 * (0.15 * waiting(20) + 0.3 * waiting(10)) * 0.445 / 0.45)
    assert found.cost == exactly(0.15 * HASHED + 0.0445 * 1 + 0.0445 * RESULT)


def test_hash_join_with_another_condition() -> None:
    """Pairs with equal keys are candidates; a third of them are results."""
    statistics = Statistics(
        {S.node: SLOW, T.node: SLOWER}, {equality("x", "z"): 0.1, (S["y"] < T["w"]).expression: 1 / 3}
    )
    found = root(S.join(T, on=S["x"].eq(T["z"]) & (S["y"] < T["w"])), statistics)
    assert found.rate == pytest.approx(0.0445 / 3)
    assert found.cost == exactly(0.15 * HASHED + 0.0445 * 1 + 0.0445 / 3 * RESULT)


def looping(query: Stream) -> Plan:
    return Plan(Node(Physical("nested-loops-join", query.node.operator), query.node.inputs))


def test_nested_loops_join() -> None:
    """All overlapping pairs are candidates, and nothing is hashed: also where the plan asks for loops in
    spite of equal columns."""
    by_loops = 0.15 * (HASHED - 20_000) + 0.445 * 1
    less = (S["y"] < T["w"]).expression
    statistics = Statistics({S.node: SLOW, T.node: SLOWER}, {less: 0.1, equality("x", "z"): 0.1})
    (found,) = price(looping(S.join(T, on=less)), statistics, UNITS).operators.values()
    assert found.cost == exactly(by_loops + 0.0445 * RESULT)

    query = S.join(T, on=[("x", "z")])
    (found,) = price(looping(query), statistics, UNITS).operators.values()
    assert found.cost == exactly(by_loops + 0.0445 * RESULT)
    (found,) = price(physical_plan(query.plan()), statistics, UNITS).operators.values()
    assert found.cost == root(query, statistics).cost


def test_join_order_changes_only_what_arrives_at_the_next_join() -> None:
    """The elements of the inputs cost the same in every order; the intermediate results make the
    difference."""
    u = stream("u", intervals=True, p="integer")
    statistics = Statistics(
        {S.node: SLOW, T.node: SLOWER, u.node: StreamStatistics(d=5.0, l=40.0)},
        distributions={"x": {1: 0.5, 2: 0.5}, "z": {1: 1.0}, "p": {1: 0.1, 3: 0.9}},
    )
    first = price(S.join(T, on=[("x", "z")]).join(u, on=[("z", "p")]).plan(), statistics, UNITS)
    second = price(T.join(u, on=[("z", "p")]).join(S, on=[("x", "z")]).plan(), statistics, UNITS)
    (one, all_one), (two, all_two) = first.operators.values(), second.operators.values()
    assert all_one.rate == pytest.approx(all_two.rate)
    each = HASHED + RESULT + 1
    assert first.total - second.total == pytest.approx((one.rate - two.rate) * each, rel=1e-9)


def test_granules_of_several_inputs_have_a_common_one() -> None:
    tens, sixes = StreamStatistics(d=10.0, l=60.0, g=10), StreamStatistics(d=20.0, l=30.0, g=6)
    statistics = Statistics({S.node: tens, T.node: sixes})
    assert root(S.join(T), statistics).g == 2
    assert root(S.union(T.rename({"z": "x", "w": "y"})), statistics).g == 2
    assert root(S.filter(S["x"] > 1).distinct(), statistics).g == 10


@pytest.mark.parametrize("values", [1, 4, 6, 8, 60])
def test_distinct(values: int) -> None:
    """Of 60/10 = 6 rows, n (1 - e^(-6/n)) are different, and so are valid; d' = d; (22.24): l/d.

    (22.25) to (22.29): an element of which an equal one is valid is created anew, and waits for it to end;
    any other one gets a bucket.
    """
    different = values * (1 - math.exp(-6 / values))
    statistics = with_values(10.0, 60.0, list(range(values)) * 2, [0] * values * 2)
    found = root(S.distinct(), statistics)
    assert (found.d, found.g, found.state) == (10.0, 1, 6)
    assert found.valid == pytest.approx(different)
    assert found.l == pytest.approx(different * 10.0)
    common = 20_000 + 1 + 100_000 + 2_000_000 + 20_000_000 + 1_000
    repeated = different / values
    assert found.cost == exactly(0.1 * (common + repeated * 200_000_100 + (1 - repeated) * 100_000))


def test_few_and_many_different_rows_are_those_of_the_thesis() -> None:
    """(22.5): l' = n d where n is much less than l/d, and l where it is much more."""
    statistics = with_values(1.0, 600.0, [0, 1] * 2, [0] * 4)
    assert root(S.distinct(), statistics).l == pytest.approx(2.0)
    rare = with_values(600.0, 60.0, [0, 1, 2, 3, 4] * 2, [0] * 10)
    assert root(S.distinct(), rare).l == pytest.approx(60.0, rel=0.02)


def test_distinct_without_any_knowledge_expects_no_duplicates() -> None:
    assert root(S.distinct(), Statistics({S.node: SLOW})).l == 60.0


PER_ELEMENT = 2_000_000 + 20_000_000
PER_RESULT = 100 + 1_000
OPENED = 1_000_000_000
"""Besides, for each element that finds no other one of its group: it is opened, and forgotten later."""
IN_GROUPS = 10_000
"""Besides, for each element: its group is found."""
RESULT_OF_A_GROUP = 100_000_000
"""Besides, for each result: those of other groups come first."""
MERGES = 20_000_000_000
VALUE = 100_000_000_000


def parts_of_a_row(rows: float) -> float:
    """Partial aggregates of a row, where this many rows of its group start in a granule on average.

    Counted one by one: a number k of them has the probability e^(-rows) rows^k / k!, and 1 begins each.
    """
    probabilities = (math.exp(-rows) * rows**k / math.factorial(k) for k in range(1, 60))
    return sum(probabilities) / rows


def test_scalar_aggregation() -> None:
    """(22.6), where at an instant a row starts with the probability 1 - e^-0.1, and as many end:

        1/d' = 0.09516 + 0.90484 · 0.09516 · (1 - e^-6) = 0.18105

    The thesis has 1 - (1 - 1/60)^12 = 0.18265. Two ends an element, and a value a segment; rows are counted
    without a function that takes them in. Besides the 6 valid elements and a segment, that element is kept
    which has ended since the last one came. Elements with equal ends are kept as one.
    """
    found = root(S.aggregate(n=count()), Statistics({S.node: SLOW}))
    assert found.rate == pytest.approx(0.18105, abs=1e-5)
    assert found.rate == pytest.approx(1 - (59 / 60) ** 12, rel=0.01)
    assert found.valid == pytest.approx(1 - math.exp(-6))
    opened = math.exp(-6) * OPENED
    kept = parts_of_a_row(0.1)
    assert found.cost == exactly(0.1 * (PER_ELEMENT * kept + opened) + (PER_RESULT + VALUE) / found.d)
    assert found.state == pytest.approx((6 + 1) * kept + found.valid)


def test_what_functions_take() -> None:
    """A value changes at either end; of an extreme, it is put among the candidates, and taken out."""
    known = Statistics({S.node: SLOW})
    rows, total, most = (root(S.aggregate(f=one), known) for one in (count(), sum_("y"), max_("y")))
    assert total.cost - rows.cost == exactly(0.1 * MERGES)
    assert most.cost - total.cost == pytest.approx(0.1 * 2 * 100_000 * parts_of_a_row(0.1), rel=1e-3)


F = stream("s", intervals=True, x="integer", y="float", z="any")


@pytest.mark.parametrize(
    ("calls", "for_row", "for_result"),
    [
        ([count(), count("y"), max_("y")], 0, 0),
        ([sum_("x"), avg("x")], 0, 0),
        ([sum_("y")], 1, 1),
        ([avg("z")], 1, 1),
        ([avg(F["x"] * 0.5)], 1, 1),
        ([sum_("y"), avg("y")], 1, 2),
        ([sum_("y"), avg("y", distinct=True)], 2, 2),
        ([var_pop("x")], 2, 2),
        ([stddev_samp("y"), sum_("y")], 4, 4),
        ([AggregateCall("scaled_sum", call("tuple", F["x"], 0.5).expression)], 1, 4),
        ([AggregateCall("standard_error", call("tuple", F["y"], 0.5, 7).expression)], 3, 10),
    ],
    ids=lambda one: ", ".join(map(str, one)) if isinstance(one, list) else "",
)
@pytest.mark.parametrize("implementation", ["aggregate", "signed-aggregate"])
def test_exact_sums_cost_more_than_sums_of_integers(
    calls: list[AggregateCall], for_row: int, for_result: int, implementation: str
) -> None:
    """A row changes an exact sum when it comes and when it goes; each result rounds it once."""
    node = F.aggregate(**{f"f{i}": call for i, call in enumerate(calls)}).node
    plan = Plan(Node(Physical(implementation, node.operator), node.inputs))
    without, exact = (
        price(plan, Statistics({F.node: SLOW}), replace(UNITS, exact=cost)).operators[plan.root]
        for cost in (0.0, 1e12)
    )
    steps = 2 * for_row / 10 + for_result * exact.rate
    assert exact.cost - without.cost == pytest.approx(1e12 * steps)


def test_scalar_aggregation_of_elements_that_hardly_meet() -> None:
    """(22.6) has a step where d = l. There, e⁻¹ of the time nothing is valid."""
    rates = []
    for length in (0.6, 6.0, 59.0, 60.0, 61.0, 600.0):
        query = S.aggregate(n=count(), s=sum_("y"))
        found = root(query, Statistics({S.node: StreamStatistics(60.0, length)}))
        assert found.valid == pytest.approx(-math.expm1(-length / 60))
        per_element = PER_ELEMENT * parts_of_a_row(1 / 60) + MERGES + math.exp(-length / 60) * OPENED
        assert found.cost == exactly(per_element / 60 + found.rate * (PER_RESULT + 2 * VALUE))
        rates.append(found.rate * 60)
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(1, rel=0.02)
    assert rates[-1] == pytest.approx(2, rel=0.02)
    assert rates[2] == pytest.approx(rates[4], rel=0.02)


def test_aggregation_of_what_comes_at_equal_distances() -> None:
    """Remark 22.1: where l is a multiple of d, a row ends where another one starts: d' = l' = d."""
    query = S.aggregate(n=count())
    even = Statistics({S.node: StreamStatistics(10.0, 60.0, even=True)})
    assert (root(query, even).d, root(query, even).l) == (10.0, 10.0)
    odd = Statistics({S.node: StreamStatistics(10.0, 65.0, even=True)})
    assert root(query, odd).d == pytest.approx(5.5, rel=0.01)


@pytest.mark.parametrize("groups", [1, 3, 6, 7, 60])
def test_grouping(groups: int) -> None:
    """(22.7): the aggregation of one group n times, with the rows of all at n times the distance."""
    statistics = with_values(10.0, 60.0, list(range(groups)) * 2, [0] * groups * 2)
    found = root(S.group_by("x").aggregate(n=count()), statistics)
    one = root(S.aggregate(n=count()), Statistics({S.node: StreamStatistics(10.0 * groups, 60.0)}))
    assert found.rate == pytest.approx(groups * one.rate)
    assert found.l == pytest.approx(one.l)
    assert found.valid == pytest.approx(groups * one.valid)
    in_groups = 0.1 * IN_GROUPS + found.rate * RESULT_OF_A_GROUP
    assert found.cost == pytest.approx(groups * one.cost + in_groups, rel=1e-9)


def test_coarse_granules_make_longer_segments() -> None:
    """(22.6): where 50 elements start in every granule, there is no more than one segment a granule."""
    dense = Statistics({S.node: StreamStatistics(d=0.2, l=600.0, g=10)})
    found = root(S.aggregate(n=count()), dense)
    assert found.d == pytest.approx(10.0)


@pytest.mark.parametrize("groups", [1, 7, 100])
@pytest.mark.parametrize("granule", [1, 10, 60])
def test_rows_that_leave_together_are_kept_as_one(groups: int, granule: int) -> None:
    """(22.30), (22.35): n l/g (1 - (1 - g/l)^(l/(n d))) partial aggregates.

    Rows are those of Cardenas's formula where a window has many granules. Besides, there are those that have
    ended since the last one came, and a segment of each group.
    """
    values = list(range(groups)) * 2
    statistics = with_values(0.5, 600.0, values, [0] * len(values), g=granule)
    found = root(S.group_by("x").aggregate(n=count()), statistics)
    by_row = root(S.group_by("x").aggregate(n=count(), m=median("y")), statistics)
    cardenas = groups * 600 / granule * (1 - (1 - granule / 600) ** (600 / (groups * 0.5)))
    assert found.work.state - found.work.waiting == pytest.approx(cardenas, rel=0.05)
    assert by_row.work.state - by_row.work.waiting == pytest.approx(1201)
    assert found.bytes < by_row.bytes


def test_rows_without_an_end_are_kept_as_one_for_each_group() -> None:
    statistics = with_values(0.5, math.inf, [0, 1, 2] * 2, [0] * 6)
    found = root(S.group_by("x").aggregate(n=count()), statistics)
    assert found.work.state - found.work.waiting == pytest.approx(3)


def test_even_rows_share_granules_alike() -> None:
    """Remark 22.1: of rows at equal distances each granule has as many."""
    for distance, parts in ((20.0, 31), (10.0, 61), (2.5, 60.5)):
        known = Statistics({S.node: StreamStatistics(distance, 600.0, g=10, even=True)})
        found = root(S.aggregate(n=count()), known)
        assert found.work.state - found.work.waiting == pytest.approx(parts, abs=1)


def test_very_long_windows_in_very_fine_time() -> None:
    """A year in nanoseconds: 1 - 1/l rounds to 1, the formula must not."""
    found = root(S.aggregate(n=count()), Statistics({S.node: StreamStatistics(d=1e9, l=3.15e16)}))
    assert found.d == pytest.approx(1e9 / 2, rel=1e-6)


def test_unbounded_windows_never_end_a_segment() -> None:
    endless = Statistics({S.node: StreamStatistics(d=1000.0, l=math.inf)})
    assert root(S.aggregate(n=count()), endless).d == pytest.approx(1000.0, rel=1e-3)
    mixed = Statistics({S.node: StreamStatistics(d=10.0, l=math.inf), T.node: SLOWER})
    assert root(S.join(T), mixed).l == 30.0
    both = Statistics({node: StreamStatistics(d=10.0, l=math.inf) for node in (S.node, T.node)})
    assert root(S.join(T).distinct(), both).l == math.inf


NUMBERS = [1e-300, 1e-9, 0.5, 1.0, 1000.0, 1e9, 1e300, math.inf]


@st.composite
def extreme_statistics(draw: st.DrawFn, plan: Plan) -> Statistics:
    """Empty streams, streams of one element, infinite windows, everything at once, nothing known."""
    inputs = [node for node in plan.nodes if not node.operator.is_snapshot_reducible]  # type: ignore[union-attr]
    streams = {}
    for node in inputs:
        row = st.tuples(*[st.integers(0, 2)] * len(node.schema))
        rows = draw(st.one_of(st.none(), st.lists(row, max_size=3)))
        streams[node] = StreamStatistics(
            d=draw(st.sampled_from(NUMBERS)),
            l=draw(st.sampled_from([0.0, *NUMBERS])),
            g=draw(st.sampled_from([1, 1000, 10**18])),
            sample=None if rows is None else Sample(node.schema, rows),
        )
    return Statistics(streams)


@given(plans(), st.data())
def test_no_number_is_too_large_or_too_small(plan: Plan, data: st.DataObject) -> None:
    """Nothing raises, and all that comes out is a number from 0 to infinity."""
    cost: PlanCost = price(plan, data.draw(extreme_statistics(plan)))
    for estimate in cost.operators.values():
        for number in (estimate.d, estimate.l, estimate.cost, estimate.state, estimate.rate):
            assert number >= 0, estimate
    assert cost.total >= 0
    assert cost.state >= 0


@given(plans(depth=2, joins_only=True), st.data())
def test_an_empty_stream_makes_an_empty_join(plan: Plan, data: st.DataObject) -> None:
    statistics = data.draw(extreme_statistics(plan))
    empty = {node: StreamStatistics(math.inf, known.l) for node, known in statistics.streams.items()}
    for node, estimate in price(plan, Statistics(empty)).operators.items():
        assert estimate.rate == estimate.cost == estimate.state == 0, node
        if isinstance(node.operator, Join):
            assert estimate.d == math.inf
