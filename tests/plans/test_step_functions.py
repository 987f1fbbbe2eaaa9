"""Step functions against the algebra, which looks at every instant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.equivalence.step_functions import StepFunctions, TooLongError
from midstream.plans.expressions.aggregates import count, sum_
from midstream.plans.values.errors import TieError
from midstream.plans.values.streams import FOREVER, chronons
from midstream.testing import WHOLE, plans, streams_for

HOUR = 3_600_000
S = stream("s", x="integer")


@given(plans(forever=False, **WHOLE), st.data())
def test_agree_with_the_algebra(plan: Plan, data: st.DataObject) -> None:
    streams = data.draw(streams_for(plan, forever=False))
    assert StepFunctions(plan).of(streams) == {"out": specified(plan, streams)}


@given(
    st.sampled_from((1, 2, 5, None)),
    st.integers(1, 7),
    st.lists(st.tuples(st.integers(-9, 20), st.integers(0, 1)), max_size=5).map(sorted),
)
def test_windows_that_slide_agree_with_the_algebra(
    size: int | None, slide: int, rows: list[tuple[int, int]]
) -> None:
    streams = {"s": [(t, t + 1, (x,)) for t, x in rows]}
    for query in (
        S.window(size, slide=slide),
        S.window(size, slide=slide).granularity(slide),
        S.last(size, slide=slide, ties="arrival"),
        S.last(size, slide=slide, by=["x"], ties="arrival"),
    ):
        plan = query.plan()
        assert StepFunctions(plan).of(streams) == {"out": specified(plan, streams)}


def test_cost_does_not_depend_on_the_size_of_windows() -> None:
    plan = S.window(HOUR).aggregate(n=count(), total=sum_("x")).plan()
    assert StepFunctions(plan).of({"s": list(chronons([(0, (3,)), (HOUR - 1, (4,))]))}) == {
        "out": {
            (1, 3): ((0, HOUR - 1, 1),),
            (2, 7): ((HOUR - 1, HOUR, 1),),
            (1, 4): ((HOUR, 2 * HOUR - 1, 1),),
        }
    }


@pytest.mark.parametrize("query", [S.window(2).window(2), S.window(HOUR).istream().window(9)])
def test_windows_over_windows(query: Stream) -> None:
    assert StepFunctions(query.plan()).of({"s": list(chronons([(0, (3,))]))})["out"][(3,)][0][0] == 0


def test_what_is_valid_for_too_long_below_a_window_is_refused() -> None:
    with pytest.raises(TooLongError, match="below a window"):
        StepFunctions(S.window(HOUR).window(2).plan()).of({"s": list(chronons([(0, (3,))]))})
    endless = stream("s", intervals=True, x="integer").window(2).plan()
    with pytest.raises(TooLongError):
        StepFunctions(endless).of({"s": [(0, FOREVER, (3,))]})


def test_ties_are_refused_as_by_the_algebra() -> None:
    with pytest.raises(TieError):
        StepFunctions(S.last(2).plan()).of({"s": list(chronons([(0, (3,)), (0, (4,))]))})
