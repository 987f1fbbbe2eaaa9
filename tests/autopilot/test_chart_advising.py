"""A chart as an advisor: it reads its dimensions off the statistics, and prices what it finds."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

import midstream as ms
from midstream.autopilot.advice import Advisor
from midstream.autopilot.chart_advising import ByChart
from midstream.optimizer import INTERMEDIATE, PROCESSING, Objective, Statistics, StreamStatistics, price
from midstream.optimizer.charts.chart import Chart, ChartError, Dimension
from midstream.optimizer.charts.learned import LearnedChart
from midstream.optimizer.charts.learning import make_tree
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.charts.measures import measures_of
from midstream.optimizer.charts.ranges import RangeSettings
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element

A, B, C = (ms.stream(name, {f"{name}_x": "integer"}).window(1000) for name in "abc")
QUERY = A.join(B, on=[("a_x", "b_x")]).join(C, on=[("a_x", "c_x")]).plan()
MEASURES = measures_of([QUERY])
RATES = [MEASURES["rate(a)"], MEASURES["rate(c)"]]


def statistics(a: float, c: float, b: float = 1.0) -> Statistics:
    """By rates."""
    sources = [stream.node.inputs[0] for stream in (A, B, C)]
    return Statistics(
        {node: StreamStatistics(d=1 / rate, l=1.0) for node, rate in zip(sources, (a, b, c), strict=True)}
    )


def made(objective: Objective = PROCESSING) -> Chart:
    changing = [(Dimension(one.name, 0.0, 2.0, 4), one) for one in RATES]
    return ask_optimizer(QUERY, statistics(1.0, 1.0), changing, objective)


def test_it_is_an_advisor() -> None:
    advisor: Advisor[Plan, Statistics] = ByChart(made())
    assert advisor.advise(QUERY, statistics(1.0, 0.1)) is not None


@pytest.mark.parametrize("objective", [PROCESSING, INTERMEDIATE])
def test_it_advises_the_plan_of_the_place(objective: Objective) -> None:
    chart, known = made(objective), statistics(1.9, 0.1)
    advice = ByChart(chart, objective).advise(QUERY, known)
    assert advice is not None
    (forecast,) = advice.others
    assert forecast.plan is chart.plan((1.9, 0.1)) and forecast.plan != QUERY
    assert advice.running == pytest.approx(objective.of(price(QUERY, known)))
    assert forecast.rate == pytest.approx(objective.of(price(forecast.plan, known)))
    assert forecast.saving == pytest.approx(advice.running - forecast.rate) and forecast.saving > 0
    assert advice.reason == "by the chart, for rate(a) = 1.9, rate(c) = 0.1"


def test_at_the_centroid_advice_changes_with_the_place_only() -> None:
    advisor, chart = ByChart(made(), at="centroid"), made()
    one, same, other = (advisor.advise(QUERY, statistics(a, 0.1)) for a in (1.6, 1.9, 1.1))
    assert one is not None and same is not None and other is not None
    assert (one.running, one.others) == (same.running, same.others)
    assert one.running != other.running
    middle = statistics(*chart.middle(chart.place((1.6, 0.1))))
    assert one.running == pytest.approx(PROCESSING.of(price(QUERY, middle)))


def test_the_running_plan_may_be_the_chart_s() -> None:
    chart, known = made(), statistics(1.9, 0.1)
    advice = ByChart(chart).advise(chart.plan((1.9, 0.1)), known)
    assert advice is not None and advice.others == ()
    assert "which has the running plan" in advice.reason


def test_how_sure_a_saving_is() -> None:
    known, chart = statistics(1.9, 0.1), made()
    others = [statistics(1.9, 0.1), statistics(1.7, 0.1)]
    advice = ByChart(chart).advise(QUERY, replace(known, replicates=others))
    assert advice is not None
    (forecast,) = advice.others
    savings = [PROCESSING.of(price(QUERY, one)) - PROCESSING.of(price(forecast.plan, one)) for one in others]
    assert forecast.deviation == pytest.approx(abs(savings[0] - savings[1]) / 2)


def test_the_same_question_has_the_same_answer() -> None:
    advisor, known = ByChart(made()), statistics(1.9, 0.1)
    assert advisor.advise(QUERY, known) is advisor.advise(QUERY, known)


def test_too_little_is_known() -> None:
    known = statistics(1.0, 1.0)
    without_c = {node: one for node, one in known.streams.items() if "c_x" not in node.schema.names}
    assert ByChart(made()).advise(QUERY, Statistics(without_c)) is None
    without_b = {node: one for node, one in known.streams.items() if "b_x" not in node.schema.names}
    assert ByChart(made()).advise(QUERY, Statistics(without_b)) is None


def test_a_tree_advises_too() -> None:
    changing = [(Dimension(one.name, 0.0, 2.0, 1), one) for one in RATES]
    tree = make_tree(made().plans, statistics(1.0, 1.0), changing, 32)
    advice = ByChart(tree).advise(QUERY, statistics(1.9, 0.1))
    assert advice is not None and advice.others[0].plan is tree.plan((1.9, 0.1))
    with pytest.raises(ArgumentError, match="found at = 'centroid', expected point"):
        ByChart(tree, at="centroid")


def test_a_chart_is_learned_on_the_way_and_made_again_when_streams_leave_it() -> None:
    settings = RangeSettings(first=4, history=20, recent=4)
    learned = LearnedChart(QUERY, RATES, 3, settings=settings)
    advisor = ByChart(learned)
    rounds = [statistics(0.5 + 0.1 * (i % 3), 0.5) for i in range(8)]
    assert [advisor.advise(QUERY, one) is None for one in rounds] == [True] * 3 + [False] * 5
    first = learned.chart
    assert first is not None and all(one.is_logarithmic for one in first.dimensions)
    assert [one.name for one in first.dimensions] == ["rate(a)", "rate(c)"]
    assert first.dimensions[0].high < 1
    for _ in range(4):
        advisor.advise(QUERY, statistics(8.0, 0.5))
    assert learned.chart is not first and learned.chart is not None
    assert learned.chart.dimensions[0].high > 8
    # A round that says nothing of a measure is left out.
    assert learned.see(Statistics({})) is learned.chart


def test_the_same_statistics_are_one_round() -> None:
    """However often they are asked about, and for whichever running plan."""
    learned = LearnedChart(QUERY, RATES, 2, settings=RangeSettings(first=2, history=20, recent=4))
    advisor, known = ByChart(learned), statistics(0.5, 0.5)
    for plan in (QUERY, made().plans[-1], QUERY):
        advisor.advise(plan, known)
    assert learned.chart is None
    advisor.advise(QUERY, statistics(0.6, 0.5))
    assert learned.chart is not None


def test_a_plan_out_of_reach_is_not_advised() -> None:
    advisor = ByChart(made(), obstacle=lambda plan: "a relation is read")
    advice = advisor.advise(QUERY, statistics(1.9, 0.1))
    assert advice is not None and advice.others == ()
    assert advice.reason.endswith("is out of reach: a relation is read")
    with pytest.raises(ArgumentError, match="advisor: obstacle"):
        ByChart(made(), obstacle="none")  # type: ignore[arg-type]


def test_what_is_no_chart_is_told() -> None:
    with pytest.raises(ArgumentError, match="advisor: chart"):
        ByChart(QUERY)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="found at = 'middle'"):
        ByChart(made(), at="middle")  # type: ignore[arg-type]
    other = Chart((Dimension("x", 0, 1, 1),), (QUERY,), (0,))
    with pytest.raises(ChartError, match=r"found 'x', expected one of rate\(a\)"):
        ByChart(other)


@pytest.mark.parametrize("advises", ["a chart", "a chart at centroids", "a chart that is learned"])
def test_an_engine_follows_a_chart(advises: str) -> None:
    """First a is fast, then c: the engine joins the slow ones first, and gives what it would give anyway."""
    flip = fast_then_slow()
    chart = ask_optimizer(
        QUERY,
        statistics(0.02, 0.02, 0.02),
        [(Dimension(one.name, 0.001, 0.2, 6, is_logarithmic=True), one) for one in RATES],
        INTERMEDIATE,
    )
    soon = RangeSettings(first=8)
    advisor = {
        "a chart": ByChart(chart, INTERMEDIATE),
        "a chart at centroids": ByChart(chart, INTERMEDIATE, at="centroid"),
        "a chart that is learned": ByChart(
            LearnedChart(QUERY, RATES, 4, INTERMEDIATE, settings=soon), INTERMEDIATE
        ),
    }[advises]
    plain: list[Element] = []
    flown: list[Element] = []
    engine, alone = ms.Engine(QUERY, flown.extend), ms.Engine(QUERY, plain.extend)
    pilot = engine.autopilot(advisor, objective=INTERMEDIATE, settings=ms.Settings(budget=None))
    for time, name, row in flip:
        for one in (engine, alone):
            one.push(name, [(time, time + 1, row)])
    for one in (engine, alone):
        one.close()
    moves = [record for record in pilot.decisions if record.event == "move"]
    assert moves[0].at < HALF < moves[-1].at
    assert equivalent(plain, flown)


HALF = 10_000


def fast_then_slow() -> list[tuple[int, str, tuple[int]]]:
    """Elements in order of time; a and c change places half-way."""
    random, found = Random(1), list[tuple[int, str, tuple[int]]]()
    for part, rates in enumerate(({"a": 0.1, "b": 0.02, "c": 0.005}, {"a": 0.005, "b": 0.02, "c": 0.1})):
        for name, rate in rates.items():
            time = part * HALF + random.expovariate(rate)
            while time < (part + 1) * HALF:
                found.append((int(time), name, (random.randrange(20),)))
                time += random.expovariate(rate)
    return sorted(found)


def test_where_a_plan_costs_without_end_nothing_is_advised() -> None:
    """As by the rate of results, where there are none."""
    rate = Objective(slowness=1.0, intermediate=1.0)
    advisor, known = ByChart(made(INTERMEDIATE), rate), statistics(1.9, 0.1)
    assert advisor.advise(QUERY, statistics(1.9, 0.1, b=1e-320)) is None
    silent = statistics(1.9, 0.1, b=1e-320)
    advice, unsure = advisor.advise(QUERY, known), advisor.advise(QUERY, replace(known, replicates=[silent]))
    assert advice is not None and len(advice.others) == 1
    assert unsure is not None and unsure.others == () and unsure.running == advice.running
