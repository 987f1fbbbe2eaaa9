"""Which plans can be studied, and what is asked of their inputs."""

from __future__ import annotations

import pytest

from midstream.io.time_units import Clock
from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs, questions, require_priceable

COLUMNS = Schema.of(k="integer", m="string?")
RECORDED = {name: RecordedStream(name, name, "csv", "t", {}, COLUMNS, 60) for name in ("a", "b")}
A, B = (stream(name, COLUMNS) for name in ("a", "b"))


def test_inputs_are_the_windows_with_what_is_below_them() -> None:
    left = A.filter(A["k"] > 7).alias("a").window(30)
    plan = left.join(B, on=[("a.k", "k")]).plan()
    first, second = plan_inputs(plan, RECORDED)
    assert (first.node, first.stream.name, first.length) == (left.node, "a", 30)
    assert (second.node, second.stream.name, second.length) == (B.node, "b", 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (A.window(None), "found an unbounded window, expected one with an end"),
        (A.union(B).window(9), "found union below a window, expected only filters and projections"),
        (stream("c", COLUMNS).window(9), "reads stream c, expected one of a, b"),
        (stream("a", k="float").window(9), "source a: found column k float, expected those declared"),
        (stream("a", z="float").window(9), "source a: found column z float, expected those declared"),
        (
            stream("a", COLUMNS, intervals=True),
            "found a stream of intervals, expected one of timestamped rows",
        ),
        (A.select(k=None).window(9), "found column k any null, expected a type that can be recorded"),
    ],
)
def test_plans_that_cannot_be_studied(wrong: Stream, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan_inputs(wrong.plan(), RECORDED)


def test_a_relation_is_refused_by_name() -> None:
    plan = A.alias("a").window(9).join(relation("r", n="integer"), on=[("a.k", "n")]).plan()
    with pytest.raises(InputFileError, match="study q: found relation r, expected streams only"):
        require_priceable(plan, Study("q", "q", Clock("s"), RECORDED, plan))


def test_orders_name_inputs_by_their_aliases() -> None:
    x, y = (A.alias(name).window(9) for name in "xy")
    b = B.alias("B").window(9)  # the stream's own name, in other letters
    c = B.select(n=col("m")).window(9)  # no alias
    plan = x.join(y, on=[("x.k", "y.k")]).join(b, on=[("y.m", "B.m")]).join(c, on=[("B.m", "n")]).plan()
    labels = {order.label for order in group_by_order([plan])}
    assert labels == {"((x ⋈ y) ⋈ b) ⋈ b"}
    pairs = x.join(y, on=[("x.k", "y.k")]).join(A.alias("z").window(9), on=[("y.m", "z.m")]).plan()
    found = {order.label for order in group_by_order(list(enumerate_plans(pairs)))}
    assert found == {"(x ⋈ y) ⋈ z", "(x × z) ⋈ y", "(y ⋈ z) ⋈ x"}


def test_frequencies_are_asked_of_columns_that_are_compared() -> None:
    a, b = A.alias("a").window(9), B.alias("b").window(9)
    asked = questions(a.join(b, on=[("a.k", "b.k")]).group_by("a.m").aggregate().plan())
    assert {node: question.columns for node, question in asked.items()} == {
        a.node: ("a.k", "a.m"),
        b.node: ("b.k",),
    }
    assert not any(question.is_sampled for question in asked.values())


@pytest.mark.parametrize(
    "query",
    [
        A.window(9).filter(A["k"] > 7),
        A.alias("a").window(9).join(B.window(9), on=col("a.k") < col("k")),
        A.window(9).select(k=A["k"] + 1),
        A.window(9).union(B.window(9)).distinct(),
    ],
)
def test_rows_are_asked_for_where_frequencies_do_not_tell(query: Stream) -> None:
    assert all(question.is_sampled for question in questions(query.plan()).values())
