"""Of which rows a plan asks what may raise; what is asked of no more of them, and what moves freely."""

from __future__ import annotations

import pytest

from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer import Statistics, StreamStatistics, optimize
from midstream.optimizer.rules.raising import asks_alike, asks_no_more
from midstream.optimizer.search.proving import equivalent
from midstream.optimizer.verification import check_certificate
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Node
from midstream.plans.equivalence.certificate import Certificate, Step
from midstream.plans.expressions.aggregates import max_, user_aggregate
from midstream.plans.expressions.operands import case, col, opaque
from midstream.plans.sql.catalog import Catalog

S = stream("s", x="integer", y="integer?").window(9)
T = stream("t", z="integer").window(4)
X, Y = col("x"), col("y")


def inverse(value: int) -> int:
    return 1 // value


RISKY = opaque(inverse, ["x"], "integer")
ASKED = RISKY > 0

LESS = {
    "behind a condition": (S.filter(X != 0).filter(ASKED), S.filter(ASKED).filter(X != 0)),
    "behind a condition of the same filter": (S.filter(ASKED & (X != 0)), S.filter(ASKED).filter(X != 0)),
    "above a join": (S.join(T, on=[("x", "z")]).filter(ASKED), S.filter(ASKED).join(T, on=[("x", "z")])),
    "in a join": (S.join(T, on=(col("z") == X) & ASKED), S.filter(ASKED).join(T, on=[("x", "z")])),
    "above a semi-join": (
        S.semi_join(T, [("x", "z")]).filter(ASKED),
        S.filter(ASKED).semi_join(T, [("x", "z")]),
    ),
    "above an anti-join": (
        S.anti_join(T, [("x", "z")]).filter(ASKED),
        S.filter(ASKED).anti_join(T, [("x", "z")]),
    ),
    "above a difference": (
        S.difference(S.filter(Y > 0)).filter(ASKED),
        S.filter(ASKED).difference(S.filter(Y > 0)),
    ),
    "of what a projection keeps": (
        S.filter(Y > 0).select("y", v=RISKY),
        S.select("y", v=RISKY).filter(Y > 0),
    ),
    "of no column that is read": (S.select("y"), S.select("y", v=RISKY).select("y")),
    "inside CASE": (S.select(v=case((X != 0, RISKY), default=0)), S.select(v=RISKY)),
    "behind a stronger condition": (S.filter(X > 5).filter(ASKED), S.filter(X > 3).filter(ASKED)),
    "a condition on groups": (
        S.group_by("x").aggregate(m=max_("y")).filter(col("m") > 0).filter(ASKED),
        S.group_by("x").aggregate(m=max_("y")).filter(ASKED).filter(col("m") > 0),
    ),
}

ALIKE = {
    "above a projection that renames": (
        S.filter(ASKED).select(k=X),
        S.select(k=X).filter(opaque(inverse, ["k"], "integer") > 0),
    ),
    "each input of a union": (S.union(S).filter(ASKED), S.filter(ASKED).union(S.filter(ASKED))),
    "distinct rows": (S.distinct().filter(ASKED), S.filter(ASKED).distinct()),
    "the keys of groups": (
        S.group_by("x").aggregate(m=max_("y")).filter(ASKED),
        S.filter(ASKED).group_by("x").aggregate(m=max_("y")),
    ),
    "above a window": (
        stream("s", x="integer").window(5).filter(ASKED),
        stream("s", x="integer").filter(ASKED).window(5),
    ),
    "sides of a join": (
        S.join(T, on=(col("z") == X) & ASKED).select("x", "y", "z"),
        T.join(S, on=(col("z") == X) & ASKED).select("x", "y", "z"),
    ),
}


@pytest.mark.parametrize("name", LESS)
def test_what_is_asked_of_fewer_rows_may_take_the_place(name: str) -> None:
    less, more = LESS[name]
    assert asks_no_more(less.node, more.node)
    assert not asks_no_more(more.node, less.node)


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_asked_of_the_same_rows(name: str) -> None:
    one, other = ALIKE[name]
    assert asks_alike(one.node, other.node)


@pytest.mark.parametrize("name", [name for name in LESS if name != "inside CASE" and "stronger" not in name])
def test_an_error_on_one_side_is_no_proof(name: str) -> None:
    """In neither direction: what raises on one side alone is a difference."""
    less, more = LESS[name]
    assert not equivalent(less, more, steps=1)
    assert not equivalent(more, less, steps=1)


def freed(query: Stream) -> Stream:
    """The same with a function that is declared to be total."""
    sure = opaque(inverse, ["x"], "integer", total=True)
    return query.filter(sure > 0)


def test_a_total_function_is_free() -> None:
    above, below = freed(S.join(T, on=[("x", "z")])), freed(S).join(T, on=[("x", "z")])
    assert equivalent(above, below, steps=1)
    assert asks_no_more(below.node, above.node)
    known = Statistics({S.node.inputs[0]: StreamStatistics(1, 1), T.node.inputs[0]: StreamStatistics(1, 1)})
    assert optimize(above, known).plan == below.plan()
    guarded = S.join(T, on=[("x", "z")]).filter(ASKED).plan()
    assert optimize(guarded, known).plan == guarded


def test_a_total_function_of_sql_is_free() -> None:
    plans = []
    for total in (False, True):
        catalog = Catalog()
        catalog.execute("CREATE STREAM a(at TIMESTAMP, k INT, v INT) ORDERED BY at")
        catalog.execute("CREATE STREAM b(at TIMESTAMP, k INT) ORDERED BY at")
        catalog.add_function("inv", inverse, "integer", total=total)
        query = "SELECT a.v FROM a WINDOW(RANGE 5), b WINDOW(RANGE 5) WHERE inv(a.v) > 1 AND a.k = b.k"
        plans.append(str(catalog.query(query).plan))
    guarded, free = plans
    assert "and (inv(a.v) > 1)" in guarded
    assert "filter inv(a.v) > 1" in free or "filter inv(v) > 1" in free


def test_a_certificate_may_not_ask_more() -> None:
    """Not even by a rule that is read from right to left."""
    less, more = LESS["behind a condition"]
    step = Step("filter-splitting", (), less.node, more.node)
    for forged in (step, Step("filter-merging", (), less.node, more.node, is_reversed=True)):
        checked = check_certificate(Certificate((forged,)), less.plan(), more.plan())
        assert "may evaluate an expression that raises on further rows" in str(checked)


def test_which_implementation_is_chosen_does_not_matter() -> None:
    """Also of what is not understood: a semi-join asks of pairs until it finds one."""
    matched = S.semi_join(T, on=(col("z") == X) & ASKED)
    for query in (matched, S.join(T, on=(col("z") == X) & ASKED), S.filter(ASKED)):
        physical = physical_plan(query.plan()).root
        assert physical != query.node
        assert asks_alike(Node(physical.operator, query.node.inputs), query.node)
    assert not asks_no_more(S.filter(Y > 0).semi_join(T, on=(col("z") == X) & ASKED).node, matched.node)


def test_a_users_aggregate_is_asked_of_the_same_groups() -> None:
    product = user_aggregate("product", lambda x: x, lambda a, b: a * b, lambda a: 1 // a, type="integer")
    groups = S.group_by("x").aggregate(p=product("y"))
    assert asks_no_more(groups.filter(X > 0).node, groups.filter(X > 0).node)
    assert not asks_no_more(S.filter(Y > 0).group_by("x").aggregate(p=product("y")).node, groups.node)
