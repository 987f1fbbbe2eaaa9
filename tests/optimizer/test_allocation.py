"""Forecasts and allocations: curves beside prices, limits that hold, and precision beside real results."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.optimizer import BudgetForecast, CostModel, Sample, Statistics, StreamStatistics
from midstream.optimizer.allocation.allocating import RULES, allocate, precision_at, use_at
from midstream.optimizer.allocation.allocator import Allocator
from midstream.optimizer.allocation.curves import (
    FRACTIONS,
    Curve,
    GroupCosts,
    LeverGroup,
    Use,
    settings_at,
    total,
)
from midstream.optimizer.allocation.forecast import with_settings
from midstream.optimizer.allocation.limits import Limits, bytes_of, limits_of, share_of
from midstream.optimizer.allocation.precision import FORMULAS, Point, Precision
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate
from midstream.optimizer.cost.outputs import OUTPUTS
from midstream.optimizer.cost.selectivity import Selectivity
from midstream.optimizer.cost.units import UnitCosts
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.implementations import expected_implementation
from midstream.plans.algebra.operators import CountWindow, Granularity, TimeWindow
from midstream.plans.algebra.operators import Sample as SampleOperator
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import is_lever, logical
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import Element

A, B, C = (ms.stream(name, **{f"{name}k": "integer", f"{name}v": "float"}) for name in "abc")
SOURCES = [A, B, C]
RNG = random.Random(7)


def window(source: Stream, least: int = 1_000, most: int = 9_000) -> Stream:
    return source.window(most, bounds=(least, most))


PLANS = {
    "distinct": window(A).select(k=ms.col("ak")).distinct(),
    "join": window(A).join(window(B), on=[("ak", "bk")]),
    "joins": window(A).join(window(B), on=[("ak", "bk")]).join(window(C), on=[("bk", "ck")]),
    "aggregate": window(A).group_by("ak").aggregate(n=ms.count()),
    "granule": window(A).granularity(1, bounds=(1, 2_000)).group_by("ak").aggregate(n=ms.count()),
    "sample": A.sample(1.0, bounds=(0.1, 1.0)).window(5_000).join(window(B), on=[("ak", "bk")]),
    "rows": A.last(500, bounds=(50, 500), ties="arrival").join(window(B), on=[("ak", "bk")]),
    "groups": A.last(5, by=["ak"], bounds=(1, 5), ties="arrival").join(window(B), on=[("ak", "bk")]),
    "difference": window(A).select(k=ms.col("ak")).difference(window(B).select(k=ms.col("bk"))),
    "anti": window(A).anti_join(window(B, 100, 600), on=[("ak", "bk")]),
    "filter": window(A).filter(ms.col("av") > 0.5).join(B.window(3_000), on=[("ak", "bk")]),
    "fixed": A.window(3_000).distinct(),
}


def statistics(distances: Sequence[float] = (10.0, 20.0, 40.0)) -> Statistics:
    rows = [(RNG.randrange(50), RNG.random()) for _ in range(300)]
    return Statistics(
        {
            source.node: StreamStatistics(d, 1.0, sample=Sample(source.schema, rows))
            for source, d in zip(SOURCES, distances, strict=True)
        }
    )


def allocator(plans: Mapping[str, Plan], known: Statistics | None = None) -> Allocator[str]:
    made: Allocator[str] = Allocator(known or statistics())
    made.set_plans(plans)
    return made


@pytest.mark.parametrize("name", PLANS)
@given(fraction=st.sampled_from(FRACTIONS) | st.floats(0, 1))
def test_the_use_at_a_fraction_is_the_price_of_the_plan_with_these_settings(
    name: str, fraction: float
) -> None:
    plan, known = PLANS[name].plan(), statistics()
    group = LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes)))
    settings = settings_at(group, fraction)
    use, (share,) = GroupCosts(group, CostModel(known)).at_fraction(fraction)
    cost = CostModel(known).price(with_settings(plan, {lever: o.setting for lever, o in settings.items()}))
    assert use.memory == pytest.approx(cost.memory, rel=1e-6)
    assert use.processor == pytest.approx(cost.total, rel=1e-6)
    assert use.elements == pytest.approx(cost.state, rel=1e-6)
    assert 0 <= share <= 1 and (share == 1 or settings)


@pytest.mark.parametrize("name", PLANS)
def test_all_is_used_and_right_at_the_best_settings_and_less_at_smaller_ones(name: str) -> None:
    plan = PLANS[name].plan()
    costs = GroupCosts(
        LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes))), CostModel(statistics())
    )
    at = [costs.at_fraction(fraction) for fraction in FRACTIONS]
    assert at[-1][1] == [1.0]
    assert [use.memory for use, _ in at] == sorted(use.memory for use, _ in at)
    assert [shares for _, shares in at] == sorted(shares for _, shares in at)


@given(st.lists(st.sampled_from(sorted(PLANS)), min_size=1, max_size=5, unique=True), st.data())
def test_an_allocation_keeps_within_its_limits_and_its_bounds(names: list[str], data: st.DataObject) -> None:
    plans = {name: PLANS[name].plan() for name in names}
    known = statistics(data.draw(st.tuples(*[st.floats(1, 1000)] * 3)))
    made, rule = allocator(plans, known), data.draw(st.sampled_from(RULES))
    use, least = made.use(), made.least()
    share, other = data.draw(st.floats(0.01, 1.2)), data.draw(st.floats(0.01, 1.2))
    limits = Limits(use.memory * share or 1.0, data.draw(st.sampled_from([math.inf, use.processor * other])))
    allocation = made.allocate(limits, rule)
    assert allocation.fits == limits.hold(allocation.use)
    assert allocation.fits or not limits.hold(least) or rule == "equal"
    changed = {name: with_settings(plan, _of(plan, allocation.settings)) for name, plan in plans.items()}
    again = allocator(changed, known).use()
    assert again.memory == pytest.approx(allocation.use.memory, rel=1e-6)
    assert allocation.use.memory <= use.memory * (1 + 1e-9)


def _of(plan: Plan, settings: Mapping[Any, Any]) -> dict[Any, Any]:
    return {lever: setting for lever, setting in settings.items() if lever in plan.nodes}


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """A curve that rises in steps of any size."""
    steps = st.lists(st.floats(0, 10), min_size=len(FRACTIONS), max_size=len(FRACTIONS))
    sums = [
        [math.fsum(column[: i + 1]) for i in range(len(FRACTIONS))] for column in (draw(steps), draw(steps))
    ]
    gains = sorted(draw(st.lists(st.floats(0, 1), min_size=len(FRACTIONS), max_size=len(FRACTIONS))))
    return Curve([Use(*use) for use in zip(*sums, strict=True)], gains)


@given(st.lists(curves(), min_size=1, max_size=4), st.floats(0.5, 60))
def test_no_choice_of_the_grid_is_more_precise_but_for_one_step(some: list[Curve], memory: float) -> None:
    """The steepest steps first are the best for a part of the last one."""
    limits = Limits(memory=memory)
    fractions = allocate(some, limits, "precision")
    allowed = [
        math.fsum(curve.precision[i] for curve, i in zip(some, at, strict=True))
        for at in product(range(len(FRACTIONS)), repeat=len(some))
        if limits.hold(total(curve.uses[i] for curve, i in zip(some, at, strict=True)))
    ]
    if fractions is None:
        assert not allowed
        return
    assert limits.hold(total(map(use_at, some, fractions)))
    step = max(curve.precision[-1] - curve.precision[0] for curve in some)
    precision = math.fsum(map(precision_at, some, fractions))
    assert precision >= max(allowed) - step - 1e-9
    for rule in ("fraction", "equal"):
        others = allocate(some, limits, rule)
        assert others is not None
        assert limits.hold(total(map(use_at, some, others)))
        assert precision >= math.fsum(map(precision_at, some, others)) - 1e-9


@given(st.lists(curves(), min_size=1, max_size=4), st.floats(0.5, 60), st.floats(0.5, 60))
def test_two_limits_hold_together(some: list[Curve], memory: float, processor: float) -> None:
    limits = Limits(memory, processor)
    for rule in RULES:
        fractions = allocate(some, limits, rule)
        if fractions is None:
            assert not limits.hold(total(curve.uses[0] for curve in some))
        else:
            assert limits.hold(total(map(use_at, some, fractions)))


def test_a_query_with_more_weight_gets_more() -> None:
    plans = {"one": PLANS["join"].plan(), "two": window(C).distinct().plan()}
    made = allocator(plans)
    limits = Limits(memory=made.use().memory * 0.5)
    light = made.allocate(limits, weights={"two": 0.001}).precision
    heavy = made.allocate(limits, weights={"two": 1000.0}).precision
    assert heavy["two"] > light["two"]
    assert heavy["two"] == 1.0


def test_queries_that_share_a_lever_get_one_setting_and_count_once() -> None:
    shared = window(A)
    plans = {"one": shared.distinct().plan(), "two": shared.distinct().filter(ms.col("av") > 0.5).plan()}
    made, alone = allocator(plans), allocator({"one": plans["one"]})
    assert made.use().memory == pytest.approx(alone.use().memory)
    allocation = made.allocate(Limits(memory=made.use().memory / 3))
    assert list(allocation.settings) == [shared.node]


def test_only_what_has_changed_is_estimated_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = {"a": window(A).distinct().plan(), "b": window(B).distinct().plan()}
    known = statistics()
    made = allocator(plans, known)
    limits = Limits(memory=made.use().memory * 0.7)
    made.allocate(limits)
    estimated: list[Any] = []
    original = GroupCosts._estimate
    monkeypatch.setattr(
        GroupCosts, "_estimate", lambda self, s: (estimated.append(self.group.queries), original(self, s))[1]
    )
    made.set_statistics(statistics((10.0, 5.0, 40.0)), [B.node])
    chosen = made.allocate(limits)
    assert ("b",) in estimated
    assert set(estimated) <= {("b",), ("a",)} and estimated.count(("a",)) <= 4  # at most the new settings
    estimated.clear()
    changed = {name: with_settings(plan, _of(plan, chosen.settings)) for name, plan in plans.items()}
    made.set_plans(changed)
    assert made.use().memory == pytest.approx(chosen.use.memory)
    assert not estimated
    made.set_plans({"a": changed["a"]})
    assert made.uses().keys() == {("a",)}
    assert not estimated


def test_granules_that_do_not_fit_what_is_above_stay() -> None:
    plan = A.granularity(1, bounds=(1, 64)).granularity(60).plan()
    levers = tuple(filter(is_lever, plan.nodes))
    for fraction in FRACTIONS:
        for operator in settings_at(LeverGroup(("q",), (plan,), levers), fraction).values():
            assert 60 % operator.setting == 0
    made = allocator({"q": A.granularity(7, bounds=(2, 20)).window(63).distinct().plan()})
    assert made.allocate(Limits(memory=1.0)).settings == {}


@given(st.integers(1, 50), st.integers(1, 500), st.floats(0, 1), st.integers(1, 20))
def test_a_setting_is_within_its_bounds_and_on_the_granule_below(
    least: int, more: int, fraction: float, below: int
) -> None:
    bounds = (least, least + more)
    for operator in (TimeWindow(bounds[1], bounds=bounds), Granularity(bounds[1], bounds=bounds)):
        fits = any(size % below == 0 for size in range(bounds[0], bounds[1] + 1))
        setting = operator.at_fraction(fraction, below)
        if fits:
            assert bounds[0] <= setting <= bounds[1] and setting % below == 0
    rows = CountWindow(bounds[1], bounds=bounds).at_fraction(fraction, below)
    assert bounds[0] <= rows <= bounds[1]
    share = SampleOperator("s", 0.5, bounds=(0.1, 0.7)).at_fraction(fraction, below)
    assert 0.1 <= share <= 0.7


def test_fractions_lead_from_the_cheapest_setting_to_the_best() -> None:
    window, granule = TimeWindow(9, bounds=(3, 9)), Granularity(9, bounds=(3, 50))
    assert [window.at_fraction(f) for f in (0, 0.5, 1)] == [3, 6, 9]
    assert [granule.at_fraction(f) for f in (0, 0.5, 1)] == [48, 24, 3]


@given(
    st.sampled_from(("join", "distinct", "aggregate", "granules")),
    st.integers(1, 200),
    st.integers(1, 2_000),
    st.floats(0.02, 50),
    st.floats(0.01, 1.0),
    st.sampled_from(("memory", "processor")),
    st.sampled_from(RULES),
)
def test_little_is_left_unless_the_next_setting_would_not_fit(
    kind: str, least: int, more: int, d: float, share: float, resource: str, rule: Any
) -> None:
    """Also where the bounds are far apart, so that the curves between their corners are far from straight."""
    a, b = (window(source, least, least + more) for source in (A, B))
    query = {
        "join": a.join(b, on=[("ak", "bk")]),
        "distinct": a.distinct(),
        "aggregate": a.group_by("ak").aggregate(n=ms.count()),
        "granules": a.granularity(1, bounds=(1, least)).group_by("ak").aggregate(n=ms.median("av")),
    }[kind]
    plan, known = query.plan(), statistics((d, 2 * d, d))
    group = LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes)))
    costs = GroupCosts(group, CostModel(known))

    def used(fraction: float) -> float:
        return float(getattr(costs.at_fraction(fraction)[0], resource))

    limit = used(1.0) * share
    made = allocator({"q": plan}, known)
    chosen = made.allocate(Limits(**{resource: limit}), rule)
    assert chosen.fits == (used(0.0) <= limit)
    if chosen.fits and getattr(chosen.use, resource) < 0.8 * limit:
        fitting = [f for f in (i / 200 for i in range(201)) if used(f) <= limit]
        largest = max(map(used, fitting))
        assert getattr(chosen.use, resource) >= 0.95 * largest


# Precision beside real results


def rows(source: int, n: int, d: int, values: int) -> list[Element]:
    chance = random.Random(source)
    return [(t, t + 1, (chance.randrange(values), 0.5)) for t in range(0, n * d, d)]


def results(query: Plan, inputs: Mapping[str, list[Element]]) -> list[Element]:
    out: list[Element] = []
    engine = ms.Engine(query, out.extend)
    for name, t, element in sorted((n, e[0], e) for n, es in inputs.items() for e in es):
        del t
        if name in engine.streams:
            engine.push(name, [element])
    engine.close()
    return out


def measured(best: Iterable[Element], other: Iterable[Element], start: int, end: int) -> tuple[float, float]:
    """The shares of wrong rows and of missing rows, over a time."""
    one, two = normal_form(best), normal_form(other)
    common = right = shown = 0
    for row in one.keys() | two.keys():
        for t in range(start, end, 297):
            mine, theirs = (_at(form.get(row, ()), t) for form in (one, two))
            common, right, shown = common + min(mine, theirs), right + mine, shown + theirs
    return 1 - common / shown, 1 - common / right


def _at(steps: Sequence[tuple[Any, Any, int]], t: int) -> int:
    return next((n for start, end, n in steps if start <= t < end), 0)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("distinct", 0.03),
        ("join", 0.06),
        ("joins", 0.1),
        ("granule-rows", 0.06),
        ("sample", 0.1),
        ("rows", 0.05),
        ("groups", 0.06),
        ("anti", 0.05),
        ("difference", 0.2),
    ],
)
def test_the_expected_precision_is_that_of_the_results(name: str, tolerance: float) -> None:
    query = window(A).granularity(1, bounds=(1, 2_000)) if name == "granule-rows" else PLANS[name]
    plan, fraction = query.plan(), 0.5
    inputs = {"a": rows(1, 4000, 10, 50), "b": rows(2, 2000, 20, 50), "c": rows(3, 1000, 40, 50)}
    known = Statistics(
        {
            source.node: StreamStatistics(
                d, 1.0, sample=Sample(source.schema, [e[2] for e in inputs[n]][:1000])
            )
            for source, n, d in zip(SOURCES, "abc", (10.0, 20.0, 40.0), strict=True)
        }
    )
    group = LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes)))
    settings = {lever: o.setting for lever, o in settings_at(group, fraction).items()}
    _, (expected,) = GroupCosts(group, CostModel(known)).at_fraction(fraction)
    false, missing = measured(
        results(plan, inputs), results(with_settings(plan, settings), inputs), 10_000, 39_000
    )
    assert (1 - false) * (1 - missing) == pytest.approx(expected, abs=tolerance)


def columns(source: Stream, name: str, least: int, most: int) -> Stream:
    return window(source, least, most).select(k=ms.col(name))


COMPARING: dict[str, Callable[[int, int], Stream]] = {
    "distinct": lambda mine, theirs: columns(A, "ak", 100, mine).distinct(),
    "intersection": lambda mine, theirs: columns(A, "ak", 100, mine).intersection(
        columns(B, "bk", 100, theirs)
    ),
    "strict difference": lambda mine, theirs: columns(A, "ak", 100, mine).strict_difference(
        columns(B, "bk", 100, theirs)
    ),
    "semi-join": lambda mine, theirs: window(A, 100, mine).semi_join(
        window(B, 100, theirs), on=[("ak", "bk")]
    ),
    "anti-join": lambda mine, theirs: window(A, 100, mine).anti_join(
        window(B, 100, theirs), on=[("ak", "bk")]
    ),
    "one lever": lambda mine, theirs: A.window(mine).anti_join(window(B, 100, theirs), on=[("ak", "bk")]),
}


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("values", [150, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [(1_000, 4_000), pytest.param(3_000, 2_000, marks=pytest.mark.slow), (4_000, 500)],
)
def test_the_precision_of_rows_that_are_compared_is_that_of_the_results(
    name: str, values: int, mine: int, theirs: int
) -> None:
    """Also where each row has many partners, or hardly any; at several fractions."""
    plan = COMPARING[name](mine, theirs).plan()
    inputs = {"a": rows(1, 4000, 10, values), "b": rows(2, 4000, 10, values)}
    known = Statistics(
        {
            source.node: StreamStatistics(
                10.0, 1.0, sample=Sample(source.schema, [row for *_, row in inputs[n]][:1500])
            )
            for source, n in ((A, "a"), (B, "b"))
        }
    )
    best = results(plan, inputs)
    group = LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes)))
    costs = GroupCosts(group, CostModel(known))
    for fraction in (0.2, 0.6):
        settings = {lever: o.setting for lever, o in settings_at(group, fraction).items()}
        _, (expected,) = costs.at_fraction(fraction)
        false, missing = measured(best, results(with_settings(plan, settings), inputs), 5_000, 39_900)
        assert (1 - false) * (1 - missing) == pytest.approx(expected, abs=0.05)


# Forecasts


def test_a_forecast_fits_as_it_is_with_other_settings_or_not_at_all() -> None:
    query, known = PLANS["join"], statistics()
    present = ms.fit(query, known, memory="1 GB")
    assert (present.verdict, present.settings, present.fits) == ("fits", {}, True)
    less = ms.fit(query, known, memory=present.use.memory / 2)
    assert less.verdict == "fits with other settings"
    assert less.use.memory == pytest.approx(present.use.memory / 2, rel=0.02)
    assert {setting for setting in less.settings.values() if not 1_000 <= setting <= 9_000} == set()
    assert less.plan(query.plan()) == with_settings(query.plan(), less.settings)
    none = ms.fit(query, known, memory=present.use.memory / 100)
    assert (none.verdict, none.fits) == ("does not fit", False)
    assert set(none.settings.values()) == {1_000}
    assert ms.fit(query, known, memory=none.needed.memory).fits


def test_a_forecast_is_text() -> None:
    forecast: BudgetForecast = ms.fit(
        PLANS["join"], statistics(), memory="100 kB", processor="30%", chronon=1e6
    )
    text = str(forecast)
    assert text.startswith("fits with other settings: ")
    assert "of 100 kB" in text and "of 30.00% of a processor" in text and "window 9000" in text


def test_processing_is_limited_by_the_length_of_a_chronon() -> None:
    present = ms.fit(PLANS["join"], statistics(), processor=1.0, chronon=1e6)
    limit = present.use.processor / 1e6 * 0.8
    assert (
        ms.fit(PLANS["join"], statistics(), processor=limit, chronon=1e6).verdict
        == "fits with other settings"
    )
    assert ms.fit(PLANS["join"], statistics(), processor=limit, chronon=1e7).verdict == "fits"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "fit: found no limit, expected memory=, processor= or both"),
        (
            {"memory": "1 XB"},
            "fit: memory: found '1 XB' (str), expected bytes, such as 1000000, '1MB' or '1 MiB'",
        ),
        ({"memory": -1}, "fit: memory: found -1"),
        ({"memory": math.inf}, "fit: memory: found inf"),
        ({"memory": True}, "fit: memory: found True"),
        ({"processor": "30"}, "fit: processor: found '30' (str), expected a share of one processor"),
        ({"processor": 1.5}, "fit: processor: found 1.5"),
        ({"processor": 0}, "fit: processor: found 0"),
        ({"memory": 1, "chronon": 0}, "fit: chronon: found 0"),
        (
            {"memory": 1, "rule": "best"},
            "fit: rule: found 'best' (str), expected precision or fraction or equal",
        ),
    ],
)
def test_a_wrong_budget_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        ms.fit(PLANS["join"], statistics(), **arguments)
    assert message in str(error.value)


def test_a_stream_without_statistics_is_named() -> None:
    with pytest.raises(StatisticsError, match="source b"):
        ms.fit(PLANS["join"], Statistics({A.node: StreamStatistics(1.0, 1.0)}), memory=1000)


def test_settings_of_what_is_no_lever_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected levers of the plan"):
        with_settings(PLANS["fixed"].plan(), {PLANS["fixed"].node: 3})


def test_numbers_with_units() -> None:
    assert [bytes_of(text, "x") for text in ("1kb", "2 MiB", "1.5GB", "7")] == [1000, 2 * 2**20, 1.5e9, 7]
    assert share_of("0.5%", "x") == 0.005
    assert limits_of("x", 10, None, 1.0) == Limits(10.0)


SHARES = st.sampled_from((0.0, 1e-12, 0.5, 1.0)) | st.floats(0, 1)
ANY = st.sampled_from((0.0, 1e-300, 1.0, 1e300, math.inf)) | st.floats(0, 1e6)


@given(SHARES, SHARES, SHARES, SHARES, ANY, ANY, ANY, st.sampled_from(sorted(PLANS)), st.data())
def test_a_precision_is_a_share_whatever_the_streams(
    false: float,
    missing: float,
    others_false: float,
    others_missing: float,
    valid: float,
    others: float,
    length: float,
    name: str,
    data: st.DataObject,
) -> None:
    plan = PLANS[name].plan()
    best = settings_at(LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes))), 1.0)
    least = settings_at(LeverGroup(("q",), (plan,), tuple(filter(is_lever, plan.nodes))), 0.0)
    node = data.draw(st.sampled_from([node for node in plan.nodes if node.inputs]))
    inputs = [Precision(false, missing), Precision(others_false, others_missing)]
    arriving = [Estimate(Content(v, {}), Cut(1.0, length)) for v in (valid, others)]
    output = Estimate(Content(data.draw(ANY), {}), Cut(1.0, length))
    operator, number = logical(node), len(node.inputs)
    costing = Costing(node, arriving[:number], UnitCosts(), Selectivity({}), expected_implementation(node))
    at = Point(
        least.get(node, operator),
        best.get(node, operator),
        inputs[:number],
        arriving[:number],
        output,
        costing,
    )
    found = FORMULAS[operator.formulas](at)  # type: ignore[attr-defined]
    assert 0 <= found.false <= 1 and 0 <= found.missing <= 1


def test_every_operator_has_a_formula_of_its_precision() -> None:
    assert FORMULAS.keys() == OUTPUTS.keys()
