"""Charts name the cheapest plan at every centroid, and follow what changes."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer import (
    MEMORY,
    PROCESSING,
    Objective,
    Statistics,
    StreamStatistics,
    enumerate_plans,
    price,
)
from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.fidelity import Followed, follow
from midstream.optimizer.charts.making import make_chart, rate_of, selectivity_of
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Plan

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
    dimensions = tuple(Dimension(f"d{i}", -1.0, 2.0, k) for i, k in enumerate(parts))
    places = list(product(*map(range, parts)))
    best = data.draw(st.lists(st.integers(0, 1), min_size=len(places), max_size=len(places)))
    chart = Chart(dimensions, tuple(FILTERS), tuple(best))
    assert list(chart.places()) == places
    for place, number in zip(places, best, strict=True):
        assert chart.place(chart.middle(place)) == place
        assert chart.number_at(place) == number
    point = data.draw(st.tuples(*(st.floats(-1, 2) for _ in parts)))
    for value, part, dimension in zip(point, chart.place(point), dimensions, strict=True):
        assert abs(dimension.middle(part) - value) <= 3 / dimension.parts / 2 + 1e-9
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
    rounds = [((0.5,), 0), ((1.5,), 0), ((2.5,), 0), ((2.6,), 1), ((0.1,), 1)]
    found = follow(chart, rounds)
    assert found == Followed(rounds=5, hits=3, moves=3, switches=2)
    assert (found.fidelity, follow(chart, []).fidelity) == (0.6, None)


def wandering(
    seed: int, start: list[float], low: float, high: float, step: float = 0.05
) -> list[tuple[float, ...]]:
    """600 rounds, each near the one before."""
    random, here, points = Random(seed), start, []
    for _ in range(600):
        here = [min(high, max(low, value + random.gauss(0, step))) for value in here]
        points.append(tuple(here))
    return points


def uncorrelated(seed: int, dimensions: int, low: float, high: float) -> list[tuple[float, ...]]:
    """600 rounds that have nothing to do with each other."""
    random = Random(seed)
    return [tuple(random.uniform(low, high) for _ in range(dimensions)) for _ in range(600)]


@pytest.mark.parametrize(
    ("points", "percent"),
    [
        (wandering(1, [0.5, 0.5], 0.01, 0.99), [87, 93, 97, 98]),
        (uncorrelated(1, 2, 0.0, 1.0), [90, 95, 98, 98]),
    ],
    ids=["wandering", "uncorrelated"],
)
def test_fidelity_of_two_filters_over_k(points: list[tuple[float, float]], percent: list[int]) -> None:
    """As OM's Figure 3(c); the selectivities are seen as they are. docs/optimizer.md tells these figures."""
    found = []
    for k in (5, 10, 20, 40):
        changing = [(Dimension(n, 0.0, 1.0, k), selectivity_of(c)) for n, c in (("x", X), ("y", Y))]
        chart = make_chart(FILTERS, of_filters(1, 0.5, 0.5), changing)
        found.append(follow(chart, [((x, y), int(y < x)) for x, y in points]).fidelity)
    assert [round(100 * (fidelity or 0)) for fidelity in found] == percent


@pytest.mark.parametrize(
    ("points", "percent"),
    [
        (wandering(2, [1.0, 1.0, 1.0], 0.05, 1.99, 0.2), [62, 80, 88, 90, 94]),
        (uncorrelated(2, 3, 0.05, 2.0), [64, 82, 86, 89, 90]),
    ],
    ids=["wandering", "uncorrelated"],
)
def test_fidelity_of_joins_over_k(points: list[tuple[float, ...]], percent: list[int]) -> None:
    """As OM's Figure 4(b): three orders of a join, by the rates of its streams."""

    def costs(point: tuple[float, ...], plans: list[Plan]) -> list[float]:
        return [PROCESSING.of(price(plan, of_joins(*point))) for plan in plans]

    orders: dict[float, Plan] = {}
    for plan in JOINS:
        orders.setdefault(round(costs((0.3, 0.7, 1.7), [plan])[0], 9), plan)
    plans = list(orders.values())
    assert len(plans) == 3
    rounds = [(point, min(range(3), key=costs(point, plans).__getitem__)) for point in points]
    found = []
    for k in (2, 4, 6, 8, 10):
        changing = [(Dimension(n, 0.0, 2.0, k), rate_of(one)) for n, one in zip("abc", INPUTS, strict=True)]
        found.append(follow(make_chart(plans, of_joins(1, 1, 1), changing), rounds).fidelity)
    assert [round(100 * (fidelity or 0)) for fidelity in found] == percent


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "TypeError"),
        ("nonsense", "JSONDecodeError"),
        ('{"format": "midstream-chart", "version": 2}', r"found \('midstream-chart', 2\), expected"),
        ('{"format": "midstream-chart", "version": 1}', "KeyError: 'dimensions'"),
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
    with pytest.raises(ChartError, match="found NaN"):
        one.part(float("nan"))
    text = json.dumps({**json.loads(Chart((one,), tuple(FILTERS), (0, 1, 1)).dumps()), "best": [0]})
    with pytest.raises(ChartError, match="found 1 places"):
        Chart.loads(text)
