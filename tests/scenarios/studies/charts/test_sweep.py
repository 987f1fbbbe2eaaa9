"""A chart that executors make is the one that a process makes alone, however its places are shared out."""

from __future__ import annotations

import pickle
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.dimension_requests import (
    changing_along,
    dimension_request,
    requested_measures,
)
from midstream.optimizer.charts.making import Changing, ask_optimizer, centroid
from midstream.optimizer.charts.measures import measures_of
from midstream.optimizer.cost.objective import MEMORY, PROCESSING
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import loads
from midstream.scenarios.stages.charts.sweep import Sweep, price_batches, search_batches


@cache
def query() -> Plan:
    a, b, c = (stream(name, {f"{name}_x": "integer"}).window(100) for name in "abc")
    return a.join(b, on=[("a_x", "b_x")]).join(c, on=[("b_x", "c_x")]).plan()


@cache
def known() -> Statistics:
    sources = [node for node in query().nodes if not node.inputs]
    return Statistics({node: StreamStatistics(d=2.0, l=1.0) for node in sources})


def along(parts: int) -> Changing:
    given = requested_measures(
        query(), [dimension_request("rate(a)=0.01..3"), dimension_request("selectivity(b_x = c_x)=0..0.5")]
    )
    return changing_along(given, known(), [], parts=parts, is_logarithmic=True)


@cache
def alone(parts: int, objective: str) -> Chart:
    return ask_optimizer(query(), known(), along(parts), {"p": PROCESSING, "m": MEMORY}[objective])


@pytest.mark.parametrize("objective", ["p", "m"])
@given(data=st.data(), parts=st.integers(1, 3))
def test_places_may_be_shared_out_in_any_way(objective: str, data: st.DataObject, parts: int) -> None:
    order = data.draw(st.permutations(range(parts**2)))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, parts**2 - 1)), max_size=3)))
    tasks = [order[i:j] for i, j in zip([0, *cuts], [*cuts, len(order)], strict=True) if order[i:j]]
    asked = Sweep(query(), known(), along(parts), {"p": PROCESSING, "m": MEMORY}[objective], UnitCosts())
    asked = pickle.loads(pickle.dumps(asked))  # as it travels
    found: dict[str, int] = {}
    for task in tasks:
        for batch in search_batches(iter([numbers(task)]), asked):
            for text, place in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                found[text] = min(place, found.get(text, place))
    plans = [loads(text) for text in sorted(found, key=found.__getitem__)]
    best = {}
    for task in tasks:
        for batch in price_batches(iter([numbers(task)]), asked, plans):
            best.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    expected = alone(parts, objective)
    assert [plans[best[i]] for i in range(parts**2)] == [expected.plans[i] for i in expected.best]


def numbers(task: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": task})


def test_a_chart_varies_both_dimensions() -> None:
    """Else the test above could not fail."""
    assert len(alone(4, "p").plans) > 1


def test_places_are_numbered_in_their_order() -> None:
    changing = along(3)
    chart = alone(3, "p")
    for number, place in enumerate(chart.places()):
        here = centroid(number, known(), changing)
        assert tuple(measure.read(here) for _, measure in changing) == pytest.approx(chart.middle(place))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (["rate(d)"], "expected one of rate"),
        (["selectivity(a_x = c_x)=0..1"], "expected one of"),
        (["rate(a)", "rate( A )=1..2"], r"found rate\(a\) twice"),
        (["rate(a)=1"], "--along: found 'rate"),
        (["rate(a)=2..1"], "expected a range with a length"),
        (["rate(a)=nan..1"], "expected a range with a length"),
        (["rate(a)=0..1"], "found a logarithmic range from 0.0"),
    ],
)
def test_what_cannot_be_a_dimension(told: list[str], message: str) -> None:
    with pytest.raises(ChartError, match=message):
        changing_along(
            requested_measures(query(), list(map(dimension_request, told))),
            known(),
            [],
            parts=3,
            is_logarithmic=True,
        )


def test_a_plan_without_streams_has_no_chart() -> None:
    with pytest.raises(ChartError, match="found a plan that reads no stream"):
        requested_measures(relation("cities", name="string").plan(), [])


def test_a_silent_stream_has_no_range() -> None:
    silent = {node: StreamStatistics(d=float("inf"), l=1.0) for node in known().streams}
    given = requested_measures(query(), [dimension_request("rate(a)")])
    with pytest.raises(ChartError, match=r"rate\(a\): found 0.0, expected a rate"):
        changing_along(given, Statistics(silent), [], parts=3, is_logarithmic=False)


def test_dimensions_have_names_of_measures() -> None:
    names = list(measures_of([query()]))
    assert [one.name for one, _ in along(2)] == [names[0], "selectivity(b_x = c_x)"]
    assert along(2)[0][0] == Dimension("rate(a)", 0.01, 3.0, 2, is_logarithmic=True)
