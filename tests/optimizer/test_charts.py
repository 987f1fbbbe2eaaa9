"""Charts name the cheapest plan at every centroid, and follow what changes."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer import (
    MEMORY,
    PROCESSING,
    Objective,
    Sample,
    Statistics,
    StreamStatistics,
    enumerate_plans,
    price,
)
from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.fidelity import Followed, Follower, follow
from midstream.optimizer.charts.making import ask_optimizer, make_chart
from midstream.optimizer.charts.measures import measure_named, measures_of, rate_of, selectivity_of
from midstream.optimizer.charts.ranges import LearnedRange, LearnedRanges
from midstream.plans.algebra.builder import stream

S = stream("s", x="integer", y="integer")
X, Y = S["x"] > 7, S["y"] > 7
FILTERS = [S.filter(X).filter(Y).plan(), S.filter(Y).filter(X).plan()]

INPUTS = [stream(name, **{name: "integer"}) for name in "abc"]
A, B, C = (one.window(60) for one in INPUTS)
JOINS = list(enumerate_plans(A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).plan()))


def of_filters(rate: float, x: float, y: float) -> Statistics:
    return Statistics({S.node: StreamStatistics(d=1 / rate, l=1.0)}, {X: x, Y: y})


def of_joins(*rates: float) -> Statistics:
    return Statistics(
        {one.node: StreamStatistics(d=1 / rate, l=1.0) for one, rate in zip(INPUTS, rates, strict=True)}
    )


@given(
    st.floats(0, 0.5),
    st.floats(0.1, 0.5),
    st.floats(0.01, 5),
    st.integers(1, 4),
    st.integers(1, 4),
    st.floats(0, 1),
)
def test_a_chart_of_selectivity_and_rate_is_brute_force_at_every_centroid(
    low: float, length: float, slow: float, k: int, m: int, y: float
) -> None:
    sel, rate = Dimension("x", low, low + length, k), Dimension("rate", slow, 3 * slow, m)
    chart = make_chart(FILTERS, of_filters(1, 0.5, y), [(sel, selectivity_of(X)), (rate, rate_of(S))])
    for i, j in product(range(k), range(m)):
        x, often = low + (2 * i + 1) * length / (2 * k), slow + (2 * j + 1) * 2 * slow / (2 * m)
        costs = [PROCESSING.of(price(plan, of_filters(often, x, y))) for plan in FILTERS]
        assert costs[FILTERS.index(chart.plan((x, often)))] == pytest.approx(min(costs), rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 9)), min_size=16, max_size=40),
    st.integers(1, 4),
    st.floats(0, 1),
)
def test_a_chart_over_learned_ranges_is_brute_force_in_every_region(
    points: list[tuple[float, float]], k: int, y: float
) -> None:
    """At every centroid of a region, after merging, the region's plan is the cheapest one."""
    measures = selectivity_of(X), rate_of(S)
    learned = [LearnedRange(one.least, one.most) for one in measures]
    ranges = LearnedRanges([one.name for one in measures], k, learned)
    for point in points:
        ranges.see(point)
    dimensions = ranges.dimensions
    assert dimensions is not None
    chart = make_chart(FILTERS, of_filters(1, 0.5, y), list(zip(dimensions, measures, strict=True)))
    of_region: dict[int, int] = {}
    for place in chart.places():
        x, often = chart.middle(place)
        costs = [PROCESSING.of(price(plan, of_filters(often, x, y))) for plan in FILTERS]
        number = of_region.setdefault(chart.regions[place], chart.number_at(place))
        assert costs[number] == pytest.approx(min(costs), rel=1e-8)
        assert chart.plan((x, often)) is FILTERS[number]


def test_plans_that_cost_the_same_do_not_share_a_chart_like_noise() -> None:
    """Twelve plans are three orders: those that differ in sides of joins cost the same but for rounding."""
    changing = [(Dimension(n, 0.0, 2.0, 4), rate_of(one)) for n, one in zip("abc", INPUTS, strict=True)]
    chart = make_chart(JOINS, of_joins(1, 1, 1), changing, MEMORY)
    assert (len(JOINS), len(set(chart.best))) == (12, 3)


def test_the_optimizer_is_asked_in_every_place() -> None:
    changing = [(Dimension(n, 0.0, 2.0, 3), rate_of(one)) for n, one in zip("abc", INPUTS, strict=True)]
    asked: list[int] = []
    query = A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).plan()
    chart = ask_optimizer(query, of_joins(1, 1, 1), changing, tell=lambda done, total: asked.append(done))
    assert asked == list(range(27))
    assert sorted(set(chart.best)) == list(range(len(chart.plans)))
    for point in product((1 / 3, 1.0, 5 / 3), repeat=3):
        found = PROCESSING.of(price(chart.plan(point), of_joins(*point)))
        least = min(PROCESSING.of(price(plan, of_joins(*point))) for plan in JOINS)
        assert found == pytest.approx(least, rel=1e-9)


class Counted(tuple[int, ...]):
    """Counts how often it is read."""

    read = 0

    def __getitem__(self, at: Any) -> Any:
        Counted.read += 1
        return super().__getitem__(at)


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_a_look_up_reads_one_place_however_many_there_are(k: int) -> None:
    """As OM's Algorithm 2 has it."""
    chart = Chart(
        (Dimension("x", 0, 1, k), Dimension("y", 0, 1, k)),
        tuple(FILTERS),
        Counted((0, 1) * (k * k // 2) or (0,)),
    )
    Counted.read = 0
    chart.plan((0.3, 0.7))
    assert Counted.read == 1


def test_measures_are_read_off_statistics_and_changed_there() -> None:
    sample = Sample(S.node.schema, [(i, 9) for i in range(10)])
    known = Statistics({S.node: StreamStatistics(d=4.0, l=1.0, sample=sample)}, {Y: 0.25})
    measures = measures_of(FILTERS)
    assert list(measures) == ["rate(s)", "selectivity(x > 7)", "selectivity(y > 7)"]
    assert [one.read(known) for one in measures.values()] == [0.25, 0.2, 0.25]
    for measure in measures.values():
        assert measure.read(measure.change(known, 0.5)) == 0.5
        assert measure.least == 0
    assert measure_named(" Rate( S )", FILTERS) == measures["rate(s)"]
    nothing = Statistics({})
    assert [one.read(nothing) for one in measures.values()] == [None, None, None]
    with pytest.raises(ChartError, match=r"found 'rate\(t\)', expected one of rate\(s\), selec"):
        measure_named("rate(t)", FILTERS)
    with pytest.raises(ChartError, match=r"rate\(s\): found 0"):
        rate_of(S).change(known, 0.0)


def test_the_selectivity_of_an_equality_is_read_off_values() -> None:
    """Known ones come before a sample's."""
    (a, b) = (one.node for one in INPUTS[:2])
    measure = measure_named("selectivity(a = b)", JOINS)
    sample = Sample(a.schema, [(1,), (1,), (2,), (3,)])
    of_a = StreamStatistics(d=1.0, l=1.0, sample=sample)
    of_b = StreamStatistics(d=1.0, l=1.0, distributions={"b": {1: 0.5, 3: 0.25}})
    assert measure.read(Statistics({a: of_a, b: of_b})) == 0.5 * 0.5 + 0.25 * 0.25
    told = Statistics({a: of_a, b: of_b}, distributions={"a": {3: 1.0}})
    assert measure.read(told) == 0.25
    assert measure.read(measure.change(told, 0.7)) == 0.7
    assert measure.read(Statistics({a: of_a})) is None
    assert measure.read(Statistics({a: of_a, b: StreamStatistics(d=1.0, l=1.0)})) is None


def test_columns_that_a_query_renames_are_read_at_their_streams() -> None:
    """As SQL does; what is computed is not read."""
    a, b = (one.node for one in INPUTS[:2])
    left, right = (one.select(**{f"{name}.k": one[name]}) for one, name in ((A, "a"), (B, "b")))
    known = Statistics(
        {
            node: StreamStatistics(d=1.0, l=1.0, distributions={name: {1: 0.5}})
            for node, name in ((a, "a"), (b, "b"))
        }
    )
    plan = left.join(right, on=[("a.k", "b.k")]).plan()
    assert measure_named("selectivity(a.k = b.k)", [plan]).read(known) == 0.25
    computed = left.join(B.select(**{"b.k": B["b"] + 1}), on=[("a.k", "b.k")]).plan()
    assert measure_named("selectivity(a.k = b.k)", [computed]).read(known) is None
    hidden = A.join(B.select(b=B["b"] + 1), on=[("a", "b")]).plan()
    assert measure_named("selectivity(a = b)", [hidden]).read(known) is None
    assert selectivity_of(A["a"] == B["b"]).read(known) == 0.25


def test_too_many_places_are_told() -> None:
    changing = [(Dimension(n, 0.0, 2.0, 80), rate_of(one)) for n, one in zip("abc", INPUTS, strict=True)]
    with pytest.raises(ChartError, match=r"found 512,000 places in 3 dimensions, expected 100,000 at most"):
        make_chart(JOINS, of_joins(1, 1, 1), changing)
    with pytest.raises(ChartError, match="found no plan"):
        make_chart([], of_joins(1, 1, 1), [])


@pytest.mark.parametrize("objective", [PROCESSING, MEMORY])
def test_a_chart_of_rates_is_brute_force_at_every_centroid(objective: Objective) -> None:
    dimensions = [Dimension(name, 0.0, 2.0, 3) for name in "abc"]
    changing = [(one, rate_of(source)) for one, source in zip(dimensions, INPUTS, strict=True)]
    chart = make_chart(JOINS, of_joins(1, 1, 1), changing, objective)
    assert len(set(chart.best)) > 1
    for point in product((1 / 3, 1.0, 5 / 3), repeat=3):
        costs = [objective.of(price(plan, of_joins(*point))) for plan in JOINS]
        assert objective.of(price(chart.plan(point), of_joins(*point))) == pytest.approx(min(costs), rel=1e-9)


@given(st.data())
def test_places_regions_and_json(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    is_log = data.draw(st.booleans())
    dimensions = tuple(
        Dimension(f"d{i}", 0.01, 2.0, k, True) if is_log else Dimension(f"d{i}", -1.0, 2.0, k)
        for i, k in enumerate(parts)
    )
    places = list(product(*map(range, parts)))
    best = data.draw(st.lists(st.integers(0, 1), min_size=len(places), max_size=len(places)))
    chart = Chart(dimensions, tuple(FILTERS), tuple(best))
    assert list(chart.places()) == places
    for place, number in zip(places, best, strict=True):
        assert chart.place(chart.middle(place)) == place
        assert chart.number_at(place) == number
    point = data.draw(st.tuples(*(st.floats(dimension.low, dimension.high) for dimension in dimensions)))
    for value, part, dimension in zip(point, chart.place(point), dimensions, strict=True):
        ends = dimension.at(part / dimension.parts), dimension.at((part + 1) / dimension.parts)
        assert ends[0] - 1e-9 <= value <= ends[1] + 1e-9
        assert ends[0] < dimension.middle(part) < ends[1]
    for one, other in product(places, repeat=2):
        if sum(abs(i - j) for i, j in zip(one, other, strict=True)) == 1:
            is_one = chart.regions[one] == chart.regions[other]
            assert is_one == (chart.number_at(one) == chart.number_at(other))
        if chart.regions[one] == chart.regions[other]:
            assert chart.number_at(one) == chart.number_at(other)
    assert Chart.loads(chart.dumps()) == chart


def test_regions_that_do_not_touch_are_two() -> None:
    chart = Chart((Dimension("x", 0, 1, 3),), tuple(FILTERS), (0, 1, 0))
    assert chart.regions == {(0,): 0, (1,): 1, (2,): 2}


def test_beyond_the_ranges_the_nearest_place_counts() -> None:
    chart = Chart((Dimension("x", 0, 1, 3),), tuple(FILTERS), (0, 1, 1))
    assert [chart.place((value,)) for value in (-9.0, 0.0, 1.0, float("inf"))] == [(0,), (0,), (2,), (2,)]


def test_hits_moves_and_switches_by_hand() -> None:
    chart = Chart((Dimension("x", 0, 4, 4),), tuple(FILTERS), (0, 0, 1, 1))
    rounds = [((0.5,), [0, 1]), ((1.5,), [0]), ((2.5,), [0]), ((2.6,), [1]), ((0.1,), [1])]
    found = follow(chart, rounds)
    assert found == Followed(rounds=5, hits=3, moves=3, switches=2)
    assert (found.fidelity, follow(chart, []).fidelity) == (0.6, None)


def test_another_chart_in_its_place_is_no_move() -> None:
    """It has other places; only a change of the plan counts."""
    coarse = Chart((Dimension("x", 0, 4, 2),), tuple(FILTERS), (0, 1))
    fine = Chart((Dimension("x", 0, 4, 4),), tuple(FILTERS), (0, 0, 1, 1))
    follower = Follower()
    for chart, x in ((coarse, 3.0), (fine, 3.0), (fine, 2.0), (coarse, 0.0)):
        follower.take(chart, (x,), [0])
    assert follower.followed == Followed(rounds=4, hits=1, moves=1, switches=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", r"found \[\], expected an object with"),
        ("nonsense", "this is no JSON: Expecting value"),
        ('{"format": "midstream-chart", "version": 2}', "'version': 2}, expected an object with"),
        ('{"format": "midstream-chart", "version": 1}', "found no dimensions"),
    ],
)
def test_what_is_no_chart_is_told(text: str, told: str) -> None:
    with pytest.raises(ChartError, match=told):
        Chart.loads(text)


def test_bad_charts_are_told() -> None:
    one = Dimension("x", 0, 1, 3)
    with pytest.raises(ChartError, match="found 2 places, expected 3"):
        Chart((one,), tuple(FILTERS), (0, 1))
    with pytest.raises(ChartError, match="found plan 2, expected one of 2"):
        Chart((one,), tuple(FILTERS), (0, 1, 2))
    with pytest.raises(ChartError, match=r"dimension x: found \[1, 1\]"):
        Dimension("x", 1, 1, 3)
    with pytest.raises(ChartError, match=r"found a logarithmic range from 0"):
        Dimension("x", 0, 1, 3, True)
    with pytest.raises(ChartError, match="found NaN"):
        one.part(float("nan"))
    text = json.dumps({**json.loads(Chart((one,), tuple(FILTERS), (0, 1, 1)).dumps()), "best": [0]})
    with pytest.raises(ChartError, match="found 1 places"):
        Chart.loads(text)
