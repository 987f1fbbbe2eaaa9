"""Counts and sums that are scaled up from a sample, against a specification that knows the history of its
share."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.signs import signed_plan
from midstream.optimizer.rules import PRUNING, RULES, WINDOWS
from midstream.optimizer.search import enumerate_plans
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators import Aggregate, Sample, Source
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.expressions.aggregates import avg, count, max_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ExpressionError, PlanError
from midstream.plans.values.snapshots import from_snapshots, normal_form
from midstream.plans.values.stable_hash import limit, seed_of, stable_hash
from midstream.plans.values.streams import BEGINNING, Element, Payload, Time

S = stream("s", k="integer", x="float?", share="integer")
SAMPLE = S.sample(0.75, bounds=(0.125, 1))
WINDOW = 6
SHARES = st.sampled_from((0.125, 0.3, 0.5, 0.75, 1, 1.0))
VALUES = st.one_of(st.none(), st.sampled_from((0.0, -0.0, 1.0, -2.5, 0.1, 1e308, 5e-324)))
ROWS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1), VALUES, st.integers(0, 2)), max_size=40)
CHANGES = st.lists(st.tuples(st.integers(0, 35), SHARES), max_size=4)

Shares = Sequence[tuple[Time, float]]
"""The shares of a sample, with the instants from which they hold."""


def estimates(rows: Stream) -> Stream:
    """All estimates there are, and others beside them."""
    return rows.group_by("k").aggregate(
        n=count().scaled(),
        known=count("x").scaled(),
        total=sum_("x").scaled(),
        n_error=count().standard_error(),
        known_error=count("x").standard_error(),
        total_error=sum_("x").standard_error(),
        drawn=count(),
        mean=avg("x"),
    )


QUERY = estimates(SAMPLE.window(WINDOW).filter(col("share") < 2))


def elements_of(rows: Sequence[tuple[Any, ...]]) -> list[Element]:
    return [(t, t + 1, row) for t, *row_ in sorted(rows, key=lambda r: r[0]) for row in [tuple(row_)]]


def drawn(elements: Sequence[Element], shares: Shares) -> list[tuple[int, Payload, Fraction]]:
    """The rows that are drawn, with their share."""
    chosen = []
    for t, _, row in elements:
        share = shares[bisect_right([at for at, _ in shares], t) - 1][1]
        if stable_hash((t, *row), seed_of(0, "s")) < limit(share):
            chosen.append((int(t), row, Fraction(share)))
    return chosen


def as_float(number: Fraction) -> float | None:
    try:
        return float(number)
    except OverflowError:
        return None


def root(number: Fraction) -> float | None:
    context = Context(prec=1500, Emax=10**6, Emin=-(10**6))
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    result = float(context.sqrt(quotient))
    return None if result == float("inf") else result


def estimated(rows: Sequence[tuple[int, Payload, Fraction]]) -> tuple[float | None, ...]:
    """The estimates of a group, by the formulas of Horvitz and Thompson."""

    def of(value: Callable[[Payload], float | None]) -> tuple[float | None, float | None]:
        values = [((t, row), Fraction(y), p) for t, row, p in rows if (y := value(row)) is not None]
        if not values:
            return None, None
        clusters: dict[Any, Fraction] = defaultdict(Fraction)
        for cluster, y, p in values:
            clusters[cluster, p] += y
        variance = sum((1 - p) / p**2 * y**2 for (_, p), y in clusters.items())
        return as_float(sum(y / p for _, y, p in values)), root(Fraction(variance))

    n, n_error = of(lambda row: 1)
    known, known_error = of(lambda row: int(row[1] is not None))
    total, total_error = of(lambda row: row[1])
    return n, known, total, n_error, known_error, total_error


def expected(elements: Sequence[Element], shares: Shares) -> Any:
    """The normal form of the query's results, without the last two columns."""
    sample = drawn(elements, shares)
    shown = {}
    for instant in range(45):
        groups = defaultdict(list)
        for t, row, p in sample:
            if t <= instant < t + WINDOW and row[2] < 2:
                groups[row[0]].append((t, row, p))
        shown[instant] = Counter((k, *estimated(rows)) for k, rows in groups.items())
    return from_snapshots(shown, since_ever=False)


def without_the_rest(results: Sequence[Element]) -> Any:
    return normal_form([(start, end, row[:7]) for start, end, row in results])


def history(changes: Sequence[tuple[int, float]]) -> list[tuple[Time, float]]:
    return [(BEGINNING, 0.75), *dict(sorted(changes)).items()]


@given(ROWS, CHANGES, st.integers(1, 5), st.booleans())
@example([(0, 0, 1.0, 0)] * 3 + [(4, 0, 1.0, 0)], [(3, 1)], 1, True)
@example([(t, 0, 1e308, 0) for t in range(9)], [(3, 0.125)], 2, True)
def test_they_are_what_is_specified_while_the_share_changes(
    rows: list[Any], changes: list[tuple[int, float]], size: int, compile: bool
) -> None:
    elements, shares = elements_of(rows), history(changes)
    results: list[Element] = []
    engine = Engine(QUERY.plan(), results.extend, compile=compile)
    for at, share in shares[1:]:
        engine.adjust({lever_of(engine): share}, at=int(at))
    for i in range(0, len(elements), size):
        engine.push("s", elements[i : i + size])
    engine.close()
    assert without_the_rest(results) == expected(elements, shares)


def lever_of(engine: Engine) -> Node:
    """The sample as it runs now."""
    (node,) = (node for node in engine.plan.nodes if isinstance(node.operator, Sample))
    return node


WAYS = [
    QUERY,
    estimates(SAMPLE.window(WINDOW).filter(col("share") < 2).select("x", "k")),
    estimates(SAMPLE.filter(col("share") < 2).window(WINDOW)),
    estimates(SAMPLE.window(WINDOW).filter(col("share") < 2).split(2).coalesce(4)),
    estimates(SAMPLE.window(WINDOW).select("k", "x", draw=col("share")).filter(col("draw") < 2)),
]
"""One query, written in several ways."""

MOVABLE = [*WAYS[:2], *WAYS[3:]]
"""Those that differ above the windows alone, so that a query can migrate from one to the other."""


@settings(max_examples=settings.default.max_examples // 3)
@given(ROWS, CHANGES, st.data())
def test_a_migration_does_not_change_them(
    rows: list[Any], changes: list[tuple[int, float]], data: st.DataObject
) -> None:
    """Samples are adjusted before it begins, or while it is under way."""
    elements = elements_of(rows)
    old, new = data.draw(st.sampled_from(MOVABLE)), data.draw(st.sampled_from(MOVABLE))
    when, is_before = data.draw(st.integers(0, len(elements))), data.draw(st.booleans())
    reached = elements[when - 1][0] if when else BEGINNING
    shares = [entry for entry in history(changes) if entry[0] == BEGINNING or entry[0] > reached]
    results: list[Element] = []
    engine = Engine(old.plan(), results.extend)
    engine.push("s", elements[:when])

    def adjust() -> None:
        for at, share in shares[1:]:
            engine.adjust({lever_of(engine): share}, at=int(at))

    if is_before:
        adjust()
    engine.migrate(with_sample(new, lever_of(engine)).plan(), wait=True)
    if not is_before:
        adjust()
    for element in elements[when:]:
        engine.push("s", [element])
    engine.close()
    assert without_the_rest(results) == expected(elements, shares)


def with_sample(query: Stream, sample: Node) -> Stream:
    """A query with another sample in place of its own."""
    made: dict[Node, Node] = {}
    for node in query.plan().nodes:
        inputs = tuple(made[child] for child in node.inputs)
        made[node] = sample if isinstance(node.operator, Sample) else node.with_inputs(inputs)
    return Stream(made[query.node])


@pytest.mark.parametrize("way", WAYS[1:])
@given(rows=ROWS)
def test_the_specification_says_the_same_of_all_ways(way: Stream, rows: list[Any]) -> None:
    streams = {"s": elements_of(rows)}
    assert specified(way, streams) == specified(QUERY, streams) == normal_form(run(way.plan(), streams))
    assert normal_form(run(signed_plan(way), streams)) == specified(QUERY, streams)


@settings(max_examples=settings.default.max_examples // 5)
@given(ROWS)
def test_rules_do_not_change_them(rows: list[Any]) -> None:
    """Among them those that drop columns and estimates."""
    query = WAYS[4].select("k", "n", "total_error")
    streams = {"s": elements_of(rows)}
    for plan in OTHERS:
        assert specified(plan, streams) == specified(query, streams)
        assert normal_form(run(plan, streams)) == specified(query, streams)


OTHERS = list(enumerate_plans(WAYS[4].select("k", "n", "total_error"), (*WINDOWS, *RULES, *PRUNING)))[:40]


def test_rules_find_other_ways() -> None:
    assert len(OTHERS) > 5
    for plan in OTHERS:
        (sample,) = (node for node in plan.nodes if isinstance(node.operator, Sample))
        assert isinstance(sample.inputs[0].operator, Source)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_they_are_right_on_average(share: float) -> None:
    """So is the variance. Each value is three times there, which a count of single rows would miss."""
    elements = [(t, t + 1, (0, float(t % 7), 1)) for t in range(40) for _ in range(3)]
    seeds, found = 400, []
    for seed in range(seeds):
        rows = S.sample(share, seed=seed).window(None)
        query = rows.aggregate(
            n=count().scaled(), total=sum_("x").scaled(), n_error=count().standard_error(),
            total_error=sum_("x").standard_error(),
        )  # fmt: skip
        last = run(query.plan(), {"s": elements})[-1]
        found.append(last[2] if last[0] >= 0 else (0, 0, 0, 0))
    for i, value in enumerate([lambda row: 1.0, lambda row: row[1]]):
        clusters = [3 * value(elements[3 * j][2]) for j in range(40)]
        truth, variance = sum(clusters), sum((1 - share) / share * y**2 for y in clusters)
        mean = sum(row[i] for row in found) / seeds
        assert mean == pytest.approx(truth, abs=4 * (variance / seeds) ** 0.5)
        assert sum(row[2 + i] ** 2 for row in found) / seeds == pytest.approx(variance, rel=0.15)


def test_without_a_sample_of_less_than_all_they_are_exact() -> None:
    query = S.sample(1).window(9).aggregate(n=count().scaled(), e=sum_("x").standard_error())
    assert run(query.plan(), {"s": [(0, 1, (1, 2.5, 3))] * 3}) == [(0, 9, (3.0, 0.0))]


def test_both_forms_of_a_sample_have_one_lever() -> None:
    """Who adjusts the sample need not know if sums are scaled up from it."""
    engine = Engine(SAMPLE.window(5).aggregate(n=count().scaled()).plan())
    engine.add(SAMPLE.window(5).plan(), name="plain")
    engine.add(SAMPLE.window(5).aggregate(n=count()).plan(), name="counted")
    assert engine.adjust({SAMPLE: 0.5}, at=3).queries == ("query", "plain", "counted")
    assert {lever_of(engine).operator.share, engine.query("plain").plan.nodes[1].operator.share} == {0.5}
    now = S.sample(0.5, bounds=(0.125, 1))
    assert engine.adjust({now: 0.25}, at=5, queries=["query"]).queries == ("query",)
    assert lever_of(engine).operator.share == 0.25
    assert engine.adjust({now: 0.25}, at=5).queries == ("plain", "counted")
    with pytest.raises(PlanError, match="query does not have sample 50 %"):
        engine.adjust({now: 0.25}, at=5, queries=["query"])


def test_shares_go_on_in_another_engine() -> None:
    """A later row is scaled by the share that its sample had elsewhere."""
    elements = elements_of([(t, 0, 1.0, 1) for t in range(20)])
    results: list[Element] = []
    engine = Engine(QUERY.plan())
    engine.adjust({SAMPLE: 0.3}, at=5)
    other = Engine(engine.plan, results.extend)
    other.load_settings(engine.query().dump_settings())
    other.push("s", elements)
    other.close()
    assert without_the_rest(results) == expected(elements, [(BEGINNING, 0.75), (5, 0.3)])


def test_what_is_not_scaled_needs_no_weights() -> None:
    plain = SAMPLE.window(5).aggregate(n=count())
    (sample,) = (node.operator for node in plain.plan().nodes if isinstance(node.operator, Sample))
    assert not sample.weighted
    assert SAMPLE.window(5).aggregate(n=count().scaled()).schema.names == ("n",)


ONE = S.sample(0.5).window(5)
OTHER = stream("t", k="integer", x="float?", share="integer").window(5)
EXPECTED = "expected filters, projections and time windows of one sampled stream; "


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (S.window(5), f"found source s, {EXPECTED}write stream.sample"),
        (relation("r", x="float"), f"found relation r, {EXPECTED}write stream.sample"),
        (
            S.sample(0.5).last(5),
            "found count window 5, .* the last rows of a sample are no sample of the last",
        ),
        (S.sample(0.5).last(5, by=["k"]), "found partitioned window .* are no sample of the last rows"),
        (ONE.istream(), "found istream, .* cancel each other in the stream, but not in its sample"),
        (ONE.dstream(), "found dstream, .* cancel each other"),
        (ONE.distinct(), "found distinct, .* a row is there if any of its equals is drawn"),
        (ONE.group_by("x").aggregate(n=count()), "found aggregate .* a group is no row of the stream"),
        (ONE.union(OTHER), "found union, .* scale each of its inputs by itself, and add the results"),
        (ONE.join(OTHER.alias("o")), "found product, .* needs rows of several streams, so that no share"),
        (ONE.difference(OTHER), "found difference, .* needs rows of several streams"),
        (ONE.strict_difference(OTHER), "found strict.difference, .* needs rows of several streams"),
        (ONE.intersection(OTHER), "found intersection, .* needs rows of several streams"),
        (ONE.max_union(OTHER), "found max.union, .* needs rows of several streams"),
        (ONE.semi_join(OTHER.alias("o")), "found semi-join .* needs rows of several streams"),
        (ONE.anti_join(OTHER.alias("o")), "found anti-join .* needs rows of several streams"),
    ],
)
def test_what_is_no_sample_of_one_stream_is_not_scaled(rows: Stream, message: str) -> None:
    for estimate in (count().scaled(), count().standard_error()):
        with pytest.raises(PlanError, match=message):
            rows.aggregate(n=count(), e=estimate)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: count("x", distinct=True).scaled(), "found distinct values, expected all, as a sample does"),
        (lambda: max_("x").scaled(), "found max, expected count or sum, as a row of a sample stands for"),
        (lambda: avg("x").standard_error(), "found avg, .* divide a scaled sum by a scaled count"),
        (lambda: ONE.aggregate(n=sum_(col("k") == 1).scaled()), "is over boolean, expected a number"),
    ],
)
def test_what_a_sample_does_not_tell_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        make()


def test_they_have_a_form_in_files() -> None:
    for query in WAYS:
        assert loads(dumps(query)) == query.plan()
    data = SAMPLE.node.operator.to_json()
    with pytest.raises(PlanError, match="found weighted = 1, expected true or false"):
        Sample.from_json({**data, "weighted": 1})


def test_they_have_names_that_no_column_has() -> None:
    (group,) = (node for node in QUERY.plan().nodes if isinstance(node.operator, Aggregate))
    assert group.inputs[0].schema.names == ("k", "x", "share", "share_1", "draw")
    assert snapshots(QUERY, {"s": []}) == {0: Counter()}
