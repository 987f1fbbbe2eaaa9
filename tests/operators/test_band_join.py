"""Band joins: which conditions have a range, which bounds it has, and that a probe looks at nothing else."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from midstream.operators.base.pairing import pairing
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.joins.band_join import BandJoin
from midstream.operators.joins.join import NestedLoopsJoin
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import TRUE, Expression
from midstream.plans.expressions.operands import Operand, col, expression_of, opaque
from midstream.plans.expressions.ranges import at_least, at_most, find_range, why_no_range
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema

LEFT = Schema.of(x="integer", f="float", n="integer?", s="string", b="boolean", a="any")
RIGHT = Schema.of(y="integer", g="float", m="integer?", t="string", c="boolean", d="any")
X, Y, F, G = col("x"), col("y"), col("f"), col("g")


@pytest.mark.parametrize(
    ("condition", "keys", "rest"),
    [
        (X < Y, (X, Y), TRUE),
        (Y < X, (X, Y), TRUE),
        ((Y - 5 <= X) & (X <= Y + 5), (X, Y), TRUE),
        ((X - 5 < Y) & (3 + X >= Y), (X, Y), TRUE),
        ((X < Y) & (X > 3), (X, Y), X > 3),
        ((X < Y) & X.eq(Y), (X, Y), X.eq(Y)),
        ((G - 0.5 <= F) & (F <= G + 0.5), (F, G), (G - 0.5 <= F) & (F <= G + 0.5)),
        (F < G, (F, G), TRUE),
        ((F < G) & (X < Y + 3) & (X > Y), (X, Y), F < G),
        (X + 0.0 < Y, (X + 0.0, Y), TRUE),  # as a float, x may be another number
        (X + 1 < G, (X, G), X + 1 < G),
        ((X < Y) & (F < G) & (F > G - 1), (F, G), (X < Y) & (F > G - 1)),
        (X * 2 - F < Y, (X * 2 - F, Y), TRUE),
        (5 - X < Y, (5 - X, Y), TRUE),
        (col("n") >= col("m"), (col("n"), col("m")), TRUE),
        (col("s") > col("t"), (col("s"), col("t")), TRUE),
        (col("b") < col("c"), (col("b"), col("c")), TRUE),
        ((col("a") < col("d")) & (X < Y), (X, Y), col("a") < col("d")),
    ],
    ids=str,
)
def test_a_condition_with_a_range(
    condition: Operand, keys: tuple[Operand, Operand], rest: Operand | Expression
) -> None:
    """Comparisons that shifted bounds decide in integers are made once an element; those of floats again for
    each candidate. A range with two ends is preferred."""
    found = find_range(condition.expression, LEFT, RIGHT)
    assert found is not None
    assert found.keys == tuple(key.expression for key in keys)
    assert found.residual == expression_of(rest)
    assert why_no_range(condition.expression, LEFT, RIGHT) is None


NOTHING_COMPARED = "no part of the condition compares the left side with the right side by <, <=, > or >="
NOT_COMPARABLE = "the values of a column of type any, or of a callable, need not be comparable"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (TRUE, NOTHING_COMPARED),
        (X.eq(Y), NOTHING_COMPARED),
        (X.ne(Y), NOTHING_COMPARED),
        ((X < Y) | (F < G), NOTHING_COMPARED),
        (~(X < Y), NOTHING_COMPARED),
        (X < 5, NOTHING_COMPARED),
        (X < F, NOTHING_COMPARED),
        (X - Y < 5, NOTHING_COMPARED),
        (col("a") < col("d"), NOT_COMPARABLE),
        (col("a") < Y, NOT_COMPARABLE),
        (opaque(abs, reads=["x"], type="integer") < Y, NOT_COMPARABLE),
    ],
    ids=str,
)
def test_a_condition_without_a_range(written: Operand | Expression, reason: str) -> None:
    condition = expression_of(written)
    assert find_range(condition, LEFT, RIGHT) is None
    assert reason in (why_no_range(condition, LEFT, RIGHT) or "")


def test_the_plan_says_why_it_cannot_be() -> None:
    join = stream("l", a="any").join(stream("r", d="any"), on=col("a") < col("d"))
    assert physical_plan(join.plan()).root.operator.implementation == "nested-loops-join"
    named = Plan(Node(Physical("band-join", join.node.operator), join.node.inputs))
    with pytest.raises(PlanError, match="a < d: the values of a column of type any"):
        physical_plan(named)


NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0.1, 0.2, 0.3, 1e16, 2.0**53, 5e-324, math.inf, -math.inf]),
)
SHIFTS = st.one_of(
    st.floats(-(2.0**53), 2.0**53, allow_nan=False),
    st.integers(-(2**53), 2**53),
    st.sampled_from([0.1, 0.2, -0.1, 1e-300, 1]),
)


@given(key=NUMBERS, shift=SHIFTS, bound=NUMBERS, near=st.integers(-3, 3))
def test_a_widened_bound_loses_no_key(key: Any, shift: Any, bound: Any, near: int) -> None:
    """Whatever rounding does to the sum, above all next to the bound itself."""
    if near:
        bound = float(key) + shift
        for _ in range(abs(near) - 1):
            bound = math.nextafter(bound, math.inf * near)
    assume(bound == bound)
    if key + shift >= bound:
        assert key >= at_least(bound, shift)
    if key + shift <= bound:
        assert key <= at_most(bound, shift)


@given(key=st.floats(-1e6, 1e6), shift=st.floats(-1e6, 1e6))
def test_a_widened_bound_is_near(key: float, shift: float) -> None:
    assert at_most(key + shift, shift) - key <= 1e-8
    assert key - at_least(key + shift, shift) <= 1e-8


class Watched(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: Any) -> bool:
        Watched.compared += 1
        return int(self) < other

    def __gt__(self, other: Any) -> bool:
        Watched.compared += 1
        return int(self) > other


CHOSEN = ("x", "y")
ONE, OTHER = Schema.of(x="integer"), Schema.of(y="integer")
BANDS = {
    "a band": (Y - 2 <= X) & (X <= Y + 2),
    "open": (Y - 3 < X) & (X < Y + 3),
    "written about the other side": (X - 2 <= Y) & (X + 3 > Y),
    "two lower ends": (Y - 500 <= X) & (Y - 3 < X) & (X <= 2 + Y),
}


@pytest.mark.parametrize("condition", BANDS.values(), ids=BANDS)
@pytest.mark.parametrize("port", [0, 1])
def test_a_probe_looks_at_candidates_only(condition: Operand, port: int) -> None:
    """The end of an element is compared when a probe looks at it: of thousands, that happens to those in
    range."""
    join = BandJoin(condition.expression, CHOSEN, ONE, OTHER)
    kept = [(0, Watched(10), (value,)) for value in range(1000)]
    join.process(1 - port, kept, 0)
    Watched.compared = 0
    found = join.process(port, [(0, 5, (400,))], 0)
    assert len(found) == 5
    assert Watched.compared <= 5 * 2 + 2


@pytest.mark.parametrize("is_fifo", [(False, False), (True, True)])
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.floats(allow_nan=False)), max_size=20))
def test_a_band_of_any_floats_is_that_of_nested_loops(is_fifo: Any, arrivals: list[Any]) -> None:
    """Next to the ends of the band above all: with each number, some arrive that lie on them."""
    schemas = Schema.of(x="float"), Schema.of(y="float")
    condition = ((Y - 0.1 <= X) & (X < Y + 0.3)).expression
    band = BandJoin(condition, CHOSEN, *schemas)
    loops = NestedLoopsJoin(pairing(condition, CHOSEN, *schemas), is_fifo)
    time = 0
    for port, gap, number in arrivals:
        time += gap
        for p, value in ((port, number), (1 - port, number - 0.1), (1 - port, number + 0.3)):
            element = (time, time + 5, (value,))
            assert sorted(band.push(p, [element])) == sorted(loops.push(p, [element]))
            assert band.size() == loops.size()
